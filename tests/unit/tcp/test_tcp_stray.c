/* SPDX-License-Identifier: BSD-3-Clause */
/* Four engines on one port, this one is number 1: what stays, what leaves and where to (tcp_stray.h). */
#include "tcpscript.h"

#include "steer.h"

#define ME 1
#define ENGINES 4
#define STAYS UINT32_MAX

static struct script x;
static struct steer steer;

static void
begin(enum tcp_strangers strangers)
{
	static const uint8_t key[STEER_KEY] = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
					       0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb};
	struct netif *nif;

	script_init(&x);
	steer_init(&steer, key, ENGINES, 128);
	nif = (struct netif *)(uintptr_t)net_if(x.sim.h[0].net);
	nif->steer = &steer;
	nif->engine = ME;
	tcp_set_strangers(x.sim.h[0].tcp, strangers);
}

static uint32_t
home(uint16_t from, uint16_t to)
{
	struct iw_addr peer = x.sim.h[1].nif.addr, own = x.sim.h[0].nif.addr;

	peer.port = from;
	own.port = to;
	return steer_home(&steer, &peer, &own);
}

/* A peer's port whose segments are at home there. */
static void
choose_home(uint32_t want)
{
	for (x.peer_port = 2000; home(x.peer_port, x.our_port) != want; x.peer_port++)
		assert_true(x.peer_port < 60000);
}

static uint64_t
count(const char *name)
{
	struct iw_counter_list list = tcp_counter_list(x.sim.h[0].tcp);

	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i], name) == 0)
			return list.values[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* Where the last segment went; STAYS: it was dealt with here. */
static uint32_t
went_to(void)
{
	struct tcp_stray s;

	if (!tcp_stray_next(x.sim.h[0].tcp, &s))
		return STAYS;
	assert_int_equal(s.home, home(x.peer_port, x.our_port));
	rte_pktmbuf_free(s.m);
	assert_false(tcp_stray_next(x.sim.h[0].tcp, &s));
	return s.to;
}

static void
test_where_a_syn_goes(void **state)
{
	static const struct {
		enum tcp_strangers strangers;
		bool listens;
		uint32_t to[ENGINES]; /* by home */
	} rows[] = {
		{TCP_STRANGERS_ANSWER, false, {STAYS, STAYS, STAYS, STAYS}},
		{TCP_STRANGERS_ANSWER, true, {STAYS, STAYS, STAYS, STAYS}},
		{TCP_STRANGERS_ARRIVED, false, {0, 2, 2, 3}},
		{TCP_STRANGERS_ARRIVED, true, {STAYS, STAYS, STAYS, STAYS}},
		{TCP_STRANGERS_SPREAD, false, {0, 2, 2, 3}},
		{TCP_STRANGERS_SPREAD, true, {0, STAYS, 2, 3}},
		/* Engine 2 is asked next, but where the round began there: this was the last one. */
		{TCP_STRANGERS_HANDED, false, {2, 2, STAYS, 2}},
		{TCP_STRANGERS_HANDED, true, {STAYS, STAYS, STAYS, STAYS}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t h = 0; h < ENGINES; h++) {
			begin(rows[i].strangers);
			if (rows[i].listens)
				script_listen(&x, 4);
			choose_home(h);
			script_in(&x, TCP_SYN, SCRIPT_ISS, 0, 0);
			assert_int_equal(went_to(), rows[i].to[h]);
			assert_int_equal(count("tcp.rx_strays"), rows[i].to[h] != STAYS);
			if (rows[i].to[h] == STAYS)
				assert_int_equal(script_out(&x).flags,
						 rows[i].listens ? TCP_SYN | TCP_ACK : TCP_RST | TCP_ACK);
			script_expect_silence(&x);
			script_fini(&x);
		}
}

/* A round from each home meets every engine once, and ends. */
static void
test_a_round(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < ENGINES; h++) {
		uint32_t at = h, met = 0;

		for (int step = 0; at != STAYS; step++) {
			assert_true(step < ENGINES);
			assert_int_equal(met & 1u << at, 0);
			met |= 1u << at;
			begin(TCP_STRANGERS_HANDED);
			((struct netif *)(uintptr_t)net_if(x.sim.h[0].net))->engine = at;
			choose_home(h);
			script_in(&x, TCP_ACK, 5, 7, 0);
			at = went_to();
			x.at = x.n;
			script_fini(&x);
		}
		assert_int_equal(met, (1u << ENGINES) - 1);
	}
}

/* A handshake, a connection and its TIME_WAIT record are known, listener or not. */
static void
test_known_ones_stay(void **state)
{
	struct tcp_attr attr = {0};

	(void)state;
	begin(TCP_STRANGERS_HANDED);
	script_listen(&x, 4);
	choose_home(3);
	script_in(&x, TCP_SYN, SCRIPT_ISS, 0, 0);
	script_out(&x);
	tcp_set_strangers(x.sim.h[0].tcp, TCP_STRANGERS_SPREAD);
	script_in(&x, TCP_ACK, SCRIPT_ISS + 1, x.our_iss + 1, 0);
	assert_int_equal(went_to(), STAYS);
	script_poll(&x);
	assert_int_equal(x.bits & TCP_READY_UP, TCP_READY_UP);
	tcp_adopt(x.sim.h[0].tcp, x.conn, 1, &attr);
	tcp_unlisten(x.sim.h[0].tcp, x.listener, x.sim.now_ns);
	x.seq = SCRIPT_ISS + 1;
	script_data(&x, 100);
	assert_int_equal(went_to(), STAYS);
	assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), 100);
	script_fini(&x);
}

