/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks of RFC 5042, and those that this design invites, each by a peer made by hand against a whole engine: the rows
 * S1 to S18, X1 to X8.  The oracles watch memory and wire in each of them.  Rows with tests of the same name elsewhere:
 * S8 in test_iw_mr_aliases.c, S11 in test_srq.c, S13 in test_cq.c, S14 also in test_cq_full.c, X2 in test_hoard.c, X6
 * in test_tcp_demux.c, X9 in test_once.c; S10, S16, S19, S20, X5 and X7 in test_resources.c, S9 and X8 there, too, X3
 * there and in test_hoard.c. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "mr_obj.h"
#include "oracle.h"
#include "raw.h"
#include "stat_of.h"
#include "tcp_pvt.h"
#include "victim.h"

static struct sim *s;
static struct victim v;
static struct raw a, b; /* an honest peer, a hostile one */
static uint8_t octets[70000];

static void
open_world(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 7, 3, 1500);
	victim_init(&v, s, 0);
	v.recvs = 1;
	victim_listen(&v);
	assert_true(raw_open(&a, s, 1, 0, VICTIM_PORT));
	assert_true(raw_start(&a));
}

static void
open_hostile(void)
{
	assert_true(raw_open(&b, s, 2, 0, VICTIM_PORT));
	assert_true(raw_start(&b));
}

/* The honest peer can still write. */
static void
check_honest(void)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, iw_mr_rkey(v.mr[VICTIM_RW]), (uintptr_t)victim_at(&v, VICTIM_RW));

	raw_send(&a, octets, raw_fpdu(octets, &h, "honest!", 7));
	raw_run(&a, IW_MS);
	assert_memory_equal(victim_at(&v, VICTIM_RW), "honest!", 7);
	assert_false(raw_ended(&a));
}

static void
close_world(void)
{
	check_honest();
	raw_close(&a);
	if (b.in)
		raw_close(&b);
	victim_close(&v);
}

/* A new hostile connection sends that many octets: the Terminate that it gets. */
static uint32_t
attack(uint32_t len)
{
	uint8_t *copy = malloc(len);
	uint32_t code;

	memcpy(copy, octets, len);
	open_hostile();
	raw_send(&b, copy, len);
	free(copy);
	raw_run(&b, 10 * IW_MS);
	code = raw_terminate(&b);
	assert_true(code == 0 || raw_ended(&b));
	raw_close(&b);
	return code;
}

static uint32_t
write_to(uint32_t stag, uint64_t to, uint32_t len)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, stag, to);
	static uint8_t data[65536];

	return raw_fpdu(octets, &h, data, len);
}

static uint32_t
send_inv(uint32_t stag)
{
	struct ddp_hdr h = ddp_hdr_untagged(4, true, stag, 0, 1, 0);

	return raw_fpdu(octets, &h, "x", 1);
}

static uint64_t
base(enum victim_right right)
{
	return (uintptr_t)victim_at(&v, right);
}

/* Write, Read Request and Send with Invalidate by somebody whom the STag is not for. */
static void
three_ways(uint32_t stag, uint64_t to)
{
	assert_int_equal(attack(write_to(stag, to, 8)), 0x1102);
	assert_int_equal(attack(raw_read_req(octets, 1, 8, stag, to)), 0x0103);
	assert_int_equal(attack(send_inv(stag)), 0x0109);
}

/* Peers whose QPs are of another PD. */
static void
test_S1(void **state)
{
	struct iw_mr *own;
	struct iw_pd *other;

	(void)state;
	open_world();
	own = v.recv_mr;
	other = v.next_pd = iw_pd_create(s->host[0].domain);
	v.recv_mr = iw_mr_reg(other, (void *)(uintptr_t)own->addr, own->len, IW_LOCAL_WRITE, NULL);
	three_ways(iw_mr_rkey(v.mr[VICTIM_RW]), base(VICTIM_RW));
	assert_true(victim_untouched(&v, VICTIM_RW));
	for (uint32_t i = 1; i < v.conns; i++) {
		iw_cm_destroy(v.engine, v.conn[i].id);
		assert_int_equal(iw_qp_destroy(v.conn[i].qp), 0);
		v.conn[i].qp = NULL;
	}
	assert_int_equal(iw_mr_dereg(v.recv_mr), 0);
	assert_int_equal(iw_pd_destroy(other), 0);
	v.recv_mr = own;
	close_world();
}

