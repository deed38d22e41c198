/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_addr.h"

#define IP4 20
#define IP6 40
#define ICMP 8
#define PROTO_ICMP 1
#define PROTO_ICMP6 58
#define NEIGHBOUR 24 /* RFC 4861 §4.3, §4.4: without options */

bool
wire_is_v6(void)
{
	const char *family = getenv("IW_TEST_FAMILY");

	return family && strcmp(family, "6") == 0;
}

void
wire_put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

void
wire_put32(uint8_t *p, uint32_t v)
{
	wire_put16(p, v >> 16);
	wire_put16(p + 2, v & 0xffff);
}

uint16_t
wire_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

uint32_t
wire_get32(const uint8_t *p)
{
	return (uint32_t)wire_get16(p) << 16 | wire_get16(p + 2);
}

static uint32_t
sum(uint32_t s, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	return s;
}

uint16_t
wire_cksum(uint32_t s, const uint8_t *p, uint32_t len)
{
	s = sum(s, p, len);
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

/* ---- addresses ---- */

/* Of IPv6: fd00::a.b.c.d; unspecified, loopback, all nodes and all ones as they are there. */
static void
put_ip6(uint8_t *p, uint32_t ip)
{
	memset(p, ip == UINT32_MAX ? 0xff : 0, 16);
	if (ip == 0 || ip == UINT32_MAX)
		return;
	if (ip == WIRE_LOOPBACK) {
		p[15] = 1;
	} else if (ip == WIRE_ALL_NODES) {
		memcpy(p, (const uint8_t[]){0xff, 2}, 2);
		p[15] = 1;
	} else {
		p[0] = 0xfd;
		wire_put32(p + 12, ip);
	}
}

struct iw_addr
wire_addr(uint32_t ip, uint16_t port)
{
	struct iw_addr a = {.port = port};

	if (!wire_is_v6())
		return iw_addr_from_v4(ip, port);
	put_ip6(a.ip, ip);
	return a;
}

struct netif
wire_netif(void)
{
	/* In both families a segment carries 1460 octets. */
	struct netif nif = {.mac = {2, 0, 0, 0, 0, 1}, .prefix_len = 24, .mtu = WIRE_MTU};

	if (wire_is_v6()) {
		nif.prefix_len = 64;
		nif.mtu = WIRE_MTU6;
	}
	nif.addr = wire_addr(WIRE_US, 0);
	return nif;
}

uint32_t
wire_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len)
{
	uint8_t p[40] = {0};

	if (wire_is_v6()) {
		put_ip6(p, src);
		put_ip6(p + 16, dst);
		wire_put32(p + 32, len);
		p[39] = proto;
		return sum(0, p, sizeof(p));
	}
	wire_put32(p, src);
	wire_put32(p + 4, dst);
	p[9] = proto;
	wire_put16(p + 10, len);
	return sum(0, p, 12);
}

/* ---- headers ---- */

uint32_t
wire_ip_len(void)
{
	return wire_is_v6() ? IP6 : IP4;
}

static void
put_ip6_header(uint8_t *p, uint32_t src, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t len)
{
	memset(p, 0, IP6);
	p[0] = 0x60;
	p[1] = (uint8_t)(ecn << 4);
	wire_put16(p + 4, len);
	p[6] = proto;
	p[7] = 255;
	put_ip6(p + 8, src);
	put_ip6(p + 24, dst);
}

static void
put_ip4_header(uint8_t *p, uint32_t src, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t len)
{
	memset(p, 0, IP4);
	p[0] = 0x45;
	p[1] = ecn;
	wire_put16(p + 2, IP4 + len);
	p[6] = 0x40;
	p[8] = 64;
	p[9] = proto;
	wire_put32(p + 12, src);
	wire_put32(p + 16, dst);
	wire_put16(p + 10, wire_cksum(0, p, IP4));
}

void
wire_put_ip(uint8_t *p, uint32_t src, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t len)
{
	memcpy(p, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, (uint8_t)src}, 12);
	wire_put16(p + 12, wire_is_v6() ? 0x86dd : 0x0800);
	(wire_is_v6() ? put_ip6_header : put_ip4_header)(p + WIRE_ETH, src, dst, proto, ecn, len);
}

void
wire_set_length(struct rte_mbuf *m, uint16_t len)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, WIRE_ETH);

	if (wire_is_v6()) {
		wire_put16(ip + 4, len);
		return;
	}
	wire_put16(ip + 2, len);
	wire_put16(ip + 10, 0);
	wire_put16(ip + 10, wire_cksum(0, ip, IP4));
}

static uint32_t
get_ip6(const uint8_t *ip, uint32_t len, struct wire_seg *s)
{
	uint8_t prefix[16];

	put_ip6(prefix, WIRE_PEER);
	assert_int_equal(ip[0] >> 4, 6);
	assert_int_equal(wire_get16(ip + 4) + IP6, len);
	assert_memory_equal(ip + 8, prefix, 12);
	assert_memory_equal(ip + 24, prefix, 12);
	s->ecn = ip[1] >> 4 & 3;
	s->df = true; /* there is nothing else */
	s->src = wire_get32(ip + 20);
	s->dst = wire_get32(ip + 36);
	return len - IP6;
}

static uint32_t
get_ip4(const uint8_t *ip, uint32_t len, struct wire_seg *s)
{
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(wire_cksum(0, ip, IP4), 0);
	assert_int_equal(wire_get16(ip + 2), len);
	s->ecn = ip[1] & 3;
	s->df = ip[6] >> 6 & 1;
	s->src = wire_get32(ip + 12);
	s->dst = wire_get32(ip + 16);
	return len - IP4;
}

