/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options_table.h"

#define PORT 18515
#define LOOPBACK_MTU 9000
#define BW_SIZE 65536
#define LAT_SIZE 2
#define ATOMIC_SIZE 8
#define LAT_INLINE 220
#define BW_DEPTH 128
#define RX_DEPTH 512
#define JSON_FILE "perftest_out.json"
#define DEFAULT_CONNS 4096 /* of an engine */
#define SPARE_CONNS 64
#define ENGINES_SECONDS 1
#define LINES_MAX 160
#define NAMED 1000 /* getopt's value of the i-th line: NAMED + i */

static bool
has_value(const struct option_line *l)
{
	return l->value || l->kind == OPTION_NOTE_ARG;
}

void
options_usage(void)
{
	fputs("dpdk-iwarp-perf [EAL options] -- [options] [--server | ADDR | roofline | engines]\n"
	      "\n"
	      "  without --server or ADDR: both ends in this process, on two lcores, over an in-process wire\n"
	      "  ADDR              be the client of the server at ADDR\n"
	      "  roofline          the memory limit: copy, CRC32C and checksum at the same packet size\n"
	      "  engines           both ends on one lcore, against as many such pairs as there are lcores\n"
	      "\n",
	      stdout);
	for (uint32_t i = 0; i < option_line_count; i++) {
		const struct option_line *l = &option_lines[i];
		char letter[4] = "  ", name[48] = "";

		if (!l->help)
			continue;
		if (l->letter)
			snprintf(letter, sizeof(letter), "-%c", l->letter);
		if (l->name)
			snprintf(name, sizeof(name), "--%s %s", l->name, l->value ? l->value : "");
		printf("  %s %-24s %s\n", letter, name, l->help);
	}
}

static bool
take_number(const struct option_line *l, const char *shown, const char *arg, struct options *o)
{
	char *at = (char *)o + l->offset;
	uint64_t n = 0;

	if (!cli_number(shown, arg, l->min, l->max, &n))
		return false;
	if (l->kind == OPTION_U16)
		*(uint16_t *)(void *)at = (uint16_t)n;
	else if (l->kind == OPTION_U32)
		*(uint32_t *)(void *)at = (uint32_t)n;
	else
		*(uint64_t *)(void *)at = n;
	return true;
}

/* What of InfiniBand was given and is ignored: one line for all of it. */
static void
add_note(char *note, size_t len, const char *shown)
{
	size_t n = strlen(note);

	snprintf(note + n, len - n, "%s%s", n ? " " : "", shown);
}

static bool
take_line(const struct option_line *l, const char *arg, struct options *o, char *note, size_t note_len)
{
	char shown[40];

	if (l->letter)
		snprintf(shown, sizeof(shown), "-%c", l->letter);
	else
		snprintf(shown, sizeof(shown), "--%s", l->name);
	switch (l->kind) {
	case OPTION_FLAG:
		*((bool *)(void *)((char *)o + l->offset)) = true;
		return true;
	case OPTION_U16:
	case OPTION_U32:
	case OPTION_U64:
		return take_number(l, shown, arg, o);
	case OPTION_CALL:
		return l->take(arg, o);
	case OPTION_NOTE:
	case OPTION_NOTE_ARG:
		add_note(note, note_len, shown);
		return true;
	case OPTION_SILENT:
		break;
	}
	return true;
}

/* getopt's two tables from ours. */
static void
make_getopt(char *letters, struct option *longs)
{
	uint32_t n = 0;

	assert(option_line_count <= LINES_MAX);
	for (uint32_t i = 0; i < option_line_count; i++) {
		const struct option_line *l = &option_lines[i];

		if (l->letter)
			*letters++ = l->letter;
		if (l->letter && has_value(l))
			*letters++ = ':';
		if (l->name)
			longs[n++] = (struct option){l->name, has_value(l), NULL, NAMED + (int)i};
	}
	*letters = 0;
	longs[n] = (struct option){NULL, 0, NULL, 0};
}

