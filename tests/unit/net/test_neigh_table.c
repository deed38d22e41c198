/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may change what is known, and who has to go when the table is full. */
#include "neigh_test.h"

/* Who may change what (RFC 826, spec faults 23).  `after` -1: no entry. */
static void
test_learning(void **state)
{
	enum { NONE = -1, INC = NEIGH_INCOMPLETE, REA = NEIGH_REACHABLE, STA = NEIGH_STALE, FAI = NEIGH_FAILED };
	static const struct {
		int before;
		bool asking, new_mac;
		enum neigh_how how;
		int after;
	} rows[] = {
		{NONE, 0, 0, NEIGH_SEEN, NONE},   {NONE, 0, 0, NEIGH_ANSWERED, NONE}, {NONE, 0, 0, NEIGH_ASKED_US, REA},
		{INC, 1, 0, NEIGH_ANSWERED, REA}, {INC, 1, 0, NEIGH_ASKED_US, REA},   {INC, 1, 0, NEIGH_SEEN, STA},
		{FAI, 0, 0, NEIGH_ANSWERED, REA}, {FAI, 0, 0, NEIGH_ASKED_US, REA},   {FAI, 0, 0, NEIGH_SEEN, STA},
		{REA, 0, 0, NEIGH_SEEN, REA},     {REA, 0, 0, NEIGH_ASKED_US, REA},   {REA, 0, 1, NEIGH_SEEN, STA},
		{REA, 0, 1, NEIGH_ANSWERED, STA}, {REA, 0, 1, NEIGH_ASKED_US, STA},   {STA, 1, 1, NEIGH_ANSWERED, REA},
		{STA, 1, 1, NEIGH_SEEN, STA},     {STA, 1, 1, NEIGH_ASKED_US, STA},   {STA, 1, 0, NEIGH_ASKED_US, REA},
		{STA, 0, 1, NEIGH_ANSWERED, STA}, {STA, 0, 0, NEIGH_SEEN, STA},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t mac = rows[i].new_mac ? 99 : 5, handle = 0;
		struct neigh_question q;

		begin(16);
		if (rows[i].before == REA || rows[i].before == STA)
			meet(5);
		if (rows[i].before == INC || rows[i].before == FAI)
			assert_int_equal(use(5), NEIGH_USE_WAIT);
		for (int k = 0; k < 3 && rows[i].before == FAI; k++)
			pass(IW_SEC + SLACK);
		if (rows[i].before == STA)
			pass(61 * IW_SEC);
		if (rows[i].before == STA && rows[i].asking)
			use(5);
		while (neigh_question(&t, &q))
			;
		assert_int_equal(state_of(5), rows[i].before);
		learn(5, mac, rows[i].how);
		assert_int_equal(state_of(5), rows[i].after);
		if (rows[i].after < 0) {
			end();
			continue;
		}
		/* the traffic goes where it was heard to be; believed only: it is asked there */
		pass(IW_SEC);
		assert_no_question();
		assert_int_equal(use_at(5, &handle, mac), NEIGH_USE_KNOWN);
		if (rows[i].after == STA)
			assert_question(5, true);
		else
			assert_no_question();
		end();
	}
}

/* What is told to everybody confirms nothing (RFC 4861 §7.3.1): the question that is out goes on. */
static void
test_hearsay_is_no_answer(void **state)
{
	(void)state;
	begin(16);
	meet(5);
	pass(61 * IW_SEC);
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_question(5, true);
	learn(5, 5, NEIGH_SEEN);
	pass(IW_SEC + SLACK);
	assert_question(5, false);
	learn(5, 5, NEIGH_ANSWERED);
	pass(IW_SEC + SLACK);
	assert_no_question();
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	end();
}

/* Another station that does not claim to be the right one: the address stays, and is asked when it is used next; for
 * all others it is no news. */
