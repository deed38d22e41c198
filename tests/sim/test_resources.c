/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that take what is scarce, or make much work of little (RFC 5042 §6.4): a whole engine against peers made by
 * hand.  The rows S9, S10, S16, S19, S20, X5, X7 and X8. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cksum.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "mpa_hdr.h"
#include "oracle.h"
#include "raw.h"
#include "stat_of.h"
#include "victim.h"

#define CONNS 16

static struct sim *s;
static struct victim v;
static struct raw a; /* an honest peer */
static uint8_t octets[65536];

static void
open_world(const struct engine_params *params, uint32_t hosts)
{
	s = malloc(sizeof(*s));
	sim_init_params(s, 7, hosts, params);
	victim_init(&v, s, 0);
	v.recvs = 1;
	victim_listen(&v);
	assert_true(raw_open(&a, s, 1, 0, VICTIM_PORT));
	assert_true(raw_start(&a));
}

/* The honest peer can still write. */
static void
check_honest(const char *text)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, iw_mr_rkey(v.mr[VICTIM_RW]), (uintptr_t)victim_at(&v, VICTIM_RW));

	raw_send(&a, octets, raw_fpdu(octets, &h, text, 8));
	raw_run(&a, IW_MS);
	assert_memory_equal(victim_at(&v, VICTIM_RW), text, 8);
	assert_false(raw_ended(&a));
}

static void
close_world(void)
{
	check_honest("the end.");
	raw_close(&a);
	victim_close(&v);
}

static uint32_t
count_closed(int status)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v.conns; i++)
		n += v.conn[i].closed && v.conn[i].status == status;
	return n;
}

/* Idle streams go when places are short and the administrator allows it, not before they are old enough; who works
 * stays. */
static void
idle_streams(uint64_t reap_idle_ns, uint32_t reaped)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS, .cm.reap_idle_ns = reap_idle_ns};
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	struct raw many[CONNS - 2], more;

	open_world(&params, 3);
	for (uint32_t i = 0; i < CONNS - 3; i++) /* one short of low water */
		assert_true(raw_open(&many[i], s, 2, 0, VICTIM_PORT) && raw_start(&many[i]));
	for (uint32_t i = 0; i < 15; i++) {
		check_honest("i work..");
		if (i == 2) /* the others have been idle for longer */
			raw_send(&many[0], octets, raw_fpdu(octets, &h, NULL, 0));
		raw_run(&a, IW_SEC);
	}
	assert_int_equal(count_closed(-IW_E_CONNABORTED), 0);
	assert_true(raw_open(&many[CONNS - 3], s, 2, 0, VICTIM_PORT) && raw_start(&many[CONNS - 3]));
	raw_run(&a, IW_SEC);
	assert_int_equal(count_closed(-IW_E_CONNABORTED), reaped);
	assert_false(v.conn[0].closed || v.conn[CONNS - 2].closed); /* who works, and who is new */
	assert_int_equal(v.conn[2].closed, reaped);                 /* the first of those that were idle longest */
	check_honest("still do");
	if (reaped) {
		assert_true(raw_open(&more, s, 2, 0, VICTIM_PORT) && raw_start(&more));
		raw_close(&more);
	}
	for (uint32_t i = 0; i < CONNS - 2; i++)
		raw_close(&many[i]);
	close_world();
}

static void
test_S10(void **state)
{
	(void)state;
	idle_streams(10 * IW_SEC, 1);
	idle_streams(3600 * IW_SEC, 0);
	idle_streams(0, 0);
}

/* A peer that never reads: its stream, which nothing goes into any more, is one of those that go when places are short
 * and the administrator allows it (the other policy, that it stays, is in test_security.c). */
