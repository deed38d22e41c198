/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way in which a connection ends (docs/cm.md; F7, R11, R18). */
#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;

static void
open_pair(void)
{
	struct iw_cm_attr a = {.keepalive_ms = 0};

	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, &a, &a);
}

/* Both stories, everything flushed, everything back; ids are left in IDLE and can be used again. */
static void
check(const char *a, const char *b)
{
	assert_string_equal(cmsim_story(&s.h[0], p.a) + strlen("CONNECT_REPLY(0)"), a);
	assert_string_equal(cmsim_story(&s.h[1], p.b) + strlen("CONNECT_REQUEST ESTABLISHED"), b);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(s.h[n].completed, s.h[n].posted);
		assert_int_equal(tcp_conn_count(s.h[n].tcp), 0);
	}
	assert_int_equal(cm_state(s.h[0].cm, p.a), IW_CM_IDLE);
	assert_int_equal(cm_state(s.h[1].cm, p.b), IW_CM_IDLE);
	assert_int_equal(qp_owner(p.qa), 0);
	assert_int_equal(qp_owner(p.qb), 0);
	assert_false(s.fin_with_data);
	cmsim_close(&s);
}

static void
test_graceful(void **state)
{
	(void)state;
	for (uint32_t side = 0; side < 2; side++) {
		iw_cm_id ids[2];

		open_pair();
		ids[0] = p.a;
		ids[1] = p.b;
		cmsim_post_recv(&s.h[!side], side ? p.qa : p.qb, 4);
		for (int i = 0; i < 4; i++)
			assert_int_equal(cmsim_post_send(&s.h[side], side ? p.qb : p.qa), 0);
		assert_int_equal(cmsim_disconnect(&s.h[side], ids[side], false), 0);
		assert_int_equal(cm_state(s.h[side].cm, ids[side]), IW_CM_CLOSING);
		assert_int_equal(cmsim_post_send(&s.h[side], side ? p.qb : p.qa), -IW_E_NOTCONN);
		assert_int_equal(cmsim_disconnect(&s.h[side], ids[side], false), 0); /* twice */
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(s.h[!side].recv_ok, 4); /* the queue has drained */
		assert_int_equal(s.rsts[0] + s.rsts[1], 0);
		assert_int_equal(tcp_timewait_count(s.h[side].tcp), 1); /* the first closer's */
		assert_int_equal(tcp_timewait_count(s.h[!side].tcp), 0);
		check(side ? " DISCONNECT CLOSE(0)" : " CLOSE(0)", side ? " CLOSE(0)" : " DISCONNECT CLOSE(0)");
	}
}

static void
test_both_at_once(void **state)
{
	(void)state;
	open_pair();
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	assert_int_equal(cmsim_disconnect(&s.h[1], p.b, false), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_int_equal(tcp_timewait_count(s.h[0].tcp), 1);
	assert_int_equal(tcp_timewait_count(s.h[1].tcp), 1);
	check(" CLOSE(0)", " CLOSE(0)");
}

static void
test_abrupt(void **state)
{
	(void)state;
	for (uint32_t side = 0; side < 2; side++) {
		open_pair();
		cmsim_post_recv(&s.h[0], p.qa, 4);
		cmsim_post_recv(&s.h[1], p.qb, 4);
		assert_int_equal(cmsim_disconnect(&s.h[side], side ? p.b : p.a, true), 0);
		assert_int_equal(iw_qp_state(side ? p.qb : p.qa), IW_QP_ERROR);
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(s.rsts[side], 1);
		check(side ? " CLOSE(CONNRESET)" : " CLOSE(CONNABORTED)",
		      side ? " CLOSE(CONNABORTED)" : " CLOSE(CONNRESET)");
	}
	/* abrupt turns a graceful close into an abortive one */
	open_pair();
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, true), 0);
	cmsim_run(&s, 1 * IW_SEC);
	check(" CLOSE(CONNABORTED)", " CLOSE(CONNRESET)");
}

static void
test_qp_destroyed(void **state)
{
	(void)state;
	open_pair();
	cmsim_post_recv(&s.h[0], p.qa, 4);
	cmsim_qp_destroy(&s.h[0], p.qa);
	assert_int_equal(s.h[0].completed, 4);
	p.qa = cmsim_qp(&s.h[0]);
	cmsim_run(&s, 1 * IW_SEC);
	check(" CLOSE(CONNABORTED)", " CLOSE(CONNRESET)");

	open_pair();
	assert_int_equal(cmsim_disconnect(&s.h[1], p.b, false), 0);
	cmsim_qp_destroy(&s.h[1], p.qb);
	p.qb = cmsim_qp(&s.h[1]);
	cmsim_run(&s, 1 * IW_SEC);
	check(" CLOSE(CONNRESET)", " CLOSE(CONNABORTED)");
}