static void
test_doubt(void **state)
{
	struct iw_addr a = host(5);

	(void)state;
	begin(16);
	neigh_doubt(&t, &a, now);
	assert_int_equal(state_of(5), -1);
	assert_int_equal(use(5), NEIGH_USE_WAIT);
	assert_question(5, false);
	neigh_doubt(&t, &a, now);
	assert_int_equal(state_of(5), NEIGH_INCOMPLETE);
	learn(5, 5, NEIGH_ANSWERED);
	pass(2 * IW_SEC);
	neigh_doubt(&t, &a, now);
	assert_int_equal(state_of(5), NEIGH_STALE);
	assert_no_question();
	assert_int_equal(use(5), NEIGH_USE_KNOWN);
	assert_question(5, true);
	learn(5, 5, NEIGH_ANSWERED);
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	/* nobody uses it: gone after a while, like all others */
	neigh_doubt(&t, &a, now);
	pass(600 * IW_SEC + SLACK);
	assert_int_equal(state_of(5), -1);
	end();
}

/* A lie about a neighbour in use costs a second: the liar's address does not answer, the true one does. */
static void
test_forged_address_heals(void **state)
{
	uint32_t handle = 0;

	(void)state;
	begin(16);
	meet(5);
	pass(2 * IW_SEC);
	learn(5, 66, NEIGH_ANSWERED);
	assert_int_equal(use_at(5, &handle, 66), NEIGH_USE_KNOWN);
	assert_question(5, true);
	pass(IW_SEC + SLACK);
	assert_question(5, false);
	learn(5, 5, NEIGH_ANSWERED);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_KNOWN);
	assert_int_equal(state_of(5), NEIGH_REACHABLE);
	end();
}

/* Strangers that ask for us push each other out, never a neighbour in use. */
static void
test_learning_evicts_the_unused_only(void **state)
{
	(void)state;
	begin(4);
	meet(1);
	meet(2);
	for (uint32_t n = 100; n < 200; n++)
		learn(n, n, NEIGH_ASKED_US);
	assert_int_equal(state_of(1), NEIGH_REACHABLE);
	assert_int_equal(state_of(2), NEIGH_REACHABLE);
	assert_int_equal(state_of(197), -1);
	assert_int_equal(state_of(198), NEIGH_REACHABLE);
	assert_int_equal(state_of(199), NEIGH_REACHABLE);
	assert_int_equal(counters.neigh_evicted, 98);
	assert_int_equal(use(198), NEIGH_USE_KNOWN);
	assert_int_equal(use(199), NEIGH_USE_KNOWN);
	learn(300, 300, NEIGH_ASKED_US);
	assert_int_equal(state_of(300), -1);
	assert_int_equal(counters.arp_not_learned, 1);
	end();
}

/* A packet of ours takes the place of the neighbour that was used least recently; a stale handle finds nobody. */
static void
test_least_recently_used_goes(void **state)
{
	uint32_t handle = 0, of2;

	(void)state;
	begin(4);
	for (uint32_t n = 1; n <= 4; n++) {
		meet(n);
		pass(2 * IW_MS);
	}
	assert_int_equal(use_at(2, &handle, 2), NEIGH_USE_KNOWN);
	of2 = handle;
	pass(2 * IW_MS);
	assert_int_equal(use(1), NEIGH_USE_KNOWN);
	pass(2 * IW_MS);
	meet(5);
	assert_int_equal(state_of(3), -1);
	pass(2 * IW_MS);
	meet(6);
	assert_int_equal(state_of(4), -1);
	pass(2 * IW_MS);
	meet(7);
	assert_int_equal(state_of(2), -1);
	assert_int_equal(state_of(1), NEIGH_REACHABLE);
	handle = of2;
	assert_int_equal(use_at(1, &handle, 1), NEIGH_USE_KNOWN);
	assert_int_not_equal(handle, of2);
	/* a good handle of somebody else does not lead to him */
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_KNOWN);
	end();
}

