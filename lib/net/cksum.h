/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071), by pieces.  A sum is opaque: 16-bit words in the order of memory, added up in 32
 * bits and not folded; start with 0 or with a pseudo header.
 *     sum = iw_cksum_pseudo4(src, dst, 6, len);
 *     sum = iw_cksum_add(sum, 0, header, 20);
 *     sum = iw_cksum_add(sum, 20, payload, n);
 *     header.cksum = iw_cksum_finish(sum);         to be written most significant octet first
 * Each piece adds less than 2^16, so up to 65,536 pieces go into one sum. */
#ifndef IW_CKSUM_H
#define IW_CKSUM_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "sum.h"
#include "view.h"

/* Adds len octets (at most 128 KiB) that stand `off` octets behind the first one of the summed data: only whether
 * off is odd matters (RFC 1071 §2 (B)). */
static inline uint32_t iw_cksum_add(uint32_t sum, uint32_t off, const void *p, uint32_t len);

/* Adds a list of views whose first octet stands at off. */
uint32_t iw_cksum_add_views(uint32_t sum, uint32_t off, const struct iw_view *views, uint32_t n);

/* Adds octets [from, from+len) of a packet, whatever segments they lie in; the first counts as even.  What lies behind
 * the end of the packet adds nothing. */
uint32_t iw_cksum_add_mbuf(uint32_t sum, const struct rte_mbuf *m, uint32_t from, uint32_t len);

/* Pseudo headers: RFC 9293 §3.1 (addresses in host order), RFC 8200 §8.1.  len: layer-4 header and payload. */
uint32_t iw_cksum_pseudo4(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len);
uint32_t iw_cksum_pseudo6(const uint8_t src[16], const uint8_t dst[16], uint8_t proto, uint32_t len);

/* A pseudo header that was summed with a length of 0 gets one. */
static inline uint32_t iw_cksum_add_len(uint32_t sum, uint16_t len);

/* ---- inline ---- */

static inline uint32_t
iw_cksum_add_len(uint32_t sum, uint16_t len)
{
	return sum + rte_cpu_to_be_16(len);
}

static inline uint32_t
iw_cksum_fold_memory(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Adds a sum that was made on its own, as if its data stood at off: a payload sum kept from the first transmission. */
static inline uint32_t
iw_cksum_join(uint32_t sum, uint32_t off, uint32_t part)
{
	part = iw_cksum_fold_memory(part);
	return sum + (off & 1 ? rte_bswap16((uint16_t)part) : part);
}

static inline uint32_t
iw_cksum_add(uint32_t sum, uint32_t off, const void *p, uint32_t len)
{
	return iw_cksum_join(sum, off, iw_sum_fold(iw_sum(p, len)));
}

/* The folded sum, host order: what a port that completes the checksum wants to find in the field. */
static inline uint16_t
iw_cksum_fold(uint32_t sum)
{
	return rte_be_to_cpu_16((uint16_t)iw_cksum_fold_memory(sum));
}

/* The checksum field, host order. */
static inline uint16_t
iw_cksum_finish(uint32_t sum)
{
	return (uint16_t)~iw_cksum_fold(sum);
}

/* Summed over everything including the checksum field: true when it fits. */
static inline bool
iw_cksum_good(uint32_t sum)
{
	return iw_cksum_fold_memory(sum) == 0xffff;
}

#endif
