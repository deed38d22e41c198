/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine's address answers like a host: ARP and neighbour solicitations by itself, ICMP and ICMPv6 echo through
 * lwIP, which also listens to routers.  The other end of the wire is raw frames. */
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
	struct iw_engine_params params = {.port_id = port[0],
					  .addr = ends_addr(0, 0),
					  .prefix_len = 24,
					  .max_conns = 4,
					  .num_mbufs = 1023,
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

/* ---- IPv6 ---- */

#define ECHO6_REQUEST 128
#define ECHO6_REPLY 129
#define ROUTER_ADVERT 134
#define SOLICIT 135
#define ADVERT 136

static const uint8_t my_ip6[16] = {0xfe, 0x80, [15] = 9}, its_ip6[16] = {0xfe, 0x80, [15] = 1};
static const uint8_t all_nodes6[16] = {0xff, 0x02, [15] = 1};
static const uint8_t all_nodes_mac[6] = {0x33, 0x33, 0, 0, 0, 1};

/* An ICMPv6 packet of ours; its checksum is made here. */
static struct rte_mbuf *
icmp6_frame(const uint8_t mac[6], const uint8_t dst[16], const uint8_t *message, uint16_t len)
{
	struct rte_mbuf *m =
		frame((const struct rte_ether_addr *)mac, RTE_ETHER_TYPE_IPV6, sizeof(struct rte_ipv6_hdr) + len);
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, sizeof(struct rte_ether_hdr));
	uint8_t *p = (uint8_t *)(ip + 1);

	ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
	ip->payload_len = rte_cpu_to_be_16(len);
	ip->proto = IPPROTO_ICMPV6;
	ip->hop_limits = 255;
	memcpy(ip->src_addr, my_ip6, 16);
	memcpy(ip->dst_addr, dst, 16);
	memcpy(p, message, len);
	p[2] = p[3] = 0;
	*(uint16_t *)(void *)(p + 2) = rte_ipv6_udptcp_cksum(ip, p);
	return m;
}

static const uint8_t *
icmp6_of(const struct rte_mbuf *m)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(m, const struct rte_ipv6_hdr *, sizeof(struct rte_ether_hdr));

	return ip->proto == IPPROTO_ICMPV6 ? (const uint8_t *)(ip + 1) : NULL;
}

static struct rte_mbuf *
advert_for(const uint8_t *solicit)
{
	uint8_t message[32] = {ADVERT, [4] = 0x60, [24] = 2, [25] = 1};

	memcpy(message + 8, solicit + 8, 16);
	memcpy(message + 26, my_mac.addr_bytes, 6);
	return icmp6_frame(all_nodes_mac, its_ip6, message, sizeof(message));
}

/* Polls until an ICMPv6 message of that type comes out; our own address is told to who asks for it. */
static struct rte_mbuf *
await6(struct iw_engine *e, uint8_t type, int seconds)
{
	uint64_t end = iw_engine_now(e) + (uint64_t)seconds * UINT64_C(1000000000);

	while (iw_engine_now(e) < end) {
		struct rte_mbuf *in, *out;
		const uint8_t *p;

		assert_true(iw_engine_poll(e) >= 0);
		if (rte_eth_rx_burst(port[1], 0, &in, 1) == 0)
			continue;
		p = icmp6_of(in);
		if (p && *p == type)
			return in;
		if (p && *p == SOLICIT && memcmp(p + 8, my_ip6, 16) == 0) {
			out = advert_for(p);
			memcpy(rte_pktmbuf_mtod(out, uint8_t *), rte_pktmbuf_mtod_offset(in, uint8_t *, 6), 6);
			assert_int_equal(rte_eth_tx_burst(port[1], 0, &out, 1), 1);
		}
		rte_pktmbuf_free(in);
	}
	return NULL;
}

static void
say6(struct rte_mbuf *m)
{
	assert_int_equal(rte_eth_tx_burst(port[1], 0, &m, 1), 1);
}