/* The same PD, but bound to the honest peer's stream. */
static void
test_S2(void **state)
{
	struct iw_mr *mr;

	(void)state;
	open_world();
	mr = iw_mr_reg_qp(v.conn[0].qp, victim_at(&v, VICTIM_WO), 64,
			  IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL);
	assert_non_null(mr);
	three_ways(iw_mr_rkey(mr), base(VICTIM_WO));
	assert_true(victim_untouched(&v, VICTIM_WO));
	raw_send(&a, octets, write_to(iw_mr_rkey(mr), base(VICTIM_WO), 1)); /* whom it is for */
	raw_run(&a, IW_MS);
	assert_int_equal(*victim_at(&v, VICTIM_WO), 0);
	assert_int_equal(iw_mr_dereg(mr), 0);
	close_world();
}

/* Guessing near a known one, and far from it. */
static void
test_S3(void **state)
{
	(void)state;
	open_world();
	v.recvs = 0;
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t stag = iw_mr_rkey(v.mr[VICTIM_RW]) ^ (1u << i);

		assert_int_equal(attack(write_to(stag, base(VICTIM_RW), 8)), 0x1100);
	}
	assert_true(victim_untouched(&v, VICTIM_RW));
	close_world();
}

static void
test_S4(void **state)
{
	static const int64_t offs[] = {-1, VICTIM_MR - 1, VICTIM_MR, VICTIM_MR + 1, INT64_C(1) << 32, INT64_MAX};
	static const uint32_t lens[] = {2, 65000};

	(void)state;
	open_world();
	v.recvs = 0;
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t k = 0; k < 2; k++) {
			uint64_t to = base(VICTIM_RW) + (uint64_t)offs[i];
			uint32_t stag = iw_mr_rkey(v.mr[VICTIM_RW]);

			assert_int_equal(attack(write_to(stag, to, lens[k])), 0x1101);
			assert_int_equal(attack(raw_read_req(octets, 1, k ? UINT32_MAX : 2, stag, to)), 0x0101);
		}
	assert_true(victim_untouched(&v, VICTIM_RW));
	close_world();
}

/* Taken back between two segments of one Write. */
static void
test_S5(void **state)
{
	struct ddp_hdr h;

	(void)state;
	open_world();
	h = ddp_hdr_tagged(0, false, iw_mr_rkey(v.mr[VICTIM_WO]), base(VICTIM_WO));
	open_hostile();
	raw_send(&b, octets, raw_fpdu(octets, &h, "before", 6));
	raw_run(&b, IW_MS);
	assert_memory_equal(victim_at(&v, VICTIM_WO), "before", 6);
	assert_int_equal(iw_mr_dereg(v.mr[VICTIM_WO]), 0);
	v.mr[VICTIM_WO] = NULL;
	h.to += 6;
	h.last = true;
	raw_send(&b, octets, raw_fpdu(octets, &h, "after!", 6));
	raw_run(&b, IW_MS);
	assert_int_equal(raw_terminate(&b), 0x1100);
	close_world();
}

/* Sixteen Reads, some octets of which are out: not one more leaves when the source is taken back; what it holds then is
 * the oracle's secret. */
static void
test_S6(void **state)
{
	uint64_t fpdus;
	uint32_t n = 0;

	(void)state;
	open_world();
	v.recvs = 0;
	open_hostile();
	for (uint32_t k = 0; k < 16; k++)
		n += raw_read_req(octets + n, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO));
	raw_send(&b, octets, n);
	fpdus = oracle_fpdus();
	for (uint32_t i = 0; i < 1000 && oracle_fpdus() < fpdus + 4; i++)
		sim_step(s, s->now_ns + IW_US);
	assert_int_equal(iw_mr_dereg(v.mr[VICTIM_RO]), 0);
	v.mr[VICTIM_RO] = NULL;
	raw_run(&b, IW_SEC);
	assert_int_equal(raw_terminate(&b), 0x0100);
	assert_true(raw_ended(&b) && b.len > VICTIM_MR && b.len < 15 * VICTIM_MR);
	close_world();
}

