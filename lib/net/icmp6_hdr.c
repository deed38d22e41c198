/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp6_hdr.h"

#include <string.h>

#include "be.h"
#include "cursor.h"

/* octet 0 type, 1 code, 2 checksum, 4 MTU or flags, 8 target, 24 options: type, length in 8 octets, value */
#define CKSUM_AT 2
#define OPTION_SOURCE_MAC 1
#define OPTION_TARGET_MAC 2

bool
icmp6_hdr_parse(const uint8_t *p, uint32_t len, struct icmp6_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, len);

	h->type = iw_reader_u8(&r);
	h->code = iw_reader_u8(&r);
	iw_reader_take(&r, 2);
	h->mtu = iw_reader_u32(&r);
	return !r.bad;
}

static uint8_t
option_of(uint8_t type)
{
	return type == ICMP6_ND_SOLICIT ? OPTION_SOURCE_MAC : OPTION_TARGET_MAC;
}

/* The first address counts; other options are skipped (RFC 4861 §4.6). */
static bool
parse_options(struct iw_reader *r, struct icmp6_nd *nd)
{
	while (!r->bad && iw_reader_left(r) > 0) {
		uint8_t type = iw_reader_u8(r), units = iw_reader_u8(r);
		const uint8_t *value = units ? iw_reader_take(r, units * 8u - 2) : NULL;

		if (!value)
			return false;
		if (type != option_of(nd->type) || nd->has_mac)
			continue;
		nd->has_mac = true;
		memcpy(nd->mac, value, 6);
	}
	return !r->bad;
}

bool
icmp6_hdr_nd_parse(const uint8_t *p, uint32_t len, struct icmp6_nd *nd)
{
	struct iw_reader r = iw_reader_init(p, len);
	const uint8_t *target;
	uint8_t code;

	memset(nd, 0, sizeof(*nd));
	nd->type = iw_reader_u8(&r);
	code = iw_reader_u8(&r);
	iw_reader_take(&r, 2);
	nd->flags = iw_reader_u8(&r);
	iw_reader_take(&r, 3);
	target = iw_reader_take(&r, 16);
	if (!target || code != 0)
		return false;
	memcpy(nd->target, target, 16);
	return parse_options(&r, nd);
}

uint32_t
icmp6_hdr_nd_emit(uint8_t *p, const struct icmp6_nd *nd)
{
	memset(p, 0, ICMP6_ND_LEN);
	p[0] = nd->type;
	p[4] = nd->flags;
	memcpy(p + 8, nd->target, 16);
	if (!nd->has_mac)
		return ICMP6_ND_LEN;
	p[ICMP6_ND_LEN] = option_of(nd->type);
	p[ICMP6_ND_LEN + 1] = 1;
	memcpy(p + ICMP6_ND_LEN + 2, nd->mac, 6);
	return ICMP6_ND_LEN + ICMP6_ND_OPTION;
}

void
icmp6_hdr_set_cksum(uint8_t *p, uint16_t cksum)
{
	be_put16(p + CKSUM_AT, cksum);
}
