/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of one neighbour: asked, known, aging, gone. */
#include "neigh_test.h"

/* Three questions at 1 s, then failed: what waits is freed, it is remembered, and forgotten after 5 s. */
static void
test_no_answer(void **state)
{
	uint32_t handle = 0;

	(void)state;
	begin(16);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
	neigh_wait(&t, handle, packet(pool, "a", 1));
	neigh_wait(&t, handle, packet(pool, "b", 1));
	assert_question(5, false);
	assert_int_equal(use(5), NEIGH_USE_WAIT);
	assert_no_question();
	for (int i = 0; i < 2; i++) {
		pass(IW_SEC - SLACK);
		assert_no_question();
		pass(2 * SLACK);
		assert_question(5, false);
	}
	pass(IW_SEC - SLACK);
	assert_int_equal(state_of(5), NEIGH_INCOMPLETE);
	pass(2 * SLACK);
	assert_int_equal(state_of(5), NEIGH_FAILED);
	assert_no_question();
	assert_int_equal(mbufpool_in_use(pool), 0);
	assert_int_equal(counters.neigh_wait_failed, 2);
	assert_int_equal(counters.neigh_failed, 1);
	assert_int_equal(counters.neigh_asked, 3);
	/* while there is something to send, a question a second */
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	assert_question(5, false);
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	assert_no_question();
	pass(IW_SEC);
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	assert_question(5, false);
	pass(4 * IW_SEC + SLACK);
	assert_int_equal(state_of(5), -1);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
	assert_question(5, false);
	end();
}

/* Asked for once more shortly before the memory of the failure ends: the entry stays until it may be asked again, and a
 * packet that comes then waits for that question. */
static void
test_failure_is_not_forgotten_too_early(void **state)
{
	(void)state;
	begin(16);
	use(5);
	for (int i = 0; i < 3; i++) {
		assert_question(5, false);
		pass(IW_SEC + SLACK);
	}
	assert_int_equal(state_of(5), NEIGH_FAILED);
	pass(4500 * IW_MS);
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	assert_question(5, false);
	pass(600 * IW_MS);
	assert_int_equal(use(5), NEIGH_USE_WAIT);
	assert_no_question();
	pass(500 * IW_MS);
	assert_question(5, false);
	end();
}

/* Used again exactly when the memory of the failure ends: never two questions within a second (RFC 1122 §2.3.2.1). */
static void
test_never_twice_a_second(void **state)
{
	uint64_t last = 0;

	(void)state;
	begin(16);
	for (uint32_t i = 0; i < 30000; i++) {
		struct neigh_question q;

		use(7);
		if (i % 1000 == 17)
			reconfirm(7);
		if (i % 10000 == 9000)
			learn(7, 7, NEIGH_SEEN);
		if (neigh_question(&t, &q)) {
			assert_true(last == 0 || now - last >= IW_SEC - IW_MS);
			last = now;
		}
		pass(IW_MS);
	}
	assert_true(counters.neigh_asked >= 20);
	end();
}

static void
test_recovery(void **state)
{
	(void)state;
	begin(16);
	use(5);
	for (int i = 0; i < 4; i++)
		pass(IW_SEC + SLACK);
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	learn(5, 5, NEIGH_ANSWERED);
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	pass(10 * IW_SEC); /* the timer of the failure is not left behind */
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	end();
}

/* Up to 4 wait, a fifth has to come again, and they leave in their order. */
static void
test_waiting_packets(void **state)
{
	struct rte_mbuf *released[NEIGH_WAITING], *sent[NEIGH_WAITING];
	uint32_t handle = 0;

	(void)state;
	begin(16);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
		sent[i] = packet(pool, "x", 1);
		neigh_wait(&t, handle, sent[i]);
	}
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_LATER);
	assert_int_equal(t.settled, 0);
	assert_int_equal(learn_as(5, 5, NEIGH_ANSWERED, released), 4);
	assert_int_equal(t.settled, 1);
	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(released[i], sent[i]);
		rte_pktmbuf_free(released[i]);
	}
	assert_int_equal(learn_as(5, 5, NEIGH_ANSWERED, released), 0);
	end();
}

static void
test_fini_frees_what_waits(void **state)
{
	uint32_t handle = 0;

	(void)state;
	begin(16);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
	neigh_wait(&t, handle, packet(pool, "x", 1));
	end();
}

/* After 60 s a used neighbour is asked where it was, then everybody; it stays usable until three went unanswered. */
static void
test_aging(void **state)
{
	(void)state;
	begin(16);
	meet(5);
	pass(60 * IW_SEC - SLACK);
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_no_question();
	pass(2 * SLACK);
	assert_int_equal(state_of(5), NEIGH_STALE);
	assert_no_question();
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_question(5, true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(use(5), NEIGH_USE_KNOWN);
		assert_no_question();
		pass(IW_SEC + SLACK);
		assert_question(5, false);
	}
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	pass(IW_SEC + SLACK);
	assert_int_equal(use(5), NEIGH_USE_FAILED);
	end();
}

static void
test_aging_answered(void **state)
{
	(void)state;
	begin(16);
	meet(5);
	for (int i = 0; i < 5; i++) {
		pass(60 * IW_SEC + SLACK);
		assert_int_equal(use(5), NEIGH_USE_KNOWN);
		assert_question(5, true);
		learn(5, 5, NEIGH_ANSWERED);
		assert_int_equal(state_of(5), NEIGH_REACHABLE);
	}
	/* nobody uses it: not asked, and forgotten in the end */
	pass(60 * IW_SEC + SLACK);
	assert_no_question();
	pass(599 * IW_SEC);
	assert_int_equal(state_of(5), NEIGH_STALE);
	pass(1 * IW_SEC + SLACK);
	assert_int_equal(state_of(5), -1);
	assert_int_equal(neigh_deadline(&t), IW_NEVER);
	end();
}

/* RFC 9293 §3.8.3 R1, spec faults 23: asked at once, everybody, once a second, while what is known stays in use; the
 * answer with another MAC moves the traffic. */
static void
test_reconfirm(void **state)
{
	uint32_t handle = 0;

	(void)state;
	begin(16);
	reconfirm(5); /* unknown: nothing to do */
	assert_no_question();
	meet(5);
	pass(2 * IW_SEC);
	reconfirm(5);
	assert_int_equal(state_of(5), NEIGH_STALE);
	assert_question(5, false);
	reconfirm(5);
	assert_no_question();
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_no_question();
	learn(5, 77, NEIGH_ANSWERED);
	assert_int_equal(counters.neigh_mac_changed, 1);
	assert_int_equal(use_at(5, &handle, 77), NEIGH_USE_KNOWN);
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	/* asked less than a second ago: not forgotten but put off */
	reconfirm(5);
	assert_no_question();
	pass(IW_SEC + SLACK);
	assert_question(5, false);
	end();
}

/* An aging neighbour is being asked at its old place when TCP complains: the next question goes to everybody. */
static void
test_reconfirm_while_aging(void **state)
{
	(void)state;
	begin(16);
	meet(5);
	pass(60 * IW_SEC + SLACK);
	use(5);
	reconfirm(5);
	assert_question(5, false);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_failure_is_not_forgotten_too_early),
		cmocka_unit_test(test_never_twice_a_second),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_waiting_packets),
		cmocka_unit_test(test_fini_frees_what_waits),
		cmocka_unit_test(test_aging),
		cmocka_unit_test(test_aging_answered),
		cmocka_unit_test(test_reconfirm),
		cmocka_unit_test(test_reconfirm_while_aging),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
