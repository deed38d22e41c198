/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of dpdk-iwarp-perf behind EAL's part: perftest's letters, and what is our own. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "host.h"

#define PERF_MAX_QPS 1000000 /* memory ends before */
#define PERF_CONN_QPS 64     /* of --test conn */
/* To one port of the server there are only so many source ports: the connections behind go to the next one. */
#define PERF_PORT_QPS 16384
#define PERF_PORTS(qps) (((qps) + PERF_PORT_QPS - 1) / PERF_PORT_QPS)
#define PERF_MAX_SIZE (1u << 30)
#define PERF_MAX_DEPTH 16384
#define PERF_MAX_LIST 64
#define PERF_MIN_SECONDS 0.001
#define PERF_MAX_SECONDS 86400
#define PERF_MAX_LOSS 50 /* percent: beyond, connections are not made */

enum perf_verb { PERF_WRITE, PERF_READ, PERF_SEND, PERF_WRITE_IMM, PERF_ATOMIC, PERF_VERBS };
enum perf_test { PERF_BW, PERF_LAT, PERF_CONN };
enum perf_mode { PERF_LOOPBACK, PERF_SERVER, PERF_CLIENT, PERF_ROOFLINE, PERF_ENGINES, PERF_VERSION, PERF_HELP };
enum perf_output { PERF_TABLE, PERF_CSV, PERF_ONE_BANDWIDTH, PERF_ONE_RATE, PERF_ONE_LATENCY };

struct options {
	struct host_options host;
	enum perf_mode mode;
	enum perf_verb verb;
	enum perf_test test;
	enum perf_output output;
	struct iw_addr peer; /* with the port; for a server: where it listens */
	uint32_t size;
	uint64_t iters; /* 0 with seconds */
	double seconds; /* 0: iters */
	uint32_t margin, interval;
	uint32_t tx_depth, rx_depth, cq_mod, post_list, inline_size, qps;
	double limit_bw,
		limit_rate; /* the least that passes: in what is reported, and in millions of messages; 0: any */
	double rate_limit;  /* of each end that sends, in rate_units; 0: as fast as it goes */
	char rate_units;    /* 'g': Gb/s, 'M': MiB/s, 'p': messages a second */
	uint32_t burst;     /* messages that a rate limit lets go at once */
	bool cmp_swap;      /* of atomics: not FetchAdd */
	uint32_t outs;      /* Reads and atomics under way on a QP; 0: as the QP has it */
	bool all_sizes, gbits, no_peak, no_crc, both_ways, srq, forever, warm_up, validate, cpu_util;
	bool samples, ladder, bars; /* of latency: every step of the histogram, percentiles, a picture */
	double loss;                /* percent of the frames, each way; 0: none */
	uint64_t loss_seed;
	bool json;
	const char *json_file;
};

/* False after an error line. */
bool options_parse(int argc, char **argv, struct options *o);
void options_usage(void);

/* Whether messages of the verb use up receives of the other end. */
static inline bool
perf_takes_recv(enum perf_verb verb)
{
	return verb == PERF_SEND || verb == PERF_WRITE_IMM;
}

/* That many QPs take PERF_PORTS() TCP ports from this one on: there are as many. */
static inline bool
perf_ports_fit(uint16_t port, uint32_t qps)
{
	return port + PERF_PORTS(qps) - 1 <= UINT16_MAX;
}

/* Both ends are in this process. */
static inline bool
options_on_wire(const struct options *o)
{
	return o->mode == PERF_LOOPBACK || o->mode == PERF_ENGINES;
}

/* "write", "send" and so on. */
const char *perf_verb_name(enum perf_verb verb);

#endif