/* A Send without a receive: Terminate 1/2/02, told on both sides, FIN behind it. */
static void
test_terminate(void **state)
{
	const struct cmsim_event *ca, *cb;

	(void)state;
	open_pair();
	assert_int_equal(cmsim_post_send(&s.h[0], p.qa), 0);
	cmsim_run(&s, 1 * IW_SEC);
	ca = cmsim_nth(&s.h[0], IW_CM_CLOSE, 0);
	cb = cmsim_nth(&s.h[1], IW_CM_CLOSE, 0);
	assert_true(ca && cb);
	assert_true(ca->ev.term.valid && !ca->ev.term.sent);
	assert_true(cb->ev.term.valid && cb->ev.term.sent);
	assert_int_equal(ca->ev.term.layer << 12 | ca->ev.term.etype << 8 | ca->ev.term.code, 0x1202);
	assert_int_equal(cb->ev.term.layer << 12 | cb->ev.term.etype << 8 | cb->ev.term.code, 0x1202);
	assert_int_equal(s.rsts[0] + s.rsts[1], 0);
	check(" CLOSE(PROTO)", " CLOSE(PROTO)");
}

/* A Terminate that meets our FIN: -EPROTO still. */
static void
test_terminate_while_closing(void **state)
{
	(void)state;
	open_pair();
	assert_int_equal(cmsim_post_send(&s.h[0], p.qa), 0);
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	cmsim_run(&s, 1 * IW_SEC);
	check(" CLOSE(PROTO)", " CLOSE(PROTO)");
}

/* After a Terminate the peer says nothing any more: 3 s, then RST. */
static void
test_terminate_linger(void **state)
{
	uint64_t at;

	(void)state;
	open_pair();
	assert_int_equal(cmsim_post_send(&s.h[0], p.qa), 0);
	cmsim_run(&s, 70 * IW_US); /* it has arrived, the Terminate is on its way */
	s.h[0].frozen = true;
	at = s.now_ns;
	cmsim_run(&s, 2900 * IW_MS);
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CLOSE), 0);
	cmsim_run(&s, 200 * IW_MS);
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CLOSE), 1);
	assert_in_range(cmsim_nth(&s.h[1], IW_CM_CLOSE, 0)->at_ns, at + 2900 * IW_MS, at + 3 * IW_SEC);
	assert_int_equal(s.rsts[1], 1);
	s.h[0].frozen = false;
	cmsim_run(&s, 200 * IW_SEC);
	check(" CLOSE(PROTO)", " CLOSE(PROTO)");
}

/* CLOSING lasts at most 60 s: a peer that acknowledges our FIN and never says its own. */
static void
test_closing_is_bounded(void **state)
{
	uint8_t octets[64];
	uint32_t conn;
	uint64_t at;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	cmsim_raw_listen(&s);
	p.qa = cmsim_qp(&s.h[0]);
	p.a = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4));
	cmsim_run(&s, 100 * IW_MS);
	at = s.now_ns;
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	cmsim_run(&s, 59 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_CLOSE), 0);
	cmsim_run(&s, 2 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(TIMEDOUT)");
	assert_in_range(cmsim_nth(&s.h[0], IW_CM_CLOSE, 0)->at_ns, at + 60 * IW_SEC, at + 60 * IW_SEC + IW_MS);
	assert_int_equal(s.rsts[0], 1);
	cmsim_close(&s);
}

/* The peer closes first and its last ACK never comes: bounded in the same way. */
static void
test_half_is_bounded(void **state)
{
	uint64_t at;

	(void)state;
	open_pair();
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	cmsim_run(&s, 70 * IW_US); /* both FINs are out */
	at = s.now_ns;
	s.cut = true;
	cmsim_run(&s, 59 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CLOSE), 0);
	cmsim_run(&s, 40 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CLOSE), 1);
	assert_true(cmsim_nth(&s.h[1], IW_CM_CLOSE, 0)->at_ns < at + 61 * IW_SEC);
	check(" CLOSE(0)", " DISCONNECT CLOSE(TIMEDOUT)");
}

