/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of an ICMP message (RFC 792), with the next hop's MTU of RFC 1191 §4. */
#ifndef ICMP_HDR_H
#define ICMP_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define ICMP_HDR_LEN 8

#define ICMP_UNREACHABLE 3
#define ICMP_SOURCE_QUENCH 4
#define ICMP_REDIRECT 5
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER 12

#define ICMP_CODE_TOOBIG 4 /* of ICMP_UNREACHABLE: fragmentation needed and DF set */

struct icmp_hdr {
	uint8_t type, code;
	uint16_t mtu; /* of the next hop, in ICMP_CODE_TOOBIG; 0: not given */
};

/* false: cut short. */
bool icmp_hdr_parse(const uint8_t *p, uint32_t len, struct icmp_hdr *h);

/* A message about a packet, which it quotes (RFC 792). */
bool icmp_hdr_is_error(uint8_t type);

#endif
