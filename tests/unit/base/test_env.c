/* SPDX-License-Identifier: BSD-3-Clause */
#include "env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* The SipHash-2-4 vector of its paper (appendix A): key 00..0f, message 00..0e, a129ca6149be45e5.  Purpose DRAW
 * keys with the first half of the secret and the lowest bit of its first octet flipped. */
static void
test_hash_is_siphash(void **state)
{
	struct iw_env env = {.draws = 0};
	uint8_t message[15];

	(void)state;
	for (uint8_t i = 0; i < 16; i++)
		env.secret[i] = i;
	for (uint8_t i = 0; i < 15; i++)
		message[i] = i;
	env.secret[0] ^= 1;
	assert_int_equal(iw_env_hash(&env, IW_HASH_DRAW, message, sizeof(message)), UINT64_C(0xa129ca6149be45e5));
}

static void
test_purposes_and_secrets_are_separate(void **state)
{
	struct iw_env a = {.draws = 0}, b = {.draws = 0};
	uint64_t seen[2 * (IW_HASH_PORT + 1)];
	uint32_t n = 0;

	(void)state;
	memset(b.secret, 1, sizeof(b.secret));
	for (int purpose = IW_HASH_DRAW; purpose <= IW_HASH_PORT; purpose++) {
		seen[n++] = iw_env_hash(&a, (enum iw_env_purpose)purpose, "x", 1);
		seen[n++] = iw_env_hash(&b, (enum iw_env_purpose)purpose, "x", 1);
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
}

/* The same secret and count repeat a run; draws differ from each other. */
static void
test_draws(void **state)
{
	struct iw_env a = {.draws = 0}, b = {.draws = 0};
	uint64_t first = iw_env_draw(&a), second = iw_env_draw(&a);

	(void)state;
	assert_int_not_equal(first, second);
	assert_int_equal(iw_env_draw(&b), first);
	assert_int_equal(iw_env_draw(&b), second);
	assert_int_equal(a.draws, 2);
}

static void
test_memory_is_zero_and_aligned(void **state)
{
	static const size_t sizes[] = {0, 1, 63, 64, 65, 4097};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *p = iw_env_alloc(sizes[i]);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p & 63, 0);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(p[k], 0);
		memset(p, 0xff, sizes[i]);
		iw_env_free(p);
	}
	assert_null(iw_env_alloc(SIZE_MAX));
	iw_env_free(NULL);
}

static void
test_fuse_fails_the_nth(void **state)
{
	void *p;

	(void)state;
	iw_env_alloc_fuse = 2;
	p = iw_env_alloc(8);
	assert_non_null(p);
	assert_null(iw_env_alloc(8));
	iw_env_free(p);
	p = iw_env_alloc(8); /* burnt out: all well again */
	assert_non_null(p);
	iw_env_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_is_siphash),
		cmocka_unit_test(test_purposes_and_secrets_are_separate),
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_memory_is_zero_and_aligned),
		cmocka_unit_test(test_fuse_fails_the_nth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
