/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp_hdr.h"

#include "cursor.h"

bool
icmp_hdr_parse(const uint8_t *p, uint32_t len, struct icmp_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, len);

	h->type = iw_reader_u8(&r);
	h->code = iw_reader_u8(&r);
	iw_reader_take(&r, 2 + 2);
	h->mtu = iw_reader_u16(&r);
	return !r.bad;
}

bool
icmp_hdr_is_error(uint8_t type)
{
	return type == ICMP_UNREACHABLE || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT ||
	       type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETER;
}
