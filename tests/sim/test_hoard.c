/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for what comes in is used up by peers that begin FPDUs and do not go on (X3): whoever has been still longest
 * goes, one after another, as long as memory is short; peers that are slow, but move, stay.  And by peers that send
 * octets behind holes (X2).  A whole engine against peers made by hand. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "oracle.h"
#include "raw.h"
#include "stat_of.h"
#include "tcp_pvt.h"
#include "victim.h"

#define MBUFS 512u /* that queues of received octets may hold */
#define LOW 138u   /* of these, for one FPDU in all events */
#define HOARDERS 40u
#define HOARD 8u /* segments of an octet: as many mbufs, none of which is worth packing */
#define SLOW 3u
#define FPDU 60000u /* octets that a slow one writes at a time */
#define PART 2800u  /* and that it sends at a time */
#define AREA (SLOW * 65536u)

static struct sim *s;
static struct victim v;
static struct raw hoarder[HOARDERS], slow[SLOW];
static uint8_t *area, fpdu[SLOW][FPDU + 32];
static struct iw_mr *mr;
static uint32_t fpdu_len;

static uint64_t
counter(const char *name)
{
	return stat_of(v.engine, name);
}

/* The hoarder that begins as the n-th: not the order in which they came. */
static uint32_t
nth(uint32_t n)
{
	return n * 7 % HOARDERS;
}

/* The host serves, and has memory to write to. */
static void
serve(void)
{
	victim_init(&v, s, 0);
	v.recvs = 0;
	victim_listen(&v);
	area = oracle_memory(AREA);
	mr = iw_mr_reg(v.pd, area, AREA, IW_REMOTE_WRITE, NULL);
}

static void
open_world(void)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 64};

	s = malloc(sizeof(*s));
	sim_init_params(s, 11, 3, &params);
	s->host[0].engine->tcp->rxq_pool.max_nodes = MBUFS;
	s->host[0].engine->tcp->rxq_pool.low = LOW;
	serve();
	for (uint32_t i = 0; i < HOARDERS; i++)
		assert_true(raw_open(&hoarder[i], s, 2, 0, VICTIM_PORT) && raw_start(&hoarder[i]));
	for (uint32_t i = 0; i < SLOW; i++)
		assert_true(raw_open(&slow[i], s, 1, 0, VICTIM_PORT) && raw_start(&slow[i]));
}

static void
close_world(void)
{
	for (uint32_t i = 0; i < HOARDERS; i++)
		raw_close(&hoarder[i]);
	for (uint32_t i = 0; i < SLOW; i++)
		raw_close(&slow[i]);
	assert_int_equal(iw_mr_dereg(mr), 0);
	victim_close(&v);
}

/* An FPDU of 64 KiB is announced, and some octets of it come. */
static void
hoard(struct raw *r)
{
	for (uint32_t i = 0; i < HOARD; i++)
		raw_send(r, "\xff\xff\x41\x43\x10\x10\x10\x10" + i, 1);
}

/* Those that are over are the ones that have been still longest, and only they; returns how many. */
static uint32_t
check_order(void)
{
	uint32_t gone = 0;

	while (gone < HOARDERS && v.conn[nth(gone)].closed)
		gone++;
	for (uint32_t n = 0; n < HOARDERS; n++) {
		assert_int_equal(v.conn[nth(n)].closed, n < gone);
		assert_int_equal(v.conn[nth(n)].status, n < gone ? -IW_E_CONNABORTED : 0);
	}
	for (uint32_t i = 0; i < SLOW; i++)
		assert_false(v.conn[HOARDERS + i].closed);
	return gone;
}

static uint8_t
octet(uint32_t peer, uint32_t round, uint32_t i)
{
	return (uint8_t)(i * 13 + (i >> 8) * 7 + round * 31 + peer * 101);
}

static void
make_fpdu(uint32_t peer, uint32_t round)
{
	static uint8_t text[FPDU];
	struct ddp_hdr h = ddp_hdr_tagged(0, true, iw_mr_rkey(mr), (uintptr_t)area + (uint64_t)peer * 65536);

	for (uint32_t i = 0; i < FPDU; i++)
		text[i] = octet(peer, round, i);
	fpdu_len = raw_fpdu(fpdu[peer], &h, text, FPDU);
}

