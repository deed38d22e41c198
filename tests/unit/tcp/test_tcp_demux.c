/* SPDX-License-Identifier: BSD-3-Clause */
/* Security X6, spec T22 (one entry for a connection and its TIME_WAIT record), T26. */
#include "tcp_demux.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct iw_env env;

static struct tcp_tuple
tuple(uint32_t n)
{
	struct tcp_tuple t = {.local_ip = {[12] = 10}, .local_port = 1000, .remote_port = 2000};

	memcpy(t.remote_ip + 12, &n, sizeof(n));
	return t;
}

static void
test_add_find_set_delete(void **state)
{
	struct tcp_demux d;
	struct tcp_tuple a = tuple(1), b = tuple(2);
	struct tcp_demux_hit hit;
	uint32_t ra, rb, rc;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 2, 1), 0);
	assert_int_equal(tcp_demux_find(&d, &a).kind, TCP_DEMUX_NONE);
	assert_int_equal(tcp_demux_add(&d, &a, TCP_DEMUX_CONN, 0xa0000001u, &ra), 0);
	assert_int_equal(tcp_demux_add(&d, &a, TCP_DEMUX_CONN, 5, &rc), -IW_E_ADDRINUSE);
	assert_int_equal(tcp_demux_add(&d, &b, TCP_DEMUX_CONN, 7, &rb), 0);
	b.remote_port++;
	assert_int_equal(tcp_demux_add(&d, &b, TCP_DEMUX_CONN, 7, &rc), -IW_E_NOMEM);
	hit = tcp_demux_find(&d, &a);
	assert_int_equal(hit.kind, TCP_DEMUX_CONN);
	assert_int_equal(hit.handle, 0xa0000001u);
	assert_int_equal(hit.ref, ra);
	assert_true(ra != 0 && tcp_tuple_equal(tcp_demux_tuple(&d, ra), &a));
	tcp_demux_set(&d, ra, TCP_DEMUX_TIMEWAIT, 9);
	hit = tcp_demux_find(&d, &a);
	assert_int_equal(hit.kind, TCP_DEMUX_TIMEWAIT);
	assert_int_equal(hit.handle, 9);
	tcp_demux_del(&d, ra);
	assert_int_equal(tcp_demux_find(&d, &a).kind, TCP_DEMUX_NONE);
	assert_int_equal(tcp_demux_add(&d, &b, TCP_DEMUX_CONN, 8, &rc), 0);
	assert_int_equal(d.used, 2);
	tcp_demux_fini(&d);
}

/* Every field of the 4-tuple counts, and each direction is its own. */
static void
test_whole_tuples_are_compared(void **state)
{
	struct tcp_demux d;
	struct tcp_tuple t = tuple(3), other;
	uint32_t ref;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 4, 1), 0);
	assert_int_equal(tcp_demux_add(&d, &t, TCP_DEMUX_CONN, 1, &ref), 0);
	for (size_t i = 0; i < sizeof(t); i++) {
		other = t;
		((uint8_t *)&other)[i] ^= 1;
		assert_int_equal(tcp_demux_find(&d, &other).kind, TCP_DEMUX_NONE);
		assert_int_not_equal(tcp_demux_hash(&d, &t), tcp_demux_hash(&d, &other));
	}
	tcp_demux_fini(&d);
}

/* Against an array: 20,000 random adds and deletes among 600 tuples in a table of 500. */
static void
test_model(void **state)
{
	static uint32_t ref[600], handle[600];
	uint64_t x = 88172645463325252u;
	struct tcp_demux d;
	uint32_t used = 0;

	(void)state;
	memset(ref, 0, sizeof(ref));
	assert_int_equal(tcp_demux_init(&d, &env, 500, 0), 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		struct tcp_tuple t;
		uint32_t n;
		int rc;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		n = (uint32_t)(x >> 33) % 600;
		t = tuple(n);
		if (ref[n] && x & 1) {
			tcp_demux_del(&d, ref[n]);
			ref[n] = 0;
			used--;
		} else {
			uint32_t r = 0;

			rc = tcp_demux_add(&d, &t, TCP_DEMUX_SYN, i, &r);
			assert_int_equal(rc, ref[n] ? -IW_E_ADDRINUSE : used == 500 ? -IW_E_NOMEM : 0);
			if (rc == 0) {
				ref[n] = r;
				handle[n] = i;
				used++;
			}
		}
		n = (uint32_t)(x >> 20) % 600;
		t = tuple(n);
		assert_int_equal(tcp_demux_find(&d, &t).ref, ref[n]);
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(tcp_demux_find_hashed(&d, &t, tcp_demux_hash(&d, &t)).ref, ref[n]);
		if (ref[n])
			assert_int_equal(tcp_demux_find(&d, &t).handle, handle[n]);
		assert_int_equal(d.used, used);
	}
	tcp_demux_fini(&d);
}

