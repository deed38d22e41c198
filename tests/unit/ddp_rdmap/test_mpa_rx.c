/* SPDX-License-Identifier: BSD-3-Clause */
/* FPDUs out of views: cuts, CRC, what mpa_rx() reports. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crc32c.h"
#include "iw_time.h"
#include "pair.h"
#include "qp_obj.h"

static struct rte_mbuf *
mbuf_of(struct pair *p, const uint8_t *src, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->mp);

	memcpy(rte_pktmbuf_append(m, (uint16_t)len), src, len);
	return m;
}

/* F1, fault 4: every bit of an FPDU flipped in turn, the TCP checksum repaired: CRC (or, in the length, an FPDU that is
 * not what it says); nothing is placed. */
static void
test_F1_every_bit(void **state)
{
	uint8_t good[64], bad[64];
	struct pair p;
	uint32_t n = 0;

	(void)state;
	for (uint32_t bit = 0; bit == 0 || bit < 8 * n; bit++) {
		struct ddp_hdr h;
		struct iw_terminate t;
		struct iw_mr *mr;

		pair_open(&p, &(struct pair_opts){.arena = 8192});
		mr = pair_mr(&p.a, 1024, 64, IW_REMOTE_WRITE);
		h = ddp_hdr_tagged(0, true, iw_mr_rkey(mr), (uintptr_t)p.a.arena + 1024);
		n = pair_fpdu(good, &h, "0123456789abc", 13);
		memcpy(bad, good, n);
		bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
		pair_inject(&p, &p.a, bad, n);
		assert_true(pair_untouched(&p.a, 0, 8192));
		iw_qp_terminate_info(p.a.qp, &t);
		if (bit >= 16) {
			assert_int_equal(iw_qp_state(p.a.qp), IW_QP_TERMINATE);
			assert_int_equal(t.layer, 2);
			assert_int_equal(t.code, 2);
			pair_inject(&p, &p.a, good, n); /* nothing later is placed either */
			assert_true(pair_untouched(&p.a, 0, 8192));
		} else if (t.valid) {
			assert_int_equal(t.layer, 2);
		}
		pair_close(&p);
	}
}

/* With the CRC off nobody looks at the field (F9), and what is sent holds 0. */
static void
test_F9_crc_off(void **state)
{
	struct pair p;
	uint8_t f[64];
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);
	uint32_t n = pair_fpdu(f, &h, NULL, 0);

	(void)state;
	pair_open(&p, &(struct pair_opts){.no_crc = true});
	assert_int_equal(pair_recv(&p.a, 1, NULL, 0, 0), 0);
	f[n - 1] ^= 0xff;
	pair_inject(&p, &p.a, f, n);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_int_equal(pair_send(&p.a, 1, NULL, 0, 0, 0), 0);
	pair_fill(&p, &p.a);
	assert_memory_equal(p.b.in.p + 20, "\0\0\0\0", 4);
	pair_close(&p);
}

/* A burst of whole FPDUs and a piece (B8): all that are whole are taken, and what is missing is said. */
static void
test_B8_need_and_budget(void **state)
{
	struct pair p;
	uint8_t f[512];
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	struct mpa_rx_result r;
	struct iw_view v[2];
	uint32_t n = 0;

	(void)state;
	pair_open(&p, &(struct pair_opts){.ird = 1});
	for (int i = 0; i < 5; i++)
		n += pair_fpdu(f + n, &h, NULL, 0);
	assert_int_equal(n, 100);
	v[0] = (struct iw_view){.m = mbuf_of(&p, f, 100), .off = 0, .len = 100};
	v[1] = (struct iw_view){.m = mbuf_of(&p, f, 100), .off = 0, .len = 1};
	r = mpa_rx(p.a.qp, v, 2, 3, p.now_ns);
	assert_int_equal(r.consumed, 60);
	assert_int_equal(r.fpdus, 3);
	assert_int_equal(r.stop, MPA_RX_BUDGET);
	v[0].off = 60;
	v[0].len = 40;
	r = mpa_rx(p.a.qp, v, 2, 16, p.now_ns);
	assert_int_equal(r.consumed, 40);
	assert_int_equal(r.fpdus, 2);
	assert_int_equal(r.stop, MPA_RX_NEED);
	assert_true(r.need > 1 && r.need <= 20);
	assert_true(qp_is_mid_message(p.a.qp)); /* F7: a FIN here is none */
	v[1].len = 19;
	r = mpa_rx(p.a.qp, v + 1, 1, 16, p.now_ns);
	assert_int_equal(r.consumed, 0);
	assert_int_equal(r.need, 20);
	v[1].len = 20;
	r = mpa_rx(p.a.qp, v + 1, 1, 16, p.now_ns);
	assert_int_equal(r.consumed, 20);
	assert_false(qp_is_mid_message(p.a.qp));
	r = mpa_rx(p.a.qp, NULL, 0, 16, p.now_ns);
	assert_int_equal(r.consumed, 0);
	assert_int_equal(r.stop, MPA_RX_NEED);
	qp_set_error(p.a.qp);
	r = mpa_rx(p.a.qp, v, 2, 16, p.now_ns);
	assert_int_equal(r.stop, MPA_RX_DEAD);
	assert_int_equal(r.consumed, 60); /* nothing of it is kept (R13) */
	rte_pktmbuf_free(v[0].m);
	rte_pktmbuf_free(v[1].m);
	pair_close(&p);
}

