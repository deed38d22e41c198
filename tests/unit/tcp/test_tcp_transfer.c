/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole room: streams between two struct tcp on a wire, and at the ends, that do everything to them. */
#include "tcpstream.h"

#include "tcp_isn.h"

static void
test_transfer_clean(void **state)
{
	struct sim s;

	sim_init(&s, 3, true);
	transfer(&s, 3000000, 20 * IW_SEC);
	assert_int_equal(sim_counter(&s.h[0], "tcp.tx_retrans"), 0);
	assert_int_equal(sim_counter(&s.h[1], "tcp.tx_retrans"), 0);
	assert_true(sim_counter(&s.h[0], "tcp.rx_fast") > sim_counter(&s.h[0], "tcp.rx_segs") / 2);
	sim_fini(&s);
}

/* Loss, duplication and reordering together, several seeds each: byte-exact and to the end. */
static void
test_transfer_lossy(void **state)
{
	static const struct {
		uint32_t loss_ppm, dup_ppm;
		uint64_t jitter_ns;
	} rows[] = {{1000, 0, 0},  {10000, 0, 0},       {30000, 10000, 0},           {100000, 20000, 0},
		    {0, 50000, 0}, {0, 0, 200 * IW_US}, {20000, 20000, 300 * IW_US}, {100000, 50000, 100 * IW_US}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint64_t seed = 1; seed <= 3; seed++) {
			struct sim s;

			sim_init(&s, seed * 100 + i, true);
			s.loss_ppm = rows[i].loss_ppm;
			s.dup_ppm = rows[i].dup_ppm;
			s.jitter_ns = rows[i].jitter_ns;
			transfer(&s, 400000, 400 * IW_SEC);
			sim_fini(&s);
		}
}

/* ---- sequence numbers that wrap ---- */

/* Moves the clock to where the ISN of this side lies `before` octets below the wrap: the ISN clock ticks each 4 us. */
static void
wind_clock(struct sim *s, uint32_t id, uint16_t local_port, uint16_t remote_port, uint32_t before)
{
	struct iw_addr local = s->h[id].nif.addr, remote = s->h[!id].nif.addr;
	struct tcp_tuple t;
	uint32_t isn;

	local.port = local_port;
	remote.port = remote_port;
	t = tcp_tuple_of(&local, &remote);
	isn = tcp_isn_seq(&s->h[id].env, &t, s->now_ns);
	s->now_ns += (uint64_t)(uint32_t)(0u - before - isn) * 4 * IW_US;
	isn = tcp_isn_seq(&s->h[id].env, &t, s->now_ns);
	assert_true(0u - isn < before + 10);
}

static void
test_transfer_across_wrap(void **state)
{
	for (uint32_t id = 0; id < 2; id++)
		for (uint32_t i = 0; i < 4; i++) {
			static const uint32_t before[] = {1, 2, 3000, 70000};
			struct sim s;

			sim_init(&s, 40 + i, true);
			s.loss_ppm = i == 3 ? 30000 : 0;
			/* sim_connect() opens from a port of our choice here. */
			s.local_port = 5000;
			wind_clock(&s, id, id ? 4420 : 5000, id ? 5000 : 4420, before[i]);
			transfer(&s, 300000, 200 * IW_SEC);
			sim_fini(&s);
		}
}

/* ---- loss of one chosen segment ---- */

struct chosen {
	uint32_t from, nth, seen;
	uint8_t flags, without; /* the segment has all of flags and none of without */
	bool data;              /* and carries octets */
	struct stream st[2];
};

static enum sim_fate
lose_chosen(struct sim *s, uint32_t from, const struct tcp_seg *seg)
{
	struct chosen *c = (struct chosen *)s->filter_arg;

	if (from != c->from || (seg->flags & c->flags) != c->flags || (seg->flags & c->without) ||
	    (c->data && seg->len == 0))
		return SIM_PASS;
	return c->seen++ == c->nth ? SIM_LOSE : SIM_PASS;
}

/* A single lost segment in the middle is repaired without a timeout, with SACK. */
static void
test_single_loss_without_rto(void **state)
{
	for (uint32_t nth = 20; nth < 60; nth += 10) {
		struct chosen c = {.from = 0, .nth = nth, .data = true};
		struct sim s;

		sim_init(&s, 5, true);
		s.filter = lose_chosen;
		s.filter_arg = &c;
		transfer(&s, 400000, 20 * IW_SEC);
		assert_true(c.seen > nth);
		assert_int_equal(sim_counter(&s.h[0], "tcp.rto"), 0);
		assert_int_equal(sim_counter(&s.h[0], "tcp.tx_retrans"), 1);
		assert_int_equal(sim_counter(&s.h[0], "tcp.fast_retransmits"), 1);
		sim_fini(&s);
	}
}

