/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ETH 14
#define IP 20
#define PROTO_ICMP 1
#define PROTO_TCP 6

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void
put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* RFC 1071, octet by octet. */
static uint32_t
sum(uint32_t s, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		s += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	return s;
}

static uint16_t
fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)s;
}

static uint32_t
pseudo(uint32_t src, uint32_t dst, uint32_t len)
{
	uint8_t p[12] = {0};

	put32(p, src);
	put32(p + 4, dst);
	p[9] = PROTO_TCP;
	put16(p + 10, len);
	return sum(0, p, sizeof(p));
}

void
wire_opt(struct wire_seg *s, uint8_t kind, const uint8_t *body, uint8_t body_len)
{
	while ((s->opt_len + 2 + body_len) % 4)
		s->opt[s->opt_len++] = 1;
	assert_true(s->opt_len + 2u + body_len <= sizeof(s->opt));
	s->opt[s->opt_len++] = kind;
	s->opt[s->opt_len++] = (uint8_t)(body_len + 2);
	memcpy(s->opt + s->opt_len, body, body_len);
	s->opt_len = (uint8_t)(s->opt_len + body_len);
}

void
wire_opt_mss(struct wire_seg *s, uint16_t mss)
{
	uint8_t b[2];

	put16(b, mss);
	wire_opt(s, 2, b, 2);
}

void
wire_opt_ws(struct wire_seg *s, uint8_t shift)
{
	wire_opt(s, 3, &shift, 1);
}

void
wire_opt_sack_ok(struct wire_seg *s)
{
	wire_opt(s, 4, (const uint8_t *)"", 0);
}

void
wire_opt_ts(struct wire_seg *s, uint32_t val, uint32_t ecr)
{
	uint8_t b[8];

	put32(b, val);
	put32(b + 4, ecr);
	wire_opt(s, 8, b, 8);
}

void
wire_opt_sack(struct wire_seg *s, const uint32_t (*block)[2], uint8_t n)
{
	uint8_t b[8 * WIRE_SACKS];

	for (uint32_t i = 0; i < n; i++) {
		put32(b + 8 * i, block[i][0]);
		put32(b + 8 * i + 4, block[i][1]);
	}
	wire_opt(s, 5, b, (uint8_t)(8 * n));
}

static void
put_eth(uint8_t *p, uint32_t src, uint16_t type)
{
	memcpy(p, (const uint8_t[]){2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, (uint8_t)src}, 12);
	put16(p + 12, type);
}

static void
put_ip(uint8_t *p, uint32_t src, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t len)
{
	memset(p, 0, IP);
	p[0] = 0x45;
	p[1] = ecn;
	put16(p + 2, IP + len);
	p[6] = 0x40;
	p[8] = 64;
	p[9] = proto;
	put32(p + 12, src);
	put32(p + 16, dst);
	put16(p + 10, (uint16_t)~fold(sum(0, p, IP)));
}

static uint32_t
put_tcp(uint8_t *p, const struct wire_seg *s)
{
	uint32_t opt = (s->opt_len + 3u) & ~3u, len = 20 + opt + s->len;

	memset(p, 0, 20 + opt);
	put16(p, s->sport);
	put16(p + 2, s->dport);
	put32(p + 4, s->seq);
	put32(p + 8, s->ack);
	p[12] = (uint8_t)((s->data_offset ? s->data_offset : 5 + opt / 4) << 4);
	p[13] = s->flags;
	put16(p + 14, s->wnd);
	put16(p + 18, s->urp);
	memcpy(p + 20, s->opt, s->opt_len);
	if (s->data)
		memcpy(p + 20 + opt, s->data, s->len);
	else
		memset(p + 20 + opt, 0, s->len);
	put16(p + 16, (uint16_t)(~fold(sum(pseudo(s->src, s->dst, len), p, len)) ^ s->bad_cksum));
	return len;
}

static struct rte_mbuf *
frame_of(struct rte_mempool *mp, const uint8_t *p, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), p, len);
	return m;
}

struct rte_mbuf *
wire_build(struct rte_mempool *mp, const struct wire_seg *s)
{
	uint8_t p[WIRE_FRAME_MAX];
	uint32_t len;

	assert_true(s->len <= WIRE_DATA_MAX);
	len = put_tcp(p + ETH + IP, s);
	put_ip(p + ETH, s->src, s->dst, PROTO_TCP, s->ecn, len);
	put_eth(p, s->src, 0x0800);
	return frame_of(mp, p, ETH + IP + len);
}

