/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of an ARP packet for IPv4 over Ethernet (RFC 826). */
#ifndef ARP_HDR_H
#define ARP_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define ARP_HDR_LEN 28
#define ARP_OP_REQUEST 1
#define ARP_OP_REPLY 2

struct arp_hdr {
	uint16_t op;
	uint8_t sender_mac[6], target_mac[6];
	uint32_t sender_ip, target_ip; /* host order */
};

/* false: cut short, or not IPv4 over Ethernet. */
bool arp_hdr_parse(const uint8_t *p, uint32_t len, struct arp_hdr *h);

/* Writes ARP_HDR_LEN octets. */
void arp_hdr_emit(uint8_t *p, const struct arp_hdr *h);

#endif
