/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "wire_ip.h"

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

	wire_put16(b, mss);
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

	wire_put32(b, val);
	wire_put32(b + 4, ecr);
	wire_opt(s, 8, b, 8);
}

void
wire_opt_sack(struct wire_seg *s, const uint32_t (*block)[2], uint8_t n)
{
	uint8_t b[8 * WIRE_SACKS];

	for (uint32_t i = 0; i < n; i++) {
		wire_put32(b + 8 * i, block[i][0]);
		wire_put32(b + 8 * i + 4, block[i][1]);
	}
	wire_opt(s, 5, b, (uint8_t)(8 * n));
}

uint32_t
wire_put_tcp(uint8_t *p, const struct wire_seg *s)
{
	uint32_t opt = (s->opt_len + 3u) & ~3u, len = 20 + opt + s->len;

	memset(p, 0, 20 + opt);
	wire_put16(p, s->sport);
	wire_put16(p + 2, s->dport);
	wire_put32(p + 4, s->seq);
	wire_put32(p + 8, s->ack);
	p[12] = (uint8_t)((s->data_offset ? s->data_offset : 5 + opt / 4) << 4);
	p[13] = s->flags;
	wire_put16(p + 14, s->wnd);
	wire_put16(p + 18, s->urp);
	memcpy(p + 20, s->opt, s->opt_len);
	if (s->data)
		memcpy(p + 20 + opt, s->data, s->len);
	else
		memset(p + 20 + opt, 0, s->len);
	wire_put16(p + 16, (uint16_t)(wire_cksum(wire_pseudo(s->src, s->dst, 6, len), p, len) ^ s->bad_cksum));
	return len;
}

struct rte_mbuf *
wire_build(struct rte_mempool *mp, const struct wire_seg *s)
{
	uint8_t p[WIRE_FRAME_MAX];
	uint32_t ip = WIRE_ETH + wire_ip_len(), len;

	assert_true(s->len <= WIRE_DATA_MAX);
	len = wire_put_tcp(p + ip, s);
	wire_put_ip(p, s->src, s->dst, 6, s->ecn, len);
	return wire_frame_of(mp, p, ip + len);
}

static void
parse_opt(struct wire_seg *s, const uint8_t *o, uint8_t len)
{
	if (o[0] == 2 && len == 4) {
		s->has_mss = true;
		s->mss = wire_get16(o + 2);
	} else if (o[0] == 3 && len == 3) {
		s->has_ws = true;
		s->ws = o[2];
	} else if (o[0] == 4 && len == 2) {
		s->sack_ok = true;
	} else if (o[0] == 8 && len == 10) {
		s->has_ts = true;
		s->tsval = wire_get32(o + 2);
		s->tsecr = wire_get32(o + 6);
	} else if (o[0] == 5 && len % 8 == 2 && len <= 2 + 8 * WIRE_SACKS) {
		s->n_sack = (uint8_t)(len / 8);
		for (uint32_t i = 0; i < s->n_sack; i++) {
			s->sack[i][0] = wire_get32(o + 2 + 8 * i);
			s->sack[i][1] = wire_get32(o + 6 + 8 * i);
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
	assert_int_equal(wire_cksum(wire_pseudo(s->src, s->dst, 6, len), p, len), 0);
	s->sport = wire_get16(p);
	s->dport = wire_get16(p + 2);
	s->seq = wire_get32(p + 4);
	s->ack = wire_get32(p + 8);
	s->flags = p[13];
	s->wnd = wire_get16(p + 14);
	s->urp = wire_get16(p + 18);
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
	uint32_t ip = WIRE_ETH + wire_ip_len(), len;

	assert_non_null(p);
	memset(s, 0, sizeof(*s));
	len = wire_get_ip(p, m->pkt_len, 6, s);
	if (len == 0)
		return false;
	parse_tcp(s, p + ip, len);
	return true;
}