/* F7: own Reads outstanding at the peer's FIN. */
static void
test_fin_with_reads_outstanding(void **state)
{
	static uint8_t sink[4096];
	struct iw_send_wr wr = {.wr_id = 3, .opcode = IW_WR_RDMA_READ, .num_sge = 1};
	struct iw_sge sge = {.addr = (uintptr_t)sink, .length = sizeof(sink)};
	struct iw_mr *mr;
	uint8_t octets[64];
	uint32_t conn, n;
	int err;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	cmsim_raw_listen(&s);
	p.qa = cmsim_qp(&s.h[0]);
	p.a = cmsim_id(&s.h[0]);
	mr = iw_mr_reg(s.h[0].pd, sink, sizeof(sink), IW_LOCAL_WRITE, &err);
	assert_non_null(mr);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	conn = cmsim_raw_accept(&s);
	n = cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4);
	cmsim_raw_send(&s.h[1], conn, octets, n);
	cmsim_run(&s, 1 * IW_MS);
	sge.lkey = iw_mr_lkey(mr);
	wr.sg_list = &sge;
	assert_int_equal(iw_post_send(p.qa, &wr, NULL), 0);
	s.h[0].posted++;
	cmsim_run(&s, 1 * IW_MS);
	tcp_close(s.h[1].tcp, conn, s.now_ns);
	cmsim_run(&s, 1 * IW_MS);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(CONNRESET)");
	assert_int_equal(s.h[0].completed, s.h[0].posted);
	assert_int_equal(s.rsts[0], 1);
	assert_int_equal(iw_mr_dereg(mr), 0);
	cmsim_close(&s);
}

/* The peer dies without a word: user timeout with data outstanding. */
static void
test_peer_dies(void **state)
{
	(void)state;
	open_pair();
	s.cut = true;
	cmsim_post_send(&s.h[0], p.qa);
	cmsim_run(&s, 130 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(TIMEDOUT)");
	assert_int_equal(cm_state(s.h[1].cm, p.b), IW_CM_ESTABLISHED); /* nothing to say: nothing noticed */
	s.cut = false;
	cmsim_post_send(&s.h[1], p.qb);
	cmsim_run(&s, 1 * IW_SEC); /* answered by RST: our side has forgotten */
	check(" CLOSE(TIMEDOUT)", " CLOSE(CONNRESET)");
}

/* destroy in CLOSING: TCP finishes alone. */
static void
test_destroy_while_closing(void **state)
{
	(void)state;
	open_pair();
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	assert_int_equal(cmsim_destroy(&s.h[0], p.a), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[1], p.b), "CONNECT_REQUEST ESTABLISHED DISCONNECT CLOSE(0)");
	assert_int_equal(s.rsts[0] + s.rsts[1], 0);
	assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
	cmsim_close(&s);
}

/* The same with a message half in TCP: a FIN would pretend that it is whole. */
static void
test_destroy_while_a_message_is_cut(void **state)
{
	static uint8_t big[1 << 20];
	struct iw_send_wr wr = {.wr_id = 2, .opcode = IW_WR_SEND, .num_sge = 1};
	struct iw_sge sge = {.addr = (uintptr_t)big, .length = sizeof(big)};
	struct iw_mr *mr;
	int err;

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		open_pair();
		mr = iw_mr_reg(s.h[0].pd, big, sizeof(big), 0, &err);
		sge.lkey = iw_mr_lkey(mr);
		sge.length = cut ? sizeof(big) : 100;
		wr.sg_list = &sge;
		assert_int_equal(iw_post_send(p.qa, &wr, NULL), 0);
		s.h[0].posted++;
		assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
		rdmap_doorbells(s.h[0].rdmap);
		s.cut = true; /* the first flight of it is out, and no ACK comes */
		cmsim_run(&s, 10 * IW_US);
		assert_int_equal(cmsim_destroy(&s.h[0], p.a), 0);
		cmsim_run(&s, 10 * IW_US);
		assert_int_equal(s.rsts[0], cut);
		assert_int_equal(s.h[0].completed, s.h[0].posted);
		assert_int_equal(iw_mr_dereg(mr), 0);
		cmsim_close(&s);
	}
}

/* ... and what has come in and makes no whole FPDU does not turn the FIN into a RST. */
static void
test_destroy_with_unread_octets(void **state)
{
	uint8_t octets[64];
	uint32_t conn;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	cmsim_raw_listen(&s);
	p.qa = cmsim_qp(&s.h[0]);
	p.a = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4));
	cmsim_run(&s, 100 * IW_MS);
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	cmsim_fpdu(octets, 1, 0);
	cmsim_raw_send(&s.h[1], conn, octets, 10);
	cmsim_run(&s, 100 * IW_MS);
	assert_int_equal(cmsim_destroy(&s.h[0], p.a), 0);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(s.rsts[0], 0);
	tcp_close(s.h[1].tcp, conn, s.now_ns);
	cmsim_run(&s, 1 * IW_SEC);
	assert_int_equal(s.rsts[0], 0);
	assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
	cmsim_close(&s);
}