static void
test_too_many(void **state)
{
	struct tcp_stray s;
	uint32_t n = 0;

	(void)state;
	begin(TCP_STRANGERS_ARRIVED);
	choose_home(3);
	for (int i = 0; i < TCP_STRAYS + 5; i++)
		script_in(&x, TCP_ACK, SCRIPT_ISS, 1, 0);
	assert_int_equal(count("tcp.rx_strays"), TCP_STRAYS);
	assert_int_equal(count("tcp.rx_strays_dropped"), 5);
	for (; n < 10 && tcp_stray_next(x.sim.h[0].tcp, &s); n++)
		rte_pktmbuf_free(s.m);
	assert_int_equal(n, 10);
	script_fini(&x); /* with those that wait */
}

/* Segments of one connection are handed over in the order in which they came, whenever they are fetched. */
static void
test_order(void **state)
{
	static const uint32_t come[] = {3, TCP_STRAYS - 1, 2}, fetched[] = {2, TCP_STRAYS, 2};
	uint32_t in = 0, out = 0;
	struct tcp_stray s;

	(void)state;
	begin(TCP_STRANGERS_ARRIVED);
	choose_home(3);
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < come[round]; i++)
			script_in(&x, TCP_ACK, SCRIPT_ISS + in++, 1, 1);
		for (uint32_t i = 0; i < fetched[round]; i++) {
			struct tcp_seg seg;

			assert_true(tcp_stray_next(x.sim.h[0].tcp, &s));
			assert_int_equal(tcp_hdr_parse(s.m, 34, rte_pktmbuf_pkt_len(s.m) - 34, &seg), TCP_HDR_OK);
			assert_int_equal(seg.seq, SCRIPT_ISS + out++);
			rte_pktmbuf_free(s.m);
		}
	}
	assert_int_equal(in, out);
	assert_false(tcp_stray_next(x.sim.h[0].tcp, &s));
	script_fini(&x);
}

/* Answers to what is opened here arrive here. */
static void
test_source_ports(void **state)
{
	struct iw_addr any = {0}, to, at = {0};
	struct tcp_attr attr = {0};
	struct tcp_info info;
	uint32_t conn;

	(void)state;
	begin(TCP_STRANGERS_ARRIVED);
	to = x.sim.h[1].nif.addr;
	to.port = 4420;
	for (int i = 0; i < 16; i++) {
		assert_int_equal(tcp_open(x.sim.h[0].tcp, &any, &to, &attr, 1, x.sim.now_ns, &conn), 0);
		assert_true(tcp_conn_info(x.sim.h[0].tcp, conn, &info));
		assert_int_equal(home(4420, info.local.port), ME);
	}
	/* A port that the caller wants is taken wherever it leads. */
	for (at.port = 40000; home(4420, at.port) == ME; at.port++)
		;
	assert_int_equal(tcp_open(x.sim.h[0].tcp, &at, &to, &attr, 1, x.sim.now_ns, &conn), 0);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_a_syn_goes),
		cmocka_unit_test(test_a_round),
		cmocka_unit_test(test_known_ones_stay),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_source_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
