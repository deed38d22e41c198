/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp_hdr.h"

#include "cursor.h"

#define HRD_ETHERNET 1
#define PRO_IPV4 0x0800
#define HLN 6
#define PLN 4

static void
take_pair(struct iw_reader *r, uint8_t mac[6], uint32_t *ip)
{
	const uint8_t *p = iw_reader_take(r, 6);

	if (p)
		memcpy(mac, p, 6);
	*ip = iw_reader_u32(r);
}

bool
arp_hdr_parse(const uint8_t *p, uint32_t len, struct arp_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, len);
	uint16_t hrd = iw_reader_u16(&r);
	uint16_t pro = iw_reader_u16(&r);
	uint8_t hln = iw_reader_u8(&r);
	uint8_t pln = iw_reader_u8(&r);

	h->op = iw_reader_u16(&r);
	take_pair(&r, h->sender_mac, &h->sender_ip);
	take_pair(&r, h->target_mac, &h->target_ip);
	return !r.bad && hrd == HRD_ETHERNET && pro == PRO_IPV4 && hln == HLN && pln == PLN;
}

void
arp_hdr_emit(uint8_t *p, const struct arp_hdr *h)
{
	struct iw_writer w = iw_writer_init(p, ARP_HDR_LEN);

	iw_writer_u16(&w, HRD_ETHERNET);
	iw_writer_u16(&w, PRO_IPV4);
	iw_writer_u8(&w, HLN);
	iw_writer_u8(&w, PLN);
	iw_writer_u16(&w, h->op);
	iw_writer_bytes(&w, h->sender_mac, 6);
	iw_writer_u32(&w, h->sender_ip);
	iw_writer_bytes(&w, h->target_mac, 6);
	iw_writer_u32(&w, h->target_ip);
}
