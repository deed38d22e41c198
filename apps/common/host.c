/* SPDX-License-Identifier: BSD-3-Clause */
#include "host.h"

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <string.h>

#include "cli.h"

#define LINK_WAIT_NS UINT64_C(9000000000) /* as long as DPDK's own examples wait for autonegotiation */
#define ADDRS_WAIT_NS UINT64_C(3000000000)
#define ROUTER_WAIT_NS UINT64_C(12000000000) /* three solicitations, 4 s apart (RFC 4861 §10) */
#define ADDRS 16
#define NICS 32
#define QUIET_NS UINT64_C(500000000) /* more than twice the least retransmission timeout */
#define LINGER_NS UINT64_C(1000000000)

/* net_memif (DPDK 22.11) unmaps its rings from the interrupt thread when the other process ends, also under a burst
 * that is being received at that moment; a process that lingers is likely to meet it, so it polls now and then only. */
#define LINGER_PAUSE_US 1000

/* As long as one thread has all of them. */
static void
poll_all(const struct host *host)
{
	for (uint32_t i = 0; i < host->n; i++)
		iw_engine_poll(host->engines[i]);
}

static bool
link_comes_up(struct host *host, uint16_t port_id)
{
	uint64_t end = iw_engine_now(host->engine) + LINK_WAIT_NS;
	struct iw_port_info info;

	do {
		if (iw_port_info_get(port_id, &info) == 0 && info.link_up)
			return true;
		poll_all(host);
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
					  .gateway6 = options->gateway6,
					  .more_addrs = options->more,
					  .n_more_addrs = options->n_more,
					  .autoconf = options->autoconf,
					  .no_claim = options->no_claim,
					  .vlan = options->vlan,
					  .mtu = options->mtu,
					  .max_conns = options->max_conns,
					  .zero_copy = options->zero_copy,
					  .rx_interrupts = options->idle_us != 0};
	uint32_t n = options->engines ? options->engines : 1;
	char why[256];

	if (iw_engines_create(host->domain, &params, n, host->engines, why, sizeof(why)) != 0) {
		cli_fail("%s", why);
		return false;
	}
	host->engine = host->engines[0];
	host->n = n;
	if (why[0])
		cli_fail("note: %s", why);
	return true;
}

static void
print_conflict(const struct iw_addr_info *a, const char *what)
{
	const uint8_t *mac = a->conflict_mac;
	char ip[IW_ADDR_TEXT];

	cli_fail("%s: address in use by %02x:%02x:%02x:%02x:%02x:%02x%s", iw_addr_format(&a->ip, ip, sizeof(ip)),
		 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], what);
}

bool
host_is_v4(const struct iw_addr *addr)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(addr->ip, mapped, sizeof(mapped)) == 0;
}

/* Of IPv6, and not of this link alone. */
static bool
is_routable6(const struct iw_addr *a)
{
	return !host_is_v4(a) && !(a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80);
}

/* What is still awaited: whether somebody objects, or a router. */
static bool
is_settled(const struct iw_engine *engine, const struct host_options *options, bool *duplicate)
{
	struct iw_addr_info a[ADDRS];
	int n = iw_engine_addrs(engine, a, ADDRS);
	bool settled = true, learned = !options->autoconf;

	for (int i = 0; i < n && i < ADDRS; i++) {
		settled = settled && a[i].state != IW_ADDR_TENTATIVE;
		learned = learned || (a[i].state == IW_ADDR_READY && is_routable6(&a[i].ip));
		if (a[i].state == IW_ADDR_DUPLICATE && !*duplicate) {
			*duplicate = true;
			print_conflict(&a[i], "; give this host another one");
		}
	}
	return settled && learned;
}

static bool
addresses_settle(struct host *host, const struct host_options *options)
{
	uint64_t end = iw_engine_now(host->engine) + (options->autoconf ? ROUTER_WAIT_NS : ADDRS_WAIT_NS);
	bool duplicate = false, settled;

	do {
		poll_all(host);
		settled = true;
		for (uint32_t i = 0; i < host->n; i++)
			settled &= is_settled(host->engines[i], options, &duplicate);
	} while (!settled && !duplicate && iw_engine_now(host->engine) < end && !cli_stopped());
	if (!settled && !duplicate && options->autoconf)
		cli_fail("note: no IPv6 router has advertised a prefix; link-local addresses only");
	return !duplicate;
}

