/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture.h"
#include "cli.h"

static struct capture captured;

static void
test_fail_is_one_line(void **state)
{
	int code;

	(void)state;
	cli_init("program");
	capture_begin(&captured, stderr);
	code = cli_fail("%s: %d", "what", 7);
	assert_string_equal(capture_end(&captured), "program: what: 7\n");
	assert_int_equal(code, 1);
}

static void
test_number(void **state)
{
	static const struct {
		const char *text;
		uint64_t min, max, value;
		bool ok;
	} cases[] = {
		{"0", 0, 10, 0, true},
		{"10", 0, 10, 10, true},
		{"11", 0, 10, 0, false},
		{"1", 2, 10, 0, false},
		{"18446744073709551615", 0, UINT64_MAX, UINT64_MAX, true},
		{"18446744073709551616", 0, UINT64_MAX, 0, false},
		{"", 0, 10, 0, false},
		{"-1", 0, UINT64_MAX, 0, false},
		{"+1", 0, 10, 0, false},
		{" 1", 0, 10, 0, false},
		{"1 ", 0, 10, 0, false},
		{"0x1", 0, 10, 0, false},
		{"1k", 0, 10, 0, false},
		{"007", 0, 10, 7, true},
	};
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool ok;

		capture_begin(&captured, stderr);
		ok = cli_number("-n", cases[i].text, cases[i].min, cases[i].max, &value);
		capture_end(&captured);
		assert_int_equal(ok, cases[i].ok);
		if (ok) {
			assert_int_equal(value, cases[i].value);
			assert_string_equal(captured.text, "");
		}
	}
	cli_init("program");
	capture_begin(&captured, stderr);
	assert_false(cli_number("-S", "65536", 1, 65535, &value));
	assert_string_equal(capture_end(&captured), "program: -S 65536: not a number from 1 to 65535\n");
}

static void
test_address(void **state)
{
	static const struct {
		const char *text;
		uint8_t prefix_len;
		bool ok;
	} cases[] = {
		{"10.0.0.1/24", 24, true},
		{"10.0.0.1/0", 0, true},
		{"10.0.0.1/32", 32, true},
		{"10.0.0.1/33", 0, false},
		{"10.0.0.1", 0, false},
		{"10.0.0.1/", 0, false},
		{"/24", 0, false},
		{"10.0.0/24", 0, false},
		{"10.0.0.1/24/8", 0, false},
		{"fe80::1/64", 64, true},
		{"fe80::1/129", 0, false},
		{"fe80::1/128", 128, true},
		{"", 0, false},
		{"10.0.0.256/8", 0, false},
	};
	struct iw_addr addr;
	uint8_t prefix_len;
	char text[IW_ADDR_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool ok;

		capture_begin(&captured, stderr);
		ok = cli_address_len("--ip", cases[i].text, &addr, &prefix_len);
		capture_end(&captured);
		assert_int_equal(ok, cases[i].ok);
		/* One line, and only when it is wrong. */
		assert_int_equal(ok, captured.text[0] == 0);
		assert_ptr_equal(strchr(captured.text, '\n'), ok ? NULL : strrchr(captured.text, '\n'));
		if (ok)
			assert_int_equal(prefix_len, cases[i].prefix_len);
	}
	assert_true(cli_address_len("--ip", "192.0.2.7/24", &addr, &prefix_len));
	assert_string_equal(iw_addr_format(&addr, text, sizeof(text)), "192.0.2.7");
	/* Longer than any address: cut nowhere, refused. */
	capture_begin(&captured, stderr);
	assert_false(cli_address_len("--ip",
				     "1111111111111111111111111111111111111111111111111111111111111111111111111/24",
				     &addr, &prefix_len));
	capture_end(&captured);
}

static int helped;

static void
help(void)
{
	helped++;
}

static void
test_help_is_what_follows_the_dashes(void **state)
{
	static const struct {
		const char *words[4];
		bool helps;
	} rows[] = {
		{{"--", "--help"}, true}, {{"-l", "0", "--", "-h"}, true}, {{"--help"}, false},        {{"--"}, false},
		{{NULL}, false},          {{"--", "ping", "-h"}, false},   {{"--", "--", "-h"}, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[5] = {(char *)(uintptr_t) "program"};
		int argc = 1;

		for (; argc < 5 && rows[i].words[argc - 1]; argc++)
			argv[argc] = (char *)(uintptr_t)rows[i].words[argc - 1];
		helped = 0;
		assert_int_equal(cli_help(argc, argv, help), rows[i].helps);
		assert_int_equal(helped, rows[i].helps);
	}
}

static void
test_signals_are_remembered(void **state)
{
	(void)state;
	cli_catch_signals();
	assert_false(cli_stopped());
	raise(SIGTERM);
	assert_true(cli_stopped());
	raise(SIGINT);
	assert_true(cli_stopped());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fail_is_one_line),
		cmocka_unit_test(test_number),
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_help_is_what_follows_the_dashes),
		cmocka_unit_test(test_signals_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