/* Loss of each segment of handshake and close in turn (spec T18, T19): everything still ends well. */
static void
test_loss_of_each_control_segment(void **state)
{
	static const struct {
		uint32_t from;
		uint8_t flags, without;
	} rows[] = {{0, TCP_SYN, TCP_ACK}, {1, TCP_SYN | TCP_ACK, 0}, {0, TCP_FIN, 0},
		    {1, TCP_FIN, 0},       {0, TCP_ACK, TCP_SYN},     {1, TCP_ACK, TCP_SYN}};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t nth = 0; nth < 3; nth++) {
			struct chosen c = {
				.from = rows[i].from, .nth = nth, .flags = rows[i].flags, .without = rows[i].without};
			struct sim s;

			sim_init(&s, 6, true);
			s.filter = lose_chosen;
			s.filter_arg = &c;
			transfer(&s, nth ? 2000 : 0, 100 * IW_SEC);
			sim_fini(&s);
		}
}

/* ---- a slow reader: zero windows, silly windows, probes lost ---- */

static void
slow_reader_app(struct sim *s, struct host *h)
{
	struct stream *st = (struct stream *)s->arg + h->id;
	struct tcp_grant g;

	if (h->id == 1) {
		if (s->now_ns - st->last_ns >= 3 * IW_MS) {
			st->last_ns = s->now_ns;
			sim_read(h, st->conn, &st->got, 700);
		}
		return;
	}
	while (st->sent < st->want && (g = tcp_tx_grant(h->tcp, st->conn)).segments) {
		uint32_t len = record_length(st, g.emss);

		if (tcp_tx_append(h->tcp, st->conn, sim_mbuf(h, st->sent, len)))
			return;
		st->sent += len;
	}
}

static void
test_T10_slow_reader(void **state)
{
	for (uint32_t i = 0; i < 6; i++) {
		static const uint32_t buf[] = {500, 1000, 3000, 8000, 8000, 1};
		struct stream st[2] = {{.want = i == 5 ? 300 : 60000, .seed = 9}, {0}};
		struct tcp_info info;
		struct sim s;

		sim_init(&s, 60 + i, true);
		s.loss_ppm = i == 4 ? 50000 : 0;
		s.h[1].tcp->params.rcv_buf = s.h[1].tcp->params.rcv_buf_max = buf[i];
		sim_connect(&s, &st[0].conn, &st[1].conn);
		s.app = slow_reader_app;
		s.arg = st;
		for (uint32_t k = 0; k < 600000 && st[1].got < st[0].want; k++) {
			sim_run(&s, 3 * IW_MS, 10000);
			assert_true(tcp_rx_pending(s.h[1].tcp, st[1].conn) <= buf[i]);
		}
		assert_int_equal(st[1].got, st[0].want);
		sim_run(&s, IW_SEC, 1000);
		assert_true(tcp_conn_info(s.h[0].tcp, st[0].conn, &info));
		assert_int_equal(info.queued, 0);
		sim_fini(&s);
	}
}

/* ---- memory ---- */

/* At random moments the next mbuf, or the second or third from then, cannot be had: nothing crashes, everything
 * arrives. */
static void
test_out_of_mbufs(void **state)
{
	uint64_t failed = 0;

	for (uint64_t seed = 1; seed < 12; seed++) {
		struct stream st[2] = {{.want = 200000, .seed = 11}, {.want = 200000, .seed = 12}};
		struct sim s;

		sim_init(&s, seed, true);
		sim_connect(&s, &st[0].conn, &st[1].conn);
		s.app = stream_app;
		s.arg = st;
		for (uint32_t k = 0; k < 200000 && !(st[0].bits & st[1].bits & TCP_READY_CLOSED); k++) {
			for (uint32_t i = 0; i < 2; i++) {
				mbufpool_set_fuse(s.h[i].env.data_pool, (uint32_t)(sim_random(&s) % 4));
				mbufpool_set_fuse(s.h[i].env.ctl_pool, (uint32_t)(sim_random(&s) % 4));
			}
			sim_run(&s, k < 5000 ? 20 * IW_US : 10 * IW_MS, 50);
		}
		assert_int_equal(st[0].got, 200000);
		assert_int_equal(st[1].got, 200000);
		assert_true(st[0].bits & st[1].bits & TCP_READY_CLOSED);
		failed += sim_counter(&s.h[0], "tcp.tx_no_mbuf") + sim_counter(&s.h[1], "tcp.tx_no_mbuf");
		sim_fini(&s);
	}
	assert_true(failed > 20);
}