/* Full load of peers that differ in one field only: chains stay short, for the hash is keyed. */
static void
test_X6_chains_stay_short(void **state)
{
	struct tcp_demux d;
	uint32_t ref;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 65536, 1), 0);
	for (uint32_t i = 0; i < 65536; i++) {
		struct tcp_tuple t = tuple(i << 16);

		t.remote_port = (uint16_t)i;
		assert_int_equal(tcp_demux_add(&d, &t, TCP_DEMUX_CONN, i + 1, &ref), 0);
	}
	assert_in_range(d.chain_longest, 2, 12);
	assert_int_equal(d.chain_refused, 0);
	tcp_demux_fini(&d);
}

/* A chain that is full refuses, counts, and all in it are still found: one bucket by force. */
static void
test_X6_a_chain_is_bounded(void **state)
{
	struct tcp_demux d;
	uint32_t ref;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 64, 1), 0);
	d.mask = 0;
	for (uint32_t i = 0; i < 40; i++) {
		struct tcp_tuple t = tuple(i);

		assert_int_equal(tcp_demux_add(&d, &t, TCP_DEMUX_CONN, i + 1, &ref),
				 i < TCP_DEMUX_CHAIN_MAX ? 0 : -IW_E_NOMEM);
	}
	assert_int_equal(d.chain_longest, TCP_DEMUX_CHAIN_MAX);
	assert_int_equal(d.chain_refused, 8);
	for (uint32_t i = 0; i < 40; i++) {
		struct tcp_tuple t = tuple(i);

		assert_int_equal(tcp_demux_find(&d, &t).handle, i < TCP_DEMUX_CHAIN_MAX ? i + 1 : 0);
	}
	tcp_demux_fini(&d);
}

static void
test_listeners(void **state)
{
	static const uint8_t any[16], a[16] = {[15] = 1}, b[16] = {[15] = 2};
	struct tcp_demux d;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 1, 3), 0);
	assert_int_equal(tcp_demux_listener(&d, a, 5), 0);
	assert_int_equal(tcp_demux_listen(&d, any, 5, 11), 0);
	assert_int_equal(tcp_demux_listen(&d, any, 5, 12), -IW_E_ADDRINUSE);
	assert_int_equal(tcp_demux_listen(&d, a, 5, 13), 0);
	assert_int_equal(tcp_demux_listen(&d, a, 9, 14), 0); /* the same bucket: the table has 4 */
	assert_int_equal(tcp_demux_listen(&d, b, 5, 15), -IW_E_NOMEM);
	/* The specific address goes before the wildcard. */
	assert_int_equal(tcp_demux_listener(&d, a, 5), 13);
	assert_int_equal(tcp_demux_listener(&d, b, 5), 11);
	assert_int_equal(tcp_demux_listener(&d, a, 9), 14);
	assert_int_equal(tcp_demux_listener(&d, b, 9), 0);
	assert_true(tcp_demux_port_listens(&d, 5) && tcp_demux_port_listens(&d, 9));
	assert_false(tcp_demux_port_listens(&d, 13));
	tcp_demux_unlisten(&d, a, 5);
	tcp_demux_unlisten(&d, b, 5); /* nobody's: nothing happens */
	assert_int_equal(tcp_demux_listener(&d, a, 5), 11);
	assert_int_equal(tcp_demux_listener(&d, a, 9), 14);
	tcp_demux_unlisten(&d, any, 5);
	assert_false(tcp_demux_port_listens(&d, 5));
	assert_int_equal(tcp_demux_listen(&d, b, 5, 16), 0);
	assert_int_equal(tcp_demux_listener(&d, b, 5), 16);
	tcp_demux_fini(&d);
}

static void
test_creation_fails_cleanly(void **state)
{
	struct tcp_demux d;

	(void)state;
	assert_int_equal(tcp_demux_init(&d, &env, 0, 1), -IW_E_INVAL);
	for (uint32_t n = 1; n <= 4; n++) {
		iw_env_alloc_fuse = n;
		assert_int_equal(tcp_demux_init(&d, &env, 8, 1), -IW_E_NOMEM);
		assert_null(d.buckets);
	}
	iw_env_alloc_fuse = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_find_set_delete),
		cmocka_unit_test(test_whole_tuples_are_compared),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_X6_chains_stay_short),
		cmocka_unit_test(test_X6_a_chain_is_bounded),
		cmocka_unit_test(test_listeners),
		cmocka_unit_test(test_creation_fails_cleanly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
