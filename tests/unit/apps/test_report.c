/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of perftest (src/perftest_parameters.h), to the letter, so that what reads them reads these; JSON and CSV
 * with its keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture.h"
#include "report.h"

#define LAT_HEADER                                                                                                    \
	"\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% " \
	"percentile[usec]   99.9% percentile[usec] "

static struct capture captured;
static struct report_lat lat;

/* 1000 messages of 64 KiB in half a second: 125 MiB/s. */
static const struct report_bw bw = {.size = 65536,
				    .iters = 1000,
				    .seconds = 0.5,
				    .peak = 200 * 1048576.0,
				    .roofline = 250 * 1048576.0,
				    .cycles = 65536000,
				    .cpu = 1.5,
				    .crc = true};

/* What one report of one row says; lat when it is one of latency. */
static const char *
say(const struct options *o, const struct report_bw *row, const struct report_lat *lat_row)
{
	struct report r;

	capture_begin(&captured, stdout);
	assert_true(report_open(&r, o, 9000, true));
	if (row)
		report_bw_row(&r, row);
	if (lat_row)
		report_lat_row(&r, lat_row);
	report_close(&r);
	return capture_end(&captured);
}

/* Round trips of 1 to 1000 us, in no order. */
static void
fill_lat(void)
{
	lat = (struct report_lat){.size = 2, .seconds = 2, .cycles = 4000};
	hist_init(&lat.hist);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t ns = (i * 7919 % 1000 + 1) * 1000;

		hist_add(&lat.hist, ns);
		lat.squares += (double)ns * (double)ns;
	}
}

static void
assert_holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%.600s'", part, text);
}

static void
test_headers(void **state)
{
	struct options o = {.test = PERF_BW};

	(void)state;
	assert_holds(say(&o, NULL, NULL),
		     "\n #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]");
	o.gbits = o.cpu_util = true;
	assert_holds(say(&o, NULL, NULL), "\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
					  "MsgRate[Mpps]    CPU_Util[%]");
	o.test = PERF_LAT;
	assert_holds(say(&o, NULL, NULL), LAT_HEADER);
	o.seconds = 1;
	assert_holds(say(&o, NULL, NULL), "\n #bytes        #iterations       t_avg[usec]    tps average");
}

static void
test_bandwidth_row(void **state)
{
	struct options o = {.test = PERF_BW};
	struct report_bw other = bw;

	(void)state;
	assert_holds(say(&o, &bw, NULL),
		     "\n 65536      1000             200.00             125.00 \t\t     0.002000      on    50.0  "
		     "         1.000         65536  \n");
	o.cpu_util = true;
	assert_holds(say(&o, &bw, NULL), "0.002000   150.00        on ");
	o.cpu_util = false;
	o.gbits = true;
	other.crc = false;
	other.roofline = 0;
	assert_holds(say(&o, &other, NULL),
		     "\n 65536      1000             1.68               1.05   \t\t     0.002000      off   -     "
		     "         1.000         65536  \n");
}

static void
test_latency_row(void **state)
{
	static const enum perf_verb verbs[] = {PERF_READ, PERF_SEND, PERF_ATOMIC};
	struct options o = {.test = PERF_LAT};
	double t[9];
	unsigned size, n;

	(void)state;
	fill_lat();
	for (int v = 0; v < 3; v++) {
		/* A Read or atomic is measured there and back; of the others half of it is reported. */
		double unit = verbs[v] == PERF_SEND ? 0.5 : 1;
		const char *row;

		o.verb = verbs[v];
		row = strstr(say(&o, NULL, &lat), "\n 2 ");
		assert_non_null(row);
		assert_int_equal(sscanf(row, "%u %u %lf %lf %lf %lf %lf %lf %lf %lf %lf", &size, &n, &t[0], &t[1],
					&t[2], &t[3], &t[4], &t[5], &t[6], &t[7], &t[8]),
				 11);
		assert_true(size == 2 && n == 1000 && t[7] == 2 && t[8] == 4);
		for (int k = 0; k < 7; k++) {
			/* least, most, median, mean, deviation sqrt((n^2 - 1) / 12), 99 %, 99.9 % */
			static const double expected[] = {1, 1000, 500, 500.5, 288.675, 990, 999};
			static const double tolerance[] = {0, 0, 0.016, 0, 0, 0.016, 0.016}; /* the histogram's steps */
			double off = t[k] - expected[k] * unit;

			assert_true(off > -0.0051 && off < 0.0051 + tolerance[k] * expected[k] * unit);
		}
	}
	o.seconds = 1;
	o.verb = PERF_READ;
	assert_holds(say(&o, NULL, &lat), "\n 2              1000                500.50         500.00 ");
}

/* Only the number, for scripts. */
static void
test_one_number(void **state)
{
	struct options o = {.output = PERF_ONE_BANDWIDTH};

	(void)state;
	assert_string_equal(say(&o, &bw, NULL), "125.000000\n");
	o.output = PERF_ONE_RATE;
	assert_string_equal(say(&o, &bw, NULL), "0.002000\n");
	fill_lat();
	o = (struct options){.output = PERF_ONE_LATENCY, .test = PERF_LAT, .verb = PERF_READ};
	assert_string_equal(say(&o, NULL, &lat), "500.500000\n");
}

