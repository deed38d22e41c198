/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes out, in which order: FPDUs as octets. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp_obj.h"

#define OFF 0x1000
#define FAR 0x100000

struct sent {
	uint8_t op;
	bool last;
	uint32_t ulpdu, off, len;
	uint32_t msn;
};

/* The FPDUs that stand in a stream. */
static uint32_t
list(const struct pair_stream *s, struct sent *out, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t off = 0; off < s->len; n++) {
		const uint8_t *p = s->p + off;
		uint32_t ulpdu = (uint32_t)p[0] << 8 | p[1], len = 2 + ulpdu + (-(ulpdu + 2) & 3) + 4;

		assert_true(n < max);
		out[n] = (struct sent){.op = p[3] & 15,
				       .last = p[2] & 0x40,
				       .ulpdu = ulpdu,
				       .off = off,
				       .len = len,
				       .msn = (uint32_t)p[12] << 24 | (uint32_t)p[13] << 16 | (uint32_t)p[14] << 8 |
					      p[15]};
		off += len;
	}
	return n;
}

static uint64_t
be(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static void
drop(struct pair_stream *s)
{
	s->len = s->avail = 0;
}

/* MULPDU of EMSS 1448 is 1442; segments that are not the last hold whole words, so only the last has a pad. */
static void
test_segmentation(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct sent s[8];

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	mr = pair_mr(&p.a, OFF, 8192, 0);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, p.a.arena + OFF, 3001, iw_mr_lkey(mr), NULL, 5, 0), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 8), 3);
	assert_int_equal(s[0].ulpdu, 14 + 1428);
	assert_int_equal(s[1].ulpdu, 14 + 1428);
	assert_int_equal(s[2].ulpdu, 14 + 3001 - 2 * 1428);
	assert_true(!s[0].last && !s[1].last && s[2].last);
	drop(&p.b.in);
	assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 1424, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_send(&p.a, 2, p.a.arena + OFF, 1425, iw_mr_lkey(mr), 0), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 8), 3);
	assert_int_equal(s[0].len, 1448);
	assert_int_equal(s[1].ulpdu, 18 + 1424);
	assert_int_equal(s[2].ulpdu, 18 + 1);
	pair_close(&p);
}

/* D3: small messages share an mbuf; what does not fit wholly behind another begins its own. */
static void
test_small_ones_share(void **state)
{
	struct pair p;
	struct iw_mr *mr;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	mr = pair_mr(&p.a, OFF, 8192, 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 64, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_fill(&p, &p.a), 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 1000, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_fill(&p, &p.a), 2);
	assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 64, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 4000, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_fill(&p, &p.a), 1 + 3);
	pair_close(&p);
}

/* The ORD limits Reads; what is behind them in the queue waits too. */
static void
test_ord_limit(void **state)
{
	struct pair p;
	struct iw_mr *to, *from;
	struct sent s[8];

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 2, .ord = 2});
	to = pair_mr(&p.a, OFF, 4096, IW_LOCAL_WRITE);
	from = pair_mr(&p.b, OFF, 4096, IW_REMOTE_READ);
	for (uint64_t i = 0; i < 5; i++)
		assert_int_equal(pair_rdma(&p.a, i, IW_WR_RDMA_READ, p.a.arena + OFF, 100, iw_mr_lkey(to),
					   p.b.arena + OFF, iw_mr_rkey(from), IW_SEND_SIGNALED),
				 0);
	assert_int_equal(pair_send(&p.a, 5, NULL, 0, 0, IW_SEND_SIGNALED), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 8), 2);
	assert_int_equal(s[1].msn, 2);
	assert_int_equal(pair_recv(&p.b, 0, NULL, 0, 0), 0);
	pair_pump(&p);
	for (uint64_t i = 0; i < 6; i++)
		assert_int_equal(pair_wc(&p.a).wr_id, i);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	pair_close(&p);
}

static void
test_no_ord_no_read(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ord = PAIR_NONE});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, NULL, 0, 0, NULL, 0, 0), -IW_E_INVAL);
	pair_close(&p);
}

