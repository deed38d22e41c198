/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv4_hdr.h"

#include "be.h"
#include "cksum.h"

/* octet 0 version and IHL, 1 TOS, 2 total length, 4 identification, 6 flags and offset, 8 TTL, 9 protocol, 10 checksum,
 * 12 source, 16 destination */
#define FLAG_DF 0x4000
#define FLAG_MF 0x2000
#define OFFSET_MASK 0x1fff

bool
ipv4_hdr_parse(const uint8_t *p, uint32_t len, struct ipv4_hdr *h)
{
	uint16_t frag;

	if (len < IPV4_HDR_LEN)
		return false;
	frag = be_get16(p + 6);
	h->version = p[0] >> 4;
	h->hdr_len = (uint8_t)((p[0] & 15) * 4);
	h->ecn = p[1] & 3;
	h->total_len = be_get16(p + 2);
	h->frag_off = frag & OFFSET_MASK;
	h->fragment = (frag & (FLAG_MF | OFFSET_MASK)) != 0;
	h->ttl = p[8];
	h->proto = p[9];
	h->src = be_get32(p + 12);
	h->dst = be_get32(p + 16);
	return true;
}

void
ipv4_hdr_emit(uint8_t *p, const struct ipv4_hdr *h, bool with_cksum)
{
	p[0] = 4 << 4 | IPV4_HDR_LEN / 4;
	p[1] = h->ecn & 3;
	be_put16(p + 2, h->total_len);
	be_put16(p + 4, 0);
	be_put16(p + 6, FLAG_DF);
	p[8] = h->ttl;
	p[9] = h->proto;
	be_put16(p + 10, 0);
	be_put32(p + 12, h->src);
	be_put32(p + 16, h->dst);
	if (with_cksum)
		be_put16(p + 10, iw_cksum_finish(iw_sum_fold(iw_sum_short(p, IPV4_HDR_LEN))));
}

void
ipv4_hdr_set_total_len(uint8_t *p, uint16_t total_len, bool with_cksum)
{
	uint16_t old = be_get16(p + 2), cksum = be_get16(p + 10);

	be_put16(p + 2, total_len);
	if (with_cksum && total_len != old)
		be_put16(p + 10, (uint16_t)~iw_sum_fold((uint64_t)(uint16_t)~cksum + (uint16_t)~old + total_len));
}
