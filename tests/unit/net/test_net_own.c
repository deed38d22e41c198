/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own addresses: which there are, the choice of a source, the claim on the wire. */
#include <stdio.h>

#include "net6_room.h"

#define V6 OURS PEER "86dd "

static struct net_own_info
info_of(const char *text)
{
	struct net_own_info info;
	struct iw_addr want;
	uint32_t pos = 0;

	assert_int_equal(iw_addr_parse(text, &want), 0);
	want = net_own_scoped(net, &want);
	while (net_own_get(net, &pos, &info))
		if (iw_addr_eq_ip(&info.ip, &want))
			return info;
	fail_msg("%s is not ours", text);
	return info;
}

static void
test_which(void **state)
{
	struct iw_addr link = addr6(OURS6), other = addr6(PEER6), wrong = link6(OURS6);
	struct net_own_info info;
	uint32_t pos = 0, n = 0;

	(void)state;
	while (net_own_get(net, &pos, &info))
		n++;
	assert_int_equal(n, 3);
	assert_int_equal(info_of("fe80::1").ip.scope, SCOPE);
	assert_int_equal(info_of("2001:db8::1").ip.scope, 0);
	assert_int_equal(info_of("10.0.0.1").prefix_len, 24);
	assert_true(net_own_is(net, &link));
	assert_false(net_own_is(net, &other));
	wrong.scope++;
	assert_false(net_own_is(net, &wrong));
}

/* Two of IPv4, one twice, too many. */
static void
test_not_together(void **state)
{
	struct netif bad = nif;

	(void)state;
	bad.more[0].ip = iw_addr_from_v4(0x0a000002, 0);
	assert_null(net_create(&env, &bad, 64, now));
	bad = nif;
	bad.more[1] = bad.more[0];
	assert_null(net_create(&env, &bad, 64, now));
}

static void
test_source(void **state)
{
	struct iw_addr any = {.port = 77}, far = addr6(FAR6), peer = addr6(PEER6), ours = addr6(OURS6), src,
		       strange = addr6(FAR6), four = iw_addr_from_v4(0x0b000001, 0);

	(void)state;
	assert_int_equal(net_own_source(net, &any, &far, &src), 0);
	assert_memory_equal(src.ip, hex(GLOBAL6).b, 16);
	assert_int_equal(src.port, 77);
	assert_int_equal(net_own_source(net, &any, &peer, &src), 0);
	assert_memory_equal(src.ip, hex(OURS6).b, 16);
	assert_int_equal(src.scope, SCOPE);
	assert_int_equal(net_own_source(net, &ours, &far, &src), 0);
	assert_memory_equal(src.ip, hex(OURS6).b, 16);
	assert_int_equal(net_own_source(net, &any, &four, &src), 0);
	assert_int_equal(iw_addr_v4(&src), 0x0a000001);
	assert_int_equal(net_own_source(net, &strange, &far, &src), -IW_E_ADDRNOTAVAIL);
	nif.n_more = 0;
	again();
	assert_int_equal(net_own_source(net, &any, &far, &src), -IW_E_HOSTUNREACH);
}

static void
test_come_and_go(void **state)
{
	struct iw_addr a = addr6("2001 0db8 0007 0000 0000 0000 0000 0001"), four = iw_addr_from_v4(0x0a000001, 0);
	struct bytes b = ip6_frame(V6, FAR6 "2001 0db8 0007 0000 0000 0000 0000 0001", 6, 64, TCP);

	(void)state;
	assert_int_equal(rx(&b), NET_DROP);
	assert_int_equal(net_own_add(net, &a, 64, now), 0);
	assert_int_equal(net_own_add(net, &a, 64, now), -IW_E_ADDRINUSE);
	assert_int_equal(rx(&b), NET_TCP);
	net_own_deprecate(net, &a, true);
	assert_true(info_of("2001:db8:7::1").deprecated);
	net_own_remove(net, &a);
	assert_int_equal(rx(&b), NET_DROP);
	assert_false(net_own_is(net, &a));
	net_own_remove(net, &four); /* that one stays */
	assert_int_equal(info_of("10.0.0.1").state, NET_OWN_READY);
}

/* A route outlives its source: nothing is sent from an address that is not ours any more. */
static void
test_route_of_a_gone_address(void **state)
{
	struct iw_addr ours[] = {addr6(GLOBAL6), addr6(OURS6)},
		       peer[] = {addr6("2001 0db8 0000 0000 0000 0000 0000 0002"), addr6(PEER6)};
	struct net_route r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(net_route_from(net, &ours[i], &peer[i], &r), 0);
		net_own_remove(net, &ours[i]);
		assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
		assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	}
	assert_silence();
}

