/* SPDX-License-Identifier: BSD-3-Clause */
#include "cksum.h"

#include <rte_byteorder.h>

#include "len.h"

uint32_t
iw_cksum_add_views(uint32_t sum, uint32_t off, const struct iw_view *views, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		sum = iw_cksum_add(sum, off, iw_view_data(&views[i]), views[i].len);
		off += views[i].len;
	}
	return sum;
}

uint32_t
iw_cksum_add_mbuf(uint32_t sum, const struct rte_mbuf *m, uint32_t from, uint32_t len)
{
	uint32_t off = 0;

	for (; m && off < len; m = m->next) {
		uint32_t part;

		if (from >= m->data_len) {
			from -= m->data_len;
			continue;
		}
		part = iw_len_min(m->data_len - from, len - off);
		sum = iw_cksum_add(sum, off, rte_pktmbuf_mtod_offset(m, const uint8_t *, from), part);
		off += part;
		from = 0;
	}
	return sum;
}

/* A 32-bit field of a pseudo header, in the order of memory. */
static uint64_t
field(uint32_t v)
{
	return rte_cpu_to_be_32(v);
}

uint32_t
iw_cksum_pseudo4(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len)
{
	return iw_sum_fold(field(src) + field(dst) + field(proto) + field(len));
}

uint32_t
iw_cksum_pseudo6(const uint8_t src[16], const uint8_t dst[16], uint8_t proto, uint32_t len)
{
	return iw_sum_fold(field(proto) + field(len) + iw_sum_short(src, 16) + iw_sum_short(dst, 16));
}
