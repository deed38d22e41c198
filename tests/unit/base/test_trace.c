/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "env.h"

static void
test_keeps_the_last(void **state)
{
	struct iw_trace *t = iw_trace_create(3); /* 4 */

	(void)state;
	assert_non_null(t);
	for (uint32_t total = 0; total < 11; total++) {
		uint32_t kept = total < 4 ? total : 4;

		assert_int_equal(iw_trace_count(t), kept);
		for (uint32_t i = 0; i < kept; i++) {
			const struct iw_trace_record *r = iw_trace_at(t, i);

			assert_int_equal(r->now_ns, 1000 + total - kept + i);
			assert_int_equal(r->event, IW_TRACE_CM_STATE);
			assert_int_equal(r->object, 7);
			assert_int_equal(r->a, total - kept + i);
			assert_int_equal(r->b, 2 * r->a);
		}
		assert_null(iw_trace_at(t, kept));
		iw_trace_put(t, 1000 + total, IW_TRACE_CM_STATE, 7, total, 2 * total);
	}
	iw_trace_destroy(t);
}

static void
test_none_costs_nothing(void **state)
{
	(void)state;
	iw_trace_put(NULL, 1, IW_TRACE_DROP, 0, 0, 0);
	assert_int_equal(iw_trace_count(NULL), 0);
	assert_null(iw_trace_at(NULL, 0));
	iw_trace_destroy(NULL);
	iw_env_alloc_fuse = 1;
	assert_null(iw_trace_create(16));
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(iw_trace_name(IW_TRACE_TCP_STATE), "TCP_STATE");
	assert_string_equal(iw_trace_value_name(IW_TRACE_TCP_STATE, 0), "old");
	assert_string_equal(iw_trace_value_name(IW_TRACE_TCP_STATE, 1), "new");
	for (uint32_t e = 0; e < IW_TRACE_EVENT_MAX; e++)
		assert_string_not_equal(iw_trace_name(e), "?");
	assert_string_equal(iw_trace_name(IW_TRACE_EVENT_MAX), "?");
	assert_string_equal(iw_trace_value_name(IW_TRACE_DROP, 2), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_the_last),
		cmocka_unit_test(test_none_costs_nothing),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