/* ---- the claim ---- */

static void
begin_claim(void)
{
	nif.claim = true;
	nif.n_more = 1;
	again();
}

#define PROBE4 ALL OURS "0806" ARP_REQUEST OURS "00000000 000000000000" OUR_IP

/* RFC 5227 §2.1.1, §2.3; RFC 4862 §5.4.2; RFC 4861 §7.2.6: asked thrice, told twice; before that we answer nobody and
 * what is to be sent waits. */
static void
test_claim(void **state)
{
	struct net_route r;

	(void)state;
	begin_claim();
	pass(IW_SEC);
	assert_silence(); /* the link is not up yet */
	r = route_to(0x0a000002);
	assert_int_equal(tx(&r, TCP), 0);
	assert_silence();
	net_own_claim(net, now);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(info_of("10.0.0.1").state, NET_OWN_TENTATIVE);
		assert_frame_hex(PROBE4);
		assert_nd(ASKED_MAC OURS "86dd", ANY6 ASKED6, NS(OURS6));
		assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_EATEN);
		assert_int_equal(rx6(ASKED_MAC PEER "86dd", PEER6 ASKED6, 58, 255, NS(OURS6) "01 01 020000000002"),
				 NET_EATEN);
		assert_silence();
		assert_true(net_deadline(net) <= now + 100 * IW_MS);
		pass(100 * IW_MS);
	}
	assert_int_equal(info_of("10.0.0.1").state, NET_OWN_READY);
	assert_frame_hex(ASK(OUR_IP));
	assert_nd(ALL_NODES_MAC OURS "86dd", OURS6 ALL_NODES6, NA("20", OURS6) WE_ARE);
	assert_frame_hex(ASK(PEER_IP));
	assert_silence();
	rx_hex(ANSWER(PEER, PEER_IP));
	rte_pktmbuf_free(drain_one());
	pass(2 * IW_SEC);
	assert_frame_hex(ASK(OUR_IP));
	assert_nd(ALL_NODES_MAC OURS "86dd", OURS6 ALL_NODES6, NA("20", OURS6) WE_ARE);
	pass(100 * IW_SEC);
	assert_silence();
	assert_int_equal(count("addr_probes"), 6);
	assert_int_equal(count("addr_announcements"), 4);
}

#define LATE6 "2001 0db8 0007 0000 0000 0000 0000 0001 "
#define MATE6 "2001 0db8 0007 0000 0000 0000 0000 0002 "

/* An address that comes later (SLAAC): until it is ours nothing leaves from it and nothing but ND is heard for it,
 * while the others go on (RFC 4862 §5.4); who was told to come again is told when. */
static void
test_late_address(void **state)
{
	struct iw_addr late = addr6(LATE6), mate = addr6(MATE6), peer = addr6(PEER6);
	struct net_route r, other;
	uint32_t settled;

	(void)state;
	begin_claim();
	net_own_claim(net, now);
	for (int i = 0; i < 3; i++)
		pass(100 * IW_MS);
	for (int duplicate = 1; duplicate >= 0; duplicate--) {
		struct rte_mbuf *m;

		assert_int_equal(net_own_add(net, &late, 64, now), 0);
		assert_int_equal(info_of("2001:db8:7::1").state, NET_OWN_TENTATIVE);
		while (net_drain(net, &m, 1))
			rte_pktmbuf_free(m);
		assert_int_equal(net_route(net, &mate, &r), 0);
		assert_memory_equal(r.src.ip, hex(LATE6).b, 16);
		settled = net_settled(net);
		assert_int_equal(tx(&r, TCP), -IW_E_AGAIN);
		assert_silence();
		assert_int_equal(net_settled(net), settled);
		assert_int_equal(rx6(V6, MATE6 LATE6, 6, 64, TCP), NET_DROP);
		assert_int_equal(rx6(V6, MATE6 LATE6, 58, 64, "80 00 0000 00000000"), NET_DROP);
		/* another source goes on, and asks with an address that is ours */
		assert_int_equal(net_route(net, &peer, &other), 0);
		assert_int_equal(tx(&other, TCP), 0);
		if (duplicate) {
			assert_nd("3333ff000002" OURS "86dd", OURS6 "ff02 0000 0000 0000 0000 0001 ff00 0002",
				  NS(PEER6) FROM_US);
			answer6("020000000002", PEER6);
			rte_pktmbuf_free(drain_one());
			rx6(ASKED_MAC PEER "86dd", ANY6 ASKED6, 58, 255, NS(LATE6));
			assert_int_equal(net_settled(net), settled + 2); /* PEER6 has answered, too */
			assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
			net_own_remove(net, &late);
			continue;
		}
		rte_pktmbuf_free(drain_one());
		for (int i = 0; i < 4; i++)
			pass(100 * IW_MS);
		assert_int_equal(info_of("2001:db8:7::1").state, NET_OWN_READY);
		assert_int_not_equal(net_settled(net), settled);
		assert_int_equal(tx(&r, TCP), 0);
		assert_int_equal(rx6(V6, MATE6 LATE6, 6, 64, TCP), NET_TCP);
	}
	assert_int_equal(count("tx_tentative"), 2);
	assert_int_equal(count("rx_ipv6_tentative"), 4);
}

