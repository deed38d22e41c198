/* SPDX-License-Identifier: BSD-3-Clause */
/* T36 of a connection that is not in FPDU mode yet, or never will be: without an mbuf for data its start-up frames, a
 * reject, a Terminate and the FIN come out of the reserve; without a reserve, too, the FIN is still said when there is
 * one again, and nobody is reset.  A whole engine against a peer made by hand. */
#include "startup.h"

static struct rte_mbuf *held[2]; /* the last ones */

/* From here on the host finds no mbuf for data, and not even one of the reserve. */
static void
dry(bool reserve)
{
	struct sim_host *h = &s->host[0];

	mbuf_stock_empty(&v.engine->stock);
	held[0] = rte_pktmbuf_alloc(h->data_pool);
	held[1] = rte_pktmbuf_alloc(h->ctl_pool);
	mbufpool_set_limit(h->data_pool, 1);
	mbufpool_set_limit(h->ctl_pool, reserve ? 0 : 1);
}

static void
wet(void)
{
	mbufpool_set_limit(s->host[0].data_pool, 0);
	mbufpool_set_limit(s->host[0].ctl_pool, 0);
	rte_pktmbuf_free(held[0]);
	rte_pktmbuf_free(held[1]);
}

/* ---- how a start-up can end ---- */

static void
begin_responder(void)
{
	open_host();
	v.reject = true;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
}

static void
begin_initiator(void)
{
	open_initiator(false);
}

static void
ask(void)
{
	raw_send(&r, octets, raw_startup(octets, false, 0x50, 2, "\0\x10\0\x10", 4));
}

static void
answer_with_too_much(void)
{
	raw_send(&r, octets, raw_startup(octets, true, 0x50, 2, "\0\x10\0\x11", 4));
}

static void
answer_badly(void)
{
	raw_send(&r, octets, raw_startup(octets, true, 0x50, 7, "\0\x10\0\x10", 4));
}

static void
answer_reject(void)
{
	raw_send(&r, octets, raw_startup(octets, true, 0x70, 2, "\0\x10\0\x10", 4));
}

static void
disconnect(void)
{
	assert_int_equal(iw_cm_disconnect(v.engine, v.conn[0].id, false), 0);
}

static void
destroy(void)
{
	assert_int_equal(iw_cm_destroy(v.engine, v.conn[0].id), 0);
}

static void
wait_too_long(void)
{
	raw_run(&r, 10 * IW_SEC);
}

static const struct ending {
	const char *name;
	void (*begin)(void), (*act)(void);
	uint32_t events, terminate;
	int status;
	bool reject;
} endings[] = {
	{"rejected by us", begin_responder, ask, .events = 1, .reject = true},
	{"no agreement", begin_initiator, answer_with_too_much, .events = 1, .terminate = 0x2006,
	 .status = -IW_E_PROTO},
	{"a bad Reply", begin_initiator, answer_badly, .events = 1, .status = -IW_E_PROTO},
	{"rejected by the peer", begin_initiator, answer_reject, .events = 1, .status = -IW_E_CONNREFUSED},
	{"given up", begin_initiator, disconnect, .events = 1, .status = -IW_E_CONNABORTED},
	{"destroyed", begin_initiator, destroy, .events = 0},
	{"no Reply", begin_initiator, wait_too_long, .events = 1, .status = -IW_E_TIMEDOUT},
};

/* What the peer sends may find no mbuf, either, and comes again. */
static void
run_until(uint32_t bits, uint32_t events, uint64_t limit_ns)
{
	for (uint64_t end = s->now_ns + limit_ns; s->now_ns < end;) {
		raw_run(&r, IW_MS);
		if ((r.bits & bits) == bits && v.events >= events)
			break;
	}
}

static void
check_frame(const struct ending *e)
{
	if (e->reject)
		assert_true(r.len == 24 && (r.in[16] & 0x20));
	else
		assert_int_equal(r.len, e->terminate ? 28 : 0);
	assert_int_equal(raw_terminate(&r), e->terminate);
}

static void
one_ending(const struct ending *e, bool reserve)
{
	e->begin();
	dry(reserve);
	e->act();
	run_until(reserve ? TCP_READY_FIN : 0, e->events, 9 * IW_SEC);
	if (reserve) {
		check_frame(e);
	} else {
		raw_run(&r, 500 * IW_MS);
		assert_int_equal(r.len, 0);
		assert_false(raw_ended(&r));
		mbufpool_set_limit(s->host[0].ctl_pool, 0);
		run_until(TCP_READY_FIN, e->events, 9 * IW_SEC);
	}
	if (!(r.bits & TCP_READY_FIN) || r.bits & TCP_READY_RST)
		fail_msg("%s: no FIN", e->name);
	assert_int_equal(v.events, e->events);
	assert_int_equal(v.conn[0].status, e->status);
	raw_fin(&r);
	raw_run(&r, 5 * IW_SEC);
	assert_false(r.bits & TCP_READY_RST);
	wet();
	close_all();
}

