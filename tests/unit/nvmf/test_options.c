/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"
#include "cli.h"
#include "options.h"

#define ARGS_MAX 40
#define A "nqn.2026-11.org.example:a"
#define B "nqn.2026-11.org.example:b"

static struct capture captured;
static struct target target;

/* Words behind the program's name, taken apart at blanks; errors are captured. */
static bool
parse(const char *line, struct options *o)
{
	static char copy[1024];
	char *argv[ARGS_MAX + 2] = {(char *)(uintptr_t) "program"}, *save = NULL;
	int argc = 1;
	bool ok;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word && argc <= ARGS_MAX; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	memset(&target, 0, sizeof(target));
	capture_begin(&captured, stderr);
	ok = options_parse(argc, argv, o, &target);
	capture_end(&captured);
	return ok;
}

static void
test_everything(void **state)
{
	struct options o;
	char text[IW_ADDR_TEXT];

	(void)state;
	assert_true(parse("--ip 192.0.2.1/24 --gw 192.0.2.9 --mtu 9000 --port-id 3 --port 4421 --buffers 8 --no-crc "
			  "--subsys " A " --ns ram:1M --ns /disk,bs=4096 --ro --allow nqn.h1 --allow nqn.h2 "
			  "--subsys " B " --ns /other",
			  &o));
	assert_string_equal(captured.text, "");
	assert_string_equal(iw_addr_format(&o.host.ip, text, sizeof(text)), "192.0.2.1");
	assert_string_equal(iw_addr_format(&o.host.gateway, text, sizeof(text)), "192.0.2.9");
	assert_int_equal(o.host.prefix_len, 24);
	assert_int_equal(o.host.mtu, 9000);
	assert_int_equal(o.host.port_id, 3);
	assert_int_equal(o.port, 4421);
	assert_int_equal(o.buffer_mib, 8);
	assert_true(o.no_crc && !o.bench && !o.help);
	assert_int_equal(target.num_subsys, 2);
	assert_string_equal(target.subsys[0].nqn, A);
	assert_int_equal(target.subsys[0].num_ns, 2);
	assert_string_equal(target.subsys[0].ns[1].spec, "/disk,bs=4096");
	assert_true(!target.subsys[0].ns[0].read_only && target.subsys[0].ns[1].read_only);
	assert_int_equal(target.subsys[0].num_hosts, 2);
	assert_true(subsys_allows(&target.subsys[0], "nqn.h2"));
	assert_string_equal(target.subsys[1].ns[0].spec, "/other");
	assert_int_equal(target.subsys[1].num_hosts, 0);
}

static void
test_presets(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("--subsys " A " --ns ram:1M", &o));
	assert_int_equal(o.port, 4420);
	assert_int_equal(o.buffer_mib, 64);
	assert_false(o.no_crc);
	assert_true(parse("--help", &o) && o.help);
	assert_true(parse("bench -q 7", &o) && o.bench);
	assert_int_equal(o.bench_argc, 3);
	assert_string_equal(o.bench_argv[0], "bench");
}

static void
test_refused(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{"", "--subsys: is missing"},
		{"--subsys disk --ns ram:1M", "disk: not an NVMe qualified name"},
		{"--subsys nqn.2014-08.org.nvmexpress.discovery --ns ram:1M", "the discovery subsystem"},
		{"--subsys " A " --ns ram:1M --subsys " A " --ns ram:1M", "there already"},
		{"--subsys " A, A ": has no --ns"},
		{"--ns ram:1M", "--ns: comes behind a --subsys"},
		{"--ro", "--ro: comes behind a --subsys"},
		{"--allow nqn.h", "--allow: comes behind a --subsys"},
		{"--subsys " A " --ro", "--ro: comes behind a --ns"},
		{"--subsys " A " --allow h", "h: not an NVMe qualified name"},
		{"--port 65536", "--port 65536: not a number from 1 to 65535"},
		{"--buffers 1", "--buffers 1: not a number from 2"},
		{"--subsys", "--subsys: unknown option, or its value is missing"},
		{"--subsys " A " --ns ram:1M more", "more: not an option"},
	};
	struct options o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_false(parse(rows[i].line, &o));
		if (!strstr(captured.text, rows[i].why))
			print_error("%s: %s", rows[i].line, captured.text);
		assert_non_null(strstr(captured.text, rows[i].why));
		assert_ptr_equal(strchr(captured.text, '\n'), captured.text + strlen(captured.text) - 1); /* one line */
	}
}

static void
test_too_many(void **state)
{
	char line[1024] = "";
	struct options o;

	(void)state;
	for (int i = 0; i <= SUBSYS_MAX; i++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "--subsys nqn.s%d ", i);
	assert_false(parse(line, &o));
	assert_non_null(strstr(captured.text, "there may be 16"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_presets),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_too_many),
	};

	cli_init("program");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