static void
parse_opt(struct wire_seg *s, const uint8_t *o, uint8_t len)
{
	if (o[0] == 2 && len == 4) {
		s->has_mss = true;
		s->mss = get16(o + 2);
	} else if (o[0] == 3 && len == 3) {
		s->has_ws = true;
		s->ws = o[2];
	} else if (o[0] == 4 && len == 2) {
		s->sack_ok = true;
	} else if (o[0] == 8 && len == 10) {
		s->has_ts = true;
		s->tsval = get32(o + 2);
		s->tsecr = get32(o + 6);
	} else if (o[0] == 5 && len % 8 == 2 && len <= 2 + 8 * WIRE_SACKS) {
		s->n_sack = (uint8_t)(len / 8);
		for (uint32_t i = 0; i < s->n_sack; i++) {
			s->sack[i][0] = get32(o + 2 + 8 * i);
			s->sack[i][1] = get32(o + 6 + 8 * i);
		}
	} else {
		s->bad_opt = true;
	}
}

static void
parse_opts(struct wire_seg *s)
{
	for (uint32_t i = 0; i < s->opt_len && s->opt[i] != 0;) {
		if (s->opt[i] == 1) {
			i++;
			continue;
		}
		if (i + 1 >= s->opt_len || s->opt[i + 1] < 2 || i + s->opt[i + 1] > s->opt_len) {
			s->bad_opt = true;
			return;
		}
		parse_opt(s, s->opt + i, s->opt[i + 1]);
		i += s->opt[i + 1];
	}
}

static void
parse_tcp(struct wire_seg *s, const uint8_t *p, uint32_t len)
{
	uint32_t hdr = (uint32_t)(p[12] >> 4) * 4;

	assert_true(hdr >= 20 && hdr <= len);
	assert_int_equal(fold(sum(pseudo(s->src, s->dst, len), p, len)), 0xffff);
	s->sport = get16(p);
	s->dport = get16(p + 2);
	s->seq = get32(p + 4);
	s->ack = get32(p + 8);
	s->flags = p[13];
	s->wnd = get16(p + 14);
	s->urp = get16(p + 18);
	s->opt_len = (uint8_t)(hdr - 20);
	memcpy(s->opt, p + 20, s->opt_len);
	s->len = len - hdr;
	s->data = p + hdr;
	parse_opts(s);
	assert_false(s->bad_opt);
}

bool
wire_parse(const struct rte_mbuf *m, struct wire_seg *s, uint8_t buf[WIRE_FRAME_MAX])
{
	const uint8_t *p = rte_pktmbuf_read(m, 0, m->pkt_len, buf);
	const uint8_t *ip = p + ETH;

	assert_non_null(p);
	if (m->pkt_len < ETH + IP + 20 || get16(p + 12) != 0x0800 || ip[9] != PROTO_TCP)
		return false;
	memset(s, 0, sizeof(*s));
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(fold(sum(0, ip, IP)), 0xffff);
	assert_int_equal(get16(ip + 2) + ETH, m->pkt_len);
	s->ecn = ip[1] & 3;
	s->df = ip[6] >> 6 & 1;
	s->src = get32(ip + 12);
	s->dst = get32(ip + 16);
	parse_tcp(s, ip + IP, get16(ip + 2) - IP);
	return true;
}

struct rte_mbuf *
wire_arp_answer(struct rte_mempool *mp, const struct rte_mbuf *m)
{
	const uint8_t *q = rte_pktmbuf_mtod(m, const uint8_t *);
	uint8_t p[60] = {0};

	if (m->data_len < 42 || get16(q + 12) != 0x0806 || get16(q + 20) != 1 || get32(q + 38) == WIRE_US)
		return NULL;
	put_eth(p, q[41], 0x0806);
	memcpy(p + 14, (const uint8_t[]){0, 1, 8, 0, 6, 4, 0, 2}, 8);
	memcpy(p + 22, p + 6, 6);
	memcpy(p + 28, q + 38, 4);
	memcpy(p + 32, q + 22, 10);
	return frame_of(mp, p, sizeof(p));
}

struct rte_mbuf *
wire_icmp(struct rte_mempool *mp, uint8_t type, uint8_t code, uint32_t word, const struct wire_seg *sent,
	  uint32_t quote)
{
	uint8_t p[ETH + IP + 8 + IP + 60 + WIRE_DATA_MAX] = {0}, *icmp = p + ETH + IP, *ip = icmp + 8;
	uint32_t len = put_tcp(ip + IP, sent);

	put_ip(ip, sent->src, sent->dst, PROTO_TCP, 0, len);
	icmp[0] = type;
	icmp[1] = code;
	put32(icmp + 4, word);
	put16(icmp + 2, (uint16_t)~fold(sum(0, icmp, 8 + IP + quote)));
	put_ip(p + ETH, WIRE_PEER, WIRE_US, PROTO_ICMP, 0, 8 + IP + quote);
	put_eth(p, WIRE_PEER, 0x0800);
	return frame_of(mp, p, ETH + IP + 8 + IP + quote);
}
