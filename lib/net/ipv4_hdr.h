/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of an IPv4 header (RFC 791 §3.1). */
#ifndef IPV4_HDR_H
#define IPV4_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define IPV4_HDR_LEN 20
#define IPV4_HDR_MAX 60
#define IPV4_TTL 64

struct ipv4_hdr {
	uint8_t version;
	uint8_t hdr_len; /* octets, with options: 0..60 as the field says */
	uint8_t ecn;     /* RFC 3168: 0..3 */
	uint8_t ttl, proto;
	bool fragment;     /* part of a datagram: MF set or an offset */
	uint16_t frag_off; /* octets / 8 */
	uint16_t total_len;
	uint32_t src, dst; /* host order */
};

/* The fixed part; false: cut short.  Nothing is judged. */
bool ipv4_hdr_parse(const uint8_t *p, uint32_t len, struct ipv4_hdr *h);

/* Writes IPV4_HDR_LEN octets from ecn, ttl, proto, total_len, src and dst: no options, don't fragment, identification 0
 * (an atomic datagram, RFC 6864 §4.1).  with_cksum false: the field is 0 for the port to fill in. */
void ipv4_hdr_emit(uint8_t *p, const struct ipv4_hdr *h, bool with_cksum);

/* Another length in a header that ipv4_hdr_emit() has made, and with_cksum as there: put right (RFC 1624 §3). */
void ipv4_hdr_set_total_len(uint8_t *p, uint16_t total_len, bool with_cksum);

#endif
