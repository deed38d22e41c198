/* SPDX-License-Identifier: BSD-3-Clause */
#include "cksum.h"

#include <rte_byteorder.h>
#include <rte_ip.h>

#include "len.h"

uint32_t
iw_cksum_add(uint32_t sum, uint32_t off, const void *p, uint32_t len)
{
	return iw_cksum_join(sum, off, rte_raw_cksum(p, len));
}

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

/* A 32-bit field of a pseudo header, as two words in the order of memory. */
static uint32_t
words(uint32_t v)
{
	return (uint32_t)rte_cpu_to_be_16((uint16_t)(v >> 16)) + rte_cpu_to_be_16((uint16_t)v);
}

uint32_t
iw_cksum_pseudo4(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len)
{
	return words(src) + words(dst) + words(proto) + words(len);
}

uint32_t
iw_cksum_pseudo6(const uint8_t src[16], const uint8_t dst[16], uint8_t proto, uint32_t len)
{
	uint32_t sum = words(proto) + words(len);

	sum = iw_cksum_add(sum, 0, src, 16);
	return iw_cksum_add(sum, 0, dst, 16);
}
