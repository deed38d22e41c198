/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of an Ethernet II header, with at most one IEEE 802.1Q tag. */
#ifndef ETH_HDR_H
#define ETH_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define ETH_HDR_LEN 14
#define ETH_TAG_LEN 4
#define ETH_HDR_MAX (ETH_HDR_LEN + ETH_TAG_LEN)

#define ETH_TYPE_MIN 0x0600 /* below: a length (IEEE 802.3) */
#define ETH_TYPE_IPV4 0x0800
#define ETH_TYPE_ARP 0x0806
#define ETH_TYPE_VLAN 0x8100
#define ETH_TYPE_QINQ 0x88a8
#define ETH_TYPE_IPV6 0x86dd

struct eth_hdr {
	uint8_t dst[6], src[6];
	uint16_t type;    /* behind the tag, if there is one */
	uint16_t vlan;    /* 0: untagged or priority-tagged */
	bool service_tag; /* IEEE 802.1ad */
	uint32_t len;     /* octets of the header */
};

/* false: cut short. */
bool eth_hdr_parse(const uint8_t *p, uint32_t len, struct eth_hdr *h);

/* Writes ETH_HDR_LEN octets, untagged. */
void eth_hdr_emit(uint8_t *p, const uint8_t dst[6], const uint8_t src[6], uint16_t type);

/* Makes an untagged frame that begins ETH_TAG_LEN octets behind p a tagged one that begins at p; priority 0. */
void eth_hdr_push_tag(uint8_t *p, uint16_t vlan);

/* Sets the destination of a frame that waited to learn it. */
void eth_hdr_set_dst(uint8_t *p, const uint8_t dst[6]);

#endif
