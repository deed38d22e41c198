/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive window follows what the reader takes (dynamic right-sizing), and never shrinks (RFC 9293 SHLD-14). */
#include "tcpscript.h"

#include "tcp_rcvbuf.h"

#define MIB (1u << 20)

static void
test_growth(void **state)
{
	struct tcp_rcvbuf b;
	uint64_t now = IW_SEC;
	uint32_t size = MIB;

	tcp_rcvbuf_init(&b);
	/* Less than half of it in a round trip of 20 ms: as it is. */
	for (uint32_t i = 0; i < 100; i++, now += 5 * IW_MS)
		size = tcp_rcvbuf_taken(&b, 100000, size, 16 * MIB, 20 * IW_MS, now);
	assert_int_equal(size, MIB);
	/* As much as a sender that fills it can send: doubles each round trip. */
	for (uint32_t want = 2 * MIB; want <= 16 * MIB; want *= 2) {
		uint32_t before = size;

		for (uint32_t i = 0; i < 4; i++, now += 5 * IW_MS)
			size = tcp_rcvbuf_taken(&b, before / 4, size, 16 * MIB, 20 * IW_MS, now);
		assert_in_range(size, before, want * 5 / 4);
	}
	for (uint32_t i = 0; i < 40; i++, now += 5 * IW_MS)
		size = tcp_rcvbuf_taken(&b, size / 4, size, 16 * MIB, 20 * IW_MS, now);
	assert_int_equal(size, 16 * MIB); /* and no further */
	for (uint32_t i = 0; i < 100; i++, now += 5 * IW_MS)
		assert_int_equal(tcp_rcvbuf_taken(&b, 1, size, 16 * MIB, 20 * IW_MS, now), 16 * MIB);
}

/* What was read over a pause says nothing of a round trip. */
static void
test_pause(void **state)
{
	struct tcp_rcvbuf b;
	uint32_t size = MIB;

	tcp_rcvbuf_init(&b);
	for (uint32_t i = 0; i < 50; i++)
		size = tcp_rcvbuf_taken(&b, MIB, size, 16 * MIB, 20 * IW_MS, (1 + i) * IW_SEC);
	assert_int_equal(size, MIB);
}

static void
test_quick(void **state)
{
	struct tcp_rcvbuf b;
	uint32_t n = 0;

	tcp_rcvbuf_init(&b);
	while (tcp_rcvbuf_quick(&b, 200 * IW_MS, IW_SEC))
		n++;
	assert_int_equal(n, TCP_RCVBUF_QUICK_ACKS);
	assert_false(tcp_rcvbuf_quick(&b, 200 * IW_MS, IW_SEC + 200 * IW_MS));
	assert_true(tcp_rcvbuf_quick(&b, 200 * IW_MS, IW_SEC + 401 * IW_MS));
}

/* On a connection: the advertised right edge grows past 1 MiB, up to most; all growth of an engine together is bounded,
 * and given back when the connection ends. */
static void
grows_to(uint32_t most, uint32_t limit, uint32_t together)
{
	struct script x;
	struct tcp_conn *c;
	uint64_t place = 0;

	script_init(&x);
	x.ws = true;
	script_open(&x, NULL);
	x.sim.now_ns += 20 * IW_MS;
	script_syn_ack(&x);
	script_skip(&x);
	c = script_conn(&x);
	x.sim.h[0].tcp->params.rcv_buf_max = limit;
	x.sim.h[0].tcp->rcv_grow_max = together;
	assert_int_equal(c->rcv_buf, MIB);
	for (uint32_t round = 0; round < 12; round++) {
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t len = c->rcv_buf / 4;

			while (len > 0) {
				uint32_t n = len < 1460 ? len : 1460;

				script_data(&x, n);
				len -= n;
			}
			script_poll(&x);
			x.n = x.at = 0;
			assert_int_equal(tcp_rx_pending(x.sim.h[0].tcp, x.conn), c->rcv_buf / 4);
			while (sim_read(&x.sim.h[0], x.conn, &place, UINT32_MAX) > 0)
				;
			script_poll(&x);
			x.n = x.at = 0;
			x.sim.now_ns += 5 * IW_MS;
		}
	}
	assert_int_equal(c->rcv_buf, most);
	assert_in_range(tcp_conn_rcv_wnd(c), most - 16384, most);
	assert_int_equal(x.sim.h[0].tcp->rcv_grown, most - MIB);
	tcp_abort(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	tcp_release(x.sim.h[0].tcp, x.conn, x.sim.now_ns);
	assert_int_equal(x.sim.h[0].tcp->rcv_grown, 0);
	script_fini(&x);
}

static void
test_connection(void **state)
{
	(void)state;
	grows_to(4 * MIB, 16 * MIB, 3 * MIB);
	grows_to(2 * MIB, 2 * MIB, 8 * MIB);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_quick),
		cmocka_unit_test(test_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
