/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <rte_cycles.h>
#include <string.h>

#include "cli.h"

#define LINK_WAIT_NS UINT64_C(5000000000)
#define QUIET_NS UINT64_C(500000000) /* more than twice the least retransmission timeout */
#define LINGER_NS UINT64_C(1000000000)

/* net_memif (DPDK 22.11) unmaps its rings from the interrupt thread when the other process ends, also under a burst
 * that is being received at that moment; a process that lingers is likely to meet it, so it polls now and then only. */
#define LINGER_PAUSE_US 1000

static bool
link_comes_up(struct host *host, uint16_t port_id)
{
	uint64_t end = iw_engine_now(host->engine) + LINK_WAIT_NS;
	struct iw_port_info info;

	do {
		if (iw_port_info_get(port_id, &info) == 0 && info.link_up)
			return true;
		iw_engine_poll(host->engine);
	} while (iw_engine_now(host->engine) < end && !cli_stopped());
	if (cli_stopped())
		cli_fail("stopped while the link of port %u was down", port_id);
	else
		cli_fail("port %u (%s): the link is down; plug the cable, or bring the interface behind it up", port_id,
			 info.name);
	return false;
}

static bool
open_engine(struct host *host, const struct host_options *options)
{
	struct iw_engine_params params = {.port_id = options->port_id,
					  .addr = options->ip,
					  .prefix_len = options->prefix_len,
					  .gateway = options->gateway,
					  .mtu = options->mtu};
	char why[256];
	int err;

	host->engine = iw_engine_create(host->domain, &params, &err, why, sizeof(why));
	if (!host->engine) {
		cli_fail("%s", why);
		return false;
	}
	if (why[0])
		cli_fail("note: %s", why);
	return true;
}

bool
host_open(struct host *host, const struct host_options *options)
{
	struct iw_port_info info;

	memset(host, 0, sizeof(*host));
	if (!options->has_ip) {
		cli_fail("--ip ADDRESS/LENGTH is needed: an address of its own, not one of this machine's kernel");
		return false;
	}
	if (iw_port_info_get(options->port_id, &info) != 0) {
		cli_fail("no DPDK port %u: give EAL one, for example --vdev=net_af_packet0,iface=eth1 (or -a "
			 "PCI-ADDRESS)",
			 options->port_id);
		return false;
	}
	host->domain = iw_domain_create();
	if (!host->domain) {
		cli_fail("no memory for a domain");
		return false;
	}
	if (open_engine(host, options) && link_comes_up(host, options->port_id))
		return true;
	host_close(host);
	return false;
}

void
host_linger(struct host *host)
{
	uint64_t now = iw_engine_now(host->engine), end = now + LINGER_NS, quiet = now + QUIET_NS;

	for (; now < end && now < quiet; now = iw_engine_now(host->engine)) {
		if (iw_engine_poll(host->engine) > 0)
			quiet = now + QUIET_NS;
		rte_delay_us_sleep(LINGER_PAUSE_US);
	}
}

void
host_close(struct host *host)
{
	if (host->engine)
		iw_engine_destroy(host->engine);
	if (host->domain)
		iw_domain_destroy(host->domain);
	memset(host, 0, sizeof(*host));
}
