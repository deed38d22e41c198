/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts of segments (tcp_face.h, tcp_rx_burst()): any number up to TCP_RX_BURST, for whomever, each processed as if
 * it had come alone and behind the one before it. */
#include "crc32c.h"
#include "fpdu_hdr.h"
#include "tcpscript.h"

#define HOST(x) ((x)->sim.h[0].tcp)
#define CONNS 8
#define LEN 100

struct burst {
	struct script x;
	uint32_t conn[CONNS], seq[CONNS], ack[CONNS];
	struct tcp_rx_in in[TCP_RX_BURST];
	uint32_t n;
};

static uint16_t
port_of(uint32_t i)
{
	return (uint16_t)(100 + i);
}

/* The next segment of the burst; it waits there. */
static struct tcp_rx_in *
put_seg(struct burst *b, const struct tcp_seg *seg, uint32_t len)
{
	struct host *peer = &b->x.sim.h[1], *host = &b->x.sim.h[0];
	struct rte_mbuf *m = sim_mbuf(peer, seg->seq - (SCRIPT_ISS + 1), len);
	struct tcp_rx_in *in = &b->in[b->n++];
	struct net_icmp_err err;
	struct net_route route;
	struct sim_frame f;
	uint32_t sum, hdr_len = tcp_hdr_push(m, seg);

	assert_true(b->n <= TCP_RX_BURST);
	sum = net_pseudo_sum(peer->net, &peer->nif.addr, &host->nif.addr, 6, hdr_len + len);
	sum = iw_cksum_add(sum, 0, rte_pktmbuf_mtod(m, const void *), hdr_len + len);
	tcp_hdr_set_cksum(m, (uint16_t)~iw_cksum_fold_memory(sum));
	assert_int_equal(net_route(peer->net, &host->nif.addr, &route), 0);
	net_tx(peer->net, m, &route, 6, 0, b->x.sim.now_ns);
	sim_drain(&b->x.sim, 1);
	assert_true(sim_take(&b->x.sim, 0, &f));
	assert_int_equal(net_rx(host->net, f.m, b->x.sim.now_ns, &in->pkt, &err), NET_TCP);
	in->m = f.m;
	return in;
}

static struct tcp_rx_in *
put(struct burst *b, uint32_t conn, uint8_t flags, uint32_t seq, uint32_t len)
{
	struct tcp_seg seg;

	b->x.peer_port = port_of(conn);
	seg = script_seg(&b->x, flags, seq, b->ack[conn]);
	return put_seg(b, &seg, len);
}

/* The next LEN octets of a connection, in order. */
static struct tcp_rx_in *
put_data(struct burst *b, uint32_t conn)
{
	b->seq[conn] += LEN;
	return put(b, conn, TCP_ACK | TCP_PSH, b->seq[conn] - LEN, LEN);
}

static void
hand_in(struct burst *b)
{
	tcp_rx_burst(HOST(&b->x), b->in, b->n, b->x.sim.now_ns);
	b->n = 0;
}

/* The SYN of a connection and its answer: the last ACK is still to come. */
static void
half_open(struct burst *b, uint32_t conn)
{
	script_syn_from(&b->x, port_of(conn));
	b->ack[conn] = script_out(&b->x).seq + 1;
	b->seq[conn] = SCRIPT_ISS + 1;
}

static void
set_up(struct burst *b, uint32_t conns)
{
	memset(b, 0, sizeof(*b));
	script_init(&b->x);
	script_listen(&b->x, CONNS);
	for (uint32_t i = 0; i < conns; i++) {
		half_open(b, i);
		script_in(&b->x, TCP_ACK, b->seq[i], b->ack[i], 0);
		script_poll(&b->x);
		b->conn[i] = b->x.conn;
		tcp_adopt(HOST(&b->x), b->conn[i], i, NULL);
	}
	script_skip(&b->x);
	assert_int_equal(tcp_conn_count(HOST(&b->x)), conns);
}

static void
tear_down(struct burst *b)
{
	script_fini(&b->x); /* no mbuf is left */
}