static void
test_csv(void **state)
{
	struct options o = {.output = PERF_CSV};

	(void)state;
	assert_string_equal(say(&o, &bw, NULL),
			    "MsgSize,n_iterations,BW_peak,BW_average,MsgRate,seconds,roofline_percent,cycles_per_byte,"
			    "cycles_per_message,CPU_Util\n"
			    "65536,1000,200.00,125.00,0.002000,0.500000,50.0,1.000,65536,150.0\n");
}

static void
test_histogram(void **state)
{
	struct options o = {.test = PERF_LAT, .verb = PERF_READ, .ladder = true, .bars = true};

	(void)state;
	fill_lat();
	assert_holds(say(&o, NULL, &lat), "\n#   50.0000% :      503.807 us\n");
	assert_holds(captured.text, "\n#   99.9999% :      999.423 us\n");
	/* Eight steps of 8.192 us in one: 917.504 to 983.039 us, 983.04 to 1048.575 us. */
	assert_holds(captured.text, "\n# to      983.039 us :         66 ####\n");
	assert_holds(captured.text, "\n# to     1048.575 us :         17 #\n");
	/* Each step for itself, of two samples. */
	hist_init(&lat.hist);
	hist_add(&lat.hist, 999000);
	hist_add(&lat.hist, 50);
	o = (struct options){.test = PERF_LAT, .verb = PERF_READ, .samples = true};
	assert_holds(say(&o, NULL, &lat), "\n# to        0.050 us :          1\n# to      999.423 us :          1\n");
}

/* Text of the file that a report of two rows wrote. */
static const char *
json_of(struct options *o)
{
	static char text[1 << 16];
	char name[] = "/tmp/test_reportXXXXXX";
	int fd = mkstemp(name);
	struct report r;
	ssize_t n;

	assert_true(fd >= 0);
	o->json = true;
	o->json_file = name;
	capture_begin(&captured, stdout);
	assert_true(report_open(&r, o, 1500, false));
	for (int i = 0; i < 2; i++)
		if (o->test == PERF_LAT)
			report_lat_row(&r, &lat);
		else
			report_bw_row(&r, &bw);
	report_close(&r);
	capture_end(&captured);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd);
	unlink(name);
	return text;
}

static void
test_json(void **state)
{
	static const char *const parts[] = {"{\n  \"schema_version\": 1,\n",
					    "\"host\": \"",
					    "\"dpdk_version\": \"DPDK ",
					    "\"driver\": \"in-process\"",
					    "\"lcores\": [",
					    "\"mpa_crc\": false",
					    "\"mtu\": 1500",
					    "\"test\": \"send_bw\"",
					    "\"Transport_type\": \"IW\"",
					    "\"BW_average\": \"MiB/sec\"",
					    "\"results\": [\n    {\"MsgSize\": 65536, \"n_iterations\": 1000, "
					    "\"BW_peak\": 200.00, \"BW_average\": 125.00, "
					    "\"MsgRate\": 0.002000",
					    "},\n    {\"MsgSize\": 65536",
					    "}\n  ]\n}\n"};
	struct options o = {.verb = PERF_SEND};
	const char *text = json_of(&o);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_holds(text, parts[i]);
	fill_lat();
	o = (struct options){.test = PERF_LAT, .verb = PERF_READ};
	text = json_of(&o);
	assert_holds(text, "\"percentile_99.9\": ");
	assert_holds(text, "\"percentiles\": {\"1\": ");
	assert_holds(text, "[999.423, 8]");
}

static void
test_json_cannot_be_written(void **state)
{
	struct options o = {.json = true, .json_file = "/nowhere/at/all"};
	struct report r;

	(void)state;
	capture_begin(&captured, stderr);
	assert_false(report_open(&r, &o, 1500, false));
	assert_holds(capture_end(&captured), "/nowhere/at/all: cannot be written");
}

static void
test_banner(void **state)
{
	struct options o = {
		.test = PERF_BW, .verb = PERF_SEND, .qps = 3, .tx_depth = 128, .rx_depth = 512, .cq_mod = 100};

	(void)state;
	say(&o, NULL, NULL);
	assert_non_null(strstr(captured.text, "Send BW Test\n"));
	assert_non_null(strstr(captured.text, " Number of qps   : 3\t\tTransport type : IW\n"));
	assert_non_null(strstr(captured.text, " TX depth        : 128\n RX depth        : 512\n"));
	assert_non_null(strstr(captured.text, " Mtu             : 9000[B]\n"));
	assert_int_equal(strcspn(captured.text, "\n"), 87);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),     cmocka_unit_test(test_bandwidth_row),
		cmocka_unit_test(test_latency_row), cmocka_unit_test(test_one_number),
		cmocka_unit_test(test_csv),         cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_json),        cmocka_unit_test(test_json_cannot_be_written),
		cmocka_unit_test(test_banner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
