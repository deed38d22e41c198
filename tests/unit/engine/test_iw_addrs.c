/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iw_addr.h"
#include "net_own.h"
#include "pair.h"

static struct sim sim;

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	fail_msg("an event: %s", iw_cm_event_name(event->type));
	return 0;
}

static void
test_list(void **state)
{
	struct iw_addr want[3] = {sim_addr4(0, 0), sim_addr6(0, 0), sim_addr_link(0, 0)};
	static const uint8_t prefix_len[3] = {24, 64, 64};
	struct iw_addr_info a[4];

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	want[2].scope = 1;
	memset(a, 0xee, sizeof(a));
	assert_int_equal(iw_engine_addrs(sim.host[0].engine, a, 4), 3);
	for (int i = 0; i < 3; i++) {
		assert_true(iw_addr_eq_ip(&a[i].ip, &want[i]));
		assert_int_equal(a[i].prefix_len, prefix_len[i]);
		assert_int_equal(a[i].state, IW_ADDR_READY);
		assert_int_equal(a[i].conflicts, 0);
		assert_false(a[i].deprecated);
	}
	assert_int_equal(a[3].prefix_len, 0xee);
	memset(a, 0xee, sizeof(a));
	assert_int_equal(iw_engine_addrs(sim.host[0].engine, a, 1), 3); /* how many there are */
	assert_int_equal(a[1].prefix_len, 0xee);
	assert_int_equal(iw_engine_addrs(sim.host[0].engine, NULL, 0), 3);
	assert_int_equal(iw_engine_addrs(sim.host[0].engine, NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_engine_addrs(NULL, a, 4), -IW_E_INVAL);
	sim_fini(&sim);
}

/* Somebody else has the address before us: the state says so, and connecting from it is refused by name. */
static void
test_duplicate(void **state)
{
	struct engine_params params = {.nif = {.mtu = 1500, .claim = true}, .max_conns = 4};
	struct iw_addr_info a[3];
	struct iw_engine *e;
	struct pair p;

	(void)state;
	sim_init_params(&sim, 1, 2, &params);
	e = sim.host[0].engine;
	pair_init(&p, &sim, NULL);
	assert_int_equal(iw_engine_addrs(e, a, 3), 3);
	assert_int_equal(a[0].state, IW_ADDR_TENTATIVE);
	for (uint8_t number = 1; number <= 3; number++)
		net_own_conflict(e->net, number, (const uint8_t[]){2, 0, 0, 0, 0, 9}, sim.now_ns);
	assert_int_equal(iw_engine_addrs(e, a, 3), 3);
	for (int i = 0; i < 3; i++) {
		struct iw_addr to = i == 0 ? sim_addr4(1, 7) : i == 1 ? sim_addr6(1, 7) : sim_addr_link(1, 7);
		iw_cm_id id = iw_cm_create(e, on_event, NULL);

		assert_int_equal(a[i].state, IW_ADDR_DUPLICATE);
		assert_int_equal(a[i].conflicts, 1);
		assert_int_equal(a[i].conflict_mac[5], 9);
		assert_int_equal(iw_cm_connect(e, id, &to, p.end[0].qp, NULL), -IW_E_ADDRINUSE);
		assert_int_equal(iw_cm_destroy(e, id), 0);
	}
	pair_fini(&p);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_duplicate)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