static void
test_X8_policy(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS, .cm.reap_idle_ns = 10 * IW_SEC};
	struct raw deaf, many[CONNS - 2];
	uint32_t n = 0;

	(void)state;
	params.tcp.rcv_buf = 8192;
	open_world(&params, 3);
	assert_true(raw_open(&deaf, s, 2, 0, VICTIM_PORT) && raw_start(&deaf));
	deaf.deaf = true;
	for (uint32_t k = 0; k < 16; k++)
		n += raw_read_req(octets + n, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]),
				  (uintptr_t)victim_at(&v, VICTIM_RO));
	raw_send(&deaf, octets, n);
	for (uint32_t i = 0; i < 12; i++) {
		raw_run(&a, IW_SEC);
		check_honest("i work..");
	}
	assert_false(v.conn[1].closed);
	assert_true(stat_of(v.engine, "tcp.tx_probes") > 0);
	for (uint32_t i = 0; i < CONNS - 3; i++)
		assert_true(raw_open(&many[i], s, 2, 0, VICTIM_PORT) && raw_start(&many[i]));
	raw_run(&a, IW_SEC);
	assert_true(v.conn[1].closed && v.conn[1].status == -IW_E_CONNABORTED);
	assert_int_equal(count_closed(-IW_E_CONNABORTED), 1);
	for (uint32_t i = 0; i < CONNS - 3; i++)
		raw_close(&many[i]);
	raw_close(&deaf);
	close_world();
}

/* An access list is the handler's: the Request names the peer before anything is given out.  Who is not on it gets a
 * reject, no QP and no STag. */
static void
test_S19(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS};
	struct iw_addr friend = sim_addr(1, 0);
	struct raw b;

	(void)state;
	open_world(&params, 3);
	v.only = &friend;
	for (uint32_t i = 0; i < 50; i++) { /* more often than there are places */
		assert_true(raw_open(&b, s, 2, 0, VICTIM_PORT));
		assert_false(raw_start(&b));
		assert_true(b.len >= 20 && b.in[16] & 0x20); /* R */
		assert_null(v.conn[v.conns - 1].qp);
		raw_close(&b);
	}
	assert_int_equal(rdmap_qp_count(v.engine->rdmap), 1);
	close_world();
}

/* A quota for each peer, or each listener, is the handler's, too: one more gets a reject and takes nothing, those that
 * are there go on, others are served, and a place that is given back is a place. */
static void
test_S9_quota(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS};
	struct raw mine[3], more, other;

	(void)state;
	open_world(&params, 4);
	v.quota = 3;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(raw_open(&mine[i], s, 2, 0, VICTIM_PORT) && raw_start(&mine[i]));
	for (uint32_t i = 0; i < 2 * CONNS; i++) {
		assert_true(raw_open(&more, s, 2, 0, VICTIM_PORT));
		assert_false(raw_start(&more));
		assert_true(more.len >= 20 && more.in[16] & 0x20); /* R */
		raw_close(&more);
	}
	assert_int_equal(rdmap_qp_count(v.engine->rdmap), 4);
	check_honest("not mine");
	assert_true(raw_open(&other, s, 3, 0, VICTIM_PORT) && raw_start(&other));
	raw_fin(&mine[0]);
	raw_run(&mine[0], 10 * IW_MS);
	assert_true(raw_open(&more, s, 2, 0, VICTIM_PORT) && raw_start(&more));
	raw_close(&more);
	raw_close(&other);
	for (uint32_t i = 0; i < 3; i++)
		raw_close(&mine[i]);
	close_world();
}

/* ---- S20 ---- */

#define FAILED (CONNS - 3) /* connections that were up */
#define MORE 400           /* that come while nobody listens to events; IW_S20=100000 for the row's number */

static struct {
	struct iw_qp *qp[CONNS];
	uint32_t n;
} fatal;

static void
on_async(struct iw_engine *engine, const struct iw_async_event *event, void *context)
{
	(void)engine;
	(void)context;
	assert_int_equal(event->type, IW_ASYNC_QP_FATAL);
	assert_true(fatal.n < CONNS);
	for (uint32_t i = 0; i < fatal.n; i++)
		assert_ptr_not_equal(fatal.qp[i], event->qp);
	fatal.qp[fatal.n++] = event->qp;
}

static uint32_t
mbufs_in_use(void)
{
	return mbufpool_in_use(s->host[0].data_pool) + mbufpool_in_use(s->host[0].ctl_pool);
}

