/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of perftest (src/perftest_parameters.h), to the letter, so that what reads them reads these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture.h"
#include "report.h"

static struct capture captured;

static void
assert_begins(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("'%s' does not begin with '%s'", text, with);
}

static void
test_headers(void **state)
{
	struct options o = {.test = PERF_BW};

	(void)state;
	capture_begin(&captured, stdout);
	report_header(&o);
	assert_begins(capture_end(&captured),
		      " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]");
	o.gbits = true;
	capture_begin(&captured, stdout);
	report_header(&o);
	assert_begins(capture_end(&captured),
		      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]");
	o.test = PERF_LAT;
	capture_begin(&captured, stdout);
	report_header(&o);
	assert_string_equal(capture_end(&captured),
			    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
			    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n");
}

static void
test_bandwidth_row(void **state)
{
	struct options o = {.test = PERF_BW};
	/* 1000 messages of 64 KiB in half a second: 125 MiB/s. */
	struct report_bw r = {.size = 65536,
			      .iters = 1000,
			      .seconds = 0.5,
			      .peak = 200 * 1048576.0,
			      .roofline = 250 * 1048576.0,
			      .cycles = 65536000,
			      .crc = true};

	(void)state;
	capture_begin(&captured, stdout);
	report_bw_row(&o, &r);
	assert_string_equal(capture_end(&captured),
			    " 65536      1000             200.00             125.00 \t\t     0.002000      on    50.0  "
			    "         1.000         65536  \n");
	o.gbits = true;
	r.crc = false;
	r.roofline = 0;
	capture_begin(&captured, stdout);
	report_bw_row(&o, &r);
	assert_string_equal(capture_end(&captured),
			    " 65536      1000             1.68               1.05   \t\t     0.002000      off   -     "
			    "         1.000         65536  \n");
}

/* Round trips of 1 to 1000 us, in no order. */
static void
test_latency_row(void **state)
{
	struct options o = {.test = PERF_LAT, .verb = PERF_READ};
	struct report_lat r = {.size = 2, .n = 1000, .ns = malloc(1000 * sizeof(uint64_t))};
	double t[7];
	unsigned size, n;

	(void)state;
	for (int half = 0; half < 2; half++) {
		double unit = half ? 0.5 : 1;

		/* A Read is measured there and back; of the others half of it is reported. */
		o.verb = half ? PERF_SEND : PERF_READ;
		for (uint64_t i = 0; i < r.n; i++)
			r.ns[i] = (i * 7919 % 1000 + 1) * 1000;
		capture_begin(&captured, stdout);
		report_lat_row(&o, &r);
		assert_int_equal(sscanf(capture_end(&captured), "%u %u %lf %lf %lf %lf %lf %lf %lf", &size, &n, &t[0],
					&t[1], &t[2], &t[3], &t[4], &t[5], &t[6]),
				 9);
		assert_int_equal(size, 2);
		assert_int_equal(n, 1000);
		for (int k = 0; k < 7; k++) {
			/* least, most, median, mean, deviation sqrt((n^2 - 1) / 12), 99 %, 99.9 % */
			static const double expected[] = {1, 1000, 501, 500.5, 288.675, 991, 1000};
			double off = t[k] - expected[k] * unit;

			assert_true(off < 0.0051 && off > -0.0051);
		}
	}
	free(r.ns);
}

static void
test_banner(void **state)
{
	struct options o = {
		.test = PERF_BW, .verb = PERF_SEND, .qps = 3, .tx_depth = 128, .rx_depth = 512, .cq_mod = 100};

	(void)state;
	capture_begin(&captured, stdout);
	report_banner(&o, 9000);
	capture_end(&captured);
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
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_bandwidth_row),
		cmocka_unit_test(test_latency_row),
		cmocka_unit_test(test_banner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
