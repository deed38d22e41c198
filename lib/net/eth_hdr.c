/* SPDX-License-Identifier: BSD-3-Clause */
#include "eth_hdr.h"

#include "cursor.h"

static void
take_mac(struct iw_reader *r, uint8_t mac[6])
{
	const uint8_t *p = iw_reader_take(r, 6);

	if (p)
		memcpy(mac, p, 6);
}

bool
eth_hdr_parse(const uint8_t *p, uint32_t len, struct eth_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, len);

	take_mac(&r, h->dst);
	take_mac(&r, h->src);
	h->type = iw_reader_u16(&r);
	h->vlan = 0;
	h->len = ETH_HDR_LEN;
	if (h->type == ETH_TYPE_VLAN || h->type == ETH_TYPE_QINQ) {
		h->vlan = iw_reader_u16(&r) & 0x0fff;
		h->type = iw_reader_u16(&r);
		h->len += ETH_TAG_LEN;
	}
	return !r.bad;
}

void
eth_hdr_emit(uint8_t *p, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	struct iw_writer w = iw_writer_init(p, ETH_HDR_LEN);

	iw_writer_bytes(&w, dst, 6);
	iw_writer_bytes(&w, src, 6);
	iw_writer_u16(&w, type);
}

void
eth_hdr_set_dst(uint8_t *p, const uint8_t dst[6])
{
	memcpy(p, dst, 6);
}