/* All that this connection can read: the right octets, none of which had to wait for another. */
static void
expect_octets(struct burst *b, uint32_t conn, uint32_t octets)
{
	uint64_t place = 0;
	struct tcp_info info;

	assert_int_equal(sim_read(&b->x.sim.h[0], b->conn[conn], &place, UINT32_MAX), octets);
	assert_true(tcp_conn_info(HOST(&b->x), b->conn[conn], &info));
	assert_int_equal(info.rx_ooo, 0);
	assert_int_equal(info.rx_dup, 0);
}

static void
test_sizes(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, TCP_RX_BURST - 1, TCP_RX_BURST};

	(void)state;
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct burst b;
		uint64_t before;

		set_up(&b, 1);
		before = script_counter(&b.x, "tcp.rx_segs");
		for (uint32_t j = 0; j < sizes[i]; j++)
			put_data(&b, 0);
		hand_in(&b);
		assert_int_equal(script_counter(&b.x, "tcp.rx_segs") - before, sizes[i]);
		expect_octets(&b, 0, sizes[i] * LEN);
		tear_down(&b);
	}
}

/* However the segments of several connections are mixed, each finds its own in order; and they become ready in the
 * order in which their first segments came. */
static void
test_many_connections(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 3; way++) {
		struct tcp_ready r;
		struct burst b;

		set_up(&b, CONNS);
		for (uint32_t i = 0; i < TCP_RX_BURST; i++)
			put_data(&b, way == 0   ? i % CONNS
				     : way == 1 ? i * CONNS / TCP_RX_BURST
						: CONNS - 1 - i % CONNS);
		hand_in(&b);
		for (uint32_t i = 0; i < CONNS; i++) {
			assert_true(tcp_ready_next(HOST(&b.x), &r));
			assert_int_equal(r.bits, TCP_READY_RX);
			assert_int_equal(r.owner, way == 2 ? CONNS - 1 - i : i);
		}
		assert_false(tcp_ready_next(HOST(&b.x), &r));
		for (uint32_t i = 0; i < CONNS; i++)
			expect_octets(&b, i, TCP_RX_BURST / CONNS * LEN);
		tear_down(&b);
	}
}

enum odd { ODD_CKSUM, ODD_SHORT, ODD_NOBODY, ODD_TRUSTED, ODD_LAND };

static void
put_odd(struct burst *b, enum odd odd)
{
	struct tcp_rx_in *in;

	if (odd == ODD_NOBODY)
		b->x.our_port = 81;
	if (odd == ODD_LAND)
		b->x.our_port = 0;
	in = odd == ODD_TRUSTED ? put_data(b, 0) : put(b, 0, TCP_ACK | TCP_PSH, b->seq[0], LEN);
	b->x.our_port = SCRIPT_PORT;
	if (odd == ODD_SHORT)
		in->pkt.l4_len = 19;
	if (odd == ODD_CKSUM || odd == ODD_TRUSTED)
		in->pkt.pseudo_sum ^= 1;
	in->pkt.l4_cksum_good = odd == ODD_TRUSTED;
}

/* One that is not as the others, at any place: it is counted under its name, the others come through. */
static void
test_odd_ones(void **state)
{
	static const struct {
		enum odd odd;
		const char *counter;
		uint32_t taken; /* of the odd one */
	} rows[] = {
		{ODD_CKSUM, "tcp.rx_bad_cksum", 0}, {ODD_SHORT, "tcp.rx_bad_hdr", 0},
		{ODD_NOBODY, "tcp.rx_nobody", 0},   {ODD_TRUSTED, "tcp.rx_segs", LEN}, /* the port has looked at it */
		{ODD_LAND, "tcp.rx_bad_addr", 0},
	};
	static const uint32_t places[] = {0, 1, 15, TCP_RX_BURST - 1};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]) * 4; i++) {
		uint32_t row = i / 4, place = places[i % 4];
		uint64_t before, segs;
		struct burst b;

		set_up(&b, 2);
		before = script_counter(&b.x, rows[row].counter);
		segs = script_counter(&b.x, "tcp.rx_segs");
		for (uint32_t j = 0; j < TCP_RX_BURST; j++)
			if (j == place)
				put_odd(&b, rows[row].odd);
			else
				put_data(&b, 1);
		hand_in(&b);
		assert_int_equal(script_counter(&b.x, "tcp.rx_segs") - segs, TCP_RX_BURST);
		assert_int_equal(script_counter(&b.x, rows[row].counter) - before,
				 rows[row].odd == ODD_TRUSTED ? TCP_RX_BURST : 1);
		expect_octets(&b, 1, (TCP_RX_BURST - 1) * LEN);
		expect_octets(&b, 0, rows[row].taken);
		tear_down(&b);
	}
}

