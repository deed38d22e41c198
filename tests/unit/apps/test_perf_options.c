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
#include "options_table.h"

#define ARGS_MAX 32

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

/* As perftest's programs are called; what is said of verb and test counts more. */
static void
test_names(void **state)
{
	static const struct {
		const char *name;
		enum perf_verb verb;
		enum perf_test test;
	} rows[] = {
		{"dpdk-iwarp-perf", PERF_WRITE, PERF_BW},
		{"dpdk-iwarp-read-lat", PERF_READ, PERF_LAT},
		{"/usr/bin/ib_send_bw", PERF_SEND, PERF_BW},
		{"./iw_write_lat", PERF_WRITE, PERF_LAT},
		{"/opt/read_lat/dpdk-iwarp-perf", PERF_WRITE, PERF_BW},
		{"ib_atomic_lat", PERF_ATOMIC, PERF_LAT},
		{"read_lat", PERF_WRITE, PERF_BW},
		{"", PERF_WRITE, PERF_BW},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {(char *)(uintptr_t)rows[i].name, "--test", "bw", NULL};
		struct options o;

		assert_true(options_parse(1, argv, &o));
		assert_int_equal(o.verb, rows[i].verb);
		assert_int_equal(o.test, rows[i].test);
		assert_true(options_parse(3, argv, &o));
		assert_int_equal(o.test, PERF_BW);
	}
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
	assert_true(parse("--no-crc --zero_copy", &o));
	assert_true(o.host.zero_copy && o.no_crc);
	/* Never more unsignalled than fit. */
	assert_true(parse("-t 4", &o));
	assert_int_equal(o.cq_mod, 4);
	/* Latency may have several QPs, too. */
	assert_true(parse("--test lat -q 8", &o));
	assert_int_equal(o.qps, 8);
}

/* What is perftest's, newer than its letters, or our own. */
static void
test_words(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse("-D 5 -f 2 --cpu_util --interval 2 --use-srq --data_validation --perform_warm_up --out_json "
			  "--verb write-imm --csv -o 64 -c RC",
			  &o));
	assert_string_equal(captured.text, "");
	assert_true(o.outs == 64 && o.margin == 2 && o.seconds == 5 && o.srq && o.validate && o.warm_up && o.cpu_util &&
		    o.interval == 2 && o.json && o.verb == PERF_WRITE_IMM && o.output == PERF_CSV);
	assert_string_equal(o.json_file, "perftest_out.json");
	assert_true(parse("--test lat -H --hist --percentiles --output=latency --out_json_file=x", &o));
	assert_true(o.samples && o.bars && o.ladder && o.output == PERF_ONE_LATENCY && o.json);
	assert_string_equal(o.json_file, "x");
	assert_true(parse("-b", &o));
	assert_true(o.both_ways);
	assert_true(parse("-D 0.25 -s 64K", &o));
	assert_true(o.seconds == 0.25 && o.size == 65536);
	assert_true(parse("-D 86400 --size 1024M", &o));
	assert_true(o.seconds == 86400 && o.size == PERF_MAX_SIZE);
	assert_true(parse("--verb atomic -A CMP_AND_SWAP", &o) && o.cmp_swap);
	assert_true(parse("--verb atomic -A FETCH_AND_ADD", &o) && !o.cmp_swap);
	assert_true(parse("--write_with_imm", &o));
	assert_int_equal(o.verb, PERF_WRITE_IMM);
	assert_true(parse("-w 100.5 -y 0.25 --rate_limit 3 --rate_units M --burst_size 7", &o));
	assert_string_equal(captured.text, "");
	assert_true(o.limit_bw == 100.5 && o.limit_rate == 0.25 && o.rate_limit == 3 && o.rate_units == 'M' &&
		    o.burst == 7);
	assert_true(parse("--rate_limit 1", &o));
	assert_int_equal(o.burst, 128); /* as many as are under way */
	assert_true(parse("--loss 0.25 --loss-seed 18446744073709551615", &o));
	assert_string_equal(captured.text, "");
	assert_true(o.loss == 0.25 && o.loss_seed == UINT64_MAX);
	assert_true(parse("--test lat --loss 50", &o));
	assert_true(o.loss == 50 && o.loss_seed == 0);
	assert_true(parse("engines --out_json_file x", &o));
	assert_true(options_on_wire(&o) && o.json && o.loss == 0);
	assert_true(parse("--run_infinitely -N", &o));
	assert_true(o.forever && o.no_peak);
	assert_true(!parse("--verb atomic -b", &o));
	assert_true(parse("--verb atomic", &o));
	assert_int_equal(o.size, 8);
	/* An engine with room for so many. */
	assert_true(parse("-q 10000", &o));
	assert_true(o.qps == 10000 && o.host.max_conns > 10000);
	assert_true(parse("-p 65529 -q 100000", &o));
	assert_true(parse("-q 100", &o));
	assert_int_equal(o.host.max_conns, 0);
}

