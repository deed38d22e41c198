/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh.h"

#include <iwarp/err.h>

#include "iw_addr.h"
#include "net_test.h"

#define SLACK (100 * IW_US) /* a tick of the wheel and then some */

static struct rte_mempool *pool;
static struct iw_env env;
static struct net_counters counters;
static struct neigh_table t;
static uint64_t now;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("neigh", 128, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

static void
begin(uint32_t max)
{
	memset(&counters, 0, sizeof(counters));
	now = 1000 * IW_SEC;
	assert_int_equal(neigh_init(&t, &env, &counters, max, now), 0);
}

static void
end(void)
{
	neigh_fini(&t);
	assert_int_equal(mbufpool_in_use(pool), 0);
}

static void
pass(uint64_t ns)
{
	now += ns;
	neigh_tick(&t, now);
}

static struct iw_addr
host(uint32_t n)
{
	return iw_addr_from_v4(0x0a000000 + n, 0);
}

static const uint8_t *
mac_of(uint32_t n)
{
	static uint8_t mac[6];

	mac[0] = 2;
	memcpy(mac + 2, &n, 4);
	return mac;
}

/* Uses host n; checks the MAC when one is known. */
static enum neigh_use
use_at(uint32_t n, uint32_t *handle, uint32_t mac_n)
{
	struct iw_addr a = host(n);
	uint8_t mac[6];
	enum neigh_use use = neigh_use(&t, handle, &a, now, mac);

	if (use == NEIGH_USE_KNOWN)
		assert_memory_equal(mac, mac_of(mac_n), 6);
	return use;
}

static enum neigh_use
use(uint32_t n)
{
	uint32_t handle = 0;

	return use_at(n, &handle, n);
}

static uint32_t
learn_as(uint32_t n, uint32_t mac_n, enum neigh_how how, struct rte_mbuf **released)
{
	struct iw_addr a = host(n);

	return neigh_learn(&t, &a, mac_of(mac_n), how, now, released);
}

static void
learn(uint32_t n, uint32_t mac_n, enum neigh_how how)
{
	struct rte_mbuf *released[NEIGH_WAITING];
	uint32_t k = learn_as(n, mac_n, how, released);

	while (k > 0)
		rte_pktmbuf_free(released[--k]);
}

static int
state_of(uint32_t n)
{
	struct iw_addr a = host(n);
	const struct neigh *e = neigh_find(&t, 0, &a);

	return e ? e->state : -1;
}

static void
reconfirm(uint32_t n)
{
	struct iw_addr a = host(n);

	neigh_reconfirm(&t, 0, &a, now);
}

/* Exactly this question is waiting: to one or to everybody; and no other. */
static void
assert_question(uint32_t n, bool to_one)
{
	struct iw_addr a = host(n);
	struct neigh_question q;

	assert_true(neigh_question(&t, &q));
	assert_true(iw_addr_eq_ip(&q.addr, &a));
	assert_int_equal(q.to_one, to_one);
	assert_false(neigh_question(&t, &q));
}

static void
assert_no_question(void)
{
	struct neigh_question q;

	assert_false(neigh_question(&t, &q));
}

/* A used, confirmed neighbour. */
static void
meet(uint32_t n)
{
	struct neigh_question q;

	assert_int_equal(use(n), NEIGH_USE_WAIT);
	while (neigh_question(&t, &q))
		;
	learn(n, n, NEIGH_ANSWERED);
	assert_int_equal(use(n), NEIGH_USE_KNOWN);
}

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

/* Up to 4 wait, the oldest goes first when a fifth comes, and they leave in their order. */
static void
test_waiting_packets(void **state)
{
	struct rte_mbuf *released[NEIGH_WAITING], *sent[6];
	uint32_t handle = 0;

	(void)state;
	begin(16);
	assert_int_equal(use_at(5, &handle, 5), NEIGH_USE_WAIT);
	for (int i = 0; i < 6; i++) {
		sent[i] = packet(pool, "x", 1);
		neigh_wait(&t, handle, sent[i]);
		assert_int_equal(mbufpool_in_use(pool), i < 4 ? i + 1 : 4);
	}
	assert_int_equal(counters.neigh_wait_overrun, 2);
	assert_int_equal(learn_as(5, 5, NEIGH_ANSWERED, released), 4);
	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(released[i], sent[i + 2]);
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
		{STA, 0, 1, NEIGH_ANSWERED, STA}, {STA, 0, 0, NEIGH_SEEN, REA},
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
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_never_twice_a_second),
		cmocka_unit_test(test_recovery),
		cmocka_unit_test(test_waiting_packets),
		cmocka_unit_test(test_fini_frees_what_waits),
		cmocka_unit_test(test_aging),
		cmocka_unit_test(test_aging_answered),
		cmocka_unit_test(test_reconfirm),
		cmocka_unit_test(test_reconfirm_while_aging),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_forged_address_heals),
		cmocka_unit_test(test_learning_evicts_the_unused_only),
		cmocka_unit_test(test_least_recently_used_goes),
		cmocka_unit_test(test_asked_ones_stay),
		cmocka_unit_test(test_thousands),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_memory_is_short),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