static struct iw_engine *
open_v6(bool autoconf)
{
	struct iw_engine_params params = {.port_id = port[0],
					  .prefix_len = 64,
					  .max_conns = 4,
					  .num_mbufs = 1023,
					  .no_claim = true,
					  .autoconf = autoconf};
	struct iw_engine *e;
	char why[160];

	memcpy(params.addr.ip, its_ip6, 16);
	e = iw_engine_create(domain, &params, NULL, why, sizeof(why));
	if (!e)
		fail_msg("%s", why);
	return e;
}

/* Its MAC, asked for in the group of the address. */
static struct rte_ether_addr
resolve6(struct iw_engine *e, const uint8_t target[16])
{
	uint8_t message[32] = {SOLICIT, [24] = 1, [25] = 1}, group[16] = {0xff, 0x02, [11] = 1, [12] = 0xff};
	uint8_t group_mac[6] = {0x33, 0x33, 0xff};
	struct rte_ether_addr mac;
	struct rte_mbuf *m;

	memcpy(message + 8, target, 16);
	memcpy(message + 26, my_mac.addr_bytes, 6);
	memcpy(group + 13, target + 13, 3);
	memcpy(group_mac + 3, target + 13, 3);
	say6(icmp6_frame(group_mac, group, message, sizeof(message)));
	m = await6(e, ADVERT, 2);
	assert_non_null(m);
	assert_memory_equal(icmp6_of(m) + 8, target, 16);
	assert_int_equal(icmp6_of(m)[4], 0x60); /* solicited, override */
	memcpy(&mac, icmp6_of(m) + 26, 6);
	rte_pktmbuf_free(m);
	return mac;
}

static void
test_ping6(void **state)
{
	struct iw_engine *e = open_v6(false);
	uint8_t message[8 + PAYLOAD] = {ECHO6_REQUEST, [4] = 0x12, [5] = 0x34, [7] = 1, [63] = 0xa5};
	struct rte_ether_addr mac = resolve6(e, its_ip6);
	struct rte_mbuf *m;

	(void)state;
	say6(icmp6_frame(mac.addr_bytes, its_ip6, message, sizeof(message)));
	m = await6(e, ECHO6_REPLY, 2);
	assert_non_null(m);
	assert_memory_equal(icmp6_of(m) + 4, message + 4, sizeof(message) - 4);
	assert_int_equal(rte_ipv6_udptcp_cksum(rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, 14), icmp6_of(m)), 0);
	rte_pktmbuf_free(m);
	assert_int_equal(iw_engine_destroy(e), 0);
}

/* The group in which our address is asked for is reported, for switches that listen (RFC 2710 §4, RFC 4861 §7.2.1): an
 * MLD report behind a router alert, hop limit 1, to the group. */
static void
test_listener_report(void **state)
{
	static const uint8_t group[16] = {0xff, 0x02, [11] = 1, [12] = 0xff, [15] = 1};
	struct iw_engine *e = open_v6(false);
	uint64_t end = iw_engine_now(e) + UINT64_C(3000000000);
	bool reported = false;
	struct rte_mbuf *in;

	(void)state;
	while (!reported && iw_engine_now(e) < end) {
		const struct rte_ipv6_hdr *ip;

		assert_true(iw_engine_poll(e) >= 0);
		if (rte_eth_rx_burst(port[1], 0, &in, 1) == 0)
			continue;
		ip = rte_pktmbuf_mtod_offset(in, const struct rte_ipv6_hdr *, sizeof(struct rte_ether_hdr));
		reported = ip->proto == 0 && ((const uint8_t *)(ip + 1))[8] == 131;
		if (reported) {
			assert_memory_equal(ip->dst_addr, group, 16);
			assert_memory_equal((const uint8_t *)(ip + 1) + 16, group, 16);
			assert_int_equal(ip->hop_limits, 1);
		}
		rte_pktmbuf_free(in);
	}
	assert_true(reported);
	assert_int_equal(iw_engine_destroy(e), 0);
}

/* A router advertises a prefix: an address of it is ours afterwards and answers (RFC 4862
 * §5.5.3, RFC 4861 §6.3.4). */