/* It comes before the link is up: asked for with the others, by what there are mbufs for.  Who says twice that the link
 * is up, hastens nothing. */
static void
test_link_comes_up(void **state)
{
	struct iw_addr late = addr6(LATE6);

	(void)state;
	begin_claim();
	assert_int_equal(net_own_add(net, &late, 64, now), 0);
	pass(IW_SEC);
	assert_silence();
	mbufpool_set_fuse(pool, 1);
	net_own_claim(net, now);
	assert_int_equal(count("addr_say_lost"), 1);
	assert_int_equal(count("addr_probes"), 2);
	now += 50 * IW_MS;
	net_own_claim(net, now);
	assert_int_equal(count("addr_probes"), 2);
}

/* One address is somebody else's: the other one of the family is the source. */
static void
test_another_address(void **state)
{
	struct iw_addr any = {.port = 0}, far = addr6(FAR6), src;

	(void)state;
	nif.claim = true;
	again();
	net_own_claim(net, now);
	rx6(ASKED_MAC PEER "86dd", ANY6 ASKED6, 58, 255, NS(OURS6));
	assert_int_equal(info_of("fe80::1").state, NET_OWN_DUPLICATE);
	assert_int_equal(net_own_source(net, &any, &far, &src), 0);
	assert_memory_equal(src.ip, hex(GLOBAL6).b, 16);
}

/* What is told by a neighbour before the first claim is over does not let packets out that wait for it. */
static void
test_told_before_the_claim_is_over(void **state)
{
	struct iw_addr peer = addr6(PEER6);
	struct net_route r;

	(void)state;
	begin_claim();
	assert_int_equal(net_route(net, &peer, &r), 0);
	assert_int_equal(tx(&r, TCP), 0);
	assert_int_equal(
		rx6(ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 255, NA("20", PEER6) "02 01 020000000002"),
		NET_EATEN);
	assert_silence();
}

/* Whoever has it, or wants it at the same time: never used, whichever way it is said. */
static void
test_duplicate(void **state)
{
	static const struct {
		const char *src_dst, *octets; /* src_dst NULL: of IPv4, a whole frame */
	} rows[] = {
		{NULL, OURS PEER "0806" ARP_REPLY PEER OUR_IP OURS "00000000"},
		{NULL, ALL PEER "0806" ARP_REQUEST PEER OUR_IP "000000000000" OUR_IP},
		{NULL, ALL PEER "0806" ARP_REQUEST PEER "00000000 000000000000" OUR_IP},
		{OURS6 ALL_NODES6, NA("20", OURS6) "02 01 020000000002"},
		{PEER6 ALL_NODES6, NA("20", OURS6) "02 01 020000000002"},
		{ANY6 ASKED6, NS(OURS6)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool six = rows[i].src_dst != NULL;
		struct iw_addr any = {.port = 0}, dst = six ? addr6(PEER6) : iw_addr_from_v4(0x0a000002, 0), src;
		struct bytes to_us = ip_frame(OURS PEER "0800", PEER_IP OUR_IP, 6, TCP);
		struct net_own_info info;
		struct net_route r;
		struct rte_mbuf *m;

		begin_claim();
		assert_int_equal(net_route(net, &dst, &r), 0);
		assert_int_equal(tx(&r, TCP), 0); /* waits */
		net_own_claim(net, now);
		if (six)
			rx6(ALL_NODES_MAC PEER "86dd", rows[i].src_dst, 58, 255, rows[i].octets);
		else
			rx_hex(rows[i].octets);
		info = info_of(six ? "fe80::1" : "10.0.0.1");
		assert_int_equal(info.state, NET_OWN_DUPLICATE);
		assert_memory_equal(info.conflict_mac, hex(PEER).b, 6);
		assert_int_equal(info.conflicts, 1);
		assert_int_equal(count("addr_duplicates"), 1);
		for (int k = 0; k < 4; k++)
			pass(100 * IW_MS);
		/* said again it is no news; a neighbour that is heard of lets nothing out; nothing is heard for it */
		if (six)
			rx6(ALL_NODES_MAC PEER "86dd", rows[i].src_dst, 58, 255, rows[i].octets);
		else
			rx_hex(rows[i].octets);
		assert_int_equal(info_of(six ? "fe80::1" : "10.0.0.1").conflicts, 1);
		rx6(ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 255, NA("20", PEER6) "02 01 020000000002");
		rx_hex(ANSWER(PEER, PEER_IP));
		assert_int_equal(six ? rx6(V6, PEER6 OURS6, 6, 64, TCP) : rx(&to_us), NET_DROP);
		while (net_drain(net, &m, 1)) { /* the other family goes on; what waited is gone */
			assert_int_not_equal(rte_pktmbuf_mtod(m, const uint8_t *)[23], 6);
			assert_int_not_equal(rte_pktmbuf_mtod(m, const uint8_t *)[20], 6);
			rte_pktmbuf_free(m);
		}
		assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
		assert_int_equal(net_own_source(net, &any, &dst, &src), -IW_E_ADDRINUSE);
		assert_int_equal(info_of(six ? "10.0.0.1" : "fe80::1").state, NET_OWN_READY);
	}
}

/* An address in use is kept and defended once in ten seconds (RFC 5227 §2.4 (c)), in IPv6 alike. */
static void
test_defence(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			rx6(ALL_NODES_MAC PEER "86dd", PEER6 ALL_NODES6, 58, 255, NA("20", OURS6) "02 01 020000000002"),
			NET_EATEN);
	assert_nd(ALL_NODES_MAC OURS "86dd", OURS6 ALL_NODES6, NA("20", OURS6) WE_ARE);
	assert_silence();
	assert_int_equal(info_of("fe80::1").state, NET_OWN_READY);
	assert_int_equal(info_of("fe80::1").conflicts, 3);
	assert_int_equal(count("addr_conflicts"), 3);
	/* who probes for it gets the answer that ends the probe (RFC 4862 §5.4.3) */
	assert_int_equal(rx6(ASKED_MAC PEER "86dd", ANY6 ASKED6, 58, 255, NS(OURS6)), NET_EATEN);
	assert_nd(ALL_NODES_MAC OURS "86dd", OURS6 ALL_NODES6, NA("20", OURS6) WE_ARE);
	assert_silence();
}

