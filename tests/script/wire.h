/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on the wire, made and read by a codec that shares no line with the project's: a mistake in theirs shows.
 * Ethernet, IPv4, TCP, ICMP and ARP between our address 10.0.0.1 and peers in 10.0.0.0/24; in a run with
 * IW_TEST_FAMILY=6 IPv6, ICMPv6 and neighbour discovery between fd00::10.0.0.1 and peers like it. */
#ifndef WIRE_H
#define WIRE_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "netif.h"

#define WIRE_US 0x0a000001u
#define WIRE_PEER 0x0a000002u
#define WIRE_LOOPBACK 0x7f000001u
#define WIRE_ALL_NODES 0xe0000001u
#define WIRE_MTU 1500
#define WIRE_MTU6 1520
#define WIRE_DATA_MAX 9216
#define WIRE_FRAME_MAX (WIRE_DATA_MAX + 114)
#define WIRE_SACKS 4

/* Control bits, RFC 9293 §3.1; one letter each, since tables are made of them. */
enum { F = 1, S = 2, R = 4, P = 8, A = 16, U = 32, E = 64, W = 128 };

struct wire_seg {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint32_t seq, ack;
	uint8_t flags, data_offset; /* data_offset to build with, in words; 0: the right one */
	uint8_t ecn;
	uint16_t wnd, urp;
	uint8_t opt[40], opt_len; /* as they stand */
	uint32_t len;             /* octets of text */
	const uint8_t *data;      /* NULL: zeros */
	bool bad_cksum;           /* to build with */
	bool df;                  /* parsed */
	/* parsed from opt */
	bool has_mss, has_ws, has_ts, sack_ok, bad_opt;
	uint16_t mss;
	uint8_t ws, n_sack;
	uint32_t tsval, tsecr;
	uint32_t sack[WIRE_SACKS][2];
};

bool wire_is_v6(void);
/* An address of the codec as ours, in the family of the run; and the port that has WIRE_US. */
struct iw_addr wire_addr(uint32_t ip, uint16_t port);
struct netif wire_netif(void);

/* Appends one option to s->opt, padded with NOPs in front to a multiple of 4. */
void wire_opt(struct wire_seg *s, uint8_t kind, const uint8_t *body, uint8_t body_len);
void wire_opt_mss(struct wire_seg *s, uint16_t mss);
void wire_opt_ws(struct wire_seg *s, uint8_t shift);
void wire_opt_sack_ok(struct wire_seg *s);
void wire_opt_ts(struct wire_seg *s, uint32_t val, uint32_t ecr);
void wire_opt_sack(struct wire_seg *s, const uint32_t (*block)[2], uint8_t n);

/* The segment as a frame to us. */
struct rte_mbuf *wire_build(struct rte_mempool *mp, const struct wire_seg *s);

/* Another length in the IP header: of all (IPv4), or of what is behind the header (IPv6). */
void wire_set_length(struct rte_mbuf *m, uint16_t len);

/* False: no TCP over IP.  Fails the test when lengths or checksums are wrong.  s->data points into buf. */
bool wire_parse(const struct rte_mbuf *m, struct wire_seg *s, uint8_t buf[WIRE_FRAME_MAX]);

/* The answer to an ARP request or a neighbour solicitation; NULL: m is none. */
struct rte_mbuf *wire_neighbour_answer(struct rte_mempool *mp, const struct rte_mbuf *m);

/* An ICMP error that quotes what we sent: IP header and `quote` octets; word: bytes 4..7 of the ICMP header.  Numbers
 * are those of IPv4; for IPv6 it is the error that says the same, and an MTU that gives the same MSS. */
struct rte_mbuf *wire_icmp(struct rte_mempool *mp, uint8_t type, uint8_t code, uint32_t word,
			   const struct wire_seg *sent, uint32_t quote);

#endif
