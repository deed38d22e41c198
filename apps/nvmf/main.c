/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_eal.h>

#include "bench.h"
#include "cli.h"
#include "options.h"
#include "serve.h"

static struct target target;

static int
run(const struct options *o)
{
	if (o->help) {
		options_usage();
		return 0;
	}
	return o->bench ? bench(o->bench_argc, o->bench_argv) : serve(o, &target);
}

int
main(int argc, char **argv)
{
	struct options o;
	int used, result = 1;

	if (cli_help(argc, argv, options_usage))
		return 0;
	used = cli_start("dpdk-iwarp-nvmf", 512, argc, argv);
	if (used < 0)
		return 1;
	if (options_parse(argc - used, argv + used, &o, &target))
		result = run(&o);
	rte_eal_cleanup();
	return result;
}