/* A client of a hand-made peer, as far as its Request. */
static uint32_t
ask_raw(iw_cm_id *id)
{
	const struct iw_cm_attr a = {.no_peer_to_peer = true};

	*id = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], *id, cmsim_qp(&s.h[0]), &a), 0);
	return cmsim_raw_accept(&s);
}

/* Attempts that were given up hold an id until the peer has answered; an own one has precedence. */
static void
test_orphans_make_room(void **state)
{
	iw_cm_id id;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true, .cm = {.max_ids = 3}});
	cmsim_raw_listen(&s);
	for (int i = 0; i < 3; i++) {
		ask_raw(&id);
		assert_int_equal(cmsim_destroy(&s.h[0], id), 0);
		cmsim_run(&s, 1 * IW_MS);
	}
	assert_int_equal(cm_id_count(s.h[0].cm), 0);
	assert_int_equal(cmsim_counter(&s.h[0], "cm.drop_reaped"), 0);
	assert_int_not_equal(cmsim_id(&s.h[0]), 0);
	assert_int_equal(cmsim_counter(&s.h[0], "cm.drop_reaped"), 1);
	cmsim_close(&s);
}

/* An id that is used again knows nothing of its former connection: not that an RTR was due, which forbids a RST. */
static void
test_used_again(void **state)
{
	const struct iw_cm_attr plain = {.revision_1 = true};
	uint8_t octets[64];
	uint32_t conn;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	cmsim_raw_listen(&s);
	p.a = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, cmsim_qp(&s.h[0]), NULL), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4));
	cmsim_run(&s, 100 * IW_MS);
	tcp_close(s.h[1].tcp, conn, s.now_ns);
	cmsim_run(&s, 1 * IW_MS);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) DISCONNECT CLOSE(0)");
	assert_int_equal(cmsim_connect(&s.h[0], p.a, cmsim_qp(&s.h[0]), &plain), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x40, 1, 0, "", 0));
	cmsim_run(&s, 100 * IW_MS);
	assert_int_equal(s.rsts[0], 0);
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, true), 0);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(s.rsts[0], 1);
	cmsim_close(&s);
}

static iw_cm_id victim;

static int
on_reply_destroys(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	if (ev->type == IW_CM_CONNECT_REPLY && id != victim)
		assert_int_equal(cmsim_destroy(h, victim), 0);
	return 0;
}

/* Behind its Reply came an FPDU that breaks the stream, and before anybody was told another id's handler destroys it: a
 * FIN would pretend a graceful end, so that the peer thinks that its work was taken. */
static void
test_destroy_while_a_terminate_is_due(void **state)
{
	uint8_t octets[128];
	iw_cm_id first;
	uint32_t conn[2], n;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
		s.h[0].hook = on_reply_destroys;
		cmsim_raw_listen(&s);
		conn[0] = ask_raw(&first);
		conn[1] = ask_raw(&victim);
		for (int i = 0; i < 2; i++) {
			n = cmsim_frame(octets, true, 0x50, 2, 4, "\0\x10\0\x10", 4);
			if (i == 1 && broken) {
				n += cmsim_fpdu(octets + n, 1, 8);
				octets[n - 1] ^= 1;
			}
			cmsim_raw_send(&s.h[1], conn[i], octets, n);
		}
		cmsim_run(&s, 1 * IW_MS);
		assert_string_equal(cmsim_story(&s.h[0], first), "CONNECT_REPLY(0)");
		assert_string_equal(cmsim_story(&s.h[0], victim), "");
		assert_int_equal(s.rsts[0], broken);
		assert_int_equal(s.fins[0], !broken);
		cmsim_close(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graceful),
		cmocka_unit_test(test_both_at_once),
		cmocka_unit_test(test_abrupt),
		cmocka_unit_test(test_qp_destroyed),
		cmocka_unit_test(test_terminate),
		cmocka_unit_test(test_terminate_while_closing),
		cmocka_unit_test(test_terminate_linger),
		cmocka_unit_test(test_closing_is_bounded),
		cmocka_unit_test(test_half_is_bounded),
		cmocka_unit_test(test_fin_with_reads_outstanding),
		cmocka_unit_test(test_peer_dies),
		cmocka_unit_test(test_destroy_while_closing),
		cmocka_unit_test(test_destroy_while_a_message_is_cut),
		cmocka_unit_test(test_destroy_with_unread_octets),
		cmocka_unit_test(test_orphans_make_room),
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_destroy_while_a_terminate_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
