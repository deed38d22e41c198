/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps: one life of a connection, and at each of its polls something that changes its course.  Whatever it is, every
 * connect is answered once, every established connection is closed once, all work is flushed before CLOSE, nothing
 * comes after destroy, and in the end everything is back (P1-P3, P5, P10, P11; O1). */
#include "cmsim.h"

static struct cmsim s;
static iw_cm_id listener, client, child;
static struct iw_qp *qa, *qb;
static uint32_t at_poll, second_at;

enum act {
	NOTHING,
	DESTROY_CLIENT,
	DESTROY_CHILD,
	DESTROY_LISTENER,
	CLOSE_CLIENT,
	ABORT_CLIENT,
	CLOSE_CHILD,
	ABORT_CHILD,
	QP_CLIENT,
	QP_CHILD,
	CUT_WIRE,
	ACTS
};
static enum act act, second;

struct variant {
	const char *name;
	struct iw_cm_attr attr;
	bool late; /* accept some polls after the request, not in its handler */
	bool reject;
	bool initiator_closes;
	uint32_t loss_ppm;
	uint32_t budget;
};
static const struct variant *v;

static const struct variant variants[] = {
	{.name = "peer-to-peer", .initiator_closes = true},
	{.name = "peer-to-peer, responder closes"},
	{.name = "late accept", .late = true, .initiator_closes = true},
	{.name = "revision 2 alone", .attr = {.no_peer_to_peer = true}, .initiator_closes = true},
	{.name = "revision 1, responder closes", .attr = {.revision_1 = true}},
	{.name = "delay", .attr = {.first_fpdu_delay_us = 300}, .initiator_closes = true},
	{.name = "reject", .reject = true},
	{.name = "small budget", .initiator_closes = true, .budget = 1},
	{.name = "loss", .initiator_closes = true, .loss_ppm = 100000},
};

static struct iw_cm_attr
attr_of(void)
{
	struct iw_cm_attr a = v->attr;

	a.keepalive_ms = 2000; /* so that a peer that is silent for ever is found out */
	a.timewait_exit = true;
	a.private_data = "hello";
	a.private_len = 5;
	return a;
}

static void
answer(struct cmsim_host *h)
{
	struct iw_cm_attr a = attr_of();
	int err;

	if (v->reject) {
		err = cmsim_reject(h, child, "no", 2);
	} else {
		err = qb ? cmsim_accept(h, child, qb, &a) : -IW_E_INVAL;
	}
	assert_true(err == 0 || err == -IW_E_CONNRESET || err == -IW_E_STALE || err == -IW_E_INVAL);
}

static int
on_event(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	struct iw_qp *qp = h->n ? qb : qa;

	switch (ev->type) {
	case IW_CM_CONNECT_REQUEST:
		child = id;
		if (!v->late)
			answer(h);
		break;
	case IW_CM_CONNECT_REPLY:
	case IW_CM_ESTABLISHED_EV:
		if (ev->status == 0 && qp)
			for (int i = 0; i < 3; i++)
				cmsim_post_send(h, qp);
		break;
	case IW_CM_CLOSE:
		/* P10: one QP each, so everything has completed by now. */
		assert_int_equal(h->completed, h->posted);
		break;
	case IW_CM_DISCONNECT:
	case IW_CM_TIMEWAIT_EXIT:
		break;
	}
	return 0;
}

/* No RST between Reply and RTR; RFC 5044 §7.1.2: no FPDU of the responder before the initiator's first; a
 * FIN goes alone. */
static bool
watch(struct cmsim *sim, const struct cmsim_seg *seg)
{
	bool p2p = !v->attr.no_peer_to_peer && !v->attr.revision_1 && !v->reject;

	if (p2p && !v->loss_ppm && seg->from == 0 && seg->rst)
		assert_false(sim->datas[1] > 0 && sim->datas[0] < 2);
	if (!sim->cut && !v->loss_ppm && seg->from == 1 && seg->len)
		assert_true(sim->datas[1] <= 1 || sim->datas[0] >= 2);
	assert_false(seg->fin && seg->len);
	return false;
}

static void
drop_qp(struct cmsim_host *h, struct iw_qp **qp)
{
	if (*qp)
		cmsim_qp_destroy(h, *qp);
	*qp = NULL;
}

static void
do_act(enum act a)
{
	switch (a) {
	case DESTROY_CLIENT:
		cmsim_destroy(&s.h[0], client);
		assert_int_equal(cmsim_destroy(&s.h[0], client), -IW_E_STALE);
		break;
	case DESTROY_CHILD:
		cmsim_destroy(&s.h[1], child);
		assert_int_equal(cmsim_destroy(&s.h[1], child), -IW_E_STALE);
		break;
	case DESTROY_LISTENER:
		cmsim_destroy(&s.h[1], listener);
		break;
	case CLOSE_CLIENT:
		cmsim_disconnect(&s.h[0], client, false);
		break;
	case ABORT_CLIENT:
		cmsim_disconnect(&s.h[0], client, true);
		break;
	case CLOSE_CHILD:
		cmsim_disconnect(&s.h[1], child, false);
		break;
	case ABORT_CHILD:
		cmsim_disconnect(&s.h[1], child, true);
		break;
	case QP_CLIENT:
		drop_qp(&s.h[0], &qa);
		break;
	case QP_CHILD:
		drop_qp(&s.h[1], &qb);
		break;
	case CUT_WIRE:
		s.cut = true;
		break;
	case NOTHING:
	case ACTS:
		break;
	}
}

