/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <iwarp/err.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
test_every_error_has_its_own_name_and_text(void **state)
{
	(void)state;
	for (int e = 0; e < IW_E_MAX; e++) {
		assert_int_equal(strncmp(iw_err_name(e), "IW_E_", 5), 0);
		assert_string_not_equal(iw_err_name(e), "IW_E_?");
		assert_string_equal(iw_err_name(e), iw_err_name(-e));
		assert_string_equal(iw_err_text(e), iw_err_text(-e));
		for (int other = 0; other < e; other++) {
			assert_string_not_equal(iw_err_name(e), iw_err_name(other));
			assert_string_not_equal(iw_err_text(e), iw_err_text(other));
		}
	}
	assert_string_equal(iw_err_name(-IW_E_CONNREFUSED), "IW_E_CONNREFUSED");
}

static void
test_unknown_values(void **state)
{
	static const int rows[] = {IW_E_MAX, -IW_E_MAX, INT_MAX, INT_MIN};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(iw_err_name(rows[i]), "IW_E_?");
		assert_string_equal(iw_err_text(rows[i]), "unknown error");
		assert_int_equal(iw_err_errno(rows[i]), EIO);
	}
}

/* iwarp/err.h: "Where the names mirror errno, iw_err_errno() gives that errno." */
static void
test_errno_mirrors_the_names(void **state)
{
	static const int rows[][2] = {
		{IW_E_OK, 0},
		{IW_E_INVAL, EINVAL},
		{IW_E_NOMEM, ENOMEM},
		{IW_E_STALE, ESTALE},
		{IW_E_BUSY, EBUSY},
		{IW_E_AGAIN, EAGAIN},
		{IW_E_TOOBIG, EMSGSIZE},
		{IW_E_NODEV, ENODEV},
		{IW_E_ADDRINUSE, EADDRINUSE},
		{IW_E_ADDRNOTAVAIL, EADDRNOTAVAIL},
		{IW_E_CONNREFUSED, ECONNREFUSED},
		{IW_E_CONNRESET, ECONNRESET},
		{IW_E_CONNABORTED, ECONNABORTED},
		{IW_E_TIMEDOUT, ETIMEDOUT},
		{IW_E_HOSTUNREACH, EHOSTUNREACH},
		{IW_E_PROTO, EPROTO},
		{IW_E_NOTCONN, ENOTCONN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(iw_err_errno(rows[i][0]), rows[i][1]);
		assert_int_equal(iw_err_errno(-rows[i][0]), rows[i][1]);
	}
	for (int e = 1; e < IW_E_MAX; e++)
		assert_true(iw_err_errno(e) > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_error_has_its_own_name_and_text),
		cmocka_unit_test(test_unknown_values),
		cmocka_unit_test(test_errno_mirrors_the_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