/* Command lines of InfiniBand are pasted: one note for all of it, and no error; what is always so here is not noted. */
static void
test_letters_that_mean_nothing_here(void **state)
{
	struct options o;

	(void)state;
	cli_init("program");
	assert_true(parse("-F -R", &o));
	assert_string_equal(captured.text, "");
	assert_true(parse("-F -R -d mlx5_0 -x 3 --mr_per_qp", &o));
	assert_string_equal(captured.text,
			    "program: note: about InfiniBand or not needed here, ignored: -d -x --mr_per_qp\n");
	assert_int_equal(o.mode, PERF_LOOPBACK);
	/* Each letter of perftest is one of ours, or noted. */
	for (const char *l = "wypdimsntuSxcqIoMrQAlDfBTEJjKkaFegzRvhbNVCHUOZPXG"; *l; l++) {
		bool there = false;

		for (uint32_t i = 0; i < option_line_count; i++)
			there = there || option_lines[i].letter == *l;
		if (!there)
			fail_msg("-%c is not known", *l);
	}
	assert_true(
		parse("-B a -E b -J c -j d -K e -k f -G -v -P -Z --tclass 1 --retry_count 7 --report-both --odp", &o));
	assert_string_equal(captured.text,
			    "program: note: about InfiniBand or not needed here, ignored: -B -E -J -j -K "
			    "-k -G -v -P -Z --tclass --retry_count --report-both --odp\n");
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
	assert_true(parse("-V", &o));
	assert_int_equal(o.mode, PERF_VERSION);
	assert_true(parse("--help", &o));
	assert_int_equal(o.mode, PERF_HELP);
}