/* No mbuf at all, again and again: it goes on by itself afterwards; the FIN is not lost (spec T36). */
static void
test_T36_dry_pools(void **state)
{
	struct stream st[2] = {{.want = 300000, .seed = 13}, {.want = 1000, .seed = 14}};
	struct rte_mempool *data[2], *ctl[2], *dry = mbufpool_create("dry", 2048, 1);
	struct rte_mbuf *last = rte_pktmbuf_alloc(dry);
	struct sim s;

	sim_init(&s, 21, true);
	sim_connect(&s, &st[0].conn, &st[1].conn);
	s.app = stream_app;
	s.arg = st;
	for (uint32_t k = 0; k < 20; k++) {
		sim_run(&s, 300 * IW_US, 200);
		for (uint32_t i = 0; i < 2; i++) {
			data[i] = s.h[i].env.data_pool;
			ctl[i] = s.h[i].env.ctl_pool;
			s.h[i].env.data_pool = s.h[i].env.ctl_pool = dry;
			s.h[i].tcp->txq_pool.data_pool = s.h[i].tcp->txq_pool.ctl_pool = dry;
			s.h[i].tcp->rxq_pool.data_pool = dry;
		}
		sim_run(&s, k % 4 ? 20 * IW_MS : 300 * IW_MS, 10000);
		for (uint32_t i = 0; i < 2; i++) {
			s.h[i].env.data_pool = s.h[i].tcp->txq_pool.data_pool = s.h[i].tcp->rxq_pool.data_pool =
				data[i];
			s.h[i].env.ctl_pool = s.h[i].tcp->txq_pool.ctl_pool = ctl[i];
		}
	}
	for (uint32_t k = 0; k < 100 && !(st[0].bits & st[1].bits & TCP_READY_CLOSED); k++)
		sim_run(&s, IW_SEC, 100000);
	assert_int_equal(st[1].got, 300000);
	assert_int_equal(st[0].got, 1000);
	assert_true(st[0].bits & st[1].bits & TCP_READY_CLOSED);
	assert_true(sim_counter(&s.h[0], "tcp.tx_no_mbuf") + sim_counter(&s.h[1], "tcp.tx_no_mbuf") > 20);
	rte_pktmbuf_free(last);
	sim_fini(&s);
	mbufpool_destroy(dry);
}

/* The link is gone for a while: below the user timeout everything goes on, above it both are told (fault 6, 9). */
static void
test_link_down(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct stream st[2] = {{.want = 3000000, .seed = 15}, {.want = 3000000, .seed = 16}};
		struct sim s;

		sim_init(&s, 33, true);
		s.delay_ns = 5 * IW_MS;
		sim_connect(&s, &st[0].conn, &st[1].conn);
		s.app = stream_app;
		s.arg = st;
		sim_run(&s, 20 * IW_MS, 10000);
		s.h[1].down = true;
		sim_run(&s, i ? 200 * IW_SEC : 30 * IW_SEC, 10000);
		s.h[1].down = false;
		sim_run(&s, 200 * IW_SEC, 1000000);
		for (uint32_t k = 0; k < 2; k++) {
			if (i) {
				assert_true(st[k].bits & (TCP_READY_TIMEOUT | TCP_READY_RST));
			} else {
				assert_int_equal(st[k].got, 3000000);
				assert_true(st[k].bits & TCP_READY_CLOSED);
			}
		}
		sim_fini(&s);
	}
}

/* Fault 33, spec T36: each mbuf and each object fails once, in turn, on each side: everything arrives all the same,
 * both FINs included, and nothing is left. */
static void
test_T36_each_allocation_fails_once(void **state)
{
	for (uint32_t side = 0; side < 2; side++)
		for (uint32_t n = 1; n <= 60; n++) {
			struct sim s;

			sim_init(&s, n, true);
			if (n <= 25)
				mbufpool_set_fuse(s.h[side].env.ctl_pool, n);
			else if (n <= 50)
				mbufpool_set_fuse(s.h[side].env.data_pool, n - 25);
			else if (side == 1)
				s.h[1].tcp->conns.fuse = 1;
			s.loss_ppm = n % 5 == 0 && n <= 50
					     ? 50000
					     : 0; /* the last ACK has to come through for its object to fail */
			transfer(&s, 9000, 200 * IW_SEC);
			sim_fini(&s);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transfer_clean),
		cmocka_unit_test(test_transfer_lossy),
		cmocka_unit_test(test_transfer_across_wrap),
		cmocka_unit_test(test_single_loss_without_rto),
		cmocka_unit_test(test_loss_of_each_control_segment),
		cmocka_unit_test(test_T10_slow_reader),
		cmocka_unit_test(test_out_of_mbufs),
		cmocka_unit_test(test_T36_dry_pools),
		cmocka_unit_test(test_link_down),
		cmocka_unit_test(test_T36_each_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
