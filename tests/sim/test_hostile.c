/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole engine against peers made by hand: streams cut at every octet, ends in the middle of an FPDU, faults behind a
 * closed window, peers that send without a receive being posted; and that others do not notice (O12). */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "pair.h"
#include "raw.h"
#include "victim.h"

static struct sim *s;
static struct victim v;
static struct raw r;
static struct pair control; /* hears nothing of it (O12) */
static uint8_t octets[200000];

static void
open_world(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 3, 3, 1500);
	pair_beside(&control, s);
	victim_init(&v, s, 0);
	v.recvs = 0;
}

static void
start(void)
{
	if (!v.listener)
		victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	assert_true(raw_start(&r));
}

static void
close_world(void)
{
	if (control.sim)
		pair_unharmed(&control);
	control.sim = NULL;
	victim_close(&v);
}

static int
post_recv(uint64_t id)
{
	uint8_t *p = victim_at(&v, VICTIM_RW) + 1024;
	struct iw_sge sge = {.addr = (uintptr_t)p, .length = 1024, .lkey = iw_mr_lkey(v.mr[VICTIM_RW])};
	struct iw_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1};

	return iw_post_recv(v.conn[v.conns - 1].qp, &wr, NULL);
}

static uint32_t
put_send(uint8_t *out, uint32_t msn, const void *data, uint32_t len)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, msn, 0);

	return raw_fpdu(out, &h, data, len);
}

static uint32_t
put_write(uint8_t *out, const void *data, uint32_t len)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, iw_mr_rkey(v.mr[VICTIM_RW]), (uintptr_t)victim_at(&v, VICTIM_RW));

	return raw_fpdu(out, &h, data, len);
}

/* A Write, a Send and a Read Request, their octets cut in two segments at each place in turn. */
static void
test_F8_cut_at_every_octet(void **state)
{
	uint32_t n = 1, msn = 1;

	(void)state;
	open_world();
	start();
	for (uint32_t cut = 0; cut < n; cut++, msn++) {
		uint8_t data[33];

		memset(data, (int)msn, sizeof(data));
		assert_int_equal(post_recv(msn), 0);
		n = put_write(octets, data, 33);
		n += put_send(octets + n, msn, data, 21);
		n += raw_read_req(octets + n, msn, 33, iw_mr_rkey(v.mr[VICTIM_RW]),
				  (uintptr_t)victim_at(&v, VICTIM_RW));
		raw_forget(&r);
		raw_send(&r, octets, cut);
		raw_run(&r, 40 * IW_US);
		raw_send(&r, octets + cut, n - cut);
		assert_true(raw_await(&r, 56, 5 * IW_MS));
		assert_memory_equal(r.in + 16, data, 33);
		assert_memory_equal(victim_at(&v, VICTIM_RW), data, 33);
		assert_memory_equal(victim_at(&v, VICTIM_RW) + 1024, data, 21);
		victim_reap(&v);
		assert_int_equal(v.received, msn);
	}
	assert_true(n > 120);
	raw_close(&r);
	close_world();
}

/* F7: an FPDU that is cut off by FIN or RST, at each place. */
static void
test_F7_half_an_fpdu(void **state)
{
	(void)state;
	for (int rst = 0; rst < 2; rst++) {
		uint32_t n = 1;

		open_world();
		for (uint32_t cut = 1; cut < n || cut == 1; cut++) {
			struct victim_conn *c;

			start();
			c = &v.conn[v.conns - 1];
			assert_int_equal(post_recv(1), 0);
			n = put_send(octets, 1, "0123456789", 10);
			raw_send(&r, octets, cut);
			raw_run(&r, 30 * IW_US);
			if (rst)
				raw_rst(&r);
			else
				raw_fin(&r);
			raw_run(&r, 20 * IW_MS);
			assert_true(c->closed);
			assert_int_equal(c->status, -IW_E_CONNRESET);
			assert_int_equal(raw_terminate(&r), 0);
			raw_close(&r);
		}
		victim_reap(&v);
		assert_int_equal(v.received, 0);
		assert_int_equal(v.flushed, n - 1);
		close_world();
	}
}

/* The peer stops reading until our queue stands at its window of zero. */
static void
close_the_window(void)
{
	uint32_t n = 0;

	r.deaf = true;
	for (uint32_t k = 0; k < 16; k++)
		n += raw_read_req(octets + n, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]),
				  (uintptr_t)victim_at(&v, VICTIM_RO));
	raw_send(&r, octets, n);
	raw_run(&r, 200 * IW_MS);
}

