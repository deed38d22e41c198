/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are nearly right, and noise: never a crash, and each mbuf freed or handed over exactly once. */
#include "net6_room.h"

static uint64_t
sum_of_counters(void)
{
	struct iw_counter_list list = net_counter_list(net);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += list.values[i];
	return sum;
}

static struct bytes
seed_frame(uint32_t which)
{
	static const char *const quote =
		"0303 0000 00000000 4500 05dc 0000 4000 01 06 0000" OUR_IP PEER_IP "1111 2222 33445566";

	switch (which) {
	case 0:
		return ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 6, TCP);
	case 1:
		return ip_frame(OURS PEER "8100 0000 0800", PEER_IP OUR_IP, 6, TCP);
	case 2: {
		struct bytes b = ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 1, quote);

		slow_cksum_put(b.b, 34, b.len - 34, 36);
		return b;
	}
	case 3:
		return hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP);
	case 4:
		return hex(ANSWER(PEER, PEER_IP));
	case 5:
		return ip6_frame(OURS PEER "86dd", PEER6 OURS6, 60, 64, "06 00 01 04 00000000" TCP);
	case 6:
		return ip6_frame(ASKED_MAC PEER "86dd", PEER6 ASKED6, 58, 255, NS(OURS6) "01 01 020000000002");
	case 7:
		return ip6_frame(OURS PEER "86dd", PEER6 OURS6, 58, 255, NA("60", PEER6) "02 01 020000000002");
	case 8:
		return ip6_frame(OURS PEER "86dd", PEER6 OURS6, 58, 64,
				 "02 00 0000 00000578 60012345 05dc 06 40" OURS6 PEER6 "1111 2222 33445566");
	default:
		return ip_frame(ALL PEER "0800", PEER_IP "ffffffff", 17, "00");
	}
}

static void
change(struct bytes *b, uint32_t at)
{
	if (rand() % 2)
		b->b[at] = (uint8_t)rand();
	else
		b->b[at] ^= (uint8_t)(1 << rand() % 8);
}

/* A frame that is nearly right, its header checksum repaired every other time so that later rules are reached. */
static struct bytes
mutated(void)
{
	struct bytes b = seed_frame((uint32_t)rand() % 10);
	uint32_t changes = (uint32_t)rand() % 4;

	for (uint32_t i = 0; i < changes; i++)
		change(&b, (uint32_t)rand() % b.len);
	if (rand() % 2 && b.b[12] == 8 && b.b[13] == 0) {
		uint32_t ihl = (b.b[14] & 15u) * 4;

		slow_cksum_put(b.b, 14, ihl < 20 ? 20 : ihl, 24);
	}
	if (rand() % 2 && b.b[12] == 0x86 && b.b[20] == 58 && b.len > 58)
		icmp6_cksum_put(b.b, 14, 54, b.len - 54);
	if (rand() % 4 == 0)
		b.len = (uint32_t)rand() % (b.len + 1);
	else if (rand() % 4 == 0)
		b.len += (uint32_t)rand() % 40;
	return b;
}

static struct bytes
noise(void)
{
	struct bytes b = {.len = (uint32_t)rand() % 100};

	for (uint32_t i = 0; i < b.len; i++)
		b.b[i] = (uint8_t)rand();
	if (b.len >= 14 && rand() % 8) {
		memcpy(b.b, hex(OURS PEER "0800").b, 14);
		b.b[13] = rand() % 2 ? 0 : 6;
		if (rand() % 2)
			memcpy(b.b + 12, "\x86\xdd", 2);
	}
	return b;
}

static struct rte_mbuf *
in_some_segments(const struct bytes *b)
{
	switch (rand() % 3) {
	case 0:
		return packet(pool, b->b, b->len);
	case 1:
		return packet_crumbs(pool, b->b, b->len);
	default:
		return packet_cut(pool, b->b, b->len, (uint32_t)rand() % (b->len + 1));
	}
}

/* An extra reference of each segment tells afterwards whether it was freed exactly once, or handed over. */
static void
check_ownership(struct rte_mbuf *m)
{
	struct rte_mbuf *segs[TEST_MAX];
	uint32_t n = 0;
	uint64_t before = sum_of_counters(), conflicts = count("addr_conflicts");
	struct net_pkt pkt;
	struct net_icmp_err err;
	enum net_verdict v;

	for (struct rte_mbuf *s = m; s; s = s->next) {
		segs[n++] = s;
		rte_mbuf_refcnt_update(s, 1);
	}
	v = rx_mbuf(m, &pkt, &err);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rte_mbuf_refcnt_read(segs[i]), v == NET_TCP || v == NET_HOST ? 2 : 1);
	if (v == NET_DROP && count("addr_conflicts") == conflicts)
		assert_int_equal(sum_of_counters() - before, 2); /* rx_frames and one reason */
	if (v == NET_TCP || v == NET_HOST) {
		assert_true(pkt.l4_off >= 34 && pkt.l4_off + pkt.l4_len <= m->pkt_len);
		rte_pktmbuf_free(m);
	}
	for (uint32_t i = 0; i < n; i++)
		rte_pktmbuf_free_seg(segs[i]);
}

static void
test_random_frames(void **state)
{
	static const char *const seen[] = {"rx_tcp",
					   "rx_icmp_err",
					   "rx_host",
					   "arp_answered",
					   "rx_runt",
					   "rx_vlan",
					   "rx_bad_src_mac",
					   "rx_not_our_mac",
					   "rx_llc",
					   "rx_unknown_ethertype",
					   "rx_arp_malformed",
					   "rx_arp_bad_sender",
					   "rx_ipv4_short",
					   "rx_ipv4_version",
					   "rx_ipv4_ihl",
					   "rx_ipv4_len",
					   "rx_ipv4_truncated",
					   "rx_ipv4_cksum",
					   "rx_ipv4_bad_src",
					   "rx_ipv4_not_ours",
					   "rx_ipv4_fragment",
					   "rx_nd",
					   "nd_answered",
					   "rx_ipv6_truncated",
					   "rx_icmp6_cksum",
					   "rx_nd_invalid",
					   "rx_ipv6_not_ours",
					   "rx_ipv6_version",
					   "rx_ipv6_short",
					   "rx_icmp_short",
					   "rx_icmp_cksum"};
	uint32_t before = 0;

	(void)state;
	srand(1);
	for (uint32_t i = 0; i < 20000; i++) {
		struct bytes b = i % 2 ? mutated() : noise();
		struct rte_mbuf *out[8];
		uint32_t n;

		check_ownership(in_some_segments(&b));
		n = net_drain(net, out, 8);
		while (n > 0)
			rte_pktmbuf_free(out[--n]);
		pass(IW_MS);
		before = mbufpool_in_use(pool);
	}
	assert_int_equal(before, 0);
	/* the walk has seen the far corners */
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (count(seen[i]) == 0)
			fail_msg("%s was never seen", seen[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T6(test_random_frames),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