static void
each_poll(struct cmsim *sim)
{
	if (sim->polls == at_poll)
		do_act(act);
	if (sim->polls == second_at)
		do_act(second);
	if (v->late && child && sim->polls % 5 == 0)
		answer(&sim->h[1]);
}

static void
open_all(void)
{
	struct cmsim_opts o = {.fpdu_budget = v->budget};
	struct iw_cm_attr a = attr_of();

	cmsim_open(&s, &o);
	s.h[0].hook = s.h[1].hook = on_event;
	s.filter = watch;
	s.loss_ppm = v->loss_ppm;
	child = 0;
	listener = cmsim_listen(&s.h[1], 4);
	client = cmsim_id(&s.h[0]);
	qa = cmsim_qp(&s.h[0]);
	qb = cmsim_qp(&s.h[1]);
	cmsim_post_recv(&s.h[0], qa, 8);
	cmsim_post_recv(&s.h[1], qb, 8);
	assert_int_equal(cmsim_connect(&s.h[0], client, qa, &a), 0);
	s.each_poll = each_poll;
}

/* Nothing is owed to anybody any more. */
static void
check_book(const struct cmsim_host *h)
{
	for (uint32_t i = 0; i < h->seen_n; i++) {
		const struct cmsim_seen *x = &h->seen[i];

		if (x->gone)
			continue;
		assert_int_equal(x->owed_replies, 0);
		assert_false(x->accepted);
		assert_false(x->up);
		assert_true(x->timewaits <= 1 && x->replies <= 1 && x->established <= 1 && x->closes <= 1);
	}
}

static uint32_t
live_ids(const struct cmsim_host *h)
{
	uint32_t n = h->n ? cm_state(h->cm, listener) == IW_CM_LISTENING : 0;

	for (uint32_t i = 0; i < h->seen_n; i++)
		n += !h->seen[i].gone && !(h->n && h->seen[i].id == listener);
	return n;
}

static void
check_end(void)
{
	for (uint32_t n = 0; n < 2; n++) {
		check_book(&s.h[n]);
		assert_int_equal(tcp_conn_count(s.h[n].tcp), 0);
		assert_int_equal(tcp_timewait_count(s.h[n].tcp), 0);
		assert_true(cm_id_count(s.h[n].cm) <= live_ids(&s.h[n]));
		assert_true(cm_deadline(s.h[n].cm) == IW_NEVER);
	}
	drop_qp(&s.h[0], &qa);
	drop_qp(&s.h[1], &qb);
	for (uint32_t n = 0; n < 2; n++)
		assert_int_equal(s.h[n].completed, s.h[n].posted);
}

/* One life; returns its polls. */
static uint32_t
live(void)
{
	uint32_t polls;

	open_all();
	for (int i = 0; i < 20; i++)
		cmsim_run(&s, 100 * IW_US);
	if (v->loss_ppm)
		cmsim_run(&s, 20 * IW_SEC);
	cmsim_disconnect(v->initiator_closes ? &s.h[0] : &s.h[1], v->initiator_closes ? client : child, false);
	cmsim_run(&s, 10 * IW_MS);
	polls = s.polls;
	cmsim_run(&s, 400 * IW_SEC);
	/* An id that nobody answered waits for its user for ever. */
	if (cm_state(s.h[1].cm, child) == IW_CM_CONN_RECV) {
		cmsim_destroy(&s.h[1], child);
		cmsim_run(&s, 400 * IW_SEC);
	}
	check_end();
	cmsim_close(&s);
	return polls;
}

static void
test_undisturbed(void **state)
{
	(void)state;
	act = second = NOTHING;
	at_poll = second_at = 0;
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		v = &variants[i];
		live();
		if (v->reject)
			continue;
		assert_true(s.h[0].seen_n >= 1);
		assert_string_equal(cmsim_story(&s.h[0], client), v->initiator_closes
									  ? "CONNECT_REPLY(0) CLOSE(0) TIMEWAIT_EXIT"
									  : "CONNECT_REPLY(0) DISCONNECT CLOSE(0)");
		assert_int_equal(s.h[0].send_ok + s.h[1].send_ok, 6);
		assert_int_equal(s.h[0].recv_ok + s.h[1].recv_ok, 6);
	}
}

static void
test_one_thing_at_each_poll(void **state)
{
	uint32_t runs = 0;

	(void)state;
	second = NOTHING;
	second_at = 0;
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		uint32_t polls;

		v = &variants[i];
		act = NOTHING;
		polls = live();
		assert_true(polls > 10);
		if (polls > 80)
			polls = 80;
		for (act = DESTROY_CLIENT; act < ACTS; act++)
			for (at_poll = 1; at_poll <= polls; at_poll += i < 5 ? 1 : 2, runs++)
				live();
	}
	print_message("lives: %u\n", runs);
}

/* Both sides at once, or one shortly after the other, and the wire failing on top. */
static void
test_two_things(void **state)
{
	uint32_t runs = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		v = &variants[i];
		for (act = DESTROY_CLIENT; act < ACTS; act++)
			for (second = DESTROY_CLIENT; second < ACTS; second++)
				for (at_poll = 3; at_poll <= 29; at_poll += 4, runs++) {
					second_at = at_poll + (runs + at_poll) % 5;
					live();
				}
	}
	print_message("lives: %u\n", runs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_undisturbed),
		cmocka_unit_test(test_one_thing_at_each_poll),
		cmocka_unit_test(test_two_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
