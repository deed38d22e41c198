/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T7, T25, T26; RFC 6528 §3, RFC 7323 §5.4, RFC 6056 §3. */
#include "tcp_isn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct iw_env
env_of(uint8_t seed)
{
	struct iw_env env = {0};

	memset(env.secret, seed, sizeof(env.secret));
	return env;
}

static struct tcp_tuple
tuple(uint32_t n)
{
	struct tcp_tuple t = {
		.local_ip = {[10] = 0xff, [11] = 0xff, [12] = 10}, .remote_ip = {[15] = 9}, .local_port = 4000};

	t.remote_port = (uint16_t)n;
	memcpy(t.remote_ip, &n, sizeof(n));
	return t;
}

static void
test_T25_isn_is_a_clock_of_4_us_for_one_tuple(void **state)
{
	struct iw_env env = env_of(1);
	struct tcp_tuple t = tuple(1);
	uint32_t at0 = tcp_isn_seq(&env, &t, 0);

	(void)state;
	assert_int_equal(tcp_isn_seq(&env, &t, 3999), at0);
	assert_int_equal((uint32_t)(tcp_isn_seq(&env, &t, 4000) - at0), 1);
	assert_int_equal((uint32_t)(tcp_isn_seq(&env, &t, 60 * IW_SEC) - at0), 15000000);
	/* It wraps after 4.77 hours, and goes on. */
	assert_int_equal(tcp_isn_seq(&env, &t, UINT64_C(4000) << 32), at0);
	assert_int_equal((uint32_t)(tcp_isn_seq(&env, &t, (UINT64_C(4000) << 32) + 8000) - at0), 2);
}

/* Each output bit is set about half the time over tuples that differ little, ISN and timestamp offset have nothing to
 * do with each other, and another secret (a restart) changes all. */
static void
test_T25_T7_tuples_and_secrets_are_unrelated(void **state)
{
	struct iw_env env = env_of(1), other = env_of(2);
	uint32_t ones_isn[32] = {0}, ones_ts[32] = {0}, same = 0, step = 0;
	const uint32_t n = 4096;

	(void)state;
	for (uint32_t i = 0; i < n; i++) {
		struct tcp_tuple t = tuple(i), next = tuple(i + 1);
		uint32_t isn = tcp_isn_seq(&env, &t, 0), ts = tcp_isn_ts_offset(&env, &t);

		for (uint32_t b = 0; b < 32; b++) {
			ones_isn[b] += isn >> b & 1;
			ones_ts[b] += (isn ^ ts) >> b & 1;
		}
		same += isn == tcp_isn_seq(&other, &t, 0) || ts == tcp_isn_ts_offset(&other, &t) || ts == isn;
		step += (uint32_t)(tcp_isn_seq(&env, &next, 0) - isn) < 65536;
		assert_int_equal(ts, tcp_isn_ts_offset(&env, &t));
	}
	for (uint32_t b = 0; b < 32; b++) {
		assert_in_range(ones_isn[b], n / 2 - 200, n / 2 + 200); /* 6 standard deviations are 192 */
		assert_in_range(ones_ts[b], n / 2 - 200, n / 2 + 200);
	}
	assert_int_equal(same, 0);
	assert_true(step < 3);
}

static void
test_T7_timestamps_tick_each_millisecond(void **state)
{
	(void)state;
	assert_int_equal(tcp_isn_tsval(0, 0xfffffffeu), 0xfffffffeu);
	assert_int_equal(tcp_isn_tsval(IW_MS - 1, 5), 5);
	assert_int_equal(tcp_isn_tsval(IW_MS, 5), 6);
	assert_int_equal(tcp_isn_tsval(3 * IW_MS, 0xfffffffeu), 1);
}

/* All ports, each once, none below the range, and then the end: exhaustion does not spin. */
static void
test_T26_a_walk_meets_every_port_once(void **state)
{
	static uint8_t met[65536];
	struct iw_env env = env_of(3);
	struct tcp_isn_ports walk;

	(void)state;
	for (int round = 0; round < 3; round++) {
		uint32_t n = 0, near = 0;
		uint16_t last = 0;

		memset(met, 0, sizeof(met));
		for (uint16_t p = tcp_isn_port_first(&walk, &env); p != 0; p = tcp_isn_port_next(&walk)) {
			assert_in_range(p, 32768, 65535);
			assert_int_equal(met[p]++, 0);
			near += (uint16_t)(p - last + 64) < 128;
			last = p;
			n++;
		}
		assert_int_equal(n, 32768);
		assert_true(near < 100); /* who sees one does not know the next */
		assert_int_equal(tcp_isn_port_next(&walk), 0);
	}
}

/* First ports are spread: 32 bins of 1024 ports, 8192 draws, chi-square with 31 degrees below the 1e-6 bound of 88. */
static void
test_T26_first_ports_are_random(void **state)
{
	struct iw_env env = env_of(4);
	uint32_t bins[32] = {0}, near = 0, last = 0;
	double chi = 0;

	(void)state;
	for (int i = 0; i < 8192; i++) {
		struct tcp_isn_ports walk;
		uint32_t p = tcp_isn_port_first(&walk, &env);

		bins[(p - 32768) / 1024]++;
		near += p - last < 8;
		last = p;
	}
	for (int i = 0; i < 32; i++)
		chi += ((double)bins[i] - 256) * ((double)bins[i] - 256) / 256;
	assert_true(chi < 88);
	assert_true(near < 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T25_isn_is_a_clock_of_4_us_for_one_tuple),
		cmocka_unit_test(test_T25_T7_tuples_and_secrets_are_unrelated),
		cmocka_unit_test(test_T7_timestamps_tick_each_millisecond),
		cmocka_unit_test(test_T26_a_walk_meets_every_port_once),
		cmocka_unit_test(test_T26_first_ports_are_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
