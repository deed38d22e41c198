/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows M14 to M22 of the start-up (RFC 5044 §7.1, RFC 6581), one test for each, with a whole engine on one side and
 * a peer made by hand on the other. */
#include "crc32c.h"
#include "qp_obj.h"

#include "startup.h"

#include "stat_of.h"

/* L2/E0/C6; when the peer wants markers, behind one. */
static void
test_M14(void **state)
{
	(void)state;
	one_initiator(false, 0x50, 2, "\0\x10\0\x11", 4, -IW_E_PROTO, 0x2006);
	one_initiator(false, 0x50, 2, "\0\x10\x3f\xfe", 4, -IW_E_PROTO, 0x2006);
	open_initiator(false);
	reply(0xd0, 2, "\0\x10\0\x11", 4);
	assert_int_equal(r.len, 32);
	assert_memory_equal(r.in, "\0\0\0\0\x00\x16\x41\x47", 8);
	assert_memory_equal(r.in + 24, "\x20\x06\0\0", 4);
	check_answer(-IW_E_PROTO, 0);
}

/* The first FPDU, alone, is of the type that the Reply names (RFC 6581 §9.2); its STags are not zero. */
static void
one_rtr(const char *words, const char *rtr, uint32_t known, uint32_t len)
{
	open_initiator(true);
	reply(0x50, 2, words, 4);
	assert_int_equal(r.len, len);
	assert_memory_equal(r.in, rtr, known);
	check_answer(0, 0);
}

static void
test_M15(void **state)
{
	(void)state;
	one_initiator(true, 0x50, 2, "\x80\x10\0\x10", 4, -IW_E_PROTO, 0x2007);
	one_initiator(true, 0x50, 2, "\0\x10\x80\x10", 4, -IW_E_PROTO, 0x2007); /* A not mirrored */
	one_initiator(true, 0x50, 2, "\x80\0\x40\x10", 4, -IW_E_PROTO, 0x2007); /* Read, but no IRD */
	one_rtr("\x80\x10\x80\x10", "\x00\x0e\xc1\x40\0\0\0\1\0\0\0\0\0\0\0\0", 16, 20);
	one_rtr("\x80\x10\x40\x10",
		"\x00\x2e\x41\x41\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
		"\0",
		48, 52);
	one_rtr("\xc0\x10\0\x10", "\x00\x12\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 20, 24);
	one_rtr("\xc0\0\x40\x10", "\x00\x12\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 20, 24); /* no IRD */
	one_responder(0x50, 2, "\xc0\x10\xc0\x10", 4, 0x50, "\x80\x10\x80\x10");               /* Write before Read */
	one_responder(0x50, 2, "\xc0\x10\x40\x10", 4, 0x50, "\x80\x10\x40\x10");               /* Read before Send */
	one_responder(0x50, 2, "\xc0\x10\0\x10", 4, 0x50, "\xc0\x10\0\x10");                   /* Send */
	one_responder(0x50, 2, "\x80\x10\0\x10", 4, 0x50, "\x80\x10\x80\x10");                 /* none: one of ours */
	one_responder(0x50, 2, "\x80\x10\x40\0", 4, 0x50, "\x80\x01\x40\x10"); /* Read: IRD at least 1 */
	one_responder(0x50, 2, "\x40\x10\xc0\x10", 4, 0x50, "\0\x10\0\x10");   /* A = 0: the others are ignored */
}

/* A local failure before the Reply: a reject, never a RST. */
static void
test_M16(void **state)
{
	(void)state;
	open_host();
	v.reject = true;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	request(0x50, 2, "\0\x10\0\x10", 4);
	assert_int_equal(r.len, 24);
	assert_int_equal(r.in[16] & 0x30, 0x30);
	assert_true(r.bits & TCP_READY_FIN);
	assert_false(r.bits & TCP_READY_RST);
	close_all();
}

/* A Reply is good, but the QP cannot do what it agrees to (a hand in it): not its fault, and nothing that has a code of
 * its own.  Behind the Reply, or behind the delay that was asked for. */
static void
one_local_failure(bool p2p, bool markers, uint32_t delay_us)
{
	static const uint8_t fpdu[24] = "\x00\x16\x41\x47\0\0\0\0" /* length, DDP and RDMAP control, reserved */
					"\0\0\0\2\0\0\0\1\0\0\0\0" /* QN 2, MSN 1, MO 0 */
					"\x20\x05\0";              /* L2/E0/C5; M, D and R are 0 */
	uint8_t *at;

	open_host();
	v.attr.first_fpdu_delay_us = delay_us;
	dial(p2p);
	v.conn[0].qp->max_ord = 1;
	reply(markers ? 0xd0 : 0x50, 2, p2p ? "\x80\x10\x80\x10" : "\0\x10\0\x10", 4);
	if (delay_us) {
		assert_int_equal(r.len, 0);
		raw_run(&r, 2 * delay_us * IW_US);
	}
	assert_int_equal(r.len, markers ? 32 : 28);
	at = r.in + (markers ? 4 : 0);
	assert_memory_equal(at, fpdu, 24);
	assert_int_equal(fpdu_hdr_crc_parse(at + 24), /* of the marker, too */
			 iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, r.in, r.len - 4)));
	assert_true(r.bits & TCP_READY_FIN);
	assert_false(r.bits & TCP_READY_RST);
	assert_int_equal(iw_qp_state(v.conn[0].qp), IW_QP_IDLE);
	v.conn[0].qp->max_ord = 16;
	check_answer(-IW_E_CONNABORTED, markers ? 0 : 0x2005);
}