uint32_t
wire_get_ip(const uint8_t *p, uint32_t len, uint8_t proto, struct wire_seg *s)
{
	const uint8_t *ip = p + WIRE_ETH;
	bool v6 = wire_is_v6();

	if (len < WIRE_ETH + wire_ip_len() + ICMP || wire_get16(p + 12) != (v6 ? 0x86dd : 0x0800) ||
	    ip[v6 ? 6 : 9] != proto)
		return 0;
	return (v6 ? get_ip6 : get_ip4)(ip, len - WIRE_ETH, s);
}

struct rte_mbuf *
wire_frame_of(struct rte_mempool *mp, const uint8_t *p, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), p, len);
	return m;
}

/* ---- neighbours ---- */

static struct rte_mbuf *
arp_answer(struct rte_mempool *mp, const uint8_t *q, uint32_t len)
{
	uint8_t p[60] = {0};

	if (len < 42 || wire_get16(q + 12) != 0x0806 || wire_get16(q + 20) != 1 || wire_get32(q + 38) == WIRE_US)
		return NULL;
	memcpy(p, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, q[41], 8, 6, 0, 1, 8, 0, 6, 4, 0, 2}, 22);
	memcpy(p + 22, p + 6, 6);
	memcpy(p + 28, q + 38, 4);
	memcpy(p + 32, q + 22, 10);
	return wire_frame_of(mp, p, sizeof(p));
}

/* RFC 4861 §7.2.4. */
static struct rte_mbuf *
advertisement(struct rte_mempool *mp, const uint8_t *q, uint32_t len)
{
	uint8_t p[WIRE_ETH + IP6 + NEIGHBOUR + 8] = {0}, *nd = p + WIRE_ETH + IP6;
	const uint8_t *asked = q + WIRE_ETH + IP6;
	uint32_t target;

	if (len < WIRE_ETH + IP6 + NEIGHBOUR || wire_get16(q + 12) != 0x86dd || q[WIRE_ETH + 6] != PROTO_ICMP6 ||
	    asked[0] != 135)
		return NULL;
	target = wire_get32(asked + 20);
	if (target == WIRE_US)
		return NULL;
	wire_put_ip(p, target, WIRE_US, PROTO_ICMP6, 0, NEIGHBOUR + 8);
	nd[0] = 136;
	nd[4] = 0x60; /* solicited, override */
	memcpy(nd + 8, asked + 8, 16);
	memcpy(nd + NEIGHBOUR, (const uint8_t[]){2, 1, 2, 0, 0, 0, 0, (uint8_t)target}, 8);
	wire_put16(nd + 2, wire_cksum(wire_pseudo(target, WIRE_US, PROTO_ICMP6, NEIGHBOUR + 8), nd, NEIGHBOUR + 8));
	return wire_frame_of(mp, p, sizeof(p));
}

struct rte_mbuf *
wire_neighbour_answer(struct rte_mempool *mp, const struct rte_mbuf *m)
{
	const uint8_t *q = rte_pktmbuf_mtod(m, const uint8_t *);

	return (wire_is_v6() ? advertisement : arp_answer)(mp, q, m->data_len);
}

/* ---- ICMP ---- */

/* What says the same in ICMPv6 (RFC 4443 §3, RFC 4861 §4.5); source quench: nothing does. */
static const struct {
	uint8_t type, code, type6, code6;
} same[] = {
	{3, 0, 1, 0}, {3, 1, 1, 3},   {3, 2, 4, 1},  {3, 3, 1, 4},  {3, 4, 2, 0},
	{3, 5, 1, 2}, {5, 1, 137, 0}, {11, 0, 3, 0}, {12, 0, 4, 0}, {4, 0, 127, 0},
};

static void
translate(uint8_t *icmp, uint32_t word)
{
	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (icmp[0] == same[i].type && icmp[1] == same[i].code) {
			icmp[0] = same[i].type6;
			icmp[1] = same[i].code6;
			wire_put32(icmp + 4, same[i].type6 == 2 && word ? word + WIRE_MTU6 - WIRE_MTU : word);
			return;
		}
	fail_msg("ICMP type %u, code %u has no counterpart", icmp[0], icmp[1]);
}

struct rte_mbuf *
wire_icmp(struct rte_mempool *mp, uint8_t type, uint8_t code, uint32_t word, const struct wire_seg *sent,
	  uint32_t quote)
{
	uint32_t ip = wire_ip_len(), len = ICMP + ip + quote;
	uint8_t p[2 * (WIRE_ETH + IP6) + ICMP + 60 + WIRE_DATA_MAX] = {0}, inner[WIRE_FRAME_MAX];
	uint8_t *icmp = p + WIRE_ETH + ip;

	wire_put_ip(inner, sent->src, sent->dst, 6, 0, wire_put_tcp(inner + WIRE_ETH + ip, sent));
	memcpy(icmp + ICMP, inner + WIRE_ETH, ip + quote);
	icmp[0] = type;
	icmp[1] = code;
	wire_put32(icmp + 4, word);
	if (wire_is_v6()) {
		translate(icmp, word);
		wire_put16(icmp + 2, wire_cksum(wire_pseudo(WIRE_PEER, WIRE_US, PROTO_ICMP6, len), icmp, len));
	} else {
		wire_put16(icmp + 2, wire_cksum(0, icmp, len));
	}
	wire_put_ip(p, WIRE_PEER, WIRE_US, wire_is_v6() ? PROTO_ICMP6 : PROTO_ICMP, 0, len);
	return wire_frame_of(mp, p, WIRE_ETH + ip + len);
}
