/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the frames: options, windows, checksums.  (script_capture() checks every checksum.) */
#include "tcpscript.h"

#include "tcp_ecn.h"
#include "tcp_isn.h"
#include "tcp_out.h"

#define HOST(x) ((x).sim.h[0].tcp)

/* A SYN offers everything: MSS of our link, scale for the whole buffer, SACK, timestamps. */
static void
test_syn(void **state)
{
	struct script x;
	const struct tcp_seg *seg;

	script_init(&x);
	script_open(&x, NULL);
	seg = &x.out[0];
	assert_int_equal(seg->flags, TCP_SYN);
	assert_int_equal(seg->mss, 1460);
	assert_true(seg->has_ws && seg->sack_perm && seg->has_ts);
	assert_int_equal(seg->ws, 9);
	assert_int_equal(seg->wnd, 65535);
	assert_int_equal(seg->tsecr, 0);
	assert_int_equal(seg->hdr_len, 40);
	script_fini(&x);
}

/* RFC 7323 §3: TSval runs with the clock, 1 ms a tick; TSecr is TS.Recent; 12 octets in each segment. */
static void
test_timestamps(void **state)
{
	struct script x;
	struct tcp_seg first, second;

	script_init(&x);
	x.ts = true;
	script_established(&x);
	script_send(&x, 0, 10);
	first = script_out(&x);
	assert_true(first.has_ts);
	assert_int_equal(first.tsecr, 1000);
	assert_int_equal(first.hdr_len, 32);
	x.sim.now_ns += 7 * IW_MS;
	x.tsval = 2000;
	script_data(&x, 5);
	script_data(&x, 5);
	second = script_out(&x);
	assert_int_equal(second.tsval - first.tsval, 7);
	assert_int_equal(second.tsecr, 2000);
	/* An old retransmission does not turn TS.Recent back, one out of order does not move it (§4.3). */
	x.tsval = 3000;
	script_in(&x, TCP_ACK, x.seq + 100, x.ack, 5);
	assert_int_equal(script_out(&x).tsecr, 2000);
	script_fini(&x);
}

/* At most four SACK blocks, three beside timestamps. */
static void
test_sack_blocks_fit(void **state)
{
	for (uint32_t ts = 0; ts < 2; ts++) {
		struct script x;
		struct tcp_seg seg = {0};

		script_init(&x);
		x.ts = ts;
		x.sack = true;
		script_established(&x);
		for (uint32_t i = 0; i < 6; i++) {
			script_in(&x, TCP_ACK, x.seq + 100 + i * 20, x.ack, 10);
			seg = script_out(&x);
		}
		assert_int_equal(seg.n_sack, ts ? 3 : 4);
		assert_int_equal(seg.sack[0].from, x.seq + 200);
		script_fini(&x);
	}
}

/* A port that completes checksums finds the pseudo-header sum. */
static void
test_checksum_offload(void **state)
{
	struct script x;
	struct rte_mbuf *out[4];
	struct netif nif = sim_netif(0);
	struct net *net;
	uint32_t n, sum;
	const uint8_t *p;

	script_init(&x);
	script_established(&x);
	nif.tx_ip_cksum = nif.tx_tcp_cksum = true;
	net = net_create(&x.sim.h[0].env, &nif, 4, x.sim.now_ns);
	net_destroy(x.sim.h[0].net);
	x.sim.h[0].net = HOST(x)->net = net;
	script_send(&x, 0, 100);
	script_poll(&x); /* ARP first: the frame leaves when the answer is there */
	assert_int_equal(net_route(net, &x.sim.h[1].nif.addr, &script_conn(&x)->route), 0);
	script_send(&x, 100, 100);
	tcp_tx_emit(HOST(x), 8, x.sim.now_ns);
	n = net_drain(net, out, 4);
	assert_int_equal(n, 1);
	p = rte_pktmbuf_mtod(out[0], const uint8_t *);
	sum = net_pseudo_sum(net, &x.sim.h[0].nif.addr, &x.sim.h[1].nif.addr, 6, 120);
	assert_int_equal(p[34 + 16] << 8 | p[34 + 17], iw_cksum_fold(sum));
	assert_true(out[0]->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM);
	rte_pktmbuf_free(out[0]);
	script_fini(&x);
}

/* The segments of one turn differ in sequence number, length and checksum only, and only the first tells that the
 * window was reduced (RFC 3168 §6.1.2); the next turn's say what has changed. */
static void
test_trains(void **state)
{
	for (uint32_t ts = 0; ts < 2; ts++) {
		static const uint32_t len[] = {1000, 1000, 1, 7, 1000, 333};
		struct tcp_seg seg[2];
		struct script x;
		uint32_t place = 0, next;

		script_init(&x);
		x.ts = ts;
		script_established(&x);
		next = x.our_iss + 1;
		tcp_conn_set(script_conn(&x), TCP_CONN_ECN | TCP_CONN_ECN_CWR);
		for (uint32_t turn = 0; turn < 2; turn++) {
			for (uint32_t i = 0; i < 6; place += len[i++])
				script_send(&x, place, len[i]);
			for (uint32_t i = 0; i < 6; i++) {
				struct tcp_seg s = script_out(&x);

				assert_int_equal(s.len, len[i]);
				assert_int_equal(s.seq, next);
				next += len[i];
				assert_int_equal(s.flags & TCP_CWR, turn == 0 && i == 0 ? TCP_CWR : 0);
				assert_int_equal(s.hdr_len, ts ? 32 : 20);
				assert_int_equal(x.last_ecn, TCP_ECN_ECT_0);
				if (i == 0)
					seg[turn] = s;
				assert_int_equal(s.ack, seg[turn].ack);
				assert_int_equal(s.tsval, seg[turn].tsval);
			}
			x.sim.now_ns += 5 * IW_MS;
			x.tsval += 9;
			script_data(&x, 10);
		}
		assert_int_equal(seg[1].ack - seg[0].ack, 10);
		assert_int_equal(seg[1].tsecr - seg[0].tsecr, ts ? 9 : 0);
		script_fini(&x);
	}
}

/* Answers without a connection: ports swapped, no options, for each RFC 9293 §3.10.7.1 form; nothing for a RST. */
static void
test_refuse(void **state)
{
	struct script x;
	struct net_pkt pkt = {0};
	struct tcp_seg in = {.sport = 1, .dport = 2, .seq = 100, .ack = 200, .len = 5, .flags = TCP_FIN | TCP_SYN}, out;

	script_init(&x);
	pkt.src = x.sim.h[1].nif.addr;
	pkt.dst = x.sim.h[0].nif.addr;
	tcp_out_refuse(HOST(x), &pkt, &in, x.sim.now_ns);
	out = script_expect(&x, TCP_RST | TCP_ACK, 0, 107);
	assert_int_equal(out.sport, 2);
	assert_int_equal(out.dport, 1);
	assert_int_equal(out.hdr_len, 20);
	in.flags = TCP_RST;
	tcp_out_refuse(HOST(x), &pkt, &in, x.sim.now_ns);
	script_expect_silence(&x);
	/* From where no way leads back: that has a name. */
	in.flags = TCP_SYN;
	pkt.src = iw_addr_from_v4(0x0b000001, 0);
	tcp_out_refuse(HOST(x), &pkt, &in, x.sim.now_ns);
	script_expect_silence(&x);
	assert_int_equal(script_counter(&x, "tcp.tx_net_refused"), 1);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syn),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_sack_blocks_fit),
		cmocka_unit_test(test_checksum_offload),
		cmocka_unit_test(test_trains),
		cmocka_unit_test(test_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
