/* SPDX-License-Identifier: BSD-3-Clause */
#include "arp_hdr.h"

#include <string.h>

#include "be.h"

/* octet 0 hardware, 2 protocol, 4 and 5 their address lengths, 6 operation, 8 sender, 18 target: hardware address and
 * protocol address each */
#define HRD_ETHERNET 1
#define PRO_IPV4 0x0800
#define HLN 6
#define PLN 4

bool
arp_hdr_parse(const uint8_t *p, uint32_t len, struct arp_hdr *h)
{
	if (len < ARP_HDR_LEN || be_get16(p) != HRD_ETHERNET || be_get16(p + 2) != PRO_IPV4 || p[4] != HLN ||
	    p[5] != PLN)
		return false;
	h->op = be_get16(p + 6);
	memcpy(h->sender_mac, p + 8, 6);
	h->sender_ip = be_get32(p + 14);
	memcpy(h->target_mac, p + 18, 6);
	h->target_ip = be_get32(p + 24);
	return true;
}

void
arp_hdr_emit(uint8_t *p, const struct arp_hdr *h)
{
	be_put16(p, HRD_ETHERNET);
	be_put16(p + 2, PRO_IPV4);
	p[4] = HLN;
	p[5] = PLN;
	be_put16(p + 6, h->op);
	memcpy(p + 8, h->sender_mac, 6);
	be_put32(p + 14, h->sender_ip);
	memcpy(p + 18, h->target_mac, 6);
	be_put32(p + 24, h->target_ip);
}
