/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_eal.h>
#include <rte_errno.h>

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

	cli_init("dpdk-iwarp-nvmf");
	used = rte_eal_init(argc, argv);
	if (used < 0)
		return cli_fail("EAL did not start (%s); without hugepages try --no-huge -m 512 --no-pci",
				rte_strerror(rte_errno));
	cli_catch_signals();
	if (options_parse(argc - used, argv + used, &o, &target))
		result = run(&o);
	rte_eal_cleanup();
	return result;
}