enum cut_kind { CUT_SEND, CUT_WRITE, CUT_READ, CUT_KINDS };

/* One whole message of its kind, number msn of the stream: 24, 36 or 52 octets. */
static uint32_t
cut_fpdu(struct pair *p, enum cut_kind kind, uint32_t msn, const struct iw_mr *mr, uint8_t *f)
{
	static const uint8_t nothing[28]; /* a Read of no octets */
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, msn, 0);

	if (kind == CUT_SEND)
		return pair_fpdu(f, &h, NULL, 0);
	if (kind == CUT_READ) {
		h = ddp_hdr_untagged(1, true, 0, 1, msn, 0);
		return pair_fpdu(f, &h, nothing, 28);
	}
	h = ddp_hdr_tagged(0, true, iw_mr_rkey(mr), (uintptr_t)p->a.arena);
	memset(p->a.arena, 0, 16);
	return pair_fpdu(f, &h, "thirteen long", 13);
}

/* In three views, of which none is empty. */
static void
cut_deliver(struct pair *p, const uint8_t *f, uint32_t n, uint32_t a, uint32_t b)
{
	const uint32_t at[4] = {0, a, b, n};
	struct mpa_rx_result r;
	struct iw_view v[3];

	for (int i = 0; i < 3; i++)
		v[i] = (struct iw_view){.m = mbuf_of(p, f + at[i], at[i + 1] - at[i]), .len = at[i + 1] - at[i]};
	r = mpa_rx(p->a.qp, v, 3, 16, p->now_ns);
	assert_int_equal(r.consumed, n);
	for (int i = 0; i < 3; i++)
		rte_pktmbuf_free(v[i].m);
}

static void
cut_check(struct pair *p, enum cut_kind kind)
{
	if (kind == CUT_SEND)
		assert_int_equal(pair_wc(&p->a).status, IW_WC_SUCCESS);
	if (kind == CUT_WRITE)
		assert_memory_equal(p->a.arena, "thirteen long", 14);
	if (kind != CUT_READ)
		return;
	pair_fill(p, &p->a); /* its response: of no octets either */
	assert_int_equal(p->b.in.len, 20);
	p->b.in.len = p->b.in.avail = 0;
}

/* B3, F8: a Send, a Write and a Read Request, each cut in three at every pair of places. */
static void
test_B3_three_way_cuts(void **state)
{
	uint8_t f[64];

	(void)state;
	for (enum cut_kind kind = 0; kind < CUT_KINDS; kind++) {
		struct pair p;
		struct iw_mr *mr;
		uint32_t msn = 1, n = 0;

		pair_open(&p, &(struct pair_opts){.ird = 2, .arena = 8192});
		mr = pair_mr(&p.a, 0, 4096, IW_REMOTE_WRITE | IW_REMOTE_READ | IW_LOCAL_WRITE);
		for (uint32_t a = 1; a == 1 || a < n - 1; a++)
			for (uint32_t b = a + 1; b == a + 1 || b < n; b++, msn++) {
				n = cut_fpdu(&p, kind, msn, mr, f);
				if (kind == CUT_SEND)
					assert_int_equal(pair_recv(&p.a, msn, NULL, 0, 0), 0);
				cut_deliver(&p, f, n, a, b);
				cut_check(&p, kind);
			}
		assert_int_equal(msn - 1, (n - 1) * (n - 2) / 2);
		assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
		assert_int_equal(iw_mr_dereg(mr), 0);
		pair_close(&p);
	}
}

/* What came sealed is believed: FPDUs that lie where whoever sealed them looked for FPDUs, and those alone.  All CRCs
 * are wrong here, but for those of the first `right`. */