static bool
is_written(uint32_t peer, uint32_t round)
{
	for (uint32_t i = 0; i < FPDU; i++)
		if (area[peer * 65536 + i] != octet(peer, round, i))
			return false;
	return true;
}

/* Every slow one writes an FPDU of its own, a part of it at a time: 28 kB/s. */
static void
write_slowly(uint32_t round)
{
	for (uint32_t i = 0; i < SLOW; i++)
		make_fpdu(i, round);
	for (uint32_t at = 0; at < fpdu_len; at += PART) {
		for (uint32_t i = 0; i < SLOW; i++)
			raw_send(&slow[i], fpdu[i] + at, at + PART < fpdu_len ? PART : fpdu_len - at);
		raw_run(&slow[0], 100 * IW_MS);
		(void)check_order();
	}
	raw_run(&slow[0], 3 * IW_SEC); /* what had been refused comes again */
	for (uint32_t i = 0; i < SLOW; i++)
		assert_true(is_written(i, round));
}

static void
test_X3_worst_first(void **state)
{
	uint32_t gone;

	(void)state;
	open_world();
	for (uint32_t n = 0; n < HOARDERS; n++) {
		hoard(&hoarder[nth(n)]);
		raw_run(&slow[0], 60 * IW_MS);
	}
	raw_send(&hoarder[nth(0)], "\x20", 1); /* a trickle saves nobody */
	raw_run(&slow[0], 5 * IW_SEC);
	assert_int_equal(check_order(), 0); /* nobody wants what they hold */
	for (uint32_t round = 0; round < 3; round++)
		write_slowly(round);
	gone = check_order();
	assert_in_range(gone, 6, HOARDERS - 10); /* as many as were in the way */
	assert_int_equal(counter("cm.drop_slow"), gone);
	assert_int_equal(counter("rdmap.rx_stalled"), 0);
	close_world();
}

/* They have begun all at once: each has a second, whoever wants the memory. */
static void
test_X3_not_at_once(void **state)
{
	(void)state;
	open_world();
	for (uint32_t n = 0; n < HOARDERS; n++)
		hoard(&hoarder[nth(n)]);
	raw_run(&slow[0], 10 * IW_MS);
	for (uint32_t i = 0; i < SLOW; i++) {
		make_fpdu(i, 0);
		raw_send(&slow[i], fpdu[i], fpdu_len / 2);
	}
	raw_run(&slow[0], 900 * IW_MS);
	assert_int_equal(check_order(), 0);
	raw_run(&slow[0], 200 * IW_MS);
	for (uint32_t i = 0; i < SLOW; i++)
		raw_send(&slow[i], fpdu[i] + fpdu_len / 2, fpdu_len - fpdu_len / 2);
	raw_run(&slow[0], 5 * IW_SEC);
	assert_in_range(check_order(), 1, HOARDERS - 10);
	for (uint32_t i = 0; i < SLOW; i++)
		assert_true(is_written(i, 0));
	close_world();
}

/* ---- X2 ---- */

#define PINNERS 1000u
#define PINS 3u     /* segments of an octet that each of them has behind its hole */
#define POOL 2048u  /* mbufs of the host; of these: */
#define QUEUED 768u /* for all that came in, */
#define OOO 512u    /* and of these for what is out of order */
#define ROUNDS 32u  /* FPDUs of the honest peer */
#define LOSS 0.005
#define WORKS 4u

static uint32_t pinner[PINNERS], most; /* mbufs in use at a time */

static void
watch(struct sim *sim, const struct rte_mbuf *m)
{
	uint32_t n = mbufpool_in_use(sim->host[0].data_pool);

	(void)m;
	most = n > most ? n : most;
}