static void
expect_end_by_timer(void)
{
	struct victim_conn *c = &v.conn[v.conns - 1];

	raw_run(&r, 2500 * IW_MS);
	assert_false(c->closed);
	raw_run(&r, 2 * IW_SEC);
	assert_true(c->closed);
	assert_int_equal(c->status, -IW_E_PROTO);
	assert_true(c->last.term.valid && c->last.term.sent);
	raw_send(&r, "x", 1); /* the RST itself may have met the closed window */
	raw_run(&r, 500 * IW_MS);
	assert_true(r.bits & TCP_READY_RST);
}

static void
small_window(void)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 16, .tcp.rcv_buf = 8192};

	s = malloc(sizeof(*s));
	sim_init_params(s, 3, 3, &params);
	pair_beside(&control, s);
	victim_init(&v, s, 0);
	v.recvs = 0;
	start();
}

static void
send_bad_crc(void)
{
	uint32_t n = put_write(octets, "x", 1);

	octets[n - 1] ^= 1;
	raw_send(&r, octets, n);
}

/* A CRC error of a peer whose window is zero: the Terminate cannot go; 3 s and a RST (RFC 5040 §6.2.1). */
static void
test_F1_behind_a_closed_window(void **state)
{
	(void)state;
	small_window();
	close_the_window();
	send_bad_crc();
	expect_end_by_timer();
	raw_close(&r);
	close_world();
}

/* A request of ours that fails here, behind a closed window: the same. */
static void
test_local_fault_behind_a_closed_window(void **state)
{
	struct iw_sge sge;
	struct iw_send_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND};

	(void)state;
	small_window();
	close_the_window();
	sge = (struct iw_sge){(uintptr_t)victim_at(&v, VICTIM_WO), 64, iw_mr_lkey(v.mr[VICTIM_WO])};
	assert_int_equal(iw_post_send(v.conn[0].qp, &wr, NULL), 0);
	assert_int_equal(iw_mr_dereg(v.mr[VICTIM_WO]), 0);
	v.mr[VICTIM_WO] = NULL;
	raw_run(&r, 10 * IW_MS);
	r.deaf = false; /* it reads again: the fault is found, and told */
	raw_run(&r, 50 * IW_MS);
	raw_fin(&r);
	raw_run(&r, 10 * IW_MS);
	assert_true(v.conn[0].closed);
	assert_memory_equal(r.in + r.len - 28 + 20, "\0\0\0\0", 4); /* L0/E0/C0 */
	assert_int_equal(r.in[r.len - 28 + 3], 0x47);
	assert_true(v.conn[0].last.term.valid && v.conn[0].last.term.sent);
	raw_close(&r);
	close_world();
}

/* A Terminate that waits behind a window goes out when it opens in time, behind what was there before it. */
static void
test_R15_window_opens_in_time(void **state)
{
	(void)state;
	small_window();
	close_the_window();
	send_bad_crc();
	raw_run(&r, IW_SEC);
	r.deaf = false;
	raw_run(&r, 2 * IW_SEC);
	assert_int_equal(raw_terminate(&r), 0x2002);
	assert_true(r.bits & TCP_READY_FIN);
	raw_fin(&r);
	raw_run(&r, 10 * IW_MS);
	assert_true(v.conn[0].closed);
	raw_close(&r);
	close_world();
}

/* Back-pressure (D9): the window closes, nothing is lost, and all of it comes when receives are posted. */
static void
test_D9_back_pressure(void **state)
{
	enum { SENDS = 100 };
	uint32_t n = 0;
	uint8_t data[700];

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 3, 3, &(struct engine_params){.nif.mtu = 1500, .max_conns = 16, .tcp.rcv_buf = 16384});
	pair_beside(&control, s);
	victim_init(&v, s, 0);
	v.recvs = 0;
	v.attr.recv_back_pressure = true;
	start();
	memset(data, 0x77, sizeof(data));
	for (uint32_t i = 0; i < SENDS; i++)
		n += put_send(octets + n, i + 1, data, sizeof(data));
	raw_send(&r, octets, n);
	raw_run(&r, 2 * IW_SEC);
	assert_false(raw_ended(&r));
	assert_true(tcp_rx_pending(v.engine->tcp, qp_conn(v.conn[0].qp)) > 8000);
	for (uint32_t i = 0; i < SENDS; i++) {
		assert_int_equal(post_recv(i), 0);
		raw_run(&r, i % 8 ? 20 * IW_US : 300 * IW_MS);
		victim_reap(&v);
	}
	raw_run(&r, 2 * IW_SEC);
	victim_reap(&v);
	assert_int_equal(v.received, SENDS);
	raw_close(&r);
	close_world();
}