/* A fenced request starts after every Read before it; without the fence it overtakes, but completes in order. */
static void
test_fence(void **state)
{
	struct pair p;
	struct iw_mr *to, *from;
	struct sent s[8];
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4});
	to = pair_mr(&p.a, OFF, 4096, IW_LOCAL_WRITE);
	from = pair_mr(&p.b, OFF, 4096, IW_REMOTE_READ);
	for (int i = 0; i < 2; i++) /* the responder may speak after the first FPDU */
		assert_int_equal(pair_recv(&p.b, i, NULL, 0, 0), 0);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 8, iw_mr_lkey(to), p.b.arena + OFF,
				   iw_mr_rkey(from), IW_SEND_SIGNALED),
			 0);
	assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, IW_SEND_SIGNALED), 0);
	assert_int_equal(pair_send(&p.a, 3, NULL, 0, 0, IW_SEND_SIGNALED | IW_SEND_FENCE), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 8), 2);
	assert_int_equal(s[0].op, 1);
	assert_int_equal(s[1].op, 3);
	assert_true(pair_no_wc(&p.a)); /* D6: the Send was taken over, but the Read before it is not done */
	pair_deliver(&p, &p.b);
	pair_fill(&p, &p.b);
	pair_deliver(&p, &p.a);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(pair_wc(&p.a).wr_id, 2);
	assert_true(pair_no_wc(&p.a));
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).wr_id, 3);
	pair_close(&p);
}

/* D14: messages of the SQ and answers take turns; segments of two messages never mix. */
static void
test_D14_turns(void **state)
{
	struct pair p;
	struct iw_mr *to, *from, *w;
	struct sent s[64];
	uint32_t n, changes = 0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 4, .room = 1448});
	to = pair_mr(&p.a, OFF, 65536, IW_LOCAL_WRITE | IW_REMOTE_WRITE);
	from = pair_mr(&p.b, OFF, 65536, IW_REMOTE_READ);
	w = pair_mr(&p.b, FAR, 65536, 0);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(pair_rdma(&p.a, i, IW_WR_RDMA_READ, p.a.arena + OFF, 5000, iw_mr_lkey(to),
					   p.b.arena + OFF, iw_mr_rkey(from), 0),
				 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(pair_rdma(&p.b, i, IW_WR_RDMA_WRITE, p.b.arena + FAR, 5000, iw_mr_lkey(w),
					   p.a.arena + OFF, iw_mr_rkey(to), 0),
				 0);
	pair_fill(&p, &p.b);
	n = list(&p.a.in, s, 64);
	assert_int_equal(n, 6 * 4);
	for (uint32_t i = 1; i < n; i++) {
		changes += s[i].op != s[i - 1].op;
		assert_true(s[i].op == s[i - 1].op || s[i - 1].last);
	}
	assert_int_equal(changes, 5);
	pair_deliver(&p, &p.a);
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	pair_close(&p);
}

/* RFC 5044 §7.1.2 rule 4: a responder sends nothing before the first FPDU came in. */
static void
test_responder_is_silent_first(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	assert_int_equal(pair_send(&p.b, 1, NULL, 0, 0, 0), 0);
	assert_int_equal(pair_fill(&p, &p.b), 0);
	assert_int_equal(pair_recv(&p.a, 1, NULL, 0, 0), 0);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, NULL, 0, 0, NULL, 0, 0), 0);
	pair_pump(&p);
	assert_true(p.b.out_bits & RDMAP_OUT_FIRST_FPDU);
	assert_int_equal(pair_wc(&p.a).opcode, IW_WC_RECV);
	pair_close(&p);
}

/* Each RTR goes first and alone, and is seen by nobody's queues (RFC 6581). */
static void
test_M20_rtr(void **state)
{
	static const enum qp_rtr rtr[] = {QP_RTR_WRITE, QP_RTR_READ, QP_RTR_SEND};
	static const char write_octets[] = "\x00\x0e\xc1\x40\0\0\0\1\0\0\0\0\0\0\0\0";

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct pair p;
		struct sent s[4];

		pair_open(&p, &(struct pair_opts){.rtr = rtr[i]});
		assert_int_equal(pair_recv(&p.b, 7, NULL, 0, 0), 0);
		assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, NULL, 0, 0, NULL, 0, IW_SEND_SIGNALED), 0);
		assert_int_equal(pair_send(&p.a, 2, NULL, 0, 0, IW_SEND_SIGNALED), 0);
		assert_int_equal(pair_fill(&p, &p.a), 2);
		assert_int_equal(list(&p.b.in, s, 4), 3);
		if (i == 0)
			assert_memory_equal(p.b.in.p, write_octets, 16);
		assert_int_equal(s[1].msn, rtr[i] == QP_RTR_READ ? 2 : 1);
		assert_int_equal(s[2].msn, rtr[i] == QP_RTR_SEND ? 2 : 1);
		pair_pump(&p);
		assert_int_equal(pair_wc(&p.a).wr_id, 1);
		assert_int_equal(pair_wc(&p.a).wr_id, 2);
		assert_true(pair_no_wc(&p.a));
		assert_int_equal(pair_wc(&p.b).wr_id, 7);
		assert_true(pair_no_wc(&p.b));
		assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
		assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
		pair_close(&p);
	}
}

