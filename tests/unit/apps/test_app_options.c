/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture.h"
#include "cli.h"
#include "options.h"

#define ARGS_MAX 24

static struct capture captured;

/* Words behind the program's name, taken apart at blanks; errors are captured. */
static bool
parse(const char *line, struct options *o)
{
	char copy[512], *argv[ARGS_MAX + 2] = {(char *)(uintptr_t) "program"}, *save = NULL;
	int argc = 1;
	bool ok;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word && argc <= ARGS_MAX; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	capture_begin(&captured, stderr);
	ok = options_parse(argc, argv, o);
	capture_end(&captured);
	return ok;
}

static void
test_ping_with_everything(void **state)
{
	struct options o;
	char text[IW_ADDR_TEXT];

	(void)state;
	assert_true(parse("--ip 192.0.2.2/24 --gw 192.0.2.9 --mtu 9000 --port 3 --no-crc --no-p2p "
			  "ping -c -a 192.0.2.1 -p 4420 -C 10 -S 65535 -v -V",
			  &o));
	assert_string_equal(captured.text, "");
	assert_int_equal(o.command, COMMAND_PING);
	assert_string_equal(iw_addr_format(&o.host.ip, text, sizeof(text)), "192.0.2.2");
	assert_string_equal(iw_addr_format(&o.host.gateway, text, sizeof(text)), "192.0.2.9");
	assert_string_equal(iw_addr_format(&o.addr, text, sizeof(text)), "192.0.2.1");
	assert_int_equal(o.host.prefix_len, 24);
	assert_int_equal(o.host.mtu, 9000);
	assert_int_equal(o.host.port_id, 3);
	assert_int_equal(o.addr.port, 4420);
	assert_int_equal(o.count, 10);
	assert_int_equal(o.size, 65535);
	assert_true(o.host.has_ip && o.no_crc && o.no_p2p && o.client && !o.server && o.has_addr && o.verbose &&
		    o.validate);
}

/* Several --ip, auto among them, a gateway of each family, a scope. */
static void
test_addresses(void **state)
{
	struct options o;
	char text[IW_ADDR_TEXT], nine[300] = "";

	(void)state;
	assert_true(parse("--ip 192.0.2.2/24 --ip fe80::2/64 --ip auto --ip 2001:db8::2/48 --gw 192.0.2.9 --gw fe80::9 "
			  "--vlan 4094 "
			  "ping -c -a fe80::1%3 -p 9",
			  &o));
	assert_string_equal(iw_addr_format(&o.host.ip, text, sizeof(text)), "192.0.2.2");
	assert_int_equal(o.host.n_more, 2);
	assert_string_equal(iw_addr_format(&o.host.more[0].ip, text, sizeof(text)), "fe80::2");
	assert_string_equal(iw_addr_format(&o.host.more[1].ip, text, sizeof(text)), "2001:db8::2");
	assert_int_equal(o.host.more[1].prefix_len, 48);
	assert_true(o.host.autoconf);
	assert_string_equal(iw_addr_format(&o.host.gateway, text, sizeof(text)), "192.0.2.9");
	assert_string_equal(iw_addr_format(&o.host.gateway6, text, sizeof(text)), "fe80::9");
	assert_int_equal(o.host.vlan, 4094);
	assert_int_equal(o.addr.scope, 4);
	assert_int_equal(o.addr.port, 9);
	assert_true(parse("--ip 192.0.2.2/24 --gw fe80::9 --gw 192.0.2.9 --ip auto ping -s", &o)); /* in either order */
	assert_string_equal(iw_addr_format(&o.host.gateway, text, sizeof(text)), "192.0.2.9");
	assert_string_equal(iw_addr_format(&o.host.gateway6, text, sizeof(text)), "fe80::9");
	assert_true(parse("--ip auto ping -s", &o));
	assert_true(o.host.has_ip && o.host.autoconf && o.host.n_more == 0);
	for (int i = 1; i <= 9; i++)
		snprintf(nine + strlen(nine), sizeof(nine) - strlen(nine), "--ip fd00::%d/64 ", i);
	assert_false(parse(nine, &o));
	assert_non_null(strstr(captured.text, "--ip fd00::9/64: at most 8 addresses"));
}