/* For so long, and then what the standard says.  The first FPDU has arrived though it waits: ESTABLISHED. */
static void
test_D9_back_pressure_ends(void **state)
{
	(void)state;
	open_world();
	v.attr.recv_back_pressure = true;
	v.attr.recv_wait_ms = 700;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	raw_send(&r, octets, raw_startup(octets, false, 0x50, 2, "\x80\x10\x80\x10", 4));
	assert_true(raw_await(&r, 24, IW_SEC));
	raw_forget(&r);
	assert_false(v.conn[0].up);
	raw_send(&r, octets, put_send(octets, 1, "hello", 5));
	raw_run(&r, 10 * IW_MS);
	assert_true(v.conn[0].up);
	raw_run(&r, 600 * IW_MS);
	assert_false(raw_ended(&r));
	raw_run(&r, 200 * IW_MS);
	assert_int_equal(raw_terminate(&r), 0x1202);
	raw_fin(&r);
	raw_run(&r, 10 * IW_MS);
	assert_int_equal(v.conn[0].status, -IW_E_PROTO);
	raw_close(&r);
	close_world();
}

/* ---- O12 ---- */

/* A good FPDU of some kind with some octets of its headers changed, length and CRC made right again. */
static uint32_t
draw_fpdu(void)
{
	struct ddp_hdr h;
	uint8_t body[64];
	uint32_t n;

	for (uint32_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)sim_draw(s);
	switch (sim_below(s, 4)) {
	case 0:
		h = ddp_hdr_tagged(0, true, iw_mr_rkey(v.mr[VICTIM_WO]), (uintptr_t)victim_at(&v, VICTIM_WO));
		break;
	case 1:
		h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);
		break;
	case 2:
		h = ddp_hdr_untagged(7, true, 0, 2, 1, 0);
		break;
	default:
		return raw_read_req(octets, 1, 64, iw_mr_rkey(v.mr[VICTIM_RO]), (uintptr_t)victim_at(&v, VICTIM_RO));
	}
	switch (sim_below(s, 8)) {
	case 0:
		h.opcode = (uint8_t)sim_below(s, 16);
		break;
	case 1:
		h.stag ^= 1u << sim_below(s, 32);
		break;
	case 2:
		h.to ^= UINT64_C(1) << sim_below(s, 64);
		break;
	case 3:
		h.msn = (uint32_t)sim_draw(s);
		break;
	case 4:
		h.qn = (uint32_t)sim_below(s, 6);
		break;
	case 5:
		h.mo = (uint32_t)sim_draw(s);
		break;
	case 6:
		h.dv = (uint8_t)sim_below(s, 4);
		break;
	default:
		h.last = false;
		break;
	}
	n = raw_fpdu(octets, &h, body, (uint32_t)sim_below(s, sizeof(body)));
	if (sim_below(s, 8) == 0)
		octets[sim_below(s, n)] ^= 1;
	return n;
}

static void
test_O12_isolation(void **state)
{
	struct pair p;

	(void)state;
	s = malloc(sizeof(*s));
	sim_init(s, 11, 3, 1500);
	pair_init(&p, s, NULL);
	victim_init(&v, s, 1);
	v.recvs = 0;
	victim_listen(&v);
	assert_true(pair_connect(&p, 10 * IW_SEC));
	for (uint32_t i = 0; i < 60; i++) {
		assert_true(raw_open(&r, s, 2, 1, VICTIM_PORT));
		assert_true(raw_start(&r));
		for (uint32_t k = 0; k < 8; k++)
			raw_send(&r, octets, draw_fpdu());
		pair_ping(&p, i & 1, 5 * IW_MS);
		if (sim_below(s, 2))
			raw_fin(&r);
		raw_run(&r, IW_MS);
		assert_true(victim_untouched(&v, VICTIM_RW) && victim_untouched(&v, VICTIM_RO));
		raw_close(&r);
	}
	assert_true(pair_disconnect(&p, 10 * IW_SEC));
	pair_fini(&p);
	close_world();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_F8_cut_at_every_octet),
		cmocka_unit_test(test_F7_half_an_fpdu),
		cmocka_unit_test(test_F1_behind_a_closed_window),
		cmocka_unit_test(test_local_fault_behind_a_closed_window),
		cmocka_unit_test(test_R15_window_opens_in_time),
		cmocka_unit_test(test_D9_back_pressure),
		cmocka_unit_test(test_D9_back_pressure_ends),
		cmocka_unit_test(test_O12_isolation),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