/* M20: peer-to-peer was agreed, the first FPDU is something else: accepted. */
static void
test_M20_first_is_no_rtr(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.rtr = QP_RTR_SEND, .rtr_by_hand = true});
	assert_int_equal(pair_recv(&p.b, 7, p.b.arena, 8, iw_mr_lkey(pair_mr(&p.b, 0, 8, IW_LOCAL_WRITE))), 0);
	assert_int_equal(pair_send(&p.a, 2, p.a.arena, 8, iw_mr_lkey(pair_mr(&p.a, 0, 8, 0)), 0), 0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).byte_len, 8);
	pair_close(&p);
}

/* M21: a Read of nothing is served though no IRD was agreed; a second one before the answer is not. */
static void
test_M21_read_of_nothing(void **state)
{
	struct pair p;
	uint8_t f[64], body[28] = {0};
	struct ddp_hdr h = ddp_hdr_untagged(1, true, 0, 1, 1, 0);
	struct sent s[4];

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = PAIR_NONE});
	pair_inject(&p, &p.b, f, pair_fpdu(f, &h, body, 28));
	pair_fill(&p, &p.b);
	assert_int_equal(list(&p.a.in, s, 4), 1);
	assert_int_equal(s[0].op, 2);
	assert_int_equal(s[0].ulpdu, 14);
	for (h.msn = 2; h.msn < 4; h.msn++)
		pair_inject(&p, &p.b, f, pair_fpdu(f, &h, body, 28));
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_TERMINATE);
	pair_close(&p);
}

/* An SGE that does not grant what it says: its request fails, earlier ones are sent, later ones flush. */
static void
test_bad_sge(void **state)
{
	struct pair p;
	struct iw_mr *mr;
	struct iw_wc wc;
	struct sent s[4];

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	mr = pair_mr(&p.a, OFF, 64, 0);
	assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 64, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_send(&p.a, 2, p.a.arena + OFF, 65, iw_mr_lkey(mr), 0), 0);
	assert_int_equal(pair_send(&p.a, 3, p.a.arena + OFF, 64, iw_mr_lkey(mr), 0), 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 4), 2);
	assert_int_equal(s[0].op, 3);
	assert_int_equal(s[1].op, 7);
	assert_memory_equal(p.b.in.p + s[1].off + 20, "\0\0\0\0", 4); /* 0/0: local catastrophic, no copies */
	wc = pair_wc(&p.a);
	assert_int_equal(wc.wr_id, 2);
	assert_int_equal(wc.status, IW_WC_LOC_PROT_ERR);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.wr_id, 3);
	assert_int_equal(wc.status, IW_WC_WR_FLUSH_ERR);
	assert_true(pair_no_wc(&p.a));
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_TERMINATE);
	pair_close(&p);
}

/* A Read whose sink may not be written is never asked for. */
static void
test_bad_sink(void **state)
{
	struct pair p;
	struct sent s[4];
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 64,
				   iw_mr_lkey(pair_mr(&p.a, OFF, 64, IW_REMOTE_WRITE)), NULL, 0, 0),
			 0);
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 4), 1);
	assert_int_equal(s[0].op, 7);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.status, IW_WC_LOC_ACCESS_ERR);
	pair_close(&p);
}