/* Another engine of the port speaks: this one hears objections and answers, asks for itself, and says nothing else. */
static void
test_quiet(void **state)
{
	struct net_route r;
	struct iw_addr dst = iw_addr_from_v4(0x0a000002, 0);

	(void)state;
	for (int duplicate = 0; duplicate < 2; duplicate++) {
		begin_claim();
		net_set_quiet(net, true);
		net_own_claim(net, now);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(info_of("10.0.0.1").state, NET_OWN_TENTATIVE);
			pass(100 * IW_MS);
		}
		if (duplicate)
			rx_hex(OURS PEER "0806" ARP_REPLY PEER OUR_IP OURS "00000000");
		pass(100 * IW_MS);
		assert_int_equal(info_of("10.0.0.1").state, duplicate ? NET_OWN_DUPLICATE : NET_OWN_READY);
		assert_silence();
	}
	begin_claim();
	net_set_quiet(net, true);
	net_own_claim(net, now);
	for (int i = 0; i < 4; i++)
		pass(100 * IW_MS);
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_EATEN);
	assert_int_equal(rx6(ASKED_MAC PEER "86dd", PEER6 ASKED6, 58, 255, NS(OURS6) FROM_US), NET_EATEN);
	assert_silence();
	assert_int_equal(count("arp_answered") + count("nd_answered"), 0);
	assert_int_equal(net_route(net, &dst, &r), 0);
	assert_int_equal(net_reach(net, &r), NET_REACH_KNOWN);
	/* A neighbour of its own. */
	dst = iw_addr_from_v4(0x0a000003, 0);
	assert_int_equal(net_route(net, &dst, &r), 0);
	assert_int_equal(tx(&r, TCP), 0);
	assert_frame_hex(ASK("0a000003 "));
	assert_silence();
	net_set_quiet(net, false);
	assert_int_equal(rx_hex(ALL PEER "0806" ARP_REQUEST PEER PEER_IP "000000000000" OUR_IP), NET_EATEN);
	rte_pktmbuf_free(drain_one());
	assert_int_equal(count("arp_answered"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T6(test_which),
		T6(test_not_together),
		T6(test_source),
		T6(test_come_and_go),
		T6(test_route_of_a_gone_address),
		T6(test_claim),
		T6(test_late_address),
		T6(test_link_comes_up),
		T6(test_another_address),
		T6(test_told_before_the_claim_is_over),
		T6(test_duplicate),
		T6(test_defence),
		T6(test_quiet),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
