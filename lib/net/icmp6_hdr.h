/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of ICMPv6 messages (RFC 4443) and of Neighbour Discovery's (RFC 4861 §4.3, §4.4). */
#ifndef ICMP6_HDR_H
#define ICMP6_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define ICMP6_HDR_LEN 8

#define ICMP6_UNREACHABLE 1
#define ICMP6_TOOBIG 2
#define ICMP6_TIME_EXCEEDED 3
#define ICMP6_PARAMETER 4
#define ICMP6_INFO 128 /* from here on: no error */
#define ICMP6_ROUTER_SOLICIT 133
#define ICMP6_ROUTER_ADVERT 134
#define ICMP6_ND_SOLICIT 135
#define ICMP6_ND_ADVERT 136
#define ICMP6_REDIRECT 137

struct icmp6_hdr {
	uint8_t type, code;
	uint32_t mtu; /* of the next hop, in ICMP6_TOOBIG */
};

/* false: cut short. */
bool icmp6_hdr_parse(const uint8_t *p, uint32_t len, struct icmp6_hdr *h);

#define ICMP6_ND_LEN 24     /* without options */
#define ICMP6_ND_OPTION 8   /* a link-layer address */
#define ICMP6_ND_PARSED 256 /* a longer message is not taken */
#define ICMP6_ND_ROUTER 0x80
#define ICMP6_ND_SOLICITED 0x40
#define ICMP6_ND_OVERRIDE 0x20

/* A neighbour solicitation or advertisement. */
struct icmp6_nd {
	uint8_t type;
	uint8_t flags; /* ICMP6_ND_*, of an advertisement */
	uint8_t target[16];
	bool has_mac; /* source or target link-layer address option, as the type says */
	uint8_t mac[6];
};

/* false: code not 0, cut short, or an option of length 0 or beyond the end (RFC 4861 §7.1). */
bool icmp6_hdr_nd_parse(const uint8_t *p, uint32_t len, struct icmp6_nd *nd);

/* Writes ICMP6_ND_LEN octets, and ICMP6_ND_OPTION more when has_mac; the checksum is 0.  Returns how many. */
uint32_t icmp6_hdr_nd_emit(uint8_t *p, const struct icmp6_nd *nd);
void icmp6_hdr_set_cksum(uint8_t *p, uint16_t cksum);

#endif