static const struct option_line *
line_of(int opt)
{
	if (opt >= NAMED)
		return &option_lines[opt - NAMED];
	for (uint32_t i = 0; i < option_line_count; i++)
		if (option_lines[i].letter == opt)
			return &option_lines[i];
	return NULL;
}

static bool
take_all(int argc, char **argv, struct options *o)
{
	struct option longs[LINES_MAX + 1];
	char letters[2 * LINES_MAX + 1], note[512] = "";
	int opt;

	make_getopt(letters, longs);
	opterr = 0;
	optind = 0; /* starts anew: EAL has used it with other rules */
	while ((opt = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_line *l = opt == '?' ? NULL : line_of(opt);

		if (!l) {
			cli_fail("%s: unknown option, or its value is missing; see --help", argv[optind - 1]);
			return false;
		}
		if (!take_line(l, optarg, o, note, sizeof(note)))
			return false;
	}
	if (note[0])
		cli_fail("note: about InfiniBand or not needed here, ignored: %s", note);
	return true;
}

static bool
take_target(int argc, char **argv, struct options *o)
{
	uint16_t port = o->peer.port;

	if (optind == argc)
		return true;
	if (argc - optind > 1) {
		cli_fail("%s: not understood; see --help", argv[optind + 1]);
		return false;
	}
	if (strcmp(argv[optind], "roofline") == 0) {
		o->mode = PERF_ROOFLINE;
		return true;
	}
	if (strcmp(argv[optind], "engines") == 0) {
		o->mode = PERF_ENGINES;
		return true;
	}
	if (o->mode == PERF_SERVER) {
		cli_fail("%s: a server takes no address of a server", argv[optind]);
		return false;
	}
	o->mode = PERF_CLIENT;
	if (!cli_address("server", argv[optind], &o->peer))
		return false;
	o->peer.port = port;
	return true;
}

/* What of the options contradicts each other: pairs of a condition and what is said. */
static bool
is_consistent(const struct options *o)
{
	bool lat = o->test == PERF_LAT, conn = o->test == PERF_CONN;
	const struct {
		bool wrong;
		const char *says;
	} rules[] = {
		{conn && (o->mode == PERF_SERVER || o->mode == PERF_CLIENT || o->seconds > 0),
		 "--test conn: both ends are in this process, and -n says how many connections"},
		{conn && o->qps > PERF_CONN_QPS, "--test conn: -q is 64 at most"},
		{!perf_ports_fit(o->peer.port, o->qps),
		 "-p: so many QPs take several TCP ports, from this one on, and there are not as many"},
		{o->verb == PERF_ATOMIC && (o->all_sizes || (o->size && o->size != ATOMIC_SIZE)),
		 "--verb atomic: an atomic has eight octets"},
		{lat && o->both_ways, "-b: latency goes both ways by itself"},
		{o->both_ways && o->verb == PERF_ATOMIC, "-b: not with --verb atomic"},
		{o->margin && 2 * o->margin >= o->seconds, "-f: nothing is left of -D between its margins"},
		{o->margin && lat, "-f: for bandwidth only"},
		{o->margin && o->both_ways, "-f: not with -b"},
		{o->forever && (o->seconds > 0 || o->iters || o->all_sizes), "--run_infinitely: neither -n, -D nor -a"},
		{o->mode == PERF_ENGINES &&
			 (o->test != PERF_BW || o->all_sizes || o->forever || o->both_ways || o->iters),
		 "engines: bandwidth of one size, for a time (-D)"},
		{(o->limit_bw || o->limit_rate || o->rate_limit || o->burst) && o->test != PERF_BW,
		 "-w, -y, --rate_limit, --burst_size: for bandwidth only"},
		{o->rate_limit && o->both_ways, "--rate_limit: not with -b"},
		{o->burst && !o->rate_limit, "--burst_size: only with --rate_limit"},
		{o->forever && (o->limit_bw || o->limit_rate), "--run_infinitely: neither -w nor -y"},
		{o->host.zero_copy && !o->no_crc,
		 "--zero_copy: only with --no-crc, and at both ends: a CRC is made by reading"},
		{o->loss && (o->mode != PERF_LOOPBACK || conn),
		 "--loss: for bandwidth and latency on the in-process wire, so without --server, ADDR and the like"},
		{o->json && (o->mode == PERF_ROOFLINE || conn), "--out_json: not of roofline and --test conn"},
		{o->output != PERF_TABLE && (o->mode == PERF_ROOFLINE || o->mode == PERF_ENGINES || conn),
		 "--csv, --output: not of roofline, engines and --test conn"},
		{o->mode == PERF_ROOFLINE && lat &&
			 (o->all_sizes || o->seconds > 0 || o->size > (o->host.mtu ? o->host.mtu : LOOPBACK_MTU) / 2),
		 "roofline --test lat: -n messages of one size, of half an MTU at most"},
		{o->mode == PERF_ROOFLINE && conn, "roofline: --test bw or lat"},
		{o->cmp_swap && o->verb != PERF_ATOMIC, "-A: only with --verb atomic"},
		{o->forever && (lat || o->both_ways), "--run_infinitely: for bandwidth in one direction only"},
		{o->output >= PERF_ONE_BANDWIDTH && lat != (o->output == PERF_ONE_LATENCY),
		 "--output: latency goes with --test lat, the others with bw"},
	};

	for (uint32_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].wrong) {
			cli_fail("%s", rules[i].says);
			return false;
		}
	return true;
}

