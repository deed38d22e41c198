/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be chosen about a connection (RFC 5044 §7.1, RFC 6581 §9: private data and what stands before it share 512
 * octets). */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cm_attr.h"
#include "iw_time.h"

static const uint8_t data[1];

static void
test_private_data(void **state)
{
	static const struct {
		const void *data;
		uint16_t len;
		bool enhanced;
		int err;
	} t[] = {
		{NULL, 0, true, 0},           {data, 0, true, 0},
		{data, 508, true, 0},         {data, 509, true, -IW_E_TOOBIG},
		{data, 512, false, 0},        {data, 513, false, -IW_E_TOOBIG},
		{NULL, 1, true, -IW_E_INVAL}, {NULL, 65535, false, -IW_E_INVAL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct iw_cm_attr a = {
			.private_data = t[i].data, .private_len = t[i].len, .revision_1 = !t[i].enhanced};

		assert_int_equal(cm_attr_check_private(t[i].data, t[i].len, t[i].enhanced), t[i].err);
		assert_int_equal(cm_attr_check(&a), t[i].err);
	}
}

/* Peer-to-peer is of revision 2 (RFC 6581 §9). */
static void
test_wishes_that_exclude_each_other(void **state)
{
	(void)state;
	for (int bits = 0; bits < 8; bits++) {
		struct iw_cm_attr a = {
			.require_peer_to_peer = bits & 1, .no_peer_to_peer = bits & 2, .revision_1 = bits & 4};

		assert_int_equal(cm_attr_check(&a), bits & 1 && bits & 6 ? -IW_E_INVAL : 0);
	}
}

static void
test_taken_over(void **state)
{
	struct iw_cm_attr a = {.no_crc = true,
			       .markers = true,
			       .no_ird_ord = true,
			       .ird = 3,
			       .ord = 4,
			       .recv_back_pressure = true,
			       .recv_wait_ms = 5,
			       .user_timeout_ms = 6,
			       .keepalive_ms = 7};
	struct cm_setup s = {.local.crc = true};

	(void)state;
	cm_attr_take(&s, &a);
	assert_false(s.local.crc);
	assert_true(s.local.markers && s.local.no_ird_ord && s.back_pressure);
	assert_int_equal(s.local.ird, 3);
	assert_int_equal(s.local.ord, 4);
	assert_int_equal(s.recv_wait_ms, 5);
	assert_int_equal(s.tcp.user_timeout_ns, 6 * IW_MS);
	assert_int_equal(s.tcp.keepalive_ns, 7 * IW_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_private_data),
		cmocka_unit_test(test_wishes_that_exclude_each_other),
		cmocka_unit_test(test_taken_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