/* Streams that were up end by a fault; more come, get as far as they can, and are cut off. */
static void
fail_many(struct raw *many, uint32_t more)
{
	struct raw b;

	for (uint32_t i = 0; i < FAILED; i++) {
		raw_send(&many[i], octets, raw_read_req(octets, 1, 64, 1, 0));
		raw_run(&many[i], IW_MS);
		raw_close(&many[i]);
	}
	for (uint32_t i = 0; i < more; i++) {
		if (raw_open(&b, s, 2, 0, VICTIM_PORT))
			raw_send(&b, octets, raw_startup(octets, false, 0x50, 2, "\x00\x10\x00\x10", 4));
		raw_run(&b, 100 * IW_US);
		raw_close(&b);
		assert_true(mbufs_in_use() < 4 * CONNS);
	}
}

/* A user that hears of nothing while peers fail: what waits is bounded by the objects that there are, each id still
 * gets its one CLOSE and each QP its one event. */
static void
test_S20(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS, .max_cm_ids = 2 * CONNS};
	const char *number = getenv("IW_S20");
	uint32_t events[CONNS], before;
	struct raw many[FAILED];

	(void)state;
	memset(&fatal, 0, sizeof(fatal));
	open_world(&params, 3);
	assert_int_equal(iw_engine_set_async(v.engine, on_async, NULL), 0);
	for (uint32_t i = 0; i < FAILED; i++)
		assert_true(raw_open(&many[i], s, 2, 0, VICTIM_PORT) && raw_start(&many[i]));
	for (uint32_t i = 0; i <= FAILED; i++)
		events[i] = v.conn[i].events;
	before = v.events;
	v.recvs = 0;
	s->host[0].unheard = true;
	fail_many(many, number ? (uint32_t)atoi(number) : MORE);
	raw_run(&a, IW_SEC);
	check_honest("unheard.");
	assert_int_equal(v.events, before);
	assert_int_equal(fatal.n, 0);
	s->host[0].unheard = false;
	raw_run(&a, IW_SEC);
	assert_int_equal(fatal.n, FAILED);
	for (uint32_t i = 1; i <= FAILED; i++) {
		assert_true(v.conn[i].closed && v.conn[i].last.type == IW_CM_CLOSE);
		assert_int_equal(v.conn[i].events, events[i] + 1);
	}
	assert_true(v.conns <= 2 * CONNS);
	for (uint32_t i = FAILED + 1; i < v.conns; i++) /* a request, and the answer to accept: it has gone */
		assert_true(v.conn[i].events == 1 && !v.conn[i].up);
	close_world();
}

/* All flows of a peer aimed at one engine: that has its limit, what it has taken goes on, and another engine does not
 * notice.  (Which engine a flow reaches is hard to aim: the port's hash key is drawn at its start.) */
static void
test_X5(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS};
	struct raw many[2 * CONNS], other;
	uint32_t up = 0;
	struct victim w;

	(void)state;
	open_world(&params, 4);
	victim_init(&w, s, 3);
	victim_listen(&w);
	for (uint32_t i = 0; i < CONNS - 1; i++)
		up += raw_open(&many[i], s, 2, 0, VICTIM_PORT) && raw_start(&many[i]);
	assert_true(up > 0 && up < CONNS);
	check_honest("my place");
	assert_true(raw_open(&other, s, 1, 3, VICTIM_PORT) && raw_start(&other));
	raw_close(&other);
	for (uint32_t i = 0; i < CONNS - 1; i++)
		raw_close(&many[i]);
	victim_fini(&w);
	close_world();
}

/* ---- S16 ---- */

static struct raw odd; /* takes the slow ways */

/* An FPDU whose first segment is lost, and one that comes twice. */
static void
go_slow_ways(void)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);
	uint32_t n = raw_fpdu(octets, &h, NULL, 0);

	raw_run(&odd, IW_SEC);
	s->drop_nth = 1;
	raw_send(&odd, octets, n);
	raw_send(&odd, octets, n);
	raw_run(&odd, 2 * IW_SEC);
	s->dup_nth = 1;
	raw_send(&odd, octets, n);
	raw_run(&odd, IW_SEC);
}

/* A Read whose answer loses its first segment: ACKs that say nothing new, and a retransmission. */
static void
check_duplicate_acks(void)
{
	struct iw_cm_load l;

	raw_forget(&odd);
	s->drop_nth = 2; /* behind the request */
	raw_send(&odd, octets,
		 raw_read_req(octets, 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), (uintptr_t)victim_at(&v, VICTIM_RO)));
	assert_true(raw_await(&odd, VICTIM_MR, 5 * IW_SEC));
	assert_int_equal(iw_cm_load(v.engine, v.conn[1].id, &l), 0);
	assert_true(l.rx_duplicate_acks > 0);
	assert_true(l.retransmits > 0);
	assert_int_equal(l.rx_outside_window, 0);
}