static void
test_autoconf(void **state)
{
	struct iw_engine *e = open_v6(true);
	uint8_t advert[16 + 32 + 8] = {
		ROUTER_ADVERT, [4] = 64, [6] = 7, [7] = 8, [16] = 3, [17] = 4, [18] = 64, [19] = 0xc0};
	struct iw_addr_info a[8] = {{.prefix_len = 0}};
	uint8_t *option = advert + 16;
	uint64_t end;

	(void)state;
	memset(option + 4, 0xff, 8); /* valid and preferred for ever */
	memcpy(option + 16, (const uint8_t[]){0x20, 0x01, 0x0d, 0xb8}, 4);
	memcpy(option + 32, (const uint8_t[]){1, 1}, 2);
	memcpy(option + 34, my_mac.addr_bytes, 6);
	assert_int_equal(iw_engine_addrs(e, NULL, 0), 1);
	say6(icmp6_frame(all_nodes_mac, all_nodes6, advert, sizeof(advert)));
	end = iw_engine_now(e) + UINT64_C(3000000000);
	while (iw_engine_addrs(e, a, 8) < 2 && iw_engine_now(e) < end)
		assert_true(iw_engine_poll(e) >= 0);
	assert_int_equal(iw_engine_addrs(e, a, 8), 2);
	assert_memory_equal(a[1].ip.ip, option + 16, 8);
	assert_memory_equal(a[1].ip.ip + 8, its_ip6 + 8, 8);
	assert_int_equal(a[1].prefix_len, 64);
	assert_int_equal(a[1].state, IW_ADDR_READY);
	resolve6(e, a[1].ip.ip);
	assert_int_equal(iw_engine_destroy(e), 0);
}

static void
test_autoconf_needs_lwip(void **state)
{
	struct iw_engine *first = open_v6(true);
	struct iw_engine_params params = {.port_id = port[0], .autoconf = true, .no_host_path = true};
	char why[160];
	int err;

	(void)state;
	assert_null(iw_engine_create(domain, &params, &err, why, sizeof(why)));
	assert_int_equal(err, -IW_E_INVAL);
	assert_int_equal(iw_engine_destroy(first), 0);
}

/* ---- duplicates ---- */

static uint32_t
state_of(struct iw_engine *e, struct iw_addr_info *a)
{
	assert_int_equal(iw_engine_addrs(e, a, 1), 1);
	return a->state;
}

/* RFC 5227 §2.1: asked first; nobody objects: ours, and told to everybody; somebody does: never used. */
static void
test_claim(void **state)
{
	static const struct rte_ether_addr all = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	struct iw_engine_params params = {
		.port_id = port[0], .addr = ends_addr(0, 0), .prefix_len = 24, .max_conns = 4, .num_mbufs = 1023};
	struct iw_addr_info a;

	(void)state;
	for (int taken = 0; taken < 2; taken++) {
		struct iw_engine *e = iw_engine_create(domain, &params, NULL, NULL, 0);
		uint64_t end = iw_engine_now(e) + UINT64_C(2000000000);
		struct rte_mbuf *m;

		assert_int_equal(state_of(e, &a), IW_ADDR_TENTATIVE);
		assert_true(iw_engine_poll(e) >= 0);
		if (taken) {
			m = arp_frame(RTE_ARP_OP_REPLY, &all);
			memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, 14 + 14), its_ip, 4);
			assert_int_equal(rte_eth_tx_burst(port[1], 0, &m, 1), 1);
		}
		while (state_of(e, &a) == IW_ADDR_TENTATIVE && iw_engine_now(e) < end)
			assert_true(iw_engine_poll(e) >= 0);
		assert_int_equal(a.state, taken ? IW_ADDR_DUPLICATE : IW_ADDR_READY);
		assert_int_equal(a.conflicts, taken);
		if (taken)
			assert_memory_equal(a.conflict_mac, my_mac.addr_bytes, 6);
		while (rte_eth_rx_burst(port[1], 0, &m, 1))
			rte_pktmbuf_free(m);
		assert_int_equal(iw_engine_destroy(e), 0);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ping),
		cmocka_unit_test(test_without_host_path),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_ping6),
		cmocka_unit_test(test_listener_report),
		cmocka_unit_test(test_autoconf),
		cmocka_unit_test(test_autoconf_needs_lwip),
		cmocka_unit_test(test_claim),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
