/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define PING_PORT 7174
#define PING_SIZE 64
#define PING_SIZE_MAX 65535
#define REJECT_MAX 500 /* what fits into a Reply */

enum { OPT_NO_CRC = 256, OPT_NO_P2P };

void
options_usage(void)
{
	fputs("dpdk-iwarp-app [EAL options] -- --ip ADDR/LEN [--gw ADDR] [--vlan N] [--mtu N] [--port ID] "
	      "[--idle-sleep US] [--no-crc] "
	      "[--no-p2p] "
	      "COMMAND\n"
	      "\n"
	      "  ping -s [-a ADDR] [-p PORT] [-C N] [-v] [-V]          serve rping clients, one after another (-C: "
	      "one)\n"
	      "  ping -c -a ADDR [-p PORT] [-C N] [-S BYTES] [-v] [-V] be an rping client (-n N: N connections, one "
	      "after another)\n"
	      "  ping -s ... [-R TEXT] [-D SEC] [-H N]                 to try a peer: reject it with TEXT, accept "
	      "late, hang up after N rounds\n"
	      "  info                                                  what the port and the RDMA devices can do\n"
	      "\n"
	      "  On several lcores ping -s has an engine on each, and info says how connections find theirs.\n"
	      "\n"
	      "  --ip ADDR/LEN   own address and prefix length (not one of the kernel's); one of IPv4, several of "
	      "IPv6;\n"
	      "                  auto: IPv6 addresses and router by advertisement\n"
	      "  --gw ADDR       next hop for other networks; one for each family\n"
	      "  --vlan N        be in this IEEE 802.1Q VLAN only\n"
	      "  ADDR of IPv6 link-local: fe80::1%0 or fe80::1%eth1 (DPDK port, or the interface behind it)\n"
	      "  --mtu N         layer-3 MTU, when the port's is not the one wanted\n"
	      "  --port ID       DPDK port (0)\n"
	      "  --idle-sleep US sleep when there is nothing to do: until a frame comes where the port has interrupts, "
	      "else "
	      "so long\n"
	      "  --no-crc        do not ask for the MPA CRC\n"
	      "  --no-p2p        do not offer peer-to-peer set-up (RFC 6581)\n"
	      "  -p PORT 7174   -S BYTES 64 (1..65535)   -C N rounds (0: until Ctrl-C)   -v show data   -V check "
	      "data\n"
	      "  -t SEC    give a silent peer up: what was sent is not acknowledged for SEC, or 9 probes behind SEC of "
	      "silence are not\n",
	      stdout);
}

static bool
take_global(int opt, const char *arg, struct options *o)
{
	if (opt >= HOST_OPT_IP)
		return host_option(&o->host, opt, "--port", arg);
	switch (opt) {
	case OPT_NO_CRC:
		o->no_crc = true;
		return true;
	case OPT_NO_P2P:
		o->no_p2p = true;
		return true;
	default:
		o->command = COMMAND_HELP;
		return true;
	}
}

