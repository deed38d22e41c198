/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipv6_hdr.h"

#include <string.h>

#include "be.h"
#include "cursor.h"

/* octet 0 version, traffic class and flow label, 4 payload length, 6 next header, 7 hop limit, 8 source, 24
 * destination; extension: 0 next header, 1 length in 8 octets without the first 8; routing: 3 segments left; fragment:
 * 2 offset and
 * M */
#define ECN_SHIFT 20
#define FLOW_MASK 0xfffffu
#define FRAGMENT_MASK 0xfff9u /* offset and M */

#define OPTION_PAD1 0
#define OPTION_ACTION 0xc0 /* what who does not know the option does; 0: skips it */

bool
ipv6_hdr_parse(const uint8_t *p, uint32_t len, struct ipv6_hdr *h)
{
	uint32_t first;

	if (len < IPV6_HDR_LEN)
		return false;
	first = be_get32(p);
	h->version = (uint8_t)(first >> 28);
	h->ecn = (first >> ECN_SHIFT) & 3;
	h->flow = first & FLOW_MASK;
	h->payload_len = be_get16(p + 4);
	h->next = p[6];
	h->hop_limit = p[7];
	memcpy(h->src, p + 8, 16);
	memcpy(h->dst, p + 24, 16);
	return true;
}

void
ipv6_hdr_emit(uint8_t *p, const struct ipv6_hdr *h)
{
	be_put32(p, 6u << 28 | (uint32_t)(h->ecn & 3) << ECN_SHIFT | (h->flow & FLOW_MASK));
	be_put16(p + 4, h->payload_len);
	p[6] = h->next;
	p[7] = h->hop_limit;
	memcpy(p + 8, h->src, 16);
	memcpy(p + 24, h->dst, 16);
}

void
ipv6_hdr_set_payload_len(uint8_t *p, uint16_t payload_len)
{
	be_put16(p + 4, payload_len);
}

bool
ipv6_hdr_ext_parse(const uint8_t *p, uint32_t len, uint8_t kind, struct ipv6_ext *e)
{
	if (len < IPV6_EXT_MIN)
		return false;
	e->next = p[0];
	e->len = kind == IPV6_EXT_FRAGMENT ? 8u : (p[1] + 1u) * 8;
	e->segments_left = p[3];
	e->fragment = (be_get16(p + 2) & FRAGMENT_MASK) != 0;
	return true;
}

bool
ipv6_hdr_options_skippable(const uint8_t *p, uint32_t len)
{
	struct iw_reader r = iw_reader_init(p, len);

	iw_reader_take(&r, 2);
	while (!r.bad && iw_reader_left(&r) > 0) {
		uint8_t type = iw_reader_u8(&r);

		if (type == OPTION_PAD1)
			continue;
		iw_reader_take(&r, iw_reader_u8(&r));
		if (type & OPTION_ACTION)
			return false;
	}
	return !r.bad;
}