static void
test_M16_initiator(void **state)
{
	(void)state;
	one_local_failure(false, false, 0);
	one_local_failure(true, false, 0);
	one_local_failure(true, true, 0);
	one_local_failure(true, false, 5000);
}

/* The RTR right behind the Reply, and FPDUs in the segment of the Reply (M5). */
static void
test_M17(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);

	(void)state;
	open_responder();
	request(0x50, 2, "\x80\x10\x80\x10", 4);
	check_reply(0x50, 2, "\x80\x10\x80\x10");
	assert_false(v.conn[0].up); /* not before the RTR */
	raw_send(&r, octets, raw_fpdu(octets, &h, NULL, 0));
	raw_run(&r, IW_MS);
	assert_true(v.conn[0].up);
	close_all();
}

/* Everything that sends is lent to others when the RTR is due (`max_flights`): it goes when TCP says that there is
 * room, and nothing else has to happen. */
static void
test_M17_rtr_awaits_room(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 16, .tcp.max_flights = 3};
	struct iw_send_wr wr = {.opcode = IW_WR_SEND};
	struct raw busy[2];

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 1, 3, &params);
	victim_init(&v, s, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct raw *to = i < 2 ? &busy[i] : &r;

		v.attr.no_peer_to_peer = i < 2;
		v.attr.first_fpdu_delay_us = i < 2 ? 0 : 200000;
		raw_listen(to, s, i < 2 ? 1 : 2, (uint16_t)(4000 + i));
		victim_connect(&v, i < 2 ? 1 : 2, (uint16_t)(4000 + i));
		for (uint32_t k = 0; k < 1000 && !raw_accept(to); k++)
			;
		assert_true(raw_await(to, 24, IW_SEC));
		raw_forget(to);
		raw_send(to, octets,
			 raw_startup(octets, true, 0x50, 2, i < 2 ? "\0\x10\0\x10" : "\x80\x10\x80\x10", 4));
		raw_run(to, 10 * IW_MS);
	}
	s->host[1].cut = true;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(iw_post_send(v.conn[i].qp, &wr, NULL), 0);
	victim_connect(&v, 1, 4009); /* its SYN takes the one that was kept back */
	raw_run(&r, IW_SEC);
	assert_true(stat_of(v.engine, "tcp.tx_no_flight") > 0);
	assert_int_equal(r.len, 0);
	s->host[1].cut = false;
	raw_run(&r, 5 * IW_SEC);
	assert_true(v.conn[2].up);
	assert_true(r.len >= 20); /* others may be behind it that wake the peer */
	assert_memory_equal(r.in, "\x00\x0e\xc1\x40", 4);
	for (uint32_t i = 0; i < 2; i++)
		raw_close(&busy[i]);
	raw_close(&r);
	victim_close(&v);
}

