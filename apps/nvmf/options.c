/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define PORT 4420
#define BUFFER_MIB 64

enum { OPT_SUBSYS = 256, OPT_NS, OPT_PORT, OPT_ALLOW, OPT_RO, OPT_BUFFERS, OPT_NO_CRC };

static const struct option longs[] = {
	HOST_OPTIONS("port-id"),
	{"subsys", required_argument, NULL, OPT_SUBSYS},
	{"ns", required_argument, NULL, OPT_NS},
	{"port", required_argument, NULL, OPT_PORT},
	{"allow", required_argument, NULL, OPT_ALLOW},
	{"ro", no_argument, NULL, OPT_RO},
	{"buffers", required_argument, NULL, OPT_BUFFERS},
	{"no-crc", no_argument, NULL, OPT_NO_CRC},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

void
options_usage(void)
{
	fputs("dpdk-iwarp-nvmf [EAL options] -- --ip ADDR/LEN --subsys NQN --ns SPEC [--ro] [--ns ...] [--allow NQN] "
	      "...\n"
	      "dpdk-iwarp-nvmf [EAL options, two lcores] -- bench [--help]\n"
	      "\n"
	      "An NVMe over Fabrics target (RDMA transport over iWARP): hosts, like Linux with nvme-rdma, find its "
	      "disks by\n"
	      "`nvme discover -t rdma -a ADDR` and mount them.  It serves until Ctrl-C,\n"
	      "on each lcore that EAL was given.\n"
	      "\n"
	      "  --ip ADDR/LEN   own address and prefix length (not one of the kernel's); --ip auto; may be given "
	      "again\n"
	      "  --gw ADDR       next hop for other networks\n"
	      "  --vlan N        802.1Q VLAN\n"
	      "  --mtu N         layer-3 MTU, when the port's is not the one wanted\n"
	      "  --port-id ID    DPDK port (0)\n"
	      "  --port N        where to listen (4420)\n"
	      "  --subsys NQN    a subsystem; what follows belongs to it until the next --subsys\n"
	      "  --ns SPEC       a namespace of it: PATH of a file or block device, or ram:SIZE (K, M, G, T); with "
	      ",bs=4096\n"
	      "                  blocks of 4096 octets instead of 512.  Files need a file system with direct I/O\n"
	      "  --ro            the namespace before is read-only\n"
	      "  --allow NQN     only this host may connect (may be given again)\n"
	      "  --buffers MIB   memory for data under way, of each lcore (64)\n"
	      "  --no-crc        do not ask for the MPA CRC\n",
	      stdout);
}

static bool
fail(const char *option, const char *why)
{
	cli_fail("%s: %s", option, why);
	return false;
}

static bool
take_subsys(const char *nqn, struct target *t)
{
	if (!subsys_nqn_valid(nqn))
		return fail(nqn, "not an NVMe qualified name; those begin with nqn. and have at most 223 octets");
	if (strcmp(nqn, SUBSYS_DISCOVERY) == 0)
		return fail(nqn, "that is the discovery subsystem, which is there always");
	for (int i = 0; i < t->num_subsys; i++)
		if (strcmp(t->subsys[i].nqn, nqn) == 0)
			return fail(nqn, "there already; give each subsystem a name of its own");
	if (t->num_subsys == SUBSYS_MAX)
		return fail("--subsys", "there may be 16 of them");
	subsys_init(&t->subsys[t->num_subsys++], nqn);
	return true;
}

/* What belongs to the last --subsys. */
static bool
take_part(int opt, const char *arg, struct target *t)
{
	struct subsys *s = t->num_subsys ? &t->subsys[t->num_subsys - 1] : NULL;

	if (!s)
		return fail(opt == OPT_NS ? "--ns" : opt == OPT_RO ? "--ro" : "--allow", "comes behind a --subsys");
	if (opt == OPT_NS)
		return subsys_add_ns(s, arg) != NULL || fail("--ns", "a subsystem may have 32 of them");
	if (opt == OPT_RO) {
		if (s->num_ns == 0)
			return fail("--ro", "comes behind a --ns");
		s->ns[s->num_ns - 1].read_only = true;
		return true;
	}
	if (s->num_hosts == SUBSYS_HOSTS_MAX)
		return fail("--allow", "a subsystem may have 32 of them");
	if (!subsys_nqn_valid(arg))
		return fail(arg, "not an NVMe qualified name");
	s->host[s->num_hosts++] = arg;
	return true;
}

static bool
take(int opt, const char *arg, struct options *o, struct target *t)
{
	uint64_t n = 0;

	switch (opt) {
	case OPT_SUBSYS:
		return take_subsys(arg, t);
	case OPT_NS:
	case OPT_RO:
	case OPT_ALLOW:
		return take_part(opt, arg, t);
	case OPT_PORT:
		if (!cli_number("--port", arg, 1, 65535, &n))
			return false;
		o->port = (uint16_t)n;
		return true;
	case OPT_BUFFERS:
		if (!cli_number("--buffers", arg, 2, 65536, &n))
			return false;
		o->buffer_mib = (uint32_t)n;
		return true;
	case OPT_NO_CRC:
		return o->no_crc = true;
	case 'h':
		return o->help = true;
	default:
		return host_option(&o->host, opt, "--port-id", arg);
	}
}

static bool
complete(const struct target *t)
{
	if (t->num_subsys == 0)
		return fail("--subsys",
			    "is missing: the name that hosts connect to, like nqn.2026-11.org.example:disk");
	for (int i = 0; i < t->num_subsys; i++)
		if (t->subsys[i].num_ns == 0)
			return fail(t->subsys[i].nqn, "has no --ns");
	return true;
}

bool
options_parse(int argc, char **argv, struct options *o, struct target *target)
{
	int opt;

	*o = (struct options){.port = PORT, .buffer_mib = BUFFER_MIB};
	o->host.engines = host_lcores();
	if (argc > 1 && strcmp(argv[1], "bench") == 0) {
		o->bench = true;
		o->bench_argc = argc - 1;
		o->bench_argv = argv + 1;
		return true;
	}
	opterr = 0;
	optind = 0; /* starts anew: EAL has used it with other rules */
	while ((opt = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		if (opt == '?')
			return fail(argv[optind - 1], "unknown option, or its value is missing; see --help");
		if (!take(opt, optarg, o, target))
			return false;
	}
	if (optind < argc)
		return fail(argv[optind], "not an option; see --help");
	return o->help || complete(target);
}
