/* SPDX-License-Identifier: BSD-3-Clause */
/* Each deadline of the room: it fires when it should, not before, and not at all when what it waited for came
 * (cm_timer.h). */
#include "cm_timer.h"

#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;

#define TICK (20 * IW_US) /* of the wheel, rounded up */

/* An id by itself: every purpose, its length. */
static void
test_lengths(void **state)
{
	static const struct {
		uint8_t timer;
		uint64_t ns;
	} rows[] = {{CM_T_CONNECT, 10 * IW_SEC}, {CM_T_DELAY, 7 * IW_MS},     {CM_T_REQUEST, 10 * IW_SEC},
		    {CM_T_RTR, 10 * IW_SEC},     {CM_T_CLOSING, 60 * IW_SEC}, {CM_T_LINGER, 3 * IW_SEC},
		    {CM_T_ORPHAN, 10 * IW_SEC}};
	uint64_t now = 1000 * IW_SEC;

	(void)state;
	cmsim_open(&s, NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, now += 100 * IW_SEC) {
		struct cm *cm = s.h[0].cm;
		struct cm_id *id = cm_id_at(cm, cmsim_id(&s.h[0]));
		struct cm_setup *setup = cm_id_setup_new(cm, id);

		setup->connect_ns = 10 * IW_SEC;
		setup->delay_ns = 7 * IW_MS;
		id->st.timer = rows[i].timer;
		cm_timer_arm(cm, id, now);
		assert_true(cm_deadline(cm) <= now + rows[i].ns + TICK);
		assert_null(cm_timer_due(cm, now + rows[i].ns - 1));
		assert_ptr_equal(cm_timer_due(cm, now + rows[i].ns + TICK), id);
		assert_null(cm_timer_due(cm, now + rows[i].ns + TICK));
		cm_timer_arm(cm, id, now + rows[i].ns + TICK);
		id->st.timer = CM_T_NONE;
		cm_timer_arm(cm, id, now);
		assert_true(cm_deadline(cm) == IW_NEVER);
		cm_id_free(cm, id);
	}
	cmsim_close(&s);
}

/* params change them */
static void
test_params(void **state)
{
	static const struct cm_params params = {.request_wait_ns = 2 * IW_SEC,
						.rtr_wait_ns = 3 * IW_SEC,
						.closing_ns = 4 * IW_SEC,
						.linger_ns = 1 * IW_SEC};
	uint8_t octets[64];
	uint64_t at;
	uint32_t c;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_client = true, .cm = params});
	cmsim_listen(&s.h[1], 4);
	c = cmsim_raw_open(&s);
	cmsim_run(&s, 1900 * IW_MS);
	assert_int_equal(cm_id_count(s.h[1].cm), 2);
	cmsim_run(&s, 200 * IW_MS);
	assert_int_equal(cm_id_count(s.h[1].cm), 1);

	c = cmsim_raw_open(&s);
	cmsim_raw_send(&s.h[0], c, octets, cmsim_frame(octets, false, 0x50, 2, 4, "\x80\x10\xc0\x10", 4));
	cmsim_run(&s, 5 * IW_SEC); /* the user takes his time: nothing runs against him */
	p.b = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0)->id;
	at = s.now_ns;
	assert_int_equal(cmsim_accept(&s.h[1], p.b, cmsim_qp(&s.h[1]), NULL), 0);
	cmsim_run(&s, 10 * IW_SEC);
	assert_in_range(cmsim_nth(&s.h[1], IW_CM_CLOSE, 0)->at_ns, at + 3 * IW_SEC, at + 3 * IW_SEC + TICK);
	assert_string_equal(cmsim_story(&s.h[1], p.b), "CONNECT_REQUEST ESTABLISHED CLOSE(TIMEDOUT)");
	cmsim_close(&s);
}

/* connect_timeout_ms counts from the first SYN, to the Reply only. */
static void
test_connect_timeout(void **state)
{
	struct iw_cm_attr a = {.connect_timeout_ms = 700};

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_ask(&s, &p, &a);
	cmsim_run(&s, 600 * IW_MS);
	assert_int_equal(s.h[0].logged, 0);
	cmsim_run(&s, 200 * IW_MS);
	assert_int_equal(cmsim_nth(&s.h[0], IW_CM_CONNECT_REPLY, 0)->ev.status, -IW_E_TIMEDOUT);
	assert_in_range(cmsim_nth(&s.h[0], IW_CM_CONNECT_REPLY, 0)->at_ns, 1000 * IW_SEC + 700 * IW_MS,
			1000 * IW_SEC + 701 * IW_MS);
	cmsim_close(&s);

	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_ask(&s, &p, &a);
	assert_true(cm_deadline(s.h[1].cm) == IW_NEVER); /* CONN_RECV waits for its user */
	assert_int_equal(cmsim_accept(&s.h[1], p.b, p.qb, NULL), 0);
	cmsim_run(&s, 10 * IW_MS);
	assert_true(cm_deadline(s.h[0].cm) == IW_NEVER && cm_deadline(s.h[1].cm) == IW_NEVER);
	cmsim_run(&s, 100 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0)");
	cmsim_close(&s);
}

/* The Reply and its deadline in the same poll: the Reply was there first, it counts (B25). */
static void
test_reply_and_deadline_together(void **state)
{
	struct iw_cm_attr a = {.connect_timeout_ms = 700, .no_peer_to_peer = true};

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_ask(&s, &p, &a);
	s.h[0].frozen = true;
	assert_int_equal(cmsim_accept(&s.h[1], p.b, p.qb, NULL), 0);
	cmsim_run(&s, 2 * IW_SEC);
	s.h[0].frozen = false;
	cmsim_run(&s, 1 * IW_MS);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0)");
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_params),
		cmocka_unit_test(test_connect_timeout),
		cmocka_unit_test(test_reply_and_deadline_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