/* FIN or RST at each step: one event at the most, everything back (sim_fini). */
static void
test_M18(void **state)
{
	(void)state;
	for (uint32_t step = 0; step < 4; step++) {
		for (int rst = 0; rst < 2; rst++) {
			uint32_t n = raw_startup(octets, false, 0x50, 2, "\x80\x10\x80\x10", 4);

			open_responder();
			if (step > 0)
				raw_send(&r, octets, step == 1 ? 10 : n);
			raw_run(&r, step == 2 ? 25 * IW_US : IW_MS);
			if (rst)
				raw_rst(&r);
			else
				raw_fin(&r);
			raw_run(&r, 20 * IW_MS);
			if (step < 2)
				assert_int_equal(v.events, 0);
			close_all();
		}
	}
	for (int step = 0; step < 2; step++) {
		for (int rst = 0; rst < 2; rst++) {
			open_initiator(false);
			raw_startup(octets, true, 0x50, 2, "\0\x10\0\x10", 4);
			if (step)
				raw_send(&r, octets, 10);
			raw_run(&r, IW_MS);
			if (rst)
				raw_rst(&r);
			else
				raw_fin(&r);
			raw_run(&r, 20 * IW_MS);
			sim_run(s, 30 * IW_SEC);
			assert_int_equal(v.conn[0].events, 1);
			assert_int_not_equal(v.conn[0].status, 0);
			close_all();
		}
	}
}

static struct rte_mbuf *syn; /* the first that the peer has sent */

static void
keep_syn(struct sim *sim, const struct rte_mbuf *m)
{
	const uint8_t *ip = rte_pktmbuf_mtod(m, const uint8_t *) + 14, *tcp = ip + (sim_is_v6() ? 40 : 20);
	bool its =
		sim_is_v6() ? ip[0] >> 4 == 6 && ip[6] == 6 && ip[23] == 3 : ip[0] == 0x45 && ip[9] == 6 && ip[15] == 3;

	if (!syn && its && (tcp[13] & 0x12) == 2)
		syn = rte_pktmbuf_copy(m, sim->host[0].data_pool, 0, UINT32_MAX);
}

/* The SYN once more at each step: as if it had not come. */
static void
test_M18_second_syn(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	uint8_t request[32], *part[3] = {request, request + 10, octets};
	uint32_t len[3] = {10, raw_startup(request, false, 0x50, 2, "\x80\x10\x80\x10", 4) - 10,
			   raw_fpdu(octets, &h, NULL, 0)};

	(void)state;
	open_host();
	s->tap = keep_syn;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	for (uint32_t step = 0; step < 4; step++) {
		struct rte_mbuf *again = rte_pktmbuf_copy(syn, s->host[0].data_pool, 0, UINT32_MAX);

		engine_rx(v.engine, &again, 1, s->now_ns, NULL, NULL);
		raw_run(&r, IW_MS);
		if (step < 3)
			raw_send(&r, part[step], len[step]);
		raw_run(&r, IW_MS);
		assert_int_equal(v.conns, step > 0);
	}
	check_reply(0x50, 2, "\x80\x10\x80\x10");
	assert_true(v.conn[0].up && !raw_ended(&r));
	assert_int_equal(v.conn[0].events, 2);
	rte_pktmbuf_free(syn);
	syn = NULL;
	close_all();
}