static void
test_S7(void **state)
{
	(void)state;
	open_world();
	v.recvs = 0;
	assert_int_equal(attack(raw_read_req(octets, 1, 1, iw_mr_rkey(v.mr[VICTIM_WO]), base(VICTIM_WO))), 0x0102);
	assert_int_equal(attack(write_to(iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO), 1)), 0x1100); /* D6 */
	open_hostile();
	raw_send(&b, octets, raw_read_req(octets, 1, 0, 0xdeadbeef, 0));
	raw_run(&b, IW_MS);
	assert_int_equal(b.len, 20);
	assert_memory_equal(b.in, "\x00\x0e\xc1\x42", 4);
	close_world();
}

/* One more than there is room for is refused; the others do not notice. */
static void
test_S9(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 8, .max_cm_ids = 8, .max_qps = 8};
	struct raw many[12];
	uint32_t up = 0;

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 7, 3, &params);
	victim_init(&v, s, 0);
	v.recvs = 1;
	victim_listen(&v);
	assert_true(raw_open(&a, s, 1, 0, VICTIM_PORT));
	assert_true(raw_start(&a));
	for (uint32_t i = 0; i < 7; i++)
		up += raw_open(&many[i], s, 2, 0, VICTIM_PORT) && raw_start(&many[i]);
	assert_true(up >= 4 && up <= 7);
	check_honest();
	for (uint32_t i = 0; i < 7; i++)
		raw_close(&many[i]);
	b.in = NULL;
	close_world();
}

/* The first segments of two messages: one at a time is all there is. */
static void
test_S12(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, false, 0, 0, 1, 0);
	uint32_t n;

	(void)state;
	open_world();
	v.recvs = 4;
	n = raw_fpdu(octets, &h, "first", 5);
	h.msn = 2;
	n += raw_fpdu(octets + n, &h, "second", 6);
	assert_int_equal(attack(n), 0x1203);
	close_world();
}

/* A CQ that cannot hold all that its queues may complete takes no QP (RFC 5042 §6.4.3.2): it never overflows. */
static void
test_S14(void **state)
{
	struct iw_cq *small;
	struct iw_qp_attr attr = {.sq_depth = 64, .rq_depth = 64};
	int err = 0;

	(void)state;
	open_world();
	small = iw_cq_create(v.engine, 64, NULL, NULL);
	attr.send_cq = attr.recv_cq = small;
	assert_null(iw_qp_create(v.engine, v.pd, &attr, &err));
	assert_int_equal(err, -IW_E_NOMEM);
	assert_int_equal(iw_cq_destroy(small), 0);
	close_world();
}

/* IRD n: n outstanding Reads are served, n + 1 end that stream alone. */
static void
test_S15(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		uint32_t n = 0;

		open_world();
		v.recvs = 0;
		open_hostile();
		for (uint32_t i = 0; i < 16 + more; i++)
			n += raw_read_req(octets + n, i + 1, 8, iw_mr_rkey(v.mr[VICTIM_RW]), base(VICTIM_RW));
		raw_send(&b, octets, n);
		raw_run(&b, 10 * IW_MS);
		assert_int_equal(raw_terminate(&b), more ? 0x1202 : 0);
		assert_int_equal(raw_ended(&b), more);
		close_world();
	}
}

/* What several streams share cannot be taken back by one of them. */
static void
test_S17(void **state)
{
	(void)state;
	open_world();
	v.recvs = 1;
	assert_int_equal(attack(send_inv(iw_mr_rkey(v.mr[VICTIM_RW]))), 0x0209);
	close_world(); /* the honest peer writes there */
}

/* A range that cannot be memory of the caller's is not registered. */
static void
test_S18(void **state)
{
	int err = 0;

	(void)state;
	open_world();
	assert_null(iw_mr_reg(v.pd, (void *)(uintptr_t)-4096, 8192, IW_REMOTE_READ, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_mr_reg(v.pd, NULL, 64, IW_REMOTE_READ, &err));
	assert_int_equal(err, -IW_E_INVAL);
	close_world();
}

/* ACKs withheld: what was read is taken back and holds a secret by then; retransmissions bring what it was (O4). */
static void
test_X1(void **state)
{
	uint64_t fpdus;

	(void)state;
	open_world();
	v.recvs = 0;
	open_hostile();
	raw_send(&b, octets, raw_read_req(octets, 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO)));
	fpdus = oracle_fpdus();
	for (uint32_t i = 0; i < 200 && oracle_fpdus() < fpdus + 3; i++)
		sim_step(s, s->now_ns + 10 * IW_US);
	assert_true(oracle_fpdus() >= fpdus + 3);
	s->host[2].cut = true;                             /* not an ACK comes */
	assert_int_equal(iw_mr_dereg(v.mr[VICTIM_RO]), 0); /* the oracle fills it with the secret */
	v.mr[VICTIM_RO] = NULL;
	raw_run(&b, 3 * IW_SEC);
	s->host[2].cut = false;
	raw_run(&b, 30 * IW_SEC);
	assert_int_equal(raw_terminate(&b), 0);
	for (uint32_t at = 0, n = 0; n < VICTIM_MR; at += 20 + 1428, n += 1428) /* what it was when it was read */
		assert_int_equal(b.in[at + 16], (uint8_t)(n * 5 + (n >> 8) + 64));
	close_world();
}