void
host_report_conflicts(struct host *host)
{
	struct iw_addr_info a[ADDRS];
	int n = iw_engine_addrs(host->engine, a, ADDRS);
	uint32_t sum = 0;

	for (int i = 0; i < n && i < ADDRS; i++)
		sum += a[i].conflicts;
	if (sum == host->conflicts)
		return;
	host->conflicts = sum;
	for (int i = 0; i < n && i < ADDRS; i++)
		if (a[i].conflicts)
			print_conflict(&a[i], ", too");
}

/* What to do about a port that is not there: what its NIC lacks, or EAL was given none. */
static void
print_no_port(uint16_t port_id)
{
	struct iw_nic nics[NICS];
	int n = iw_nic_list(nics, NICS);

	for (int i = 0; i < n && i < NICS; i++)
		if (nics[i].hint[0]) {
			cli_fail("no DPDK port %u; %s", port_id, nics[i].hint);
			return;
		}
	cli_fail("no DPDK port %u: give EAL one, for example --vdev=net_af_packet0,iface=eth1 (or -a PCI-ADDRESS)",
		 port_id);
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
		print_no_port(options->port_id);
		return false;
	}
	host->domain = iw_domain_create();
	if (!host->domain) {
		cli_fail("no memory for a domain");
		return false;
	}
	if (open_engine(host, options) && link_comes_up(host, options->port_id) && addresses_settle(host, options))
		return true;
	host_close(host);
	return false;
}

int
host_turn(const struct host_options *options, struct iw_engine *engine, bool idle)
{
	int work = iw_engine_poll(engine);

	if (work == 0 && idle && options->idle_us)
		iw_engine_sleep(engine, options->idle_us * UINT64_C(1000));
	return work;
}

void
host_linger(struct host *host)
{
	uint64_t now = iw_engine_now(host->engine), end = now + LINGER_NS, quiet = now + QUIET_NS;

	for (; now < end && now < quiet; now = iw_engine_now(host->engine)) {
		for (uint32_t i = 0; i < host->n; i++)
			if (iw_engine_poll(host->engines[i]) > 0)
				quiet = now + QUIET_NS;
		rte_delay_us_sleep(LINGER_PAUSE_US);
	}
}

void
host_close(struct host *host)
{
	for (uint32_t i = host->n; i-- > 0;)
		iw_engine_destroy(host->engines[i]);
	if (host->domain)
		iw_domain_destroy(host->domain);
	memset(host, 0, sizeof(*host));
}

uint32_t
host_lcores(void)
{
	return cli_chose_lcores() ? RTE_MIN(rte_lcore_count(), (unsigned)IW_MAX_ENGINES) : 1;
}

struct job {
	int (*work)(void *arg, uint32_t number);
	void *arg;
	uint32_t number;
};

static int
run_job(void *arg)
{
	const struct job *j = arg;

	return j->work(j->arg, j->number);
}

int
host_run(const struct host *host, int (*work)(void *arg, uint32_t number), void *arg)
{
	struct job jobs[IW_MAX_ENGINES];
	unsigned lcores[IW_MAX_ENGINES], lcore = rte_get_next_lcore(-1, 1, 0);
	int result = 0;

	for (uint32_t i = 1; i < host->n; i++, lcore = rte_get_next_lcore(lcore, 1, 0)) {
		jobs[i] = (struct job){.work = work, .arg = arg, .number = i};
		lcores[i] = lcore;
		if (lcore >= RTE_MAX_LCORE || rte_eal_get_lcore_state(lcore) != WAIT)
			return cli_fail("%u engines need as many lcores of their own", host->n);
	}
	for (uint32_t i = 1; i < host->n; i++)
		result |= rte_eal_remote_launch(run_job, &jobs[i], lcores[i]) != 0;
	result |= work(arg, 0);
	for (uint32_t i = 1; i < host->n; i++)
		result |= rte_eal_wait_lcore(lcores[i]);
	return result;
}
