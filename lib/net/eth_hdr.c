/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth_hdr.h"

#include <string.h>

#include "be.h"

/* octet 0 destination, 6 source, 12 type; or 12 tag type, 14 priority and VLAN, 16 type */

bool
eth_hdr_parse(const uint8_t *p, uint32_t len, struct eth_hdr *h)
{
	if (len < ETH_HDR_LEN)
		return false;
	memcpy(h->dst, p, 6);
	memcpy(h->src, p + 6, 6);
	h->type = be_get16(p + 12);
	h->vlan = 0;
	h->service_tag = h->type == ETH_TYPE_QINQ;
	h->len = ETH_HDR_LEN;
	if (h->type != ETH_TYPE_VLAN && h->type != ETH_TYPE_QINQ)
		return true;
	if (len < ETH_HDR_MAX)
		return false;
	h->vlan = be_get16(p + 14) & 0x0fff;
	h->type = be_get16(p + 16);
	h->len = ETH_HDR_MAX;
	return true;
}

void
eth_hdr_emit(uint8_t *p, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	memcpy(p, dst, 6);
	memcpy(p + 6, src, 6);
	be_put16(p + 12, type);
}

void
eth_hdr_set_dst(uint8_t *p, const uint8_t dst[6])
{
	memcpy(p, dst, 6);
}

void
eth_hdr_push_tag(uint8_t *p, uint16_t vlan)
{
	memmove(p, p + ETH_TAG_LEN, 12);
	be_put16(p + 12, ETH_TYPE_VLAN);
	be_put16(p + 14, vlan);
}
