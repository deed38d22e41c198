/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define PORT 18515
#define LOOPBACK_MTU 9000
#define BW_SIZE 65536
#define LAT_SIZE 2
#define LAT_INLINE 220
#define BW_DEPTH 128
#define RX_DEPTH 512

enum { OPT_IP = 256, OPT_GW, OPT_VLAN, OPT_MTU, OPT_PORT_ID, OPT_VERB, OPT_TEST, OPT_SERVER, OPT_NO_CRC, OPT_GBITS };

void
options_usage(void)
{
	fputs("dpdk-iwarp-perf [EAL options] -- [options] [--verb write|read|send] [--test bw|lat|conn] [--server | "
	      "ADDR | "
	      "roofline]\n"
	      "\n"
	      "  without --server or ADDR: both ends in this process, on two lcores, over an in-process wire\n"
	      "  --server          serve one client (its options count), then end\n"
	      "  ADDR              be the client of the server at ADDR\n"
	      "  roofline          the memory limit: copy, CRC32C and checksum at the same packet size\n"
	      "  --test conn       connect and close, both ends in this process: -n connections (1000), -q at once "
	      "(1)\n"
	      "\n"
	      "  -s BYTES  message size (bw 65536, lat 2)     -a        all sizes from 2 to 8388608\n"
	      "  -n N      iterations (bw 5000, lat 1000)     -D SEC    run for a time instead\n"
	      "  -q N      QPs (1)                            -t N      send depth (bw 128, lat 1)\n"
	      "  -r N      receive depth (512)                -Q N      signal every N-th (100)\n"
	      "  -l N      requests of one post (1)           -I BYTES  inline (bw 0, lat 220)\n"
	      "  -p PORT   18515                              -N        no peak\n"
	      "  --report_gbits\n"
	      "  --ip ADDR/LEN|auto --gw ADDR --vlan N --port ID   own address (needed with --server and ADDR)\n"
	      "  --mtu N   layer-3 MTU (loopback 9000)        --no-crc  do not ask for the MPA CRC\n",
	      stdout);
}

static bool
take_verb(const char *text, struct options *o)
{
	static const char *const names[] = {"write", "read", "send"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, names[i]) == 0) {
			o->verb = (enum perf_verb)i;
			return true;
		}
	cli_fail("--verb %s: write, read or send", text);
	return false;
}

static bool
take_test(const char *text, struct options *o)
{
	static const char *const names[] = {"bw", "lat", "conn"};

	for (int i = 0; i < 3; i++)
		if (strcmp(text, names[i]) == 0) {
			o->test = (enum perf_test)i;
			return true;
		}
	cli_fail("--test %s: bw, lat or conn", text);
	return false;
}

static bool
take_u32(const char *name, const char *arg, uint32_t min, uint32_t max, uint32_t *out)
{
	uint64_t n = 0;
	bool ok = cli_number(name, arg, min, max, &n);

	*out = (uint32_t)n;
	return ok;
}

static bool
take_u16(const char *name, const char *arg, uint16_t min, uint16_t *out)
{
	uint32_t n;
	bool ok = take_u32(name, arg, min, UINT16_MAX, &n);

	*out = (uint16_t)n;
	return ok;
}

static bool
take_letter(int opt, const char *arg, struct options *o)
{
	switch (opt) {
	case 's':
		return take_u32("-s", arg, 1, PERF_MAX_SIZE, &o->size);
	case 'n':
		return cli_number("-n", arg, 5, UINT64_MAX, &o->iters);
	case 'D':
		return take_u32("-D", arg, 1, 86400, &o->seconds);
	case 'q':
		return take_u32("-q", arg, 1, PERF_MAX_QPS, &o->qps);
	case 't':
		return take_u32("-t", arg, 1, 16384, &o->tx_depth);
	case 'r':
		return take_u32("-r", arg, 4, 16384, &o->rx_depth);
	case 'Q':
		return take_u32("-Q", arg, 1, 16384, &o->cq_mod);
	case 'l':
		return take_u32("-l", arg, 1, 64, &o->post_list);
	case 'I':
		return take_u32("-I", arg, 0, IW_MAX_INLINE, &o->inline_size);
	case 'p':
		return take_u16("-p", arg, 1, &o->peer.port);
	case 'a':
		o->all_sizes = true;
		return true;
	case 'N':
		o->no_peak = true;
		return true;
	default:
		cli_fail("note: -%c is about InfiniBand or not needed here; ignored", opt);
		return true;
	}
}

