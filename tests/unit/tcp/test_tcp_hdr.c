/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T12, T17, T8; RFC 9293 §3.1, §3.2; RFC 7323 §2, §3; RFC 2018 §2, §3. */
#include "tcp_hdr.h"

#include <rte_ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "sum.h"

#define ROOM 2048

static struct rte_mempool *pool;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("t", ROOM, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* Octets at the very end of the mbuf's memory: reading past them is an error that ASan sees. */
static struct rte_mbuf *
packet(const void *octets, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	m->data_off = (uint16_t)(m->buf_len - len);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	if (len)
		memcpy(rte_pktmbuf_mtod(m, void *), octets, len);
	return m;
}

/* A header with these options behind 20 octets, data offset as given. */
static uint32_t
build(uint8_t *out, uint8_t flags, uint8_t doff, const uint8_t *opts, uint32_t n_opts)
{
	static const uint8_t fixed[20] = {0x12, 0x34, 0xab, 0xcd, 0xff, 0xff, 0xff, 0x00, 0x80, 0x00,
					  0x00, 0x01, 0,    0,    0x7f, 0xfe, 0xaa, 0xaa, 0x00, 0x09};

	memcpy(out, fixed, sizeof(fixed));
	out[12] = (uint8_t)(doff << 4 | 0x0f); /* reserved bits are ignored */
	out[13] = flags;
	if (n_opts)
		memcpy(out + 20, opts, n_opts);
	return 20 + n_opts;
}

static enum tcp_hdr_verdict
parse_options(uint8_t flags, const uint8_t *opts, uint32_t n, struct tcp_seg *seg)
{
	uint8_t buf[60];
	uint32_t padded = (n + 3) & ~3u, len;
	uint8_t all[40] = {0};
	enum tcp_hdr_verdict v;
	struct rte_mbuf *m;

	memcpy(all, opts, n);
	len = build(buf, flags, (uint8_t)(5 + padded / 4), all, padded);
	m = packet(buf, len);
	v = tcp_hdr_parse(m, 0, len, seg);
	rte_pktmbuf_free(m);
	return v;
}

static void
test_fixed_part(void **state)
{
	uint8_t buf[64];
	uint32_t len = build(buf, 0xff, 5, (const uint8_t *)"payload", 7);
	struct rte_mbuf *m = packet(buf, len);
	struct tcp_seg seg;

	(void)state;
	assert_int_equal(tcp_hdr_parse(m, 0, len, &seg), TCP_HDR_OK);
	assert_int_equal(seg.sport, 0x1234);
	assert_int_equal(seg.dport, 0xabcd);
	assert_int_equal(seg.seq, 0xffffff00u);
	assert_int_equal(seg.ack, 0x80000001u);
	assert_int_equal(seg.flags, 0xff);
	assert_int_equal(seg.wnd, 0x7ffe);
	assert_int_equal(seg.urp, 9);
	assert_int_equal(seg.hdr_len, 20);
	assert_int_equal(seg.off, 20);
	assert_int_equal(seg.len, 7);
	assert_int_equal(tcp_hdr_seg_len(&seg), 9);
	/* Ethernet padding behind l4_len is no payload. */
	assert_int_equal(tcp_hdr_parse(m, 0, len - 3, &seg), TCP_HDR_OK);
	assert_int_equal(seg.len, 4);
	/* An offset into the packet counts. */
	assert_int_equal(tcp_hdr_parse(m, 1, len - 1, &seg), TCP_HDR_OFFSET);
	rte_pktmbuf_free(m);
}

static void
test_T12_lengths_and_data_offset(void **state)
{
	struct tcp_seg seg = {.seq = 77};
	uint8_t buf[80] = {0};

	(void)state;
	for (uint32_t len = 0; len <= 64; len++) {
		for (uint8_t doff = 0; doff < 16; doff++) {
			enum tcp_hdr_verdict want = len < 20                      ? TCP_HDR_SHORT
						    : doff < 5 || doff * 4u > len ? TCP_HDR_OFFSET
										  : TCP_HDR_OK;
			struct rte_mbuf *m;

			build(buf, TCP_ACK, doff, NULL, 0);
			memset(buf + 20, 1, 44);
			m = packet(buf, len);
			seg.seq = 77;
			assert_int_equal(tcp_hdr_parse(m, 0, len, &seg), want);
			assert_int_equal(seg.seq, want == TCP_HDR_OK ? 0xffffff00u : 77);
			/* The packet ends before what IP claims. */
			assert_int_equal(tcp_hdr_parse(m, 0, len + 20, &seg), TCP_HDR_SHORT);
			assert_int_equal(tcp_hdr_parse(m, UINT32_MAX, 20, &seg), TCP_HDR_SHORT);
			rte_pktmbuf_free(m);
		}
	}
}

static void
test_T12_option_lengths(void **state)
{
	static const struct {
		const char *what;
		uint8_t opts[40];
		uint32_t n;
		enum tcp_hdr_verdict want;
	} t[] = {
		{"none", {0}, 0, TCP_HDR_OK},
		{"40 NOPs",
		 {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		 40,
		 TCP_HDR_OK},
		{"EOL, then rubbish", {0, 2, 0, 99, 8, 1, 1, 1}, 8, TCP_HDR_OK},
		{"unknown, length 0", {77, 0, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"unknown, length 1", {77, 1, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"unknown, length 2", {77, 2, 1, 1}, 4, TCP_HDR_OK},
		{"unknown, to the end", {77, 4, 9, 9}, 4, TCP_HDR_OK},
		{"unknown, beyond the header", {77, 5, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"unknown, 255", {77, 255, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"kind at the last octet", {1, 1, 1, 77}, 4, TCP_HDR_BAD_OPTION},
		{"MSS of 3", {2, 3, 5, 0}, 4, TCP_HDR_BAD_OPTION},
		{"MSS of 5", {2, 5, 5, 0, 0, 0, 0, 0}, 8, TCP_HDR_BAD_OPTION},
		{"MSS cut off", {1, 2, 4, 5}, 4, TCP_HDR_BAD_OPTION},
		{"WS of 2", {3, 2, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"WS of 4", {3, 4, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"SACK permitted of 3", {4, 3, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"TS of 9", {8, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 12, TCP_HDR_BAD_OPTION},
		{"TS of 12", {8, 12, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1}, 12, TCP_HDR_BAD_OPTION},
		{"TS cut off", {1, 1, 1, 8, 10, 1, 1, 1}, 8, TCP_HDR_BAD_OPTION},
		{"SACK of 2", {5, 2, 1, 1}, 4, TCP_HDR_BAD_OPTION},
		{"SACK of 9", {5, 9, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1}, 12, TCP_HDR_BAD_OPTION},
		{"SACK of 18, cut off", {5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1}, 12, TCP_HDR_BAD_OPTION},
		{"SACK of 42", {5, 42, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1}, 12, TCP_HDR_BAD_OPTION},
	};
	struct tcp_seg seg;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (int syn = 0; syn < 2; syn++)
			if (parse_options(syn ? TCP_SYN : TCP_ACK, t[i].opts, t[i].n, &seg) != t[i].want)
				fail_msg("%s, SYN %d", t[i].what, syn);
}

static void
test_options_of_a_syn(void **state)
{
	/* Odd order, an unknown option between them, MSS twice: the last one counts. */
	static const uint8_t opts[] = {8, 10, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 7, 254, 3,    1,   2,
				       4, 1,  1,    4,    2,    1,    3, 3, 9, 2, 4,   0x05, 0xb4};
	struct tcp_seg seg;

	(void)state;
	assert_int_equal(parse_options(TCP_SYN, opts, sizeof(opts), &seg), TCP_HDR_OK);
	assert_true(seg.has_ts && seg.sack_perm && seg.has_ws && seg.has_mss);
	assert_int_equal(seg.tsval, 0xdeadbeefu);
	assert_int_equal(seg.tsecr, 7);
	assert_int_equal(seg.ws, 9);
	assert_int_equal(seg.mss, 1460);
	/* Not on a SYN: only timestamps and SACK blocks mean something (T8). */
	assert_int_equal(parse_options(TCP_ACK, opts, sizeof(opts), &seg), TCP_HDR_OK);
	assert_true(seg.has_ts && !seg.sack_perm && !seg.has_ws && !seg.has_mss);
}

static void
test_T8_window_scale_above_14_is_14(void **state)
{
	struct tcp_seg seg;

	(void)state;
	for (unsigned ws = 0; ws < 256; ws++) {
		const uint8_t opts[] = {3, 3, (uint8_t)ws, 1};

		assert_int_equal(parse_options(TCP_SYN, opts, 4, &seg), TCP_HDR_OK);
		assert_true(seg.has_ws);
		assert_int_equal(seg.ws, ws > 14 ? 14 : ws);
	}
}

/* What each octet of the wire must be: RFC 7323 appendix A layout. */
static void
test_emitted_octets(void **state)
{
	static const uint8_t syn[] = {0x30, 0x39, 0x10, 0xe1, 0xff, 0xff, 0xff, 0x00, 0,    0,    0, 0, 0xa0, 0x02,
				      0xff, 0xff, 0,    0,    0,    0,    2,    4,    0x05, 0xb4, 4, 2, 8,    10,
				      0x01, 0x02, 0x03, 0x04, 0,    0,    0,    0,    1,    3,    3, 7};
	static const uint8_t ack[] = {0x30, 0x39, 0x10, 0xe1, 0,    0,    0, 1, 0, 0,   0,
				      2,    0x80, 0x10, 0x01, 0x00, 0,    0, 0, 0, 1,   1,
				      5,    0x0a, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 0x10};
	struct tcp_seg s = {.sport = 12345,
			    .dport = 4321,
			    .seq = 0xffffff00u,
			    .flags = TCP_SYN,
			    .wnd = 0xffff,
			    .has_mss = true,
			    .mss = 1460,
			    .sack_perm = true,
			    .has_ts = true,
			    .tsval = 0x01020304,
			    .has_ws = true,
			    .ws = 7};
	struct tcp_seg a = {.sport = 12345,
			    .dport = 4321,
			    .seq = 1,
			    .ack = 2,
			    .flags = TCP_ACK,
			    .wnd = 256,
			    .n_sack = 1,
			    .sack = {{0xfffffff0u, 0x10}}};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	(void)state;
	assert_int_equal(tcp_hdr_push(m, &s), sizeof(syn));
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), syn, sizeof(syn));
	rte_pktmbuf_reset(m);
	assert_int_equal(tcp_hdr_push(m, &a), sizeof(ack));
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), ack, sizeof(ack));
	rte_pktmbuf_free(m);
}

/* A form gives what tcp_hdr_push() would, with and without timestamps, and its sum; one with other options is none. */
static void
test_forms(void **state)
{
	struct tcp_seg seg = {.sport = 0xffff, .dport = 1, .ack = 0xfffffffe, .flags = TCP_ACK | TCP_PSH, .wnd = 77};
	struct rte_mbuf *one = rte_pktmbuf_alloc(pool), *two = rte_pktmbuf_alloc(pool);
	struct tcp_hdr_form form;

	(void)state;
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t len;

		seg.has_ts = i & 1;
		seg.tsval = i * 0x01010101u;
		seg.seq = i * 0xfffefdfdu;
		rte_pktmbuf_reset(one);
		rte_pktmbuf_reset(two);
		len = tcp_hdr_push(one, &seg);
		tcp_hdr_set_cksum(one, 0x1234);
		tcp_hdr_form_init(&form, rte_pktmbuf_mtod(one, const uint8_t *), len);
		tcp_hdr_set_cksum(one, 0);
		assert_int_equal(iw_sum_fold(tcp_hdr_push_form(two, &form, seg.seq)),
				 iw_sum_fold(tcp_hdr_sum(one, len)));
		assert_int_equal(rte_pktmbuf_pkt_len(two), len);
		assert_memory_equal(rte_pktmbuf_mtod(two, void *), rte_pktmbuf_mtod(one, void *), len);
	}
	seg.n_sack = 1;
	rte_pktmbuf_reset(one);
	tcp_hdr_form_init(&form, rte_pktmbuf_mtod(one, const uint8_t *), tcp_hdr_push(one, &seg));
	assert_int_equal(form.len, 0);
	rte_pktmbuf_free(one);
	rte_pktmbuf_free(two);
}

static void
assert_same(const struct tcp_seg *in, const struct tcp_seg *out, uint32_t blocks)
{
	bool syn = (in->flags & TCP_SYN) != 0;

	assert_int_equal(out->seq, in->seq);
	assert_int_equal(out->ack, in->ack);
	assert_int_equal(out->flags, in->flags);
	assert_int_equal(out->has_ts, in->has_ts);
	assert_int_equal(out->has_mss, syn && in->has_mss);
	assert_int_equal(out->has_ws, syn && in->has_ws);
	assert_int_equal(out->sack_perm, syn && in->sack_perm);
	if (out->has_mss)
		assert_int_equal(out->mss, in->mss);
	if (out->has_ws)
		assert_int_equal(out->ws, in->ws);
	if (out->has_ts) {
		assert_int_equal(out->tsval, in->tsval);
		assert_int_equal(out->tsecr, in->tsecr);
	}
	assert_int_equal(out->n_sack, blocks);
	assert_memory_equal(out->sack, in->sack, blocks * sizeof(in->sack[0]));
}

/* Every combination of options comes back, is aligned, and takes what tcp_hdr_len() said; blocks that do not fit are
 * left out (3 beside timestamps, RFC 2018 §3). */
static void
test_round_trip(void **state)
{
	(void)state;
	for (uint32_t bits = 0; bits < 160; bits++) {
		struct tcp_seg in = {.seq = 0xffffff00u + bits,
				     .ack = bits,
				     .mss = 1400,
				     .ws = 3,
				     .tsval = 5,
				     .tsecr = 6,
				     .flags = bits & 1 ? TCP_SYN : TCP_ACK | TCP_PSH,
				     .has_ts = bits & 2,
				     .has_mss = bits & 4,
				     .has_ws = bits & 8,
				     .sack_perm = bits & 16,
				     .n_sack = (uint8_t)(bits / 32),
				     .sack = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}};
		uint32_t blocks = bits & 1 ? 0 : in.has_ts && in.n_sack > 3 ? 3 : in.n_sack, len;
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		struct tcp_seg out;

		memcpy(rte_pktmbuf_append(m, 5), "hello", 5);
		len = tcp_hdr_push(m, &in);
		assert_int_equal(len, tcp_hdr_len(&in));
		assert_true(len >= 20 && len <= 60 && len % 4 == 0);
		assert_int_equal(rte_pktmbuf_pkt_len(m), len + 5);
		assert_int_equal(tcp_hdr_parse(m, 0, len + 5, &out), TCP_HDR_OK);
		assert_int_equal(out.len, 5);
		assert_int_equal(out.off, len);
		assert_same(&in, &out, blocks);
		rte_pktmbuf_free(m);
	}
}

static void
test_no_headroom_changes_nothing(void **state)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct tcp_seg seg = {.has_ts = true};

	(void)state;
	m->data_off = 31;
	assert_int_equal(tcp_hdr_push(m, &seg), 0);
	assert_int_equal(m->data_off, 31);
	assert_int_equal(m->data_len, 0);
	m->data_off = 32;
	assert_int_equal(tcp_hdr_push(m, &seg), 32);
	rte_pktmbuf_free(m);
}

static void
test_checksum_field(void **state)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct tcp_seg seg = {.sport = 1, .dport = 2, .seq = 0x12345678, .flags = TCP_ACK, .has_ts = true, .tsval = 99};
	uint32_t len = tcp_hdr_push(m, &seg), sum = tcp_hdr_sum(m, len);

	(void)state;
	tcp_hdr_set_cksum(m, (uint16_t)~sum);
	assert_int_equal(rte_raw_cksum(rte_pktmbuf_mtod(m, void *), len), 0xffff);
	assert_memory_equal(rte_pktmbuf_mtod_offset(m, uint8_t *, 16), &(uint16_t){(uint16_t)~sum}, 2);
	rte_pktmbuf_free(m);
}

/* A packet of many segments of `cut` octets each. */
static struct rte_mbuf *
chain(const uint8_t *octets, uint32_t len, uint32_t first, uint32_t cut)
{
	struct rte_mbuf *head = packet(octets, first), *tail = head;

	for (uint32_t at = first; at < len; at += cut) {
		struct rte_mbuf *m = packet(octets + at, len - at < cut ? len - at : cut);

		tail->next = m;
		tail = m;
		head->nb_segs++;
		head->pkt_len += m->data_len;
	}
	return head;
}

static void
test_header_split_over_segments(void **state)
{
	struct tcp_seg in = {.seq = 9,
			     .flags = TCP_ACK,
			     .has_ts = true,
			     .tsval = 1,
			     .tsecr = 2,
			     .n_sack = 3,
			     .sack = {{10, 20}, {30, 40}, {50, 60}}},
		       out;
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t flat[14 + 60 + 4] = {0};
	uint32_t len = tcp_hdr_push(m, &in), all = 14 + 60 + 4;

	(void)state;
	assert_int_equal(len, 60);
	memcpy(flat + 14, rte_pktmbuf_mtod(m, void *), len);
	rte_pktmbuf_free(m);
	for (uint32_t first = 0; first <= all; first++) {
		for (uint32_t cut = 1; cut < 80; cut += 6) {
			m = chain(flat, all, first, cut);
			assert_int_equal(tcp_hdr_parse(m, 14, all - 14, &out), TCP_HDR_OK);
			assert_same(&in, &out, 3);
			assert_int_equal(out.off, 74);
			assert_int_equal(out.len, 4);
			rte_pktmbuf_free(m);
		}
	}
}

/* Any octets: a verdict, no over-read (ASan), and what is accepted stays inside. */
static void
test_random_octets(void **state)
{
	uint64_t x = 0x9e3779b97f4a7c15u;
	uint32_t ok = 0;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		uint8_t buf[80];
		struct tcp_seg seg;
		struct rte_mbuf *m;
		uint32_t len;

		for (size_t j = 0; j < sizeof(buf); j++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			buf[j] = (uint8_t)(j >= 20 && (x >> 60) < 10 ? (x >> 20) % 11 : x >> 32);
		}
		len = (uint32_t)(x >> 40) % 81;
		m = packet(buf, len);
		if (tcp_hdr_parse(m, 0, len, &seg) == TCP_HDR_OK) {
			ok++;
			assert_true(seg.hdr_len >= 20 && seg.hdr_len <= 60 && seg.hdr_len + seg.len == len);
			assert_true(seg.n_sack <= 4 && seg.ws <= 14);
		}
		rte_pktmbuf_free(m);
	}
	assert_true(ok > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixed_part),
		cmocka_unit_test(test_T12_lengths_and_data_offset),
		cmocka_unit_test(test_T12_option_lengths),
		cmocka_unit_test(test_options_of_a_syn),
		cmocka_unit_test(test_T8_window_scale_above_14_is_14),
		cmocka_unit_test(test_emitted_octets),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_headroom_changes_nothing),
		cmocka_unit_test(test_checksum_field),
		cmocka_unit_test(test_header_split_over_segments),
		cmocka_unit_test(test_random_octets),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
