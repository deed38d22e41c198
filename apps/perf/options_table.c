/* SPDX-License-Identifier: BSD-3-Clause */
#include "options_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define AT(field) offsetof(struct options, field)
#define NUMBER(letter, name, kind, field, min, max, value, help)                    \
	{                                                                           \
		letter, name, OPTION_##kind, AT(field), min, max, NULL, value, help \
	}
#define FLAG(letter, name, field, help)                                      \
	{                                                                    \
		letter, name, OPTION_FLAG, AT(field), 0, 0, NULL, NULL, help \
	}
#define CALL(letter, name, take, value, help)                         \
	{                                                             \
		letter, name, OPTION_CALL, 0, 0, 0, take, value, help \
	}
#define OTHER(letter, name, kind)                                      \
	{                                                              \
		letter, name, OPTION_##kind, 0, 0, 0, NULL, NULL, NULL \
	}

static const char *const verbs[PERF_VERBS] = {"write", "read", "send", "write-imm", "atomic"};

const char *
perf_verb_name(enum perf_verb verb)
{
	return verbs[verb];
}

/* The place of text among n names; n after an error line. */
static int
place_of(const char *option, const char *text, const char *const *names, int n, const char *all)
{
	for (int i = 0; i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return i;
	cli_fail("%s %s: %s", option, text, all);
	return n;
}

static bool
take_verb(const char *arg, struct options *o)
{
	int i = place_of("--verb", arg, verbs, PERF_VERBS, "write, read, send, write-imm or atomic");

	o->verb = (enum perf_verb)i;
	return i < PERF_VERBS;
}

static bool
take_test(const char *arg, struct options *o)
{
	static const char *const names[] = {"bw", "lat", "conn"};
	int i = place_of("--test", arg, names, 3, "bw, lat or conn");

	o->test = (enum perf_test)i;
	return i < 3;
}

static bool
take_output(const char *arg, struct options *o)
{
	static const char *const names[] = {"bandwidth", "message_rate", "latency"};
	int i = place_of("--output", arg, names, 3, "bandwidth, message_rate or latency");

	o->output = (enum perf_output)(PERF_ONE_BANDWIDTH + i);
	return i < 3;
}

/* A positive number, or false after an error line. */
static bool
take_real(const char *option, const char *arg, double *out)
{
	char *end;

	*out = strtod(arg, &end);
	if (end != arg && *end == 0 && isfinite(*out) && *out > 0)
		return true;
	cli_fail("%s %s: a number above 0", option, arg);
	return false;
}

static bool
take_limit_bw(const char *arg, struct options *o)
{
	return take_real("-w", arg, &o->limit_bw);
}

static bool
take_limit_rate(const char *arg, struct options *o)
{
	return take_real("-y", arg, &o->limit_rate);
}

static bool
take_duration(const char *arg, struct options *o)
{
	if (!take_real("-D", arg, &o->seconds))
		return false;
	if (o->seconds >= PERF_MIN_SECONDS && o->seconds <= PERF_MAX_SECONDS)
		return true;
	cli_fail("-D %s: from %g to %d seconds", arg, PERF_MIN_SECONDS, PERF_MAX_SECONDS);
	return false;
}

static bool
take_rate_limit(const char *arg, struct options *o)
{
	return take_real("--rate_limit", arg, &o->rate_limit);
}

static bool
take_rate_units(const char *arg, struct options *o)
{
	o->rate_units = arg[0];
	if (arg[0] && !arg[1] && strchr("gMp", arg[0]))
		return true;
	cli_fail("--rate_units %s: g (Gb/s), M (MiB/s) or p (messages a second)", arg);
	return false;
}

static bool
take_loss(const char *arg, struct options *o)
{
	if (!take_real("--loss", arg, &o->loss))
		return false;
	if (o->loss <= PERF_MAX_LOSS)
		return true;
	cli_fail("--loss %s: at most %d percent", arg, PERF_MAX_LOSS);
	return false;
}

static bool
take_csv(const char *arg, struct options *o)
{
	o->output = PERF_CSV;
	return true;
}

static bool
take_connection(const char *arg, struct options *o)
{
	if (strcmp(arg, "RC") == 0)
		return true;
	cli_fail("-c %s: iWARP has reliable connections only (RC)", arg);
	return false;
}

static bool
take_atomic(const char *arg, struct options *o)
{
	static const char *const names[] = {"FETCH_AND_ADD", "CMP_AND_SWAP"};
	int i = place_of("-A", arg, names, 2, "FETCH_AND_ADD or CMP_AND_SWAP");

	o->cmp_swap = i == 1;
	return i < 2;
}

/* perftest's 64K and 8M, too. */
static bool
take_size(const char *arg, struct options *o)
{
	size_t len = strcspn(arg, "KM");
	uint32_t shift = arg[len] == 'K' ? 10 : arg[len] == 'M' ? 20 : 0;
	char digits[16] = "";
	uint64_t n = 0;
	bool ok;

	if (shift && arg[len + 1] == 0 && len < sizeof(digits)) {
		memcpy(digits, arg, len);
		ok = cli_number(shift == 10 ? "-s in K" : "-s in M", digits, 1, PERF_MAX_SIZE >> shift, &n);
	} else {
		shift = 0;
		ok = cli_number("-s", arg, 1, PERF_MAX_SIZE, &n);
	}
	o->size = (uint32_t)(n << shift);
	return ok;
}

static bool
take_imm(const char *arg, struct options *o)
{
	o->verb = PERF_WRITE_IMM;
	return true;
}

static bool
take_version(const char *arg, struct options *o)
{
	o->mode = PERF_VERSION;
	return true;
}

static bool
take_ip(const char *arg, struct options *o)
{
	return host_option_ip(&o->host, arg);
}

static bool
take_gateway(const char *arg, struct options *o)
{
	return host_option_gateway(&o->host, arg);
}

static bool
take_server(const char *arg, struct options *o)
{
	o->mode = PERF_SERVER;
	return true;
}

static bool
take_help(const char *arg, struct options *o)
{
	o->mode = PERF_HELP;
	return true;
}

static bool
take_json_file(const char *arg, struct options *o)
{
	o->json = true;
	o->json_file = arg;
	return true;
}

const struct option_line option_lines[] = {
	CALL(0, "verb", take_verb, "V", "write (default), read, send, write-imm, atomic"),
	CALL(0, "test", take_test, "T", "bw (default), lat, conn (connect and close: -n connections, -q at once)"),
	CALL(0, "server", take_server, NULL, "serve one client (its options count), then end"),
	CALL('s', "size", take_size, "BYTES", "message size, 64K and 1M, too (bw 65536, lat 2)"),
	FLAG('a', "all", all_sizes, "all sizes from 2 to 8388608"),
	NUMBER('n', "iters", U64, iters, 5, UINT64_MAX, "N", "iterations of each QP (bw 5000, lat 1000)"),
	CALL('D', "duration", take_duration, "SEC", "run for a time instead; 0.5 and the like, too"),
	NUMBER('f', "margin", U32, margin, 0, 43200, "SEC", "of it, not counted at both ends (0)"),
	NUMBER('q', "qp", U32, qps, 1, PERF_MAX_QPS, "N", "QPs (1); of latency one after the other"),
	NUMBER('t', "tx-depth", U32, tx_depth, 1, PERF_MAX_DEPTH, "N", "requests under way on each QP (bw 128, lat 1)"),
	NUMBER('r', "rx-depth", U32, rx_depth, 4, PERF_MAX_DEPTH, "N", "receives of each QP (512)"),
	NUMBER('o', "outs", U32, outs, 1, IW_MAX_IRD, "N", "Reads and atomics under way on each QP (16)"),
	CALL('A', "atomic_type", take_atomic, "KIND", "FETCH_AND_ADD (default) or CMP_AND_SWAP, of atomics"),
	NUMBER('l', "post_list", U32, post_list, 1, PERF_MAX_LIST, "N", "requests of one post (1)"),
	NUMBER('Q', "cq-mod", U32, cq_mod, 1, PERF_MAX_DEPTH, "N", "signal every N-th (100)"),
	NUMBER('I', "inline_size", U32, inline_size, 0, IW_MAX_INLINE, "BYTES", "inline up to this (bw 0, lat 220)"),
	FLAG('b', "bidirectional", both_ways, "both ends send; the sum is reported"),
	FLAG('N', "noPeak", no_peak, "no peak"),
	FLAG(0, "use-srq", srq, "receives of all QPs from one shared queue"),
	CALL('w', "limit_bw", take_limit_bw, "RATE", "fails when the average is below (MiB/s or Gb/s, as reported)"),
	CALL('y', "limit_msgrate", take_limit_rate, "RATE", "fails when the message rate is below (millions a second)"),
	CALL(0, "rate_limit", take_rate_limit, "RATE", "send no faster"),
	CALL(0, "rate_units", take_rate_units, "U", "of that: g Gb/s (default), M MiB/s, p messages a second"),
	NUMBER(0, "burst_size", U32, burst, 1, PERF_MAX_DEPTH, "N", "messages that it lets go at once (tx-depth)"),
	CALL(0, "loss", take_loss, "PERCENT", "of the frames on the in-process wire are lost, each way"),
	NUMBER(0, "loss-seed", U64, loss_seed, 0, UINT64_MAX, "N", "which of them (0)"),
	NUMBER('p', "tcp-port", U16, peer.port, 1, UINT16_MAX, "PORT", "18515"),
	FLAG(0, "report_gbits", gbits, "Gb/s instead of MiB/s"),
	FLAG(0, "run_infinitely", forever, "a row every five seconds until Ctrl-C"),
	NUMBER(0, "interval", U32, interval, 1, 86400, "SEC", "a line of progress so often, on stderr"),
	FLAG(0, "perform_warm_up", warm_up, "a short run before, not counted"),
	FLAG(0, "data_validation", validate, "compares every octet behind the run"),
	FLAG(0, "cpu_util", cpu_util, "CPU time of this process, of one core"),
	FLAG('H', "report-histogram", samples, "latency: every step of the histogram"),
	FLAG(0, "hist", bars, "latency: the histogram as a picture"),
	FLAG(0, "percentiles", ladder, "latency: from 1 to 99.9999 %"),
	CALL(0, "output", take_output, "WHAT", "one number only: bandwidth, message_rate, latency"),
	CALL(0, "csv", take_csv, NULL, "comma-separated values instead of the table"),
	FLAG(0, "out_json", json, "also writes perftest_out.json"),
	CALL(0, "out_json_file", take_json_file, "FILE", "the same, there"),
	CALL(0, "ip", take_ip, "ADDR/LEN|auto", "own address (needed with --server and ADDR)"),
	CALL(0, "gw", take_gateway, "ADDR", "gateway"),
	NUMBER(0, "vlan", U16, host.vlan, 1, 4094, "N", "802.1Q VLAN"),
	NUMBER(0, "port", U16, host.port_id, 0, UINT16_MAX, "ID", "DPDK port (0)"),
	NUMBER(0, "mtu", U16, host.mtu, 576, UINT16_MAX, "N", "layer-3 MTU (loopback 9000)"),
	NUMBER(0, "idle-sleep", U32, host.idle_us, 1, 100000, "USEC",
	       "sleep when idle: until a frame comes where the port can say so, else so long; its price in latency"),
	FLAG(0, "no-crc", no_crc, "do not ask for the MPA CRC"),
	FLAG(0, "zero_copy", host.zero_copy,
	     "the port reads messages by itself where it can (with --no-crc, at both ends)"),
	CALL('c', "connection", take_connection, "RC", NULL),
	CALL(0, "write_with_imm", take_imm, NULL, NULL), /* perftest's word for a verb of ours */
	CALL('V', "version", take_version, NULL, "of this program and of DPDK"),
	CALL('h', "help", take_help, NULL, NULL),
	/* So it is here, always. */
	OTHER('F', "CPU-freq", SILENT),
	OTHER('R', "rdma_cm", SILENT),
	OTHER('z', "comm_rdma_cm", SILENT),
	/* InfiniBand's, or of no use to a polling stack: pasted command lines have them. */
	OTHER('d', "ib-dev", NOTE_ARG),
	OTHER('i', "ib-port", NOTE_ARG),
	OTHER('x', "gid-index", NOTE_ARG),
	OTHER('m', NULL, NOTE_ARG),
	OTHER('S', "sl", NOTE_ARG),
	OTHER('T', "tos", NOTE_ARG),
	OTHER('u', "qp-timeout", NOTE_ARG),
	OTHER(0, "rate_limit_type", NOTE_ARG),
	OTHER(0, "typical_pkt_size", NOTE_ARG),
	OTHER('X', "vector", NOTE_ARG),
	OTHER('M', "MGID", NOTE_ARG),
	OTHER('e', "events", NOTE),
	OTHER('U', "report-unsorted", NOTE),
	OTHER('C', "report-cycles", NOTE),
	OTHER('g', "mcg", NOTE),
	OTHER('O', "dualport", NOTE),
	OTHER(0, "mr_per_qp", NOTE),
	OTHER(0, "use_hugepages", NOTE),
	OTHER(0, "ipv6", NOTE),
	OTHER(0, "ipv6-addr", NOTE),
	/* Of raw Ethernet: MACs, IP addresses and UDP ports of packets that perftest makes itself. */
	OTHER('B', "source_mac", NOTE_ARG),
	OTHER('E', "dest_mac", NOTE_ARG),
	OTHER('J', "dest_ip", NOTE_ARG),
	OTHER('j', "source_ip", NOTE_ARG),
	OTHER('K', "dest_port", NOTE_ARG),
	OTHER('k', "source_port", NOTE_ARG),
	OTHER('G', "use_rss", NOTE),
	OTHER('v', "mac_fwd", NOTE),
	OTHER('P', "client", NOTE),
	OTHER('Z', NULL, NOTE),
	OTHER(0, "promiscuous", NOTE),
	OTHER(0, "raw_mcast", NOTE),
	/* Without letters. */
	OTHER(0, "pkey_index", NOTE_ARG),
	OTHER(0, "tclass", NOTE_ARG),
	OTHER(0, "flow_label", NOTE_ARG),
	OTHER(0, "retry_count", NOTE_ARG),
	OTHER(0, "inline_recv", NOTE_ARG),
	OTHER(0, "recv_post_list", NOTE_ARG),
	OTHER(0, "latency_gap", NOTE_ARG),
	OTHER(0, "report-both", NOTE),
	OTHER(0, "report-per-port", NOTE),
	OTHER(0, "dont_xchg_versions", NOTE),
	OTHER(0, "use_old_post_send", NOTE),
	OTHER(0, "disable_pcie_relaxed", NOTE),
	OTHER(0, "odp", NOTE),
};

const uint32_t option_line_count = sizeof(option_lines) / sizeof(option_lines[0]);