/* A stream whose window is closed (Sends wait for receives): probes lie beyond it, or bring an octet again. */
static void
check_probes(void)
{
	static uint8_t text[60000];
	struct iw_cm_load l;
	struct raw c;

	v.attr.recv_back_pressure = true;
	v.recvs = 0;
	assert_true(raw_open(&c, s, 2, 0, VICTIM_PORT));
	assert_true(raw_start(&c));
	for (uint32_t msn = 1; msn <= 20; msn++) {
		struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, msn, 0);

		raw_send(&c, octets, raw_fpdu(octets, &h, text, sizeof(text)));
	}
	raw_run(&c, 5 * IW_SEC);
	assert_int_equal(iw_cm_load(v.engine, v.conn[2].id, &l), 0);
	assert_in_range(l.rx_outside_window + l.rx_duplicates, 3, 8);
	raw_close(&c);
}

/* Each stream has its own. */
static void
check_loads(void)
{
	struct iw_cm_load l;

	assert_int_equal(iw_cm_load(v.engine, v.conn[1].id, &l), 0);
	assert_int_equal(l.rx_fpdus, 11);
	assert_int_equal(l.rx_small_fpdus, 11);
	assert_int_equal(l.rx_split_fpdus, 1);
	assert_true(l.idle_ms <= 3);
	go_slow_ways();
	assert_int_equal(iw_cm_load(v.engine, v.conn[1].id, &l), 0);
	assert_int_equal(l.rx_fpdus, 14);
	assert_int_equal(l.rx_out_of_order, 1);
	assert_true(l.rx_duplicates > 0);
	assert_true(l.idle_ms >= 500 && l.idle_ms <= 1100);
	assert_int_equal(iw_cm_load(v.engine, v.conn[0].id, &l), 0);
	assert_int_equal(l.rx_small_fpdus + l.rx_split_fpdus + l.rx_out_of_order, 0);
	assert_int_equal(l.rx_duplicate_acks + l.rx_outside_window + l.retransmits, 0);
	check_duplicate_acks();
	check_probes();
	assert_int_equal(iw_cm_load(v.engine, v.listener, &l), -IW_E_NOTCONN);
	assert_int_equal(iw_cm_load(v.engine, 0, &l), -IW_E_STALE);
	assert_int_equal(iw_cm_load(v.engine, v.listener, NULL), -IW_E_INVAL);
}

/* Slow paths that do not end the stream are counted. */
static void
test_S16(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, false, 1, 0);
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS};
	uint32_t n;

	(void)state;
	open_world(&params, 3);
	assert_true(raw_open(&odd, s, 2, 0, VICTIM_PORT) && raw_start(&odd));
	for (uint32_t i = 0; i < 10; i++) {
		raw_send(&odd, octets, raw_fpdu(octets, &h, NULL, 0));
		raw_run(&odd, 100 * IW_US);
	}
	n = raw_fpdu(octets, &h, NULL, 0);
	raw_send(&odd, octets, 3);
	raw_send(&odd, octets + 3, n - 3);
	raw_run(&odd, IW_MS);
	assert_false(raw_ended(&odd));
	assert_int_equal(stat_of(v.engine, "rdmap.rx_empty_segments"), 11);
	assert_int_equal(stat_of(v.engine, "rdmap.rx_slow_fpdus"), 1);
	check_loads();
	raw_close(&odd);
	close_world();
}

/* ---- X7: what host 2 sends is changed under way, its checksum made right ---- */

enum { ETH = 14, IP = 20 };

static struct {
	uint16_t mss;
	bool window; /* of one octet, not scaled */
} tiny;

static void
set(uint8_t *p, uint32_t value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(value >> 8 * (n - 1 - i));
}

static void
change_options(uint8_t *tcp, uint32_t len)
{
	for (uint32_t at = 20; at + 1 < len && tcp[at]; at += tcp[at] == 1 ? 1 : tcp[at + 1]) {
		if (tcp[at] == 2)
			set(tcp + at + 2, tiny.mss, 2);
		else if (tcp[at] == 3)
			tcp[at + 2] = 0;
	}
}