static void
test_sealed_octets(void **state)
{
	static const struct {
		uint32_t fpdus, right, sealed, front; /* octets of the first FPDU that came in another view */
		uint32_t taken;
	} cases[] = {
		{1, 1, 0, 0, 1}, {1, 0, 0, 0, 0}, {1, 0, 1, 0, 1}, {2, 0, 2, 0, 2}, {2, 0, 1, 0, 1},
		{2, 1, 0, 0, 1}, {2, 2, 1, 0, 2}, {2, 1, 2, 8, 1}, {2, 2, 2, 8, 2},
	};
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t front = cases[i].front, len = 0, octets = 0;
		struct iw_view v[2];
		struct pair p;
		uint8_t f[64];

		pair_open(&p, &(struct pair_opts){.ird = 1});
		for (uint32_t n = 0; n < cases[i].fpdus; n++, len += octets) {
			octets = pair_fpdu(f + len, &h, NULL, 0);
			f[len + octets - 1] ^= n >= cases[i].right;
		}
		v[0] = (struct iw_view){.m = mbuf_of(&p, f, front ? front : len), .len = front ? front : len};
		v[1] = (struct iw_view){.m = mbuf_of(&p, f + front, len - front), .len = len - front};
		v[front > 0].sealed = cases[i].sealed * octets;
		mpa_rx(p.a.qp, v, front ? 2 : 1, 16, p.now_ns);
		assert_int_equal(p.a.qp->rx_fpdus, cases[i].taken);
		assert_int_equal(iw_qp_state(p.a.qp), cases[i].taken == cases[i].fpdus ? IW_QP_RTS : IW_QP_TERMINATE);
		rte_pktmbuf_free(v[0].m);
		rte_pktmbuf_free(v[1].m);
		rdmap_quiescent(p.a.rdmap);
		pair_close(&p);
	}
}

