/* SPDX-License-Identifier: BSD-3-Clause */
/* What lwIP learns from routers and lib/net is told: time is simulated but for lwIP's own.  Ping, listener reports and
 * addresses by themselves are in tests/eal. */
#include "hostpath.h"

#include <stdio.h>

#include "net6_room.h"

#define A6 "fe80 0000 0000 0000 0000 0000 0000 00a1 "
#define B6 "fe80 0000 0000 0000 0000 0000 0000 00b1 "
#define A_MAC "0200000000a1 "
#define B_MAC "0200000000b1 "
#define HALF_AN_HOUR "0708 "

static struct hostpath *h;

static int
begin_host(void **state)
{
	int rc = begin6(state);

	h = rc ? NULL : hostpath_create(net, pool, true);
	return h ? 0 : -1;
}

static int
end_host(void **state)
{
	hostpath_destroy(h);
	return end(state);
}

/* A router advertisement (RFC 4861 §4.2) with further options. */
static void
advertise(const char *mac, const char *ip, const char *lifetime, const char *options)
{
	char eth[80], src_dst[160], message[200];
	struct net_icmp_err err;
	struct net_pkt pkt;
	struct rte_mbuf *m;
	struct bytes b;

	snprintf(eth, sizeof(eth), "%s %s 86dd", ALL_NODES_MAC, mac);
	snprintf(src_dst, sizeof(src_dst), "%s %s", ip, ALL_NODES6);
	snprintf(message, sizeof(message), "86 00 0000 40 00 %s 00000000 00000000 01 01 %s %s", lifetime, mac, options);
	b = ip6_frame(eth, src_dst, 58, 255, message);
	m = packet(pool, b.b, b.len);
	assert_int_equal(rx_mbuf(m, &pkt, &err), NET_HOST);
	assert_true(hostpath_rx(h, m, now));
	now += 20 * IW_MS;
	hostpath_tick(h, now);
}

static void
drop_all(void)
{
	struct rte_mbuf *m;

	while (net_drain(net, &m, 1))
		rte_pktmbuf_free(m);
}

/* A packet to a host far away makes us ask for this router. */
static void
assert_asked(struct net_route *r, const char *router)
{
	struct bytes want = hex(router);
	bool asked = false;
	struct rte_mbuf *m;

	drop_all();
	assert_int_equal(tx(r, TCP), 0);
	while (net_drain(net, &m, 1)) {
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		asked |= m->pkt_len >= 78 && p[20] == 58 && p[54] == 0x87 && memcmp(p + 62, want.b, 16) == 0;
		rte_pktmbuf_free(m);
	}
	assert_true(asked);
}

/* It leaves at once, to this station. */
static void
assert_goes_to(struct net_route *r, const char *mac)
{
	struct bytes want = hex(mac);
	struct rte_mbuf *m;

	drop_all();
	assert_int_equal(tx(r, TCP), 0);
	m = drain_one();
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want.b, 6);
	rte_pktmbuf_free(m);
}

static struct net_route
route_far(void)
{
	struct iw_addr far = addr6(FAR6);
	struct net_route r;

	assert_int_equal(net_route(net, &far, &r), 0);
	return r;
}

/* RFC 4861 §6.3.6: of two routers the one that answers; a kept route follows; while it answers there is no way back. */
static void
test_router_that_answers(void **state)
{
	struct net_route r;

	(void)state;
	advertise(A_MAC, A6, HALF_AN_HOUR, "");
	advertise(B_MAC, B6, HALF_AN_HOUR, "");
	r = route_far();
	assert_asked(&r, A6);
	for (int i = 0; i < 3; i++)
		pass(IW_SEC + SLACK);
	assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	hostpath_tick(h, now);
	assert_int_equal(net_reach(net, &r), NET_REACH_ASKING);
	assert_asked(&r, B6);
	answer6(B_MAC, B6);
	assert_goes_to(&r, B_MAC);
	pass(10 * IW_SEC); /* that A failed is forgotten */
	hostpath_tick(h, now);
	assert_goes_to(&r, B_MAC);
	advertise(B_MAC, B6, "0000 ", ""); /* a router no more (§6.3.4) */
	assert_asked(&r, A6);
	advertise(A_MAC, A6, "0000 ", "");
	assert_int_equal(net_reach(net, &r), NET_REACH_FAILED);
	assert_int_equal(tx(&r, TCP), -IW_E_HOSTUNREACH);
}

/* §4.6.4. */
static void
test_mtu(void **state)
{
	(void)state;
	advertise(A_MAC, A6, HALF_AN_HOUR, "05 01 0000 00000578");
	assert_int_equal(route_far().mtu, 1400);
	assert_int_equal(route_to(0x0a000002).mtu, 1500);
	advertise(A_MAC, A6, HALF_AN_HOUR, "05 01 0000 00000514");
	assert_int_equal(route_far().mtu, 1300);
}

static void
test_nothing_in_it(void **state)
{
	struct bytes b = hex(OURS PEER "0800");

	(void)state;
	assert_false(hostpath_rx(h, packet(pool, b.b, b.len), now));
}

#define TH(name) cmocka_unit_test_setup_teardown(name, begin_host, end_host)

int
main(void)
{
	const struct CMUnitTest tests[] = {TH(test_router_that_answers), TH(test_mtu), TH(test_nothing_in_it)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
