/* SPDX-License-Identifier: BSD-3-Clause */
/* A net of its own for each test, and frames in and out, octet by octet. */
#ifndef NET_ROOM_H
#define NET_ROOM_H

#include "net_face.h"

#include <iwarp/err.h>

#include "cksum.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "net_test.h"

#define OURS "020000000001 "
#define PEER "020000000002 "
#define ALL "ffffffffffff "
#define OUR_IP "0a000001 "
#define PEER_IP "0a000002 "
#define ARP_REQUEST "0001 0800 06 04 0001 "
#define ARP_REPLY "0001 0800 06 04 0002 "
#define TCP "1234 5678 9abcdef0 00000000 5002 ffff 0000 0000"
#define SLACK (100 * IW_US)

static struct rte_mempool *pool;
static struct iw_env env;
static struct netif nif;
static struct net *net;
static uint64_t now;

static inline int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("net", TEST_MAX, 0);
	env = (struct iw_env){.data_pool = pool, .ctl_pool = pool};
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* 10.0.0.1/24, gateway 10.0.0.254. */
static inline int
begin(void **state)
{
	(void)state;
	nif = (struct netif){.mac = {2, 0, 0, 0, 0, 1}, .prefix_len = 24, .mtu = 1500};
	nif.addr = iw_addr_from_v4(0x0a000001, 0);
	nif.gateway = iw_addr_from_v4(0x0a0000fe, 0);
	now = 50 * IW_SEC;
	net = net_create(&env, &nif, 64, now);
	return net ? 0 : -1;
}

static inline int
end(void **state)
{
	(void)state;
	net_destroy(net);
	return mbufpool_in_use(pool) == 0 ? 0 : -1;
}

static inline void
again(void)
{
	net_destroy(net);
	net = net_create(&env, &nif, 64, now);
	assert_non_null(net);
}

static inline uint64_t
count(const char *name)
{
	return count_of(net_counter_list(net), name);
}

static inline enum net_verdict
rx_mbuf(struct rte_mbuf *m, struct net_pkt *pkt, struct net_icmp_err *err)
{
	return net_rx(net, m, now, pkt, err);
}

/* Receives; a packet that was handed up is freed here. */
static inline enum net_verdict
rx(const struct bytes *b)
{
	struct rte_mbuf *m = packet(pool, b->b, b->len);
	struct net_pkt pkt;
	struct net_icmp_err err;
	enum net_verdict v = rx_mbuf(m, &pkt, &err);

	if (v == NET_TCP || v == NET_HOST)
		rte_pktmbuf_free(m);
	return v;
}

static inline enum net_verdict
rx_hex(const char *octets)
{
	struct bytes b = hex(octets);

	return rx(&b);
}

/* A frame with an IPv4 header whose total length and checksum are made right; the frame may be padded afterwards. */
static inline struct bytes
ip_frame(const char *eth, const char *ip_src_dst, uint8_t proto, const char *payload)
{
	struct bytes b = hex(eth), ip = hex("45 02 0000 0000 4000 40 00 0000"), addr = hex(ip_src_dst),
		     p = hex(payload);
	uint32_t at = b.len;

	memcpy(b.b + at, ip.b, 12);
	memcpy(b.b + at + 12, addr.b, 8);
	memcpy(b.b + at + 20, p.b, p.len);
	b.b[at + 2] = (uint8_t)((20 + p.len) >> 8);
	b.b[at + 3] = (uint8_t)(20 + p.len);
	b.b[at + 9] = proto;
	slow_cksum_put(b.b, at, 20, at + 10);
	b.len = at + 20 + p.len;
	return b;
}

static inline struct rte_mbuf *
drain_one(void)
{
	struct rte_mbuf *m = NULL;

	assert_int_equal(net_drain(net, &m, 1), 1);
	return m;
}

/* The next frame out is exactly this, apart from padding of ARP. */
static inline void
assert_frame(const struct bytes *want)
{
	struct rte_mbuf *m = drain_one();

	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, want->len < 60 && want->b[13] == 6 ? 60 : want->len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want->b, want->len);
	rte_pktmbuf_free(m);
}

static inline void
assert_frame_hex(const char *octets)
{
	struct bytes b = hex(octets);

	assert_frame(&b);
}

static inline void
assert_silence(void)
{
	struct rte_mbuf *m;

	assert_int_equal(net_drain(net, &m, 1), 0);
}

static inline struct net_route
route_to(uint32_t ip)
{
	struct iw_addr dst = iw_addr_from_v4(ip, 4420);
	struct net_route r;

	assert_int_equal(net_route(net, &dst, &r), 0);
	return r;
}

static inline int
tx(struct net_route *r, const char *l4)
{
	struct bytes b = hex(l4);

	return net_tx(net, packet(pool, b.b, b.len), r, NET_PROTO_TCP, 2, now);
}

static inline void
pass(uint64_t ns)
{
	now += ns;
	net_tick(net, now);
}

/* Two packets of each length to a neighbour that is known: by net_tx() and by the head of a first one; all that a
 * driver reads is the same. */
static inline void
assert_head_is_as_good(struct net_route *r)
{
	static const uint8_t octets[1500] = {[12] = 0x50};
	struct net_head head;

	assert_int_equal(net_tx_first(net, packet(pool, octets, 20), r, NET_PROTO_TCP, 2, now, &head), 0);
	assert_true(head.len > 0);
	rte_pktmbuf_free(drain_one());
	for (uint32_t len = 20; len < 1460; len += 73) {
		struct rte_mbuf *want, *m = packet(pool, octets, len);

		m->ol_flags = RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_SEG; /* of an earlier life */
		assert_int_equal(net_tx(net, packet(pool, octets, len), r, NET_PROTO_TCP, 2, now), 0);
		assert_int_equal(net_tx_next(net, m, &head), 0);
		want = drain_one();
		assert_ptr_equal(drain_one(), m);
		assert_int_equal(m->pkt_len, want->pkt_len);
		assert_int_equal(m->data_len, want->data_len);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_mtod(want, void *), want->pkt_len);
		assert_int_equal(m->ol_flags, want->ol_flags);
		assert_int_equal(m->tx_offload, want->tx_offload);
		assert_int_equal(m->vlan_tci, want->vlan_tci);
		rte_pktmbuf_free(m);
		rte_pktmbuf_free(want);
	}
	assert_int_equal(net_tx_next(net, packet(pool, octets, 1481), &head), -IW_E_TOOBIG);
}

#define ASK(ip) ALL OURS "0806" ARP_REQUEST OURS OUR_IP "000000000000" ip
#define ANSWER(mac, ip) OURS mac "0806" ARP_REPLY mac ip OURS OUR_IP

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
