/* SPDX-License-Identifier: BSD-3-Clause */
/* A piece of a received packet (design D19).  The mbuf is read-only, bytes and metadata: the same mbuf may be
 * the sender's.  The only call on it is free, of that one segment. */
#ifndef IW_VIEW_H
#define IW_VIEW_H

#include <rte_mbuf.h>
#include <stdint.h>
#include <string.h>

struct iw_view {
	struct rte_mbuf *m; /* one segment */
	uint32_t off;       /* from the segment's first data octet */
	uint32_t len;
	uint32_t sealed; /* octets at the front that are whole FPDUs with the right CRC: whoever received them had to
			    read them anyway */
};

static inline const uint8_t *
iw_view_data(const struct iw_view *v)
{
	return rte_pktmbuf_mtod_offset(v->m, const uint8_t *, v->off);
}

/* Takes octets off its front. */
static inline void
iw_view_cut(struct iw_view *v, uint32_t octets)
{
	v->off += octets;
	v->len -= octets;
	v->sealed = 0;
}

/* Copies len octets that begin off octets into the list; returns how many there were to copy. */
uint32_t iw_view_copy(const struct iw_view *views, uint32_t n, uint32_t off, void *dst, uint32_t len);

/* Octets in the list. */
uint32_t iw_view_total(const struct iw_view *views, uint32_t n);

/* Cuts [off, off+len) out of the list into out[max]; returns the pieces used, or 0 when it does not fit in max
 * or in the list. */
uint32_t iw_view_slice(const struct iw_view *views, uint32_t n, uint32_t off, uint32_t len, struct iw_view *out,
		       uint32_t max);

#endif