static void
fill_defaults(struct options *o)
{
	bool lat = o->test == PERF_LAT;

	if (!o->size)
		o->size = o->verb == PERF_ATOMIC ? ATOMIC_SIZE : lat ? LAT_SIZE : BW_SIZE;
	if (!o->iters)
		o->iters = o->test == PERF_BW ? 5000 : 1000;
	if (!o->tx_depth)
		o->tx_depth = lat ? 1 : BW_DEPTH;
	if (!o->rx_depth)
		o->rx_depth = RX_DEPTH;
	if (!o->burst)
		o->burst = o->tx_depth;
	if (o->inline_size == UINT32_MAX)
		o->inline_size = lat ? LAT_INLINE : 0;
	if (o->cq_mod > o->tx_depth)
		o->cq_mod = o->tx_depth;
	if (o->qps + SPARE_CONNS > DEFAULT_CONNS)
		o->host.max_conns = o->qps + SPARE_CONNS;
	if (o->json && !o->json_file)
		o->json_file = JSON_FILE;
	if ((o->mode == PERF_LOOPBACK || o->mode == PERF_ROOFLINE || o->mode == PERF_ENGINES) && !o->host.mtu)
		o->host.mtu = LOOPBACK_MTU;
	if (o->mode == PERF_ENGINES && o->seconds <= 0)
		o->seconds = ENGINES_SECONDS;
}

/* dpdk-iwarp-write-bw, iw_read_lat, ib_send_bw: verb and test of the name that the program was called by. */
static void
take_name(const char *called, struct options *o)
{
	static const char *const tests[] = {[PERF_BW] = "bw", [PERF_LAT] = "lat"};
	const char *slash = strrchr(called, '/');
	const char *name = slash ? slash + 1 : called;
	size_t len = strlen(name);

	for (int verb = 0; verb < PERF_VERBS; verb++)
		for (int test = 0; test < 2; test++) {
			char tail[32];
			size_t n = (size_t)snprintf(tail, sizeof(tail), "_%s_%s", perf_verb_name((enum perf_verb)verb),
						    tests[test]);
			bool same = n < len;

			for (size_t i = 0; same && i < n; i++)
				same = tail[i] == name[len - n + i] || (tail[i] == '_' && name[len - n + i] == '-');
			if (same) {
				o->verb = (enum perf_verb)verb;
				o->test = (enum perf_test)test;
			}
		}
}

bool
options_parse(int argc, char **argv, struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->peer.port = PORT;
	o->qps = o->post_list = 1;
	o->cq_mod = 100;
	o->inline_size = UINT32_MAX;
	take_name(argv[0], o);
	if (!take_all(argc, argv, o) || !take_target(argc, argv, o) || !is_consistent(o))
		return false;
	fill_defaults(o);
	return true;
}
