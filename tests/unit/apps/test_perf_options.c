/* SPDX-License-Identifier: BSD-3-Clause */
/* perftest's letters and defaults (src/perftest_parameters.c), and what is our own. */
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
test_defaults(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("", &o));
	assert_true(o.mode == PERF_LOOPBACK && o.verb == PERF_WRITE && o.test == PERF_BW && o.size == 65536 &&
		    o.iters == 5000 && o.tx_depth == 128 && o.rx_depth == 512 && o.cq_mod == 100 && o.post_list == 1 &&
		    o.inline_size == 0 && o.qps == 1 && o.peer.port == 18515 && o.host.mtu == 9000);
	assert_false(o.all_sizes || o.seconds || o.gbits || o.no_peak || o.no_crc);
	assert_true(parse("--test lat", &o));
	assert_true(o.size == 2 && o.iters == 1000 && o.tx_depth == 1 && o.cq_mod == 1 && o.inline_size == 220);
}

static void
test_letters(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("-s 4096 -n 100 -q 4 -t 64 -r 32 -Q 8 -l 2 -I 128 -p 9 -N -a --report_gbits --no-crc "
			  "--verb read",
			  &o));
	assert_string_equal(captured.text, "");
	assert_true(o.size == 4096 && o.iters == 100 && o.qps == 4 && o.tx_depth == 64 && o.rx_depth == 32 &&
		    o.cq_mod == 8 && o.post_list == 2 && o.inline_size == 128 && o.peer.port == 9 && o.no_peak &&
		    o.all_sizes && o.gbits && o.no_crc && o.verb == PERF_READ);
	assert_true(parse("--size 8 --iters 9 --qp 2 --tx-depth 7 --rx-depth 6 --cq-mod 5 --post_list 4 "
			  "--inline_size 3 --duration 2 --noPeak --all",
			  &o));
	assert_true(o.size == 8 && o.iters == 9 && o.qps == 2 && o.tx_depth == 7 && o.rx_depth == 6 && o.cq_mod == 5 &&
		    o.post_list == 4 && o.inline_size == 3 && o.seconds == 2 && o.no_peak && o.all_sizes);
	/* Never more unsignalled than fit. */
	assert_true(parse("-t 4", &o));
	assert_int_equal(o.cq_mod, 4);
	/* Latency has one QP. */
	assert_true(parse("--test lat -q 8", &o));
	assert_int_equal(o.qps, 1);
}

/* Command lines of InfiniBand are pasted: a note each, and no error. */
static void
test_letters_that_mean_nothing_here(void **state)
{
	struct options o;

	(void)state;
	cli_init("program");
	assert_true(parse("-F -R -d mlx5_0 -x 3", &o));
	assert_string_equal(captured.text, "program: note: -F is about InfiniBand or not needed here; ignored\n"
					   "program: note: -R is about InfiniBand or not needed here; ignored\n"
					   "program: note: -d is about InfiniBand or not needed here; ignored\n"
					   "program: note: -x is about InfiniBand or not needed here; ignored\n");
	assert_int_equal(o.mode, PERF_LOOPBACK);
}

static void
test_modes(void **state)
{
	struct options o;
	char text[IW_ADDR_TEXT];

	(void)state;
	assert_true(parse("--server --ip 192.0.2.1/24", &o));
	assert_int_equal(o.mode, PERF_SERVER);
	assert_int_equal(o.host.mtu, 0);
	assert_true(parse("-p 7 192.0.2.1 -n 10", &o));
	assert_int_equal(o.mode, PERF_CLIENT);
	assert_string_equal(iw_addr_format(&o.peer, text, sizeof(text)), "192.0.2.1");
	assert_int_equal(o.peer.port, 7);
	assert_int_equal(o.iters, 10);
	assert_true(parse("roofline -s 8", &o));
	assert_int_equal(o.mode, PERF_ROOFLINE);
	assert_true(parse("--help", &o));
	assert_int_equal(o.mode, PERF_HELP);
}

static void
test_errors(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"--wrong", "--wrong: unknown option"},
		{"-s", "-s: unknown option, or its value is missing"},
		{"--verb atomic", "--verb atomic: write, read or send"},
		{"--test rate", "--test rate: bw, lat or conn"},
		{"-s 0", "-s 0"},
		{"-s 1073741825", "-s 1073741825"},
		{"-n 4", "-n 4"},
		{"-q 0", "-q 0"},
		{"-q 65", "-q 65"},
		{"-t 0", "-t 0"},
		{"-t 16385", "-t 16385"},
		{"-r 3", "-r 3"},
		{"-Q 0", "-Q 0"},
		{"-l 0", "-l 0"},
		{"-l 65", "-l 65"},
		{"-I 257", "-I 257"},
		{"-p 0", "-p 0"},
		{"-D 0", "-D 0"},
		{"--mtu 575", "--mtu 575"},
		{"--ip 192.0.2.1", "ADDRESS/LENGTH"},
		{"server.example", "server.example: not an IP address"},
		{"192.0.2.1 192.0.2.2", "192.0.2.2: not understood"},
		{"--server 192.0.2.1", "a server takes no address"},
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_letters_that_mean_nothing_here),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