/* What is not taken, and what is said of it. */
static const struct {
	const char *line, *says;
} cases[] = {
	{"--wrong", "--wrong: unknown option"},
	{"-s", "-s: unknown option, or its value is missing"},
	{"--zero_copy", "--zero_copy: only with --no-crc"},
	{"--verb cas", "--verb cas: write, read, send, write-imm or atomic"},
	{"--test rate", "--test rate: bw, lat or conn"},
	{"-s 0", "-s 0"},
	{"-s 1073741825", "-s 1073741825"},
	{"-n 4", "-n 4"},
	{"-q 0", "-q 0"},
	{"-q 1000001", "-q 1000001"},
	{"-o 0", "-o 0"},
	{"-o 129", "-o 129"},
	{"-c UD", "-c UD: iWARP has reliable connections only"},
	{"--output loss", "--output loss"},
	{"--output latency", "--output: latency goes with --test lat"},
	{"--test lat --output bandwidth", "--output: latency goes with --test lat"},
	{"-D 4 -f 2", "-f: nothing is left"},
	{"-f 1", "-f: nothing is left"},
	{"--test lat -b", "-b: latency"},
	{"--verb atomic -s 16", "an atomic has eight octets"},
	{"--run_infinitely -n 10", "--run_infinitely"},
	{"--run_infinitely -w 1", "--run_infinitely: neither -w nor -y"},
	{"-w fast", "-w fast: a number above 0"},
	{"-y 0", "-y 0: a number above 0"},
	{"--rate_limit 5g", "--rate_limit 5g: a number above 0"},
	{"--rate_units k", "--rate_units k: g (Gb/s), M (MiB/s) or p"},
	{"--burst_size 2", "--burst_size: only with --rate_limit"},
	{"--rate_limit 1 -b", "--rate_limit: not with -b"},
	{"--test lat -w 1", "for bandwidth only"},
	{"--test conn -q 65", "--test conn: -q"},
	{"--loss 0", "--loss 0: a number above 0"},
	{"--loss 1%", "--loss 1%: a number above 0"},
	{"--loss 50.1", "--loss 50.1: at most 50 percent"},
	{"--loss nan", "--loss nan: a number above 0"},
	{"--loss 1 --server", "--loss: for bandwidth and latency on the in-process wire"},
	{"--loss 1 192.0.2.1", "--loss: for bandwidth and latency on the in-process wire"},
	{"--loss 1 roofline", "--loss: for bandwidth and latency on the in-process wire"},
	{"--loss 1 engines", "--loss: for bandwidth and latency on the in-process wire"},
	{"--loss 1 --test conn", "--loss: for bandwidth and latency on the in-process wire"},
	{"--loss-seed -1", "--loss-seed -1: not a number"},
	{"roofline --out_json", "--out_json: not of roofline"},
	{"--test conn --out_json_file x", "--out_json: not of roofline and --test conn"},
	{"-t 0", "-t 0"},
	{"-t 16385", "-t 16385"},
	{"-r 3", "-r 3"},
	{"-Q 0", "-Q 0"},
	{"-l 0", "-l 0"},
	{"-l 65", "-l 65"},
	{"-I 257", "-I 257"},
	{"-p 0", "-p 0"},
	{"-p 65530 -q 100000", "-p: so many QPs take several TCP ports"},
	{"-D 0", "-D 0"},
	{"-D 1s", "-D 1s"},
	{"-D 0.0001", "-D 0.0001: from 0.001 to 86400 seconds"},
	{"-D 86400.5", "-D 86400.5: from 0.001"},
	{"-s 64k", "-s 64k"},
	{"-s K", "-s in K : not a number from 1 to 1048576"},
	{"-s 1025M", "-s in M 1025: not a number from 1 to 1024"},
	{"-s 1KM", "-s 1KM"},
	{"-s 18446744073709551616M", "-s 18446744073709551616M"},
	{"--verb atomic -A ADD", "-A ADD: FETCH_AND_ADD or CMP_AND_SWAP"},
	{"-A CMP_AND_SWAP", "-A: only with --verb atomic"},
	{"roofline --test lat -s 4501", "roofline --test lat: -n messages of one size"},
	{"roofline --test lat -a", "roofline --test lat: -n messages"},
	{"roofline --test lat -D 1", "roofline --test lat: -n messages"},
	{"roofline --test conn", "roofline: --test bw or lat"},
	{"engines -n 100", "engines: bandwidth of one size, for a time"},
	{"engines --csv", "--csv, --output: not of roofline, engines"},
	{"roofline --output bandwidth", "--csv, --output: not of roofline, engines"},
	{"--test conn --csv", "--csv, --output: not of roofline, engines and --test conn"},
	{"--mtu 575", "--mtu 575"},
	{"--ip 192.0.2.1", "ADDRESS/LENGTH"},
	{"server.example", "server.example: not an IP address"},
	{"192.0.2.1 192.0.2.2", "192.0.2.2: not understood"},
	{"--server 192.0.2.1", "a server takes no address"},
};

static void
test_errors(void **state)
{
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
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_letters_that_mean_nothing_here),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