static void
test_T36_endings_of_a_startup(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		for (int reserve = 0; reserve < 2; reserve++)
			one_ending(&endings[i], reserve);
}

/* A start-up goes through: RTR and Reply come out of it, too. */
static void
test_T36_startup_out_of_the_reserve(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);

	(void)state;
	open_initiator(true);
	s->shares = true;
	dry(true);
	raw_send(&r, octets, raw_startup(octets, true, 0x50, 2, "\x80\x10\x80\x10", 4));
	assert_true(raw_await(&r, 20, 5 * IW_SEC));
	assert_memory_equal(r.in, "\x00\x0e\xc1\x40", 4);
	assert_true(v.conn[0].up);
	wet();
	close_all();
	open_responder();
	s->shares = true;
	dry(true);
	raw_send(&r, octets, raw_startup(octets, false, 0x50, 2, "\x80\x10\x80\x10", 4));
	assert_true(raw_await(&r, 24, 5 * IW_SEC));
	check_reply(0x50, 2, "\x80\x10\x80\x10");
	raw_send(&r, octets, raw_fpdu(octets, &h, NULL, 0));
	run_until(0, 2, 5 * IW_SEC);
	assert_true(v.conn[0].up);
	wet();
	close_all();
}

/* ---- transmit state: what the Reply leaves with ---- */

static iw_cm_id asked;

static int
on_asked(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	(void)context;
	if (event->type == IW_CM_CONNECT_REQUEST)
		asked = id;
	return 0;
}

/* All of it is lent to streams whose peer has fallen silent, and to one that is being opened. */
static void
lend_all(struct raw *busy)
{
	const struct iw_send_wr wr = {.opcode = IW_WR_SEND};

	for (uint32_t i = 0; i < 2; i++) {
		raw_listen(&busy[i], s, 1, (uint16_t)(4000 + i));
		victim_connect(&v, 1, (uint16_t)(4000 + i));
		for (uint32_t k = 0; k < 1000 && !raw_accept(&busy[i]); k++)
			;
		assert_true(raw_await(&busy[i], 24, IW_SEC));
		raw_send(&busy[i], octets, raw_startup(octets, true, 0x50, 2, "\0\x10\0\x10", 4));
		raw_run(&busy[i], 10 * IW_MS);
	}
	s->host[1].cut = true;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(iw_post_send(v.conn[i].qp, &wr, NULL), 0);
	victim_connect(&v, 1, 4009);
	raw_run(&busy[0], 10 * IW_MS);
}

/* Neither a Reply nor a reject can leave: the call says so, nobody is reset, and it goes when there is some again. */
static void
test_M16_reply_cannot_leave(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 16, .tcp.max_flights = 3};
	struct iw_addr any = {.port = VICTIM_PORT};
	struct raw busy[2];
	iw_cm_id listener;
	struct iw_qp *qp;

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 1, 3, &params);
	victim_init(&v, s, 0);
	listener = iw_cm_create(v.engine, on_asked, NULL);
	assert_int_equal(iw_cm_listen(v.engine, listener, &any, 4), 0);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	asked = 0;
	request(0x50, 2, "\0\x10\0\x10", 4);
	assert_int_not_equal(asked, 0);
	lend_all(busy);
	qp = iw_qp_create(v.engine, v.pd, &(struct iw_qp_attr){.send_cq = v.cq, .recv_cq = v.cq}, NULL);
	assert_int_equal(iw_cm_accept(v.engine, asked, qp, NULL), -IW_E_NOMEM);
	assert_int_equal(iw_cm_reject(v.engine, asked, NULL, 0), -IW_E_NOMEM);
	raw_run(&r, 10 * IW_MS);
	assert_int_equal(r.len, 0);
	assert_false(raw_ended(&r));
	s->host[1].cut = false;
	raw_run(&r, 5 * IW_SEC);
	assert_int_equal(iw_cm_accept(v.engine, asked, qp, NULL), 0);
	raw_run(&r, 10 * IW_MS);
	check_reply(0x50, 2, "\0\x10\0\x10");
	assert_int_equal(iw_qp_state(qp), IW_QP_RTS);
	for (uint32_t i = 0; i < 2; i++)
		raw_close(&busy[i]);
	raw_close(&r);
	assert_int_equal(iw_cm_destroy(v.engine, asked), 0);
	assert_int_equal(iw_cm_destroy(v.engine, listener), 0);
	assert_int_equal(iw_qp_destroy(qp), 0);
	victim_close(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T36_endings_of_a_startup),
		cmocka_unit_test(test_T36_startup_out_of_the_reserve),
		cmocka_unit_test(test_M16_reply_cannot_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
