/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of dpdk-iwarp-perf behind EAL's part: perftest's letters, and what is our own. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "host.h"

#define PERF_MAX_QPS 64
#define PERF_MAX_SIZE (1u << 30)

enum perf_verb { PERF_WRITE, PERF_READ, PERF_SEND };
enum perf_test { PERF_BW, PERF_LAT, PERF_CONN };
enum perf_mode { PERF_LOOPBACK, PERF_SERVER, PERF_CLIENT, PERF_ROOFLINE, PERF_HELP };

struct options {
	struct host_options host;
	enum perf_mode mode;
	enum perf_verb verb;
	enum perf_test test;
	struct iw_addr peer; /* with the port; for a server: where it listens */
	uint32_t size;
	bool all_sizes;
	uint64_t iters; /* 0 with seconds */
	uint32_t seconds;
	uint32_t tx_depth, rx_depth, cq_mod, post_list, inline_size, qps;
	bool gbits, no_peak, no_crc;
};

/* False after an error line. */
bool options_parse(int argc, char **argv, struct options *o);
void options_usage(void);

#endif