/* Neighbours that packets wait for stay; when they are half of the table, the known ones stay, too. */
static void
test_asked_ones_stay(void **state)
{
	uint32_t handle = 0;

	(void)state;
	begin(4);
	for (uint32_t n = 1; n <= 4; n++)
		meet(n);
	for (uint32_t n = 11; n <= 13; n++) {
		assert_int_equal(use_at(n, &handle, n), NEIGH_USE_WAIT);
		neigh_wait(&t, handle, packet(pool, "x", 1));
	}
	assert_int_equal(use(14), NEIGH_USE_FULL);
	assert_int_equal(state_of(4), NEIGH_REACHABLE);
	for (uint32_t n = 11; n <= 13; n++)
		assert_int_equal(state_of(n), NEIGH_INCOMPLETE);
	/* they fail, and room is there again */
	for (int i = 0; i < 3; i++)
		pass(IW_SEC + SLACK);
	assert_int_equal(mbufpool_in_use(pool), 0);
	assert_int_equal(use(14), NEIGH_USE_WAIT);
	assert_int_equal(state_of(4), NEIGH_REACHABLE);
	end();
}

/* A question that nobody has taken yet goes with what it was about: answered meanwhile, or evicted. */
static void
test_question_goes_with_its_entry(void **state)
{
	(void)state;
	begin(1);
	assert_int_equal(use(1), NEIGH_USE_WAIT);
	learn(1, 1, NEIGH_SEEN);
	assert_no_question();
	pass(2 * IW_SEC);
	assert_int_equal(use(1), NEIGH_USE_KNOWN);
	assert_int_equal(use(2), NEIGH_USE_WAIT);
	assert_int_equal(state_of(1), -1);
	assert_question(2, false);
	end();
}

/* Thousands, each with its own address, found by search and by handle; the work of one tick is bounded. */
static void
test_thousands(void **state)
{
	enum { N = 5000 };
	static uint32_t handles[N];
	uint32_t stale = 0, ticks = 0;

	(void)state;
	begin(N);
	for (uint32_t n = 0; n < N; n++) {
		learn(n, n, NEIGH_ASKED_US);
		assert_int_equal(use_at(n, &handles[n], n), NEIGH_USE_KNOWN);
	}
	for (uint32_t n = 0; n < N; n++) {
		uint32_t handle = handles[n];

		assert_int_equal(use_at(n, &handle, n), NEIGH_USE_KNOWN);
		assert_int_equal(handle, handles[n]);
	}
	pass(60 * IW_SEC + SLACK);
	for (uint32_t n = 0; n < N; n++)
		stale += state_of(n) == NEIGH_STALE;
	assert_in_range(stale, 1, 256);
	while (neigh_deadline(&t) <= now && ticks++ < 100)
		neigh_tick(&t, now);
	for (uint32_t n = 0; n < N; n++)
		assert_int_equal(state_of(n), NEIGH_STALE);
	end();
}

static void
test_deadline(void **state)
{
	(void)state;
	begin(16);
	assert_int_equal(neigh_deadline(&t), IW_NEVER);
	use(5);
	assert_in_range(neigh_deadline(&t), now + 1, now + IW_SEC + SLACK);
	learn(5, 5, NEIGH_ANSWERED);
	assert_true(neigh_deadline(&t) <= now + 60 * IW_SEC + SLACK);
	end();
}

static void
test_memory_is_short(void **state)
{
	(void)state;
	assert_int_equal(neigh_init(&t, &env, &counters, 0, 0), -IW_E_INVAL);
	for (uint32_t fuse = 1;; fuse++) {
		int rc;

		iw_env_alloc_fuse = fuse;
		rc = neigh_init(&t, &env, &counters, 8, 0);
		if (rc == 0) {
			assert_true(fuse > 1);
			break;
		}
		assert_int_equal(rc, -IW_E_NOMEM);
	}
	iw_env_alloc_fuse = 0;
	neigh_fini(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_hearsay_is_no_answer),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_forged_address_heals),
		cmocka_unit_test(test_learning_evicts_the_unused_only),
		cmocka_unit_test(test_least_recently_used_goes),
		cmocka_unit_test(test_asked_ones_stay),
		cmocka_unit_test(test_question_goes_with_its_entry),
		cmocka_unit_test(test_thousands),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_memory_is_short),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