static bool
take_vlan(const char *arg, struct host_options *h)
{
	uint64_t n;

	if (!cli_number("--vlan", arg, 1, 4094, &n))
		return false;
	h->vlan = (uint16_t)n;
	return true;
}

static bool
take_long(int opt, const char *arg, struct options *o)
{
	struct host_options *h = &o->host;

	switch (opt) {
	case OPT_IP:
		return host_option_ip(h, arg);
	case OPT_GW:
		return host_option_gateway(h, arg);
	case OPT_VLAN:
		return take_vlan(arg, h);
	case OPT_MTU:
		return take_u16("--mtu", arg, 576, &h->mtu);
	case OPT_PORT_ID:
		return take_u16("--port", arg, 0, &h->port_id);
	case OPT_VERB:
		return take_verb(arg, o);
	case OPT_TEST:
		return take_test(arg, o);
	case OPT_SERVER:
		o->mode = PERF_SERVER;
		return true;
	case OPT_NO_CRC:
		o->no_crc = true;
		return true;
	case OPT_GBITS:
		o->gbits = true;
		return true;
	case 'h':
		o->mode = PERF_HELP;
		return true;
	default:
		return take_letter(opt, arg, o);
	}
}

static bool
take_all(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"ip", required_argument, NULL, OPT_IP},
		{"gw", required_argument, NULL, OPT_GW},
		{"vlan", required_argument, NULL, OPT_VLAN},
		{"mtu", required_argument, NULL, OPT_MTU},
		{"port", required_argument, NULL, OPT_PORT_ID},
		{"verb", required_argument, NULL, OPT_VERB},
		{"test", required_argument, NULL, OPT_TEST},
		{"server", no_argument, NULL, OPT_SERVER},
		{"no-crc", no_argument, NULL, OPT_NO_CRC},
		{"report_gbits", no_argument, NULL, OPT_GBITS},
		{"help", no_argument, NULL, 'h'},
		{"size", required_argument, NULL, 's'},
		{"all", no_argument, NULL, 'a'},
		{"iters", required_argument, NULL, 'n'},
		{"duration", required_argument, NULL, 'D'},
		{"qp", required_argument, NULL, 'q'},
		{"tx-depth", required_argument, NULL, 't'},
		{"rx-depth", required_argument, NULL, 'r'},
		{"cq-mod", required_argument, NULL, 'Q'},
		{"post_list", required_argument, NULL, 'l'},
		{"inline_size", required_argument, NULL, 'I'},
		{"noPeak", no_argument, NULL, 'N'},
		{NULL, 0, NULL, 0},
	};
	static const char letters[] = "s:an:D:q:t:r:Q:l:I:p:Nhd:i:x:m:S:T:u:w:y:FRzeU";
	int opt;

	opterr = 0;
	optind = 0; /* starts anew: EAL has used it with other rules */
	while ((opt = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (opt == '?') {
			cli_fail("%s: unknown option, or its value is missing; see --help", argv[optind - 1]);
			return false;
		}
		if (!take_long(opt, optarg, o))
			return false;
	}
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

static void
fill_defaults(struct options *o)
{
	bool lat = o->test == PERF_LAT;

	if (!o->size)
		o->size = lat ? LAT_SIZE : BW_SIZE;
	if (!o->iters)
		o->iters = o->test == PERF_BW ? 5000 : 1000;
	if (!o->tx_depth)
		o->tx_depth = lat ? 1 : BW_DEPTH;
	if (!o->rx_depth)
		o->rx_depth = RX_DEPTH;
	if (!o->post_list)
		o->post_list = 1;
	if (o->inline_size == UINT32_MAX)
		o->inline_size = lat ? LAT_INLINE : 0;
	if (o->cq_mod > o->tx_depth)
		o->cq_mod = o->tx_depth;
	if (lat)
		o->qps = 1;
	if ((o->mode == PERF_LOOPBACK || o->mode == PERF_ROOFLINE) && !o->host.mtu)
		o->host.mtu = LOOPBACK_MTU;
}

bool
options_parse(int argc, char **argv, struct options *o)
{
	memset(o, 0, sizeof(*o));
	o->peer.port = PORT;
	o->qps = 1;
	o->cq_mod = 100;
	o->inline_size = UINT32_MAX;
	if (!take_all(argc, argv, o) || !take_target(argc, argv, o))
		return false;
	if (o->test == PERF_CONN && (o->mode == PERF_SERVER || o->mode == PERF_CLIENT || o->seconds)) {
		cli_fail("--test conn: both ends are in this process, and -n says how many connections");
		return false;
	}
	fill_defaults(o);
	return true;
}
