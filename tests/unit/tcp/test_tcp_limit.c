/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 5961 §7 for answers without a connection (spec T4; CVE-2016-5696). */
#include "tcp_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"

static struct tcp_limit limit;

static uint32_t
drain(const struct iw_env *env, const struct iw_addr *peer, uint32_t tries, uint64_t now_ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tries; i++)
		n += tcp_limit_allows(&limit, env, peer, now_ns);
	return n;
}

/* One peer's flood: a second's worth at once, then the rate; whole again after a second of silence. */
static void
test_T4_rate_of_one_peer(void **state)
{
	struct iw_env env = {.secret = {7}};
	struct iw_addr peer = iw_addr_from_v4(0x0a000002u, 0);
	uint64_t now = 1000 * IW_SEC;
	uint32_t n = 0;

	tcp_limit_init(&limit, 200);
	assert_int_equal(drain(&env, &peer, 100000, now), 200);
	for (uint32_t i = 1; i <= 10000; i++)
		n += tcp_limit_allows(&limit, &env, &peer, now + i * IW_MS);
	assert_in_range(n, 1999, 2001);
	assert_int_equal(drain(&env, &peer, 100000, now + 11 * IW_SEC), 200);
	tcp_limit_init(&limit, 1);
	assert_int_equal(drain(&env, &peer, 10, now), 1);
	assert_int_equal(drain(&env, &peer, 10, now + IW_SEC - 1), 0);
	assert_int_equal(drain(&env, &peer, 10, now + IW_SEC), 1);
	tcp_limit_init(&limit, 0); /* taken for 1 */
	assert_int_equal(drain(&env, &peer, 10, now), 1);
}

/* What one peer has used up, nearly no other one sees; who shares with whom is another one a minute later. */
static void
test_T4_not_observable_by_others(void **state)
{
	struct iw_env env = {.secret = {9}};
	struct iw_addr flooder = iw_addr_from_v4(0x0a000002u, 0);
	uint32_t shared[2] = {0}, both = 0;
	uint8_t hit[20000] = {0};

	for (uint32_t epoch = 0; epoch < 2; epoch++) {
		uint64_t now = (1000 + 64 * epoch) * IW_SEC;

		tcp_limit_init(&limit, 2);
		drain(&env, &flooder, 10, now);
		for (uint32_t i = 0; i < 20000; i++) {
			struct iw_addr other = iw_addr_from_v4(0x0b000000u + i, 0);
			struct tcp_limit *copy = &limit;
			uint64_t before[TCP_LIMIT_BUCKETS];
			bool saw;

			memcpy(before, copy->full_ns, sizeof(before));
			saw = !tcp_limit_allows(copy, &env, &other, now);
			memcpy(copy->full_ns, before, sizeof(before));
			shared[epoch] += saw;
			both += saw && hit[i];
			hit[i] = saw;
		}
	}
	for (uint32_t epoch = 0; epoch < 2; epoch++)
		assert_true(shared[epoch] < 20); /* 20000 / 4096 expected */
	assert_int_equal(both, 0);
}

/* IPv6: a site has one budget, whatever address of its /64 it takes; hosts of one link have their own. */
static void
test_families(void **state)
{
	struct iw_env env = {.secret = {1}};
	struct iw_addr a = {.ip = {0x20, 1, 0xd, 0xb8, 0, 0, 0, 1}}, b = a, ll = {.ip = {0xfe, 0x80}}, lm = ll;
	uint64_t now = 5 * IW_SEC;

	a.ip[15] = 1;
	b.ip[15] = 2;
	ll.ip[15] = 1;
	lm.ip[15] = 2;
	tcp_limit_init(&limit, 3);
	assert_int_equal(drain(&env, &a, 10, now), 3);
	assert_int_equal(drain(&env, &b, 10, now), 0);
	b.ip[7] = 2;
	assert_int_equal(drain(&env, &b, 10, now), 3);
	assert_int_equal(drain(&env, &ll, 10, now), 3);
	assert_int_equal(drain(&env, &lm, 10, now), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T4_rate_of_one_peer),
		cmocka_unit_test(test_T4_not_observable_by_others),
		cmocka_unit_test(test_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