/* Worth to be sealed: long ones in one view that begins with an FPDU, where CRC is on. */
static void
test_sealable(void **state)
{
	static const struct {
		uint32_t payload, cut; /* where the second view begins */
		bool no_crc;
		uint32_t sealable;
	} cases[] = {
		{1024, 0, false, 1},
		{900, 0, false, 0},
		{1024, 500, false, 0},
		{1024, 0, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mpa_rx_result r;
		struct iw_view v[2];
		static uint8_t f[1200], zero[1024];
		struct ddp_hdr h;
		struct iw_mr *mr;
		struct pair p;
		uint32_t len, cut;

		pair_open(&p, &(struct pair_opts){.ird = 1, .no_crc = cases[i].no_crc, .arena = 4096});
		mr = pair_mr(&p.a, 0, 4096, IW_REMOTE_WRITE | IW_LOCAL_WRITE);
		h = ddp_hdr_tagged(0, true, iw_mr_rkey(mr), (uintptr_t)p.a.arena);
		len = pair_fpdu(f, &h, zero, cases[i].payload);
		cut = cases[i].cut ? cases[i].cut : len;
		v[0] = (struct iw_view){.m = mbuf_of(&p, f, cut), .len = cut};
		v[1] = (struct iw_view){.m = mbuf_of(&p, f + cut, len - cut), .len = len - cut};
		r = mpa_rx(p.a.qp, v, cut < len ? 2 : 1, 16, p.now_ns);
		assert_int_equal(r.fpdus, 1);
		assert_int_equal(r.sealable, cases[i].sealable);
		rte_pktmbuf_free(v[0].m);
		rte_pktmbuf_free(v[1].m);
		assert_int_equal(iw_mr_dereg(mr), 0);
		pair_close(&p);
	}
}

/* B1: every length with every opcode as the very first FPDU (B4): an answer by the rules, never an access. */
static void
test_B1_lengths_and_opcodes(void **state)
{
	uint8_t *f = malloc(70000);

	(void)state;
	for (uint32_t ctl = 0; ctl < 32; ctl++)
		for (uint32_t len = 0; len < 72; len++) {
			struct pair p;
			struct iw_terminate t;

			pair_open(&p, &(struct pair_opts){.ird = 2, .arena = 4096});
			memset(f, 0, 128);
			f[1] = (uint8_t)len;
			f[2] = ctl & 16 ? 0xc1 : 0x41;
			f[3] = (uint8_t)(0x40 | (ctl & 15));
			if (len < 2)
				f[3] = 0;
			pair_fix_crc(f);
			pair_inject(&p, &p.b, f, 2 + len + (-(len + 2) & 3) + 4);
			iw_qp_terminate_info(p.b.qp, &t);
			if (len < 14) {
				assert_int_equal(t.layer << 4 | t.etype, 0x20);
				assert_int_equal(t.code, 3);
			}
			assert_true(t.valid || (ctl == 16 && len == 14));
			assert_true(pair_untouched(&p.b, 0, 4096));
			pair_close(&p);
		}
	free(f);
}

#define STREAMS 4
#define AT_S(n) ((n)*IW_SEC)

static uint8_t announced[16384] = {0xff, 0xff, 0x41, 0x43}; /* the beginning of 64 KiB */

/* So many octets of that FPDU are there now. */
static void
begun(struct pair *p, struct iw_qp *qp, uint32_t octets, uint64_t now_ns)
{
	struct iw_view v[2];

	for (uint32_t i = 0; i < 2; i++)
		v[i] = (struct iw_view){
			.m = mbuf_of(p, announced + i * (octets / 2), i ? octets - octets / 2 : octets / 2)};
	for (uint32_t i = 0; i < 2; i++)
		v[i].len = rte_pktmbuf_data_len(v[i].m);
	assert_int_equal(mpa_rx(qp, v, 2, 8, now_ns).consumed, 0);
	for (uint32_t i = 0; i < 2; i++)
		rte_pktmbuf_free(v[i].m);
}

static void
open_streams(struct pair *p, struct iw_qp **qp)
{
	struct qp_stream st = {.conn = 9, .initiator = true, .crc = true, .revision = 2};
	struct iw_qp_attr attr = {0};

	pair_open(p, &(struct pair_opts){.arena = 8192});
	attr.send_cq = attr.recv_cq = p->a.cq;
	qp[0] = p->a.qp;
	for (uint32_t i = 1; i < STREAMS; i++) {
		qp[i] = qp_create(p->a.rdmap, p->a.pd, &attr, NULL);
		assert_int_equal(qp_start(qp[i], &st, 0), 0);
	}
}

/* X3: whose FPDU has not grown for longest is named first, once; 4 KiB are growth, a trickle is not. */
static void
test_X3_slowest(void **state)
{
	struct iw_qp *qp[STREAMS];
	struct pair p;

	(void)state;
	open_streams(&p, qp);
	assert_null(mpa_rx_slowest(p.a.rdmap, 0, AT_S(1)));
	for (uint32_t i = 0; i < STREAMS; i++)
		begun(&p, qp[STREAMS - 1 - i], 100, AT_S(i + 1));
	begun(&p, qp[3], 100 + 4095, AT_S(5)); /* it began first */
	begun(&p, qp[2], 100 + 4096, AT_S(6)); /* second */
	assert_null(mpa_rx_slowest(p.a.rdmap, AT_S(6), AT_S(6) + 900 * IW_MS));
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, AT_S(6), AT_S(7) + IW_MS), qp[3]);
	assert_null(mpa_rx_slowest(p.a.rdmap, AT_S(6), AT_S(7) + IW_MS));
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, 0, AT_S(8)), qp[1]);
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, 0, AT_S(8)), qp[0]);
	begun(&p, qp[3], 100 + 2 * 4096, AT_S(9)); /* named, and still there: it may be named again */
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, 0, AT_S(9)), qp[2]);
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, 0, AT_S(9)), qp[3]);
	assert_null(mpa_rx_slowest(p.a.rdmap, 0, AT_S(9)));
	pair_close(&p);
}

/* Whoever has nothing unfinished, or no stream any more, is not named. */
static void
test_X3_not_slow(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	uint32_t n = pair_fpdu(announced, &h, NULL, 0);
	struct iw_qp *qp[STREAMS];
	struct iw_view v;
	struct pair p;

	(void)state;
	open_streams(&p, qp);
	for (uint32_t i = 0; i < STREAMS; i++)
		begun(&p, qp[i], n - 1, AT_S(1));
	v = (struct iw_view){.m = mbuf_of(&p, announced, n), .len = n};
	assert_int_equal(mpa_rx(qp[0], &v, 1, 8, AT_S(2)).consumed, n);
	rte_pktmbuf_free(v.m);
	qp_stream_end(qp[1], -IW_E_CONNRESET);
	qp_destroy(qp[2]);
	assert_ptr_equal(mpa_rx_slowest(p.a.rdmap, 0, AT_S(3)), qp[3]);
	assert_null(mpa_rx_slowest(p.a.rdmap, 0, AT_S(3)));
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_X3_slowest),
		cmocka_unit_test(test_X3_not_slow),
		cmocka_unit_test(test_F1_every_bit),
		cmocka_unit_test(test_F9_crc_off),
		cmocka_unit_test(test_B8_need_and_budget),
		cmocka_unit_test(test_B3_three_way_cuts),
		cmocka_unit_test(test_B1_lengths_and_opcodes),
		cmocka_unit_test(test_sealed_octets),
		cmocka_unit_test(test_sealable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