/* An FPDU of 64 KiB, announced and never sent: 30 s would do, but the limit is never below the user timeout, and the
 * default of that is 100 s. */
static void
test_X3(void **state)
{
	(void)state;
	open_world();
	open_hostile();
	raw_send(&b, "\xff\xff\x41\x43", 4);
	raw_run(&b, 99 * IW_SEC);
	assert_false(raw_ended(&b));
	raw_run(&b, 2 * IW_SEC);
	assert_true(b.bits & TCP_READY_RST);
	assert_int_equal(stat_of(v.engine, "rdmap.rx_stalled"), 1);
	close_world();
}

/* Sixteen Reads of everything there is, from many streams: a small one of somebody else is not kept waiting. */
static void
test_X4(void **state)
{
	struct raw many[16];
	uint64_t began;

	(void)state;
	open_world();
	v.recvs = 0;
	for (uint32_t i = 0; i < 16; i++) {
		assert_true(raw_open(&many[i], s, 2, 0, VICTIM_PORT));
		assert_true(raw_start(&many[i]));
	}
	for (uint32_t i = 0; i < 16; i++)
		for (uint32_t k = 0; k < 16; k++)
			raw_send(&many[i], octets,
				 raw_read_req(octets, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO)));
	raw_forget(&a);
	raw_run(&a, 30 * IW_US);
	began = s->now_ns;
	raw_send(&a, octets, raw_read_req(octets, 1, 64, iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO)));
	assert_true(raw_await(&a, 84, 10 * IW_MS));
	assert_true(s->now_ns - began < 2 * IW_MS);
	for (uint32_t i = 0; i < 16; i++) {
		assert_true(raw_await(&many[i], 16 * VICTIM_MR, IW_SEC));
		raw_close(&many[i]);
	}
	b.in = NULL;
	close_world();
}

/* A peer that never reads: the connection stays (MUST-37) until its user has had enough, and then all of it goes. */
static void
test_X8(void **state)
{
	uint32_t n = 0;

	(void)state;
	open_world();
	v.recvs = 0;
	s->host[2].engine->tcp->params.rcv_buf = s->host[2].engine->tcp->params.rcv_buf_max = 8192;
	open_hostile();
	b.deaf = true;
	for (uint32_t k = 0; k < 16; k++)
		n += raw_read_req(octets + n, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), base(VICTIM_RO));
	raw_send(&b, octets, n);
	raw_run(&b, 300 * IW_SEC); /* far more than the user timeout */
	assert_true(stat_of(v.engine, "tcp.tx_probes") > 5);
	assert_false(raw_ended(&b));
	check_honest();
	assert_int_equal(iw_cm_disconnect(v.engine, v.conn[1].id, true), 0);
	raw_run(&b, IW_SEC);
	assert_true(v.conn[1].closed);
	close_world();
}

/* An argument is a filter: test_M1*. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_S1),  cmocka_unit_test(test_S2),  cmocka_unit_test(test_S3),
		cmocka_unit_test(test_S4),  cmocka_unit_test(test_S5),  cmocka_unit_test(test_S6),
		cmocka_unit_test(test_S7),  cmocka_unit_test(test_S9),  cmocka_unit_test(test_S12),
		cmocka_unit_test(test_S14), cmocka_unit_test(test_S15), cmocka_unit_test(test_S17),
		cmocka_unit_test(test_S18), cmocka_unit_test(test_X1),  cmocka_unit_test(test_X3),
		cmocka_unit_test(test_X4),  cmocka_unit_test(test_X8),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