/* Nothing but bad ones. */
static void
test_all_bad(void **state)
{
	struct burst b;

	(void)state;
	set_up(&b, 1);
	for (uint32_t i = 0; i < TCP_RX_BURST; i++)
		put_odd(&b, i % 2 ? ODD_CKSUM : ODD_SHORT);
	hand_in(&b);
	assert_int_equal(script_counter(&b.x, "tcp.rx_bad_cksum"), TCP_RX_BURST / 2);
	assert_int_equal(script_counter(&b.x, "tcp.rx_bad_hdr"), TCP_RX_BURST / 2);
	script_expect_silence(&b.x);
	expect_octets(&b, 0, 0);
	tear_down(&b);
}

/* What was looked up ahead is no more than a guess: a segment meets what the ones before it have left.  The end of a
 * handshake makes the connection that the next segment is for (RFC 9293 §3.10.7.4). */
static void
test_made_within_a_burst(void **state)
{
	struct burst b;

	(void)state;
	set_up(&b, 0);
	half_open(&b, 3);
	put(&b, 3, TCP_ACK, b.seq[3], 0);
	for (uint32_t i = 0; i < 5; i++)
		put_data(&b, 3);
	hand_in(&b);
	script_poll(&b.x);
	assert_int_equal(b.x.bits, TCP_READY_UP | TCP_READY_RX);
	b.conn[3] = b.x.conn;
	expect_octets(&b, 3, 5 * LEN);
	tear_down(&b);
}

/* RST, then text for what is no more: only what came before it can be read (RFC 9293 §3.10.7.4, §3.10.7.1). */
static void
test_ended_within_a_burst(void **state)
{
	struct burst b;

	(void)state;
	set_up(&b, 2);
	put_data(&b, 0);
	put(&b, 0, TCP_RST, b.seq[0], 0);
	put_data(&b, 0);
	put_data(&b, 1);
	hand_in(&b);
	script_expect(&b.x, TCP_RST, b.ack[0], 0);
	assert_true(b.x.bits & TCP_READY_RST);
	expect_octets(&b, 0, LEN);
	expect_octets(&b, 1, LEN);
	tear_down(&b);
}

/* FPDUs of so many octets one behind the other, the CRC of the bad one (counted from 1) wrong; what does not fit is
 * cut. */
static void
put_fpdus(uint8_t *p, uint32_t room, const uint16_t *octets, uint32_t bad)
{
	uint8_t fpdu[8000];

	for (uint32_t i = 0, n; room > 0 && octets[i]; i++, p += n, room -= n) {
		uint32_t end = octets[i] - FPDU_HDR_CRC_LEN;

		memset(fpdu, (int)i + 1, sizeof(fpdu));
		fpdu_hdr_length_emit(fpdu, (uint16_t)(end - FPDU_HDR_LENGTH_LEN));
		fpdu_hdr_crc_emit(fpdu + end,
				  iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, fpdu, end)) ^ (i + 1 == bad));
		n = octets[i] < room ? octets[i] : room;
		memcpy(p, fpdu, n);
	}
}

