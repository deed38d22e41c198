/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine's address answers like a host: ARP by itself, ICMP echo through lwIP.  The other end of the wire is raw
 * frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_arp.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "ends.h"

#define PAYLOAD 56
#define MBUFS 1023

static const struct rte_ether_addr my_mac = {{2, 0, 0, 0, 0, 9}};
static const uint8_t my_ip[4] = {192, 0, 2, 9}, its_ip[4] = {192, 0, 2, 1};
static uint16_t port[2];
static struct rte_mempool *pool;
static struct iw_domain *domain;

static int
setup(void **state)
{
	struct rte_eth_conf conf = {.rxmode.mtu = 1500};

	(void)state;
	domain = iw_domain_create();
	pool = rte_pktmbuf_pool_create("raw", MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return !pool || iw_wire_create("hostpath", 256, &port[0], &port[1]) ||
	       rte_eth_dev_configure(port[1], 1, 1, &conf) ||
	       rte_eth_rx_queue_setup(port[1], 0, 64, rte_socket_id(), NULL, pool) ||
	       rte_eth_tx_queue_setup(port[1], 0, 64, rte_socket_id(), NULL) || rte_eth_dev_start(port[1]);
}

static int
teardown(void **state)
{
	(void)state;
	iw_wire_destroy(port[0], port[1]);
	assert_int_equal(rte_mempool_avail_count(pool), MBUFS);
	rte_mempool_free(pool);
	return iw_domain_destroy(domain);
}

static struct iw_engine *
open_engine(bool no_host_path)
{
	struct iw_engine_params params = {
		.port_id = port[0], .addr = ends_addr(0, 0), .prefix_len = 24, .max_conns = 4, .num_mbufs = 1023,
		.no_claim = true};
	struct iw_engine *e;
	char why[160];

	params.no_host_path = no_host_path;
	e = iw_engine_create(domain, &params, NULL, why, sizeof(why));
	if (!e)
		fail_msg("%s", why);
	return e;
}

static struct rte_mbuf *
frame(const struct rte_ether_addr *to, uint16_t type, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)rte_pktmbuf_append(m, (uint16_t)(sizeof(*eth) + len));

	memset(eth, 0, sizeof(*eth) + len);
	eth->dst_addr = *to;
	eth->src_addr = my_mac;
	eth->ether_type = rte_cpu_to_be_16(type);
	return m;
}

static struct rte_mbuf *
arp_frame(uint16_t opcode, const struct rte_ether_addr *to)
{
	struct rte_mbuf *m = frame(to, RTE_ETHER_TYPE_ARP, sizeof(struct rte_arp_hdr));
	struct rte_arp_hdr *arp = rte_pktmbuf_mtod_offset(m, struct rte_arp_hdr *, sizeof(struct rte_ether_hdr));

	arp->arp_hardware = rte_cpu_to_be_16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = 6;
	arp->arp_plen = 4;
	arp->arp_opcode = rte_cpu_to_be_16(opcode);
	arp->arp_data.arp_sha = my_mac;
	memcpy(&arp->arp_data.arp_sip, my_ip, 4);
	memcpy(&arp->arp_data.arp_tip, its_ip, 4);
	return m;
}

static struct rte_mbuf *
echo_frame(const struct rte_ether_addr *to, uint16_t sequence)
{
	struct rte_mbuf *m =
		frame(to, RTE_ETHER_TYPE_IPV4, sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_icmp_hdr) + PAYLOAD);
	struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
	struct rte_icmp_hdr *icmp = (struct rte_icmp_hdr *)(ip + 1);

	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(sizeof(*ip) + sizeof(*icmp) + PAYLOAD);
	ip->time_to_live = 64;
	ip->next_proto_id = IPPROTO_ICMP;
	memcpy(&ip->src_addr, my_ip, 4);
	memcpy(&ip->dst_addr, its_ip, 4);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	icmp->icmp_type = RTE_IP_ICMP_ECHO_REQUEST;
	icmp->icmp_ident = rte_cpu_to_be_16(0x1234);
	icmp->icmp_seq_nb = rte_cpu_to_be_16(sequence);
	memset(icmp + 1, 0xa5, PAYLOAD);
	icmp->icmp_cksum = (uint16_t)~rte_raw_cksum(icmp, sizeof(*icmp) + PAYLOAD);
	return m;
}

