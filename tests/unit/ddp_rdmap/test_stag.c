/* SPDX-License-Identifier: BSD-3-Clause */
#include "stag.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct stag_perm perm, perm2;

static void
init(struct stag_perm *p, uint8_t seed)
{
	struct iw_env env = {.draws = 0};

	memset(env.secret, seed, sizeof(env.secret));
	stag_perm_init(p, &env);
}

/* A permutation: every slot and generation has an STag of its own, and comes back. */
static void
test_is_a_permutation(void **state)
{
	uint8_t *seen = calloc(1, 1u << 21);

	(void)state;
	init(&perm, 1);
	for (uint32_t i = 0; i < 1u << 24; i += 1) {
		uint32_t stag = stag_make(&perm, i >> STAG_GEN_BITS, i & STAG_GEN_MASK, 0x42), x = stag >> 8;

		if ((stag & 0xff) != 0x42 || stag_slot(&perm, stag) != i >> STAG_GEN_BITS || seen[x / 8] & 1 << x % 8)
			fail_msg("%u", i);
		seen[x / 8] |= (uint8_t)(1 << x % 8);
	}
	free(seen);
}

/* S3: neighbours have no arithmetic relation, and each of the three octets is spread evenly. */
static void
test_S3_not_predictable(void **state)
{
	uint32_t count[3][256] = {{0}}, same_step = 0, last_step = 0;
	const uint32_t n = 1u << 18;

	(void)state;
	init(&perm, 1);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = stag_make(&perm, i, 0, 0) >> 8, b = stag_make(&perm, i + 1, 0, 0) >> 8;

		same_step += b - a == last_step;
		last_step = b - a;
		for (int k = 0; k < 3; k++)
			count[k][a >> 8 * k & 0xff]++;
	}
	assert_true(same_step < 8); /* 2^18 / 2^24 are expected */
	for (int k = 0; k < 3; k++) {
		double chi = 0, want = n / 256.0;

		for (int v = 0; v < 256; v++)
			chi += (count[k][v] - want) * (count[k][v] - want) / want;
		assert_true(chi < 400); /* 255 degrees of freedom: beyond 1 in 10^8 */
	}
}

static void
test_secret_decides(void **state)
{
	uint32_t same = 0;

	(void)state;
	init(&perm, 1);
	init(&perm2, 2);
	for (uint32_t i = 0; i < 4096; i++)
		same += stag_make(&perm, i, 0, 0) == stag_make(&perm2, i, 0, 0);
	assert_true(same < 3);
	init(&perm2, 1);
	assert_memory_equal(&perm, &perm2, sizeof(perm));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_a_permutation),
		cmocka_unit_test(test_S3_not_predictable),
		cmocka_unit_test(test_secret_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