static void
change(struct sim *sim, const struct rte_mbuf *m)
{
	uint8_t *p = rte_pktmbuf_mtod(m, uint8_t *), *tcp = p + ETH + IP;
	uint32_t len = (uint32_t)(p[ETH + 2] << 8 | p[ETH + 3]) - IP, sum;

	(void)sim;
	if (p[12] != 8 || p[13] != 0 || p[ETH + 9] != 6 || p[ETH + 15] != 3)
		return;
	if (tcp[13] & 2)
		change_options(tcp, (uint32_t)(tcp[12] >> 4) * 4);
	else if (tiny.window)
		set(tcp + 14, 1, 2);
	set(tcp + 16, 0, 2);
	sum = iw_cksum_pseudo4(0xc0000203, 0xc0000201, 6, len);
	set(tcp + 16, iw_cksum_finish(iw_cksum_add(sum, 0, tcp, len)), 2);
}

/* A Read of len octets; how many frames all hosts needed for it. */
static uint64_t
read_slowly(struct raw *b, uint32_t len, uint64_t ns)
{
	uint8_t *source = victim_at(&v, VICTIM_RO);
	uint64_t sent = s->sent;
	uint32_t got = 0;

	raw_send(b, octets, raw_read_req(octets, 1, len, iw_mr_rkey(v.mr[VICTIM_RO]), (uintptr_t)source));
	for (uint64_t end = s->now_ns + ns; s->now_ns < end && got < len;) {
		raw_run(b, ns / 1000);
		got = 0;
		for (uint32_t at = 0; at + 2 <= b->len;) {
			uint32_t ulpdu = fpdu_hdr_length_parse(b->in + at);

			if (fpdu_hdr_len(ulpdu) > b->len - at)
				break;
			assert_memory_equal(b->in + at + 16, source + got, ulpdu - 14);
			got += ulpdu - 14;
			at += fpdu_hdr_len(ulpdu);
		}
	}
	assert_int_equal(got, len);
	return s->sent - sent;
}

static void
test_X7(void **state)
{
	static const uint16_t mss[] = {0, 1, 40, 88};
	struct engine_params params = {.nif.mtu = 1500, .max_conns = CONNS};
	struct raw b;

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		tiny.mss = i < 4 ? mss[i] : 1460;
		tiny.window = i == 4;
		open_world(&params, 3);
		s->tap = change;
		assert_true(raw_open(&b, s, 2, 0, VICTIM_PORT));
		raw_send(&b, octets, raw_startup(octets, false, 0x50, 2, "\x00\x10\x00\x10", 4));
		assert_true(raw_await(&b, 24, 300 * IW_SEC));
		raw_forget(&b);
		if (tiny.window) /* an octet now and then (RFC 9293 §3.8.6.2.1) */
			assert_true(read_slowly(&b, 64, 600 * IW_SEC) < 1000);
		else /* no less than 76 octets in a segment, whatever the peer says */
			assert_true(read_slowly(&b, VICTIM_MR, 10 * IW_SEC) < 250);
		check_honest("not slow");
		raw_close(&b);
		close_world();
	}
}

/* The time for an unfinished FPDU can be set; who trickles octets is not saved by them. */
static void
test_X3_settable(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .fpdu_timeout_ns = 5 * IW_SEC};
	struct raw b;

	(void)state;
	open_world(&params, 3);
	assert_true(raw_open(&b, s, 2, 0, VICTIM_PORT) && raw_start(&b));
	raw_send(&b, "\xff\xff", 2);
	for (uint32_t i = 0; i < 4; i++) {
		raw_run(&b, IW_SEC);
		assert_false(raw_ended(&b));
		raw_send(&b, "A", 1);
	}
	raw_run(&b, 2 * IW_SEC);
	assert_true(b.bits & TCP_READY_RST);
	raw_close(&b);
	close_world();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_S10),         cmocka_unit_test(test_S16),       cmocka_unit_test(test_S19),
		cmocka_unit_test(test_S20),         cmocka_unit_test(test_X5),        cmocka_unit_test(test_X7),
		cmocka_unit_test(test_X3_settable), cmocka_unit_test(test_X8_policy), cmocka_unit_test(test_S9_quota),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
