/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv4_hdr.h"

#include "cksum.h"
#include "cursor.h"

#define FLAG_DF 0x4000
#define FLAG_MF 0x2000
#define OFFSET_MASK 0x1fff
#define CKSUM_AT 10

bool
ipv4_hdr_parse(const uint8_t *p, uint32_t len, struct ipv4_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, len);
	uint8_t ver_ihl = iw_reader_u8(&r);
	uint16_t frag;

	h->version = ver_ihl >> 4;
	h->hdr_len = (uint8_t)((ver_ihl & 15) * 4);
	h->ecn = iw_reader_u8(&r) & 3;
	h->total_len = iw_reader_u16(&r);
	iw_reader_take(&r, 2);
	frag = iw_reader_u16(&r);
	h->frag_off = frag & OFFSET_MASK;
	h->fragment = frag & (FLAG_MF | OFFSET_MASK);
	h->ttl = iw_reader_u8(&r);
	h->proto = iw_reader_u8(&r);
	iw_reader_take(&r, 2);
	h->src = iw_reader_u32(&r);
	h->dst = iw_reader_u32(&r);
	return !r.bad;
}

void
ipv4_hdr_emit(uint8_t *p, const struct ipv4_hdr *h, bool with_cksum)
{
	struct iw_writer w = iw_writer_init(p, IPV4_HDR_LEN);

	iw_writer_u8(&w, 4 << 4 | IPV4_HDR_LEN / 4);
	iw_writer_u8(&w, h->ecn & 3);
	iw_writer_u16(&w, h->total_len);
	iw_writer_u16(&w, 0);
	iw_writer_u16(&w, FLAG_DF);
	iw_writer_u8(&w, h->ttl);
	iw_writer_u8(&w, h->proto);
	iw_writer_u16(&w, 0);
	iw_writer_u32(&w, h->src);
	iw_writer_u32(&w, h->dst);
	if (with_cksum) {
		w = iw_writer_init(p + CKSUM_AT, 2);
		iw_writer_u16(&w, iw_cksum_finish(iw_cksum_add(0, 0, p, IPV4_HDR_LEN)));
	}
}