static void
open_honest(void)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = PINNERS + 24, .tcp.max_ooo_mbufs = OOO};

	s = malloc(sizeof(*s));
	sim_init_params(s, 12, 3, &params);
	s->copies = true;
	s->wire.delay_ns = 100 * IW_US;
	s->tap = watch;
	most = 0;
	mbufpool_set_limit(s->host[0].data_pool, POOL);
	s->host[0].engine->tcp->rxq_pool.max_nodes = QUEUED;
	serve();
	assert_true(raw_open(&slow[0], s, 1, 0, VICTIM_PORT) && raw_start(&slow[0]));
}

static void
send_octets(struct raw *r, uint32_t n)
{
	for (uint32_t i = 0; i < PINNERS; i++) {
		r->conn = pinner[i];
		for (uint32_t k = 0; k < n; k++)
			raw_send(r, "M", 1);
		if (i % 16 == 15)
			raw_run(r, 20 * IW_US);
	}
	raw_run(r, IW_MS);
}

/* Each loses an octet under way and sends others behind it; nothing ever fills the holes. */
static void
pin(struct raw *r)
{
	struct iw_addr remote = sim_addr(0, VICTIM_PORT), local = {.port = 0};
	struct tcp *tcp = s->host[2].engine->tcp;

	raw_dial(r, s, 2, 0, VICTIM_PORT);
	pinner[0] = r->conn;
	for (uint32_t i = 1; i < PINNERS; i++) {
		assert_int_equal(tcp_open(tcp, &local, &remote, NULL, 97, s->now_ns, &pinner[i]), 0);
		if (i % 16 == 0)
			raw_run(r, IW_MS);
	}
	raw_run(r, 10 * IW_MS);
	s->host[2].deaf = s->host[2].cut = true;
	send_octets(r, 1);
	s->host[2].cut = false;
	send_octets(r, PINS);
	s->host[2].cut = true;
	r->conn = pinner[0];
}

static void
unpin(struct raw *r)
{
	for (uint32_t i = 1; i < PINNERS; i++) {
		tcp_abort(s->host[2].engine->tcp, pinner[i], s->now_ns);
		tcp_release(s->host[2].engine->tcp, pinner[i], s->now_ns);
	}
	raw_close(r);
}

/* How long an honest peer needs for what it writes. */
static uint64_t
honest_work(uint64_t limit_ns)
{
	uint64_t began = s->now_ns;

	memset(area, 0, FPDU);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		make_fpdu(0, i);
		raw_send(&slow[0], fpdu[0], fpdu_len);
	}
	while (!is_written(0, ROUNDS - 1) && s->now_ns < began + limit_ns)
		raw_run(&slow[0], 20 * IW_US);
	return s->now_ns - began;
}

/* The same, again and again, on a wire that loses some of it. */
static uint64_t
work(bool pinned)
{
	const struct tcp_rxq_pool *pool;
	uint64_t took = 0;
	struct raw r;

	open_honest();
	honest_work(5 * IW_SEC);
	pool = &s->host[0].engine->tcp->rxq_pool;
	if (pinned)
		pin(&r);
	assert_int_equal(pool->ooo_mbufs, pinned ? OOO / 2 : 0);
	s->wire.loss = LOSS;
	for (uint32_t i = 0; i < WORKS; i++)
		took += honest_work(2 * IW_SEC);
	s->wire.loss = 0;
	assert_true(most < POOL / 2); /* they are the port's to receive into */
	assert_int_equal(pool->ooo_mbufs, pinned ? OOO / 2 : 0);
	if (pinned) {
		assert_true(counter("tcp.rx_ooo_dropped") >= PINNERS * PINS - OOO / 2);
		unpin(&r);
	}
	raw_close(&slow[0]);
	assert_int_equal(iw_mr_dereg(mr), 0);
	victim_close(&v);
	return took;
}

/* An honest peer that loses segments, too, keeps half of its goodput at least: there is room for what it sends behind
 * them. */
static void
test_X2(void **state)
{
	uint64_t alone = work(false);

	(void)state;
	assert_in_range(work(true), 1, 2 * alone);
}

/* An argument is a filter: test_X3*. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_X3_worst_first),
		cmocka_unit_test(test_X3_not_at_once),
		cmocka_unit_test(test_X2),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