/* More half-finished start-ups than ids: the oldest go, one that is in earnest gets through. */
static void
test_M19(void **state)
{
	enum { HALF = 200 };
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 256, .max_cm_ids = 16, .max_qps = 16};
	struct iw_addr remote = sim_addr(0, VICTIM_PORT), local = {.port = 0};
	uint32_t conn[HALF], in_use;

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 1, 3, &params);
	pair_beside(&control, s);
	victim_init(&v, s, 0);
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	for (uint32_t i = 0; i < HALF; i++) {
		assert_int_equal(tcp_open(s->host[2].engine->tcp, &local, &remote, NULL, 97, s->now_ns, &conn[i]), 0);
		raw_run(&r, 200 * IW_US);
	}
	in_use = mbufpool_in_use(s->host[0].data_pool);
	assert_true(in_use < HALF);
	raw_close(&r);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	assert_true(raw_start(&r));
	for (uint32_t i = 0; i < HALF; i++)
		tcp_release(s->host[2].engine->tcp, conn[i], s->now_ns);
	close_all();
}

/* A = 1 and the first FPDU is no RTR; and a Send as RTR takes MSN 1 but none of our receives. */
static void
test_M20(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	open_responder();
	request(0x50, 2, "\x80\x10\x80\x10", 4);
	raw_send(&r, octets, raw_fpdu(octets, &h, "12345678", 8));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_true(v.conn[0].up);
	assert_int_equal(v.received, 1);
	close_all();
	open_responder();
	request(0x50, 2, "\xc0\x10\0\x10", 4);
	raw_send(&r, octets, raw_fpdu(octets, &h, NULL, 0));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_true(v.conn[0].up);
	assert_int_equal(v.received, 0);
	h.msn = 2;
	raw_send(&r, octets, raw_fpdu(octets, &h, "12345678", 8));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_int_equal(v.received, 1);
	close_all();
}

static void
test_M21(void **state)
{
	(void)state;
	for (int rev = 1; rev <= 2; rev++) {
		open_responder();
		if (rev == 1)
			request(0x40, 1, NULL, 0);
		else
			request(0x50, 2, "\0\0\0\0", 4);
		raw_forget(&r);
		raw_send(&r, octets, raw_read_req(octets, 1, 0, 0xdeadbeef, 1));
		raw_run(&r, IW_MS);
		assert_int_equal(r.len, 20);
		assert_memory_equal(r.in, "\x00\x0e\xc1\x42", 4);
		close_all();
	}
}

/* A bad first FPDU, at a responder that must not speak first: a Terminate all the same. */
static void
test_M22(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	for (int length = 0; length < 2; length++) {
		uint32_t n;

		open_responder();
		assert_true(raw_start(&r));
		n = raw_fpdu(octets, &h, "12345678", 8);
		if (length) {
			memset(octets, 0, 8);
			n = 8;
			fpdu_hdr_crc_emit(octets + 4, 0x48674bc7); /* CRC32c of four zero octets */
		} else {
			octets[n - 1] ^= 0x80;
		}
		raw_send(&r, octets, n);
		raw_run(&r, 10 * IW_MS);
		assert_int_equal(raw_terminate(&r), length ? 0x2003 : 0x2002);
		assert_true(r.bits & TCP_READY_FIN);
		close_all();
	}
}

/* An argument is a filter: test_M1*. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_M14), cmocka_unit_test(test_M15),
		cmocka_unit_test(test_M16), cmocka_unit_test(test_M16_initiator),
		cmocka_unit_test(test_M17), cmocka_unit_test(test_M17_rtr_awaits_room),
		cmocka_unit_test(test_M18), cmocka_unit_test(test_M18_second_syn),
		cmocka_unit_test(test_M19), cmocka_unit_test(test_M20),
		cmocka_unit_test(test_M21), cmocka_unit_test(test_M22),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
