/* SPDX-License-Identifier: BSD-3-Clause */
/* The few octets of layer 4 that IP has to look at. */
#ifndef L4_HDR_H
#define L4_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define L4_HDR_QUOTE 8 /* octets of layer 4 that an ICMP error has to quote (RFC 792) */

struct l4_quote {
	uint16_t src_port, dst_port;
	uint32_t seq;
};

/* Ports and sequence number of a TCP header of which L4_HDR_QUOTE octets are there; false: cut short. */
bool l4_hdr_quote_parse(const uint8_t *p, uint32_t len, struct l4_quote *q);

/* Length of the TCP header at p, octets; 0: cut short.  Our own headers only. */
uint8_t l4_hdr_tcp_len(const uint8_t *p, uint32_t len);

#endif