static bool
parse_global(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		HOST_OPTIONS("port"),
		{"no-crc", no_argument, NULL, OPT_NO_CRC},
		{"no-p2p", no_argument, NULL, OPT_NO_P2P},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	opterr = 0;
	optind = 0; /* starts anew: EAL has used it with other rules */
	while ((opt = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		if (opt == '?') {
			cli_fail("%s: unknown option, or its value is missing; see --help", argv[optind - 1]);
			return false;
		}
		if (!take_global(opt, optarg, o))
			return false;
	}
	return true;
}

static bool
take_seconds(const char *name, const char *arg, uint32_t *out)
{
	uint64_t n = 0;
	bool ok = cli_number(name, arg, 1, 3600, &n);

	*out = (uint32_t)n;
	return ok;
}

static bool
take_trial(int opt, const char *arg, struct options *o)
{
	switch (opt) {
	case 't':
		return take_seconds("-t", arg, &o->silence_s);
	case 'D':
		return take_seconds("-D", arg, &o->delay_s);
	case 'H':
		return cli_number("-H", arg, 1, UINT64_MAX, &o->rounds);
	case 'R':
		o->reject = arg;
		if (strlen(arg) <= REJECT_MAX)
			return true;
		cli_fail("-R: a text of at most %d octets", REJECT_MAX);
		return false;
	default:
		return false;
	}
}

static bool
take_ping(int opt, const char *arg, struct options *o)
{
	uint16_t port = o->addr.port;
	uint64_t n;

	switch (opt) {
	case 's':
		o->server = true;
		return true;
	case 'c':
		o->client = true;
		return true;
	case 'v':
		o->verbose = true;
		return true;
	case 'V':
		o->validate = true;
		return true;
	case 'a':
		o->has_addr = cli_address("-a", arg, &o->addr);
		o->addr.port = port;
		return o->has_addr;
	case 'p':
		if (!cli_number("-p", arg, 1, 65535, &n))
			return false;
		o->addr.port = (uint16_t)n;
		return true;
	case 'C':
		return cli_number("-C", arg, 0, UINT64_MAX, &o->count);
	case 'n':
		return cli_number("-n", arg, 1, UINT64_MAX, &o->times);
	case 'S':
		if (!cli_number("-S", arg, 1, PING_SIZE_MAX, &n))
			return false;
		o->size = (uint32_t)n;
		return true;
	default:
		return take_trial(opt, arg, o);
	}
}

static bool
check_ping(const struct options *o)
{
	if (o->client && (o->reject || o->delay_s || o->rounds))
		cli_fail("ping: -R, -D and -H are for a server (-s)");
	else if (o->server && o->times)
		cli_fail("ping: -n is for a client (-c)");
	else if (o->server == o->client)
		cli_fail("ping: say either -s (server) or -c (client)");
	else if (o->client && !o->has_addr)
		cli_fail("ping -c: -a ADDRESS of the server is needed");
	else
		return true;
	return false;
}

/* A word with two dashes is none of ping's: word is where getopt() stands. */
static bool
fail_ping_option(const char *word)
{
	if (optopt == '-')
		cli_fail("ping: %s: stands before the command, or is unknown; see --help", word);
	else
		cli_fail("ping: -%c: unknown option, or its value is missing; see --help", optopt);
	return false;
}

static bool
parse_ping(int argc, char **argv, struct options *o)
{
	int opt;

	o->addr.port = PING_PORT;
	o->size = PING_SIZE;
	optind = 0; /* starts anew: EAL has used it with other rules */
	while ((opt = getopt(argc, argv, "+sca:p:C:n:S:vVt:R:D:H:")) != -1) {
		if (opt == '?')
			return fail_ping_option(optind < argc ? argv[optind] : "-");
		if (!take_ping(opt, optarg, o))
			return false;
	}
	if (optind < argc) {
		cli_fail("ping: %s: not understood; see --help", argv[optind]);
		return false;
	}
	if (!check_ping(o))
		return false;
	o->times = o->times ? o->times : 1;
	return true;
}

static bool
parse_info(int argc, char **argv, struct options *o)
{
	o->command = COMMAND_INFO;
	if (argc > 1)
		cli_fail("info: %s: not understood; see --help", argv[1]);
	return argc == 1;
}

bool
options_parse(int argc, char **argv, struct options *o)
{
	const char *name;

	memset(o, 0, sizeof(*o));
	if (!parse_global(argc, argv, o))
		return false;
	if (o->command == COMMAND_HELP)
		return true;
	if (optind >= argc) {
		cli_fail("no command: ping or info; see --help");
		return false;
	}
	name = argv[optind];
	if (strcmp(name, "ping") == 0) {
		o->command = COMMAND_PING;
		return parse_ping(argc - optind, argv + optind, o);
	}
	if (strcmp(name, "info") == 0)
		return parse_info(argc - optind, argv + optind, o);
	cli_fail("%s: unknown command; ping or info", name);
	return false;
}
