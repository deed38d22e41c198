/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_eal.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_version.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "client.h"
#include "engines.h"
#include "figures.h"
#include "loopback.h"
#include "options.h"
#include "roofline.h"
#include "run_conn.h"
#include "server.h"

static void
measure_rooflines(const struct options *o, uint16_t mtu, double *roofline)
{
	for (uint32_t i = 0; o->test == PERF_BW && client_size(o, i) && !cli_stopped(); i++)
		roofline[i] = roofline_measure(client_size(o, i), mtu, !o->no_crc);
}

static int
print_roofline_latency(const struct options *o)
{
	double us = figures_lat_unit(o);
	struct hist h;

	if (!roofline_latency(o->size, o->host.mtu, !o->no_crc, o->iters, &h))
		return cli_stopped() ? 1 : cli_fail("the memory limit needs two lcores: give EAL -l 0,1");
	printf(" #bytes     #iterations    t_typical[usec]    99%% percentile[usec]   99.9%% percentile[usec]   CRC\n"
	       " %-10u %-14llu %-18.2f %-22.2f %-24.2f %s\n",
	       o->size, (unsigned long long)h.samples, (double)hist_at(&h, 0.5) * us, (double)hist_at(&h, 0.99) * us,
	       (double)hist_at(&h, 0.999) * us, o->no_crc ? "off" : "on");
	return 0;
}

static int
print_roofline(const struct options *o)
{
	uint16_t mtu = o->host.mtu;

	printf(" #bytes     packet payload    MiB/sec        Gb/sec     Mpps     CRC\n");
	for (uint32_t i = 0; client_size(o, i) && !cli_stopped(); i++) {
		uint32_t size = client_size(o, i), payload = roofline_payload(size, mtu);
		double rate = roofline_measure(size, mtu, !o->no_crc);

		if (rate == 0)
			return cli_fail("the memory limit needs two lcores: give EAL -l 0,1");
		printf(" %-10u %-17u %-14.2f %-10.2f %-8.3f %s\n", size, payload, rate / 1048576, rate * 8e-9,
		       rate / payload / 1e6, o->no_crc ? "off" : "on");
		fflush(stdout);
	}
	return 0;
}

static int
serve_on_lcore(void *server)
{
	return server_run(server);
}

static int
run_pair(struct loopback *l, unsigned lcore, const double *roofline)
{
	struct server *server;
	int result;

	if (l->client.test == PERF_CONN)
		return run_conn(&l->client, &l->a, &l->b, lcore);
	server = server_create(&l->server, &l->b);
	if (!server)
		return 1;
	if (rte_eal_remote_launch(serve_on_lcore, server, lcore) != 0) {
		server_destroy(server);
		return cli_fail("lcore %u is busy with something else", lcore);
	}
	result = client_run(&l->client, &l->a, l->client.host.mtu, roofline);
	/* Nobody polls the client's engine any more: what it could not say in its time the server will not hear. */
	server_stop(server);
	result |= rte_eal_wait_lcore(lcore);
	server_destroy(server);
	return result;
}

static int
run_loopback(const struct options *o)
{
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	double roofline[CLIENT_SIZES] = {0};
	struct loopback l = {0};
	int result = 1;

	if (lcore >= RTE_MAX_LCORE)
		return cli_fail("both ends in one process need two lcores: give EAL -l 0,1");
	if (!client_fits(o))
		return 1;
	if (loopback_open(&l, o, 1)) {
		/* Right before what is set against it: a machine has its moods. */
		measure_rooflines(o, o->host.mtu, roofline);
		result = run_pair(&l, lcore, roofline);
	}
	if (result == 0 && o->loss && o->output == PERF_TABLE)
		loopback_print_loss(&l);
	loopback_close(&l);
	return result;
}

static uint16_t
mtu_of(const struct options *o)
{
	struct iw_port_info info;

	return o->host.mtu ? o->host.mtu : iw_port_info_get(o->host.port_id, &info) == 0 ? info.mtu : 1500;
}

static int
run_client(const struct options *o)
{
	double roofline[CLIENT_SIZES] = {0};
	struct host host;
	int result;

	if (!client_fits(o))
		return 1;
	if (rte_get_next_lcore(-1, 1, 0) < RTE_MAX_LCORE)
		measure_rooflines(o, mtu_of(o), roofline);
	if (!host_open(&host, &o->host))
		return 1;
	result = client_run(o, &host, mtu_of(o), roofline);
	host_linger(&host);
	host_close(&host);
	return result;
}

static int
run_server(const struct options *o)
{
	struct server *server;
	struct host host;
	int result = 1;

	if (!host_open(&host, &o->host))
		return 1;
	server = server_create(o, &host);
	if (server) {
		printf("listening on port %u\n", o->peer.port);
		fflush(stdout);
		result = server_run(server);
	}
	server_destroy(server);
	if (result || cli_stopped())
		host_linger(&host);
	host_close(&host);
	return result;
}

static int
run(const struct options *o)
{
	switch (o->mode) {
	case PERF_LOOPBACK:
		return run_loopback(o);
	case PERF_SERVER:
		return run_server(o);
	case PERF_CLIENT:
		return run_client(o);
	case PERF_ROOFLINE:
		return o->test == PERF_LAT ? print_roofline_latency(o) : print_roofline(o);
	case PERF_ENGINES:
		return engines_run(o);
	case PERF_VERSION:
		printf("Version: %s, %s\n", cli_version(), rte_version());
		return 0;
	case PERF_HELP:
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
	used = cli_start("dpdk-iwarp-perf", 1024, argc, argv);
	if (used < 0)
		return 1;
	if (options_parse(argc - used, argv + used, &o))
		result = run(&o);
	rte_eal_cleanup();
	return result;
}