/* A segment as long as no frame of this link, as it would come out of net. */
static struct tcp_rx_in *
put_long(struct burst *b, uint32_t len, const uint16_t *octets, uint32_t bad)
{
	struct tcp_rx_in *in = put(b, 0, TCP_ACK, b->seq[0], 1);
	struct host *peer = &b->x.sim.h[1];
	struct rte_mbuf *m = sim_mbuf(peer, b->seq[0] - (SCRIPT_ISS + 1), len);
	struct tcp_seg seg = script_seg(&b->x, TCP_ACK, b->seq[0], b->ack[0]);
	uint32_t sum;

	rte_pktmbuf_free(in->m);
	b->seq[0] += len;
	put_fpdus(rte_pktmbuf_mtod(m, uint8_t *), len, octets, bad);
	tcp_hdr_push(m, &seg);
	in->m = m;
	in->pkt.l3_off = in->pkt.l4_off = 0;
	in->pkt.l4_len = rte_pktmbuf_pkt_len(m);
	in->pkt.pseudo_sum = net_pseudo_sum(peer->net, &in->pkt.src, &in->pkt.dst, 6, in->pkt.l4_len);
	sum = iw_cksum_add(in->pkt.pseudo_sum, 0, rte_pktmbuf_mtod(m, const void *), in->pkt.l4_len);
	tcp_hdr_set_cksum(m, (uint16_t)~iw_cksum_fold_memory(sum));
	return in;
}

/* The CRCs of FPDUs in a long segment are looked at where its reader wants it and its checksum is taken here; a bad
 * checksum is found just so. */
static void
test_crcs_on_request(void **state)
{
	enum { WANTED = 1, BY_PORT = 2, BAD_SUM = 4 };
	static const struct {
		uint32_t len, how;
		uint16_t octets[4];
		uint32_t bad_crc, sealed;
		bool counted;
	} cases[] = {
		{5000, WANTED, {5000}, 0, 5000, true},
		{5000, WANTED, {2000, 3000}, 0, 5000, true},
		{6008, WANTED, {3000, 8, 3000}, 0, 6008, true},
		{5001, WANTED, {5000, 8}, 0, 5000, true}, /* one octet of another */
		{5007, WANTED, {5000, 8}, 0, 5000, true},
		{5000, WANTED, {2000, 4000}, 0, 2000, true}, /* the last one goes on in the next segment */
		{5000, WANTED, {2000, 3000}, 2, 2000, true},
		{5000, WANTED, {1000, 2000, 2000}, 2, 1000, true}, /* behind a bad one nothing is looked at */
		{5000, WANTED, {2000, 3000}, 1, 0, true},
		{5000, WANTED, {6000}, 0, 0, true},
		{5001, WANTED, {0}, 0, 0, true},     /* no FPDUs */
		{4095, WANTED, {4092}, 0, 0, false}, /* short */
		{5000, WANTED | BY_PORT, {5000}, 0, 0, false},
		{5000, 0, {5000}, 0, 0, false},
		{5000, WANTED | BAD_SUM, {5000}, 0, 0, true},
		{5000, WANTED | BAD_SUM, {2000, 3000}, 0, 0, true},
		{5000, BAD_SUM, {5000}, 0, 0, false},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t len = cases[i].len, bad = (cases[i].how & BAD_SUM) != 0;
		struct tcp_rx_in *in;
		struct iw_view v;
		struct burst b;

		set_up(&b, 1);
		tcp_rx_want_crc(HOST(&b.x), b.conn[0], true);
		tcp_rx_want_crc(HOST(&b.x), b.conn[0], cases[i].how & WANTED);
		in = put_long(&b, len, cases[i].octets, cases[i].bad_crc);
		in->pkt.l4_cksum_good = (cases[i].how & BY_PORT) != 0;
		rte_pktmbuf_mtod(in->m, uint8_t *)[in->pkt.l4_len - 2] ^= bad ? 4 : 0;
		hand_in(&b);
		assert_int_equal(script_counter(&b.x, "tcp.rx_crcs"), cases[i].counted);
		assert_int_equal(script_counter(&b.x, "tcp.rx_bad_cksum"), bad);
		assert_int_equal(tcp_rx_peek(HOST(&b.x), b.conn[0], &v, 1), !bad);
		assert_true(bad || (v.len == len && v.sealed == cases[i].sealed));
		tcp_rx_consume(HOST(&b.x), b.conn[0], bad ? 0 : len, b.x.sim.now_ns);
		tear_down(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_odd_ones),
		cmocka_unit_test(test_all_bad),
		cmocka_unit_test(test_made_within_a_burst),
		cmocka_unit_test(test_ended_within_a_burst),
		cmocka_unit_test(test_crcs_on_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
