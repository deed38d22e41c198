/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_eal.h>

#include "cli.h"
#include "info.h"
#include "options.h"
#include "ping.h"

static int
run(const struct options *o)
{
	switch (o->command) {
	case COMMAND_PING:
		return o->server ? ping_server(o) : ping_client(o);
	case COMMAND_INFO:
		return info_print();
	case COMMAND_HELP:
	case COMMAND_NONE:
		break;
	}
	options_usage();
	return 0;
}

int
main(int argc, char **argv)
{
	struct options o;
	int used, result = 1;

	if (cli_help(argc, argv, options_usage))
		return 0;
	used = cli_start("dpdk-iwarp-app", 512, argc, argv);
	if (used < 0)
		return 1;
	if (options_parse(argc - used, argv + used, &o))
		result = run(&o);
	rte_eal_cleanup();
	return result;
}