static void
test_ping_defaults(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("--ip 192.0.2.2/24 ping -s", &o));
	assert_int_equal(o.addr.port, 7174);
	assert_int_equal(o.size, 64);
	assert_int_equal(o.count, 0);
	assert_int_equal(o.host.mtu, 0);
	assert_true(o.server && !o.client && !o.has_addr && !o.verbose && !o.validate && !o.no_crc && !o.no_p2p);
	/* The port holds whether it stands before the address or behind it. */
	assert_true(parse("ping -c -p 9 -a 192.0.2.1", &o));
	assert_int_equal(o.addr.port, 9);
	assert_true(parse("ping -c -a 192.0.2.1 -p 9", &o));
	assert_int_equal(o.addr.port, 9);
}

static void
test_other_commands(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("info", &o));
	assert_int_equal(o.command, COMMAND_INFO);
	assert_true(parse("--help", &o));
	assert_int_equal(o.command, COMMAND_HELP);
	assert_true(parse("-h ping", &o));
	assert_int_equal(o.command, COMMAND_HELP);
}

static void
test_errors(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"", "no command"},
		{"--ip 192.0.2.2/24", "no command"},
		{"pong", "pong: unknown command"},
		{"--wrong ping -s", "--wrong: unknown option"},
		{"-x ping -s", "-x: unknown option"},
		{"--ip", "--ip: unknown option, or its value is missing"},
		{"--ip 192.0.2.2 ping -s", "ADDRESS/LENGTH"},
		{"--ip 192.0.2.2/33 ping -s", "--ip 33"},
		{"--gw nowhere ping -s", "--gw nowhere: not an IP address"},
		{"--vlan 0 ping -s", "--vlan 0: not a number from 1 to 4094"},
		{"--vlan 4095 ping -s", "--vlan 4095"},
		{"--ip automatic ping -s", "ADDRESS/LENGTH"},
		{"--ip 192.0.2.2/24 --ip fe80::1/129 ping -s", "--ip 129"},
		{"ping -c -a fe80::1%nowhere", "-a fe80::1%nowhere: not an IP address"},
		{"--mtu 575 ping -s", "--mtu 575"},
		{"--mtu 65536 ping -s", "--mtu 65536"},
		{"--port 65536 ping -s", "--port 65536"},
		{"ping", "either -s (server) or -c (client)"},
		{"ping -s -c -a 192.0.2.1", "either -s (server) or -c (client)"},
		{"ping -c", "-a ADDRESS"},
		{"ping -c -a", "-a: unknown option, or its value is missing"},
		{"ping -s -x", "-x: unknown option"},
		{"ping -s --mtu 9000", "--mtu: stands before the command"},
		{"ping -s-", "-: stands before the command"},
		{"ping -s more", "more: not understood"},
		{"ping -c -a 192.0.2.256", "-a 192.0.2.256: not an IP address"},
		{"ping -s -p 0", "-p 0"},
		{"ping -s -p 65536", "-p 65536"},
		{"ping -c -a 192.0.2.1 -S 0", "-S 0"},
		{"ping -c -a 192.0.2.1 -S 65536", "-S 65536"},
		{"ping -s -C x", "-C x"},
	};
	struct options o;

	(void)state;
	cli_init("program");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (parse(cases[i].line, &o))
			fail_msg("'%s' was taken", cases[i].line);
		if (strncmp(captured.text, "program: ", 9) != 0 || !strstr(captured.text, cases[i].says))
			fail_msg("'%s' says '%s'", cases[i].line, captured.text);
		assert_ptr_equal(strchr(captured.text, '\n'), captured.text + strlen(captured.text) - 1);
	}
}

static void
test_usage_names_everything(void **state)
{
	static const char *const words[] = {"--ip", "auto", "--gw", "--vlan", "--mtu", "--port", "--no-crc", "--no-p2p",
					    "ping", "info", "-a",   "-p",     "-C",    "-S",     "-v",       "-V"};

	(void)state;
	capture_begin(&captured, stdout);
	options_usage();
	capture_end(&captured);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_non_null(strstr(captured.text, words[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ping_with_everything),
		cmocka_unit_test(test_ping_defaults),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_other_commands),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_usage_names_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