/* R15: in the middle of a large message the Terminate goes at the next FPDU boundary, and nothing behind it. */
static void
test_R15_terminate_in_mid_message(void **state)
{
	struct pair p;
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 0xdeadbeef, 0);
	struct rte_mbuf *m;
	uint8_t f[64];
	struct sent s[8];
	struct iw_wc wc;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	assert_int_equal(pair_send(&p.a, 1, p.a.arena + OFF, 10000, iw_mr_lkey(pair_mr(&p.a, OFF, 10000, 0)), 0), 0);
	m = rte_pktmbuf_alloc(p.mp);
	assert_int_equal(rdmap_tx_fill(rdmap_run_next(p.a.rdmap), m, 1448, NULL, p.now_ns), 1448);
	rte_pktmbuf_free(m);
	assert_false(qp_tx_is_between_messages(p.a.qp));
	pair_inject(&p, &p.a, f, pair_fpdu(f, &h, "12345678", 8));
	pair_fill(&p, &p.a);
	assert_int_equal(list(&p.b.in, s, 8), 1);
	assert_int_equal(s[0].op, 7);
	assert_true(p.a.out_bits & RDMAP_OUT_TERM_SENT);
	wc = pair_wc(&p.a);
	assert_int_equal(wc.status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(pair_fill(&p, &p.a), 0);
	pair_close(&p);
}

/* R6, S6: the source is taken back while it is being read: no octet of it leaves any more; the Terminate shows how
 * far it came. */
static void
test_S6_source_taken_back(void **state)
{
	struct pair p;
	struct iw_mr *to, *from;
	struct rte_mbuf *m;
	const uint8_t *t;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	to = pair_mr(&p.a, OFF, 10000, IW_LOCAL_WRITE);
	from = pair_mr(&p.b, OFF, 10000, IW_REMOTE_READ);
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_READ, p.a.arena + OFF, 10000, iw_mr_lkey(to), p.b.arena + OFF,
				   iw_mr_rkey(from), 0),
			 0);
	pair_fill(&p, &p.a);
	pair_deliver(&p, &p.b);
	m = rte_pktmbuf_alloc(p.mp);
	assert_int_equal(rdmap_tx_fill(rdmap_run_next(p.b.rdmap), m, 1448, NULL, p.now_ns), 1448);
	rte_pktmbuf_free(m);
	assert_int_equal(iw_mr_dereg(from), 0);
	rdmap_run_add(p.b.qp);
	pair_fill(&p, &p.b);
	t = p.a.in.p;
	assert_int_equal(t[0] << 8 | t[1], 70);
	assert_int_equal(t[3], 0x47);
	assert_memory_equal(t + 20, "\x01\x00\xe0\x00\x00\x2e", 6); /* 0/1/00, M D R, length 46 */
	assert_int_equal(be(t + 48, 8), (uintptr_t)p.a.arena + OFF + 1428);
	assert_int_equal(be(t + 56, 4), 10000 - 1428);
	assert_int_equal(be(t + 64, 8), (uintptr_t)p.b.arena + OFF + 1428);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_TERMINATE);
	pair_close(&p);
}

/* Inline data is taken at the post. */
static void
test_inline(void **state)
{
	struct pair p;
	uint8_t data[256];

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 1448});
	memset(data, 0x5a, sizeof(data));
	assert_int_equal(pair_recv(&p.b, 7, p.b.arena, 256, iw_mr_lkey(pair_mr(&p.b, 0, 256, IW_LOCAL_WRITE))), 0);
	assert_int_equal(pair_send(&p.a, 2, data, 256, 0, IW_SEND_INLINE), 0);
	memset(data, 0, sizeof(data));
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).byte_len, 256);
	for (int i = 0; i < 256; i++)
		assert_int_equal(p.b.arena[i], 0x5a);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segmentation),
		cmocka_unit_test(test_small_ones_share),
		cmocka_unit_test(test_ord_limit),
		cmocka_unit_test(test_no_ord_no_read),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_D14_turns),
		cmocka_unit_test(test_responder_is_silent_first),
		cmocka_unit_test(test_M20_rtr),
		cmocka_unit_test(test_M20_first_is_no_rtr),
		cmocka_unit_test(test_M21_read_of_nothing),
		cmocka_unit_test(test_bad_sge),
		cmocka_unit_test(test_bad_sink),
		cmocka_unit_test(test_R15_terminate_in_mid_message),
		cmocka_unit_test(test_S6_source_taken_back),
		cmocka_unit_test(test_inline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
