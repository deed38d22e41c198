/* SPDX-License-Identifier: BSD-3-Clause */
#include "l4_hdr.h"

#include "cursor.h"

#define TCP_DATA_OFFSET_AT 12

bool
l4_hdr_quote_parse(const uint8_t *p, uint32_t len, struct l4_quote *q)
{
	struct iw_reader r = iw_reader_init(p, len);

	q->src_port = iw_reader_u16(&r);
	q->dst_port = iw_reader_u16(&r);
	q->seq = iw_reader_u32(&r);
	return !r.bad;
}

uint8_t
l4_hdr_tcp_len(const uint8_t *p, uint32_t len)
{
	struct iw_reader r = iw_reader_init(p, len);

	iw_reader_take(&r, TCP_DATA_OFFSET_AT);
	return (uint8_t)((iw_reader_u8(&r) >> 4) * 4);
}