/* Sends m, polls, and returns the first answer of that type; questions for our own address are answered. */
static struct rte_mbuf *
ask(struct iw_engine *e, struct rte_mbuf *m, uint16_t type)
{
	struct rte_mbuf *in;

	assert_int_equal(rte_eth_tx_burst(port[1], 0, &m, 1), 1);
	for (int i = 0; i < 200; i++) {
		const struct rte_ether_hdr *eth;

		assert_true(iw_engine_poll(e) >= 0);
		if (rte_eth_rx_burst(port[1], 0, &in, 1) == 0)
			continue;
		eth = rte_pktmbuf_mtod(in, const struct rte_ether_hdr *);
		if (rte_be_to_cpu_16(eth->ether_type) == type)
			return in;
		if (rte_be_to_cpu_16(eth->ether_type) == RTE_ETHER_TYPE_ARP) {
			m = arp_frame(RTE_ARP_OP_REPLY, &eth->src_addr);
			assert_int_equal(rte_eth_tx_burst(port[1], 0, &m, 1), 1);
		}
		rte_pktmbuf_free(in);
	}
	return NULL;
}

static struct rte_ether_addr
resolve(struct iw_engine *e)
{
	static const struct rte_ether_addr all = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	struct rte_mbuf *m = ask(e, arp_frame(RTE_ARP_OP_REQUEST, &all), RTE_ETHER_TYPE_ARP);
	const struct rte_arp_hdr *arp;
	struct rte_ether_addr mac;

	assert_non_null(m);
	arp = rte_pktmbuf_mtod_offset(m, const struct rte_arp_hdr *, sizeof(struct rte_ether_hdr));
	assert_int_equal(rte_be_to_cpu_16(arp->arp_opcode), RTE_ARP_OP_REPLY);
	assert_memory_equal(&arp->arp_data.arp_sip, its_ip, 4);
	assert_memory_equal(&arp->arp_data.arp_tip, my_ip, 4);
	mac = arp->arp_data.arp_sha;
	assert_true(rte_is_unicast_ether_addr(&mac) && !rte_is_zero_ether_addr(&mac));
	rte_pktmbuf_free(m);
	return mac;
}

static void
test_ping(void **state)
{
	struct iw_engine *e = open_engine(false);
	struct rte_ether_addr mac = resolve(e);

	(void)state;
	for (uint16_t k = 1; k <= 3; k++) {
		struct rte_mbuf *m = ask(e, echo_frame(&mac, k), RTE_ETHER_TYPE_IPV4);
		const struct rte_ipv4_hdr *ip;
		const struct rte_icmp_hdr *icmp;

		assert_non_null(m);
		ip = rte_pktmbuf_mtod_offset(m, const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));
		icmp = (const struct rte_icmp_hdr *)(ip + 1);
		assert_memory_equal(&ip->src_addr, its_ip, 4);
		assert_memory_equal(&ip->dst_addr, my_ip, 4);
		assert_int_equal(rte_raw_cksum(ip, sizeof(*ip)), 0xffff);
		assert_int_equal(icmp->icmp_type, RTE_IP_ICMP_ECHO_REPLY);
		assert_int_equal(rte_be_to_cpu_16(icmp->icmp_seq_nb), k);
		assert_int_equal(rte_raw_cksum(icmp, sizeof(*icmp) + PAYLOAD), 0xffff);
		assert_int_equal(((const uint8_t *)(icmp + 1))[PAYLOAD - 1], 0xa5);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(iw_engine_destroy(e), 0);
}

static void
test_without_host_path(void **state)
{
	struct iw_engine *e = open_engine(true);
	struct rte_ether_addr mac = resolve(e);

	(void)state;
	assert_null(ask(e, echo_frame(&mac, 1), RTE_ETHER_TYPE_IPV4));
	assert_int_equal(iw_engine_destroy(e), 0);
}

/* lwIP is one for a process: free again when the engine that had it is gone. */
static void
test_again(void **state)
{
	(void)state;
	test_ping(state);
	test_without_host_path(state);
	test_ping(state);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ping),
		cmocka_unit_test(test_without_host_path),
		cmocka_unit_test(test_again),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
