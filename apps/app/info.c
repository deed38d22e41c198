/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include <iwarp.h>
#include <rte_config.h>
#include <stdio.h>

#include "cli.h"
#include "host.h"

#define NICS_MAX 32
#define LINK_WAIT_MS 4000

static const char *
yes_no(bool yes)
{
	return yes ? "yes" : "no";
}

static void
print_mtu(const struct iw_port_info *p)
{
	if (p->max_mtu == UINT16_MAX)
		printf("  MTU            %u\n", p->mtu);
	else
		printf("  MTU            %u, at most %u\n", p->mtu, p->max_mtu);
}

static void
print_port(uint16_t id, const struct iw_port_info *p)
{
	printf("port %u: %s\n", id, p->name);
	printf("  driver         %s\n", p->driver);
	printf("  MAC            %02x:%02x:%02x:%02x:%02x:%02x\n", p->mac[0], p->mac[1], p->mac[2], p->mac[3],
	       p->mac[4], p->mac[5]);
	print_mtu(p);
	if (p->numa_node < 0)
		printf("  NUMA node      any\n");
	else
		printf("  NUMA node      %d\n", p->numa_node);
	printf("  link           %s", p->link_up ? "up" : "down");
	if (p->link_mbps)
		printf(", %u Mb/s", p->link_mbps);
	printf("\n  receive        checksum check %s, RSS %s, up to %u queues\n", yes_no(p->rx_cksum), yes_no(p->rss),
	       p->max_rx_queues);
	printf("  transmit       IP checksum %s, TCP checksum %s, TSO %s, multi-segment %s, zero copy %s, up to %u "
	       "queues\n",
	       yes_no(p->tx_ip_cksum), yes_no(p->tx_tcp_cksum), yes_no(p->tso), yes_no(p->multi_seg),
	       yes_no(p->zero_copy), p->max_tx_queues);
}

/* Engines are made and go again: what a driver promises and what it does are not always the same.  Nothing is sent. */
static void
print_steering(uint16_t id)
{
	struct iw_engine_params params = {.port_id = id,
					  .prefix_len = 32,
					  .no_claim = true,
					  .no_host_path = true,
					  .max_conns = 1,
					  .num_mbufs = 4095};
	struct iw_engine *engines[IW_MAX_ENGINES];
	struct iw_domain *domain = iw_domain_create();
	uint32_t n = host_lcores();
	char why[160] = "no memory";

	iw_addr_parse("192.0.2.1", &params.addr);
	if (!domain || iw_engines_create(domain, &params, n, engines, why, sizeof(why)) != 0) {
		printf("  %-2u engines     %s\n", n, why);
	} else {
		printf("  %-2u engines     steered by %s\n", n,
		       iw_engines_steering_name(iw_engines_steering(engines[0])));
		while (n-- > 0)
			iw_engine_destroy(engines[n]);
	}
	if (domain)
		iw_domain_destroy(domain);
}

/* 1 when something is missing for it to be used. */
static int
print_nic(const struct iw_nic *nic)
{
	if (nic->hint[0])
		return cli_fail("%s", nic->hint);
	printf("RDMA device %s: PCI %s, netdev %s, provider %s\n", nic->device, nic->pci[0] ? nic->pci : "none",
	       nic->netdev[0] ? nic->netdev : "none", nic->provider);
	return 0;
}

static int
print_nics(void)
{
	struct iw_nic nics[NICS_MAX];
	int n = iw_nic_list(nics, NICS_MAX), missing = 0;

	if (n == -IW_E_NOTSUP) {
		printf("RDMA devices: built without rdma-core\n");
		return 0;
	}
	if (n < 0)
		return cli_fail("RDMA devices cannot be listed: %s", iw_err_text(n));
	if (n == 0)
		printf("RDMA devices: none\n");
	for (int i = 0; i < n && i < NICS_MAX; i++)
		missing |= print_nic(&nics[i]);
	return missing;
}

/* The ports there are; *bad: one of them cannot be started. */
static int
print_ports(int *bad)
{
	struct iw_port_info port;
	int ports = 0;

	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS && !cli_stopped(); id++) {
		int err = iw_port_probe(id, LINK_WAIT_MS, &port);

		if (err == -IW_E_NODEV)
			continue;
		print_port(id, &port);
		if (err)
			*bad = cli_fail("port %u (%s): cannot be started (%s); the driver's own lines tell more", id,
					port.name, iw_err_text(err));
		else if (host_lcores() > 1)
			print_steering(id);
		ports++;
	}
	return ports;
}

int
info_print(void)
{
	int missing = 0, ports = print_ports(&missing);

	missing |= print_nics();
	if (ports == 0 && !missing)
		return cli_fail(
			"no DPDK port: give EAL one, for example --vdev=net_af_packet0,iface=eth1 (or -a PCI-ADDRESS)");
	return missing;
}
