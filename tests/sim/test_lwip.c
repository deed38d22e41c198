/* SPDX-License-Identifier: BSD-3-Clause */
/* Our TCP against lwIP's: streams both ways over a seeded wire that loses, reorders, duplicates and corrupts; both
 * roles; what arrives is what was sent, and both ends close; over IPv6 in a run with IW_TEST_FAMILY=6. test_lwip [SEED
 * [OCTETS]]  repeats a run by its seed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_addr.h"
#include "iw_time.h"
#include "lwip_peer.h"
#include "mbufpool.h"
#include "net_face.h"
#include "start.h"
#include "tcp_face.h"
#include "wire.h"

#define FRAMES 2048
#define ETH 14
#define PORT 4420
#define PEER_PORT 3333

struct flight {
	uint64_t at_ns, order;
	uint32_t len;
	bool to_us;
	uint8_t frame[1600];
};

struct world {
	struct iw_env env;
	struct net *net;
	struct tcp *tcp;
	struct lwip_peer peer;
	uint64_t now_ns, rng, order, jitter_ns;
	uint32_t loss_ppm, dup_ppm, corrupt_ppm;
	uint32_t conn, bits;
	uint64_t sent, want, got, hash, corrupted;
	bool closed;
	struct flight *wire; /* FRAMES; len 0: free */
};

static uint64_t first_seed = 1, octets = 1u << 20;

static uint64_t
draw(struct world *w)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return w->rng;
}

/* ---- the wire ---- */

static void
fly(struct world *w, bool to_us, const uint8_t *frame, uint32_t len)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct flight *f = &w->wire[i];

		if (f->len)
			continue;
		f->at_ns = w->now_ns + 100 * IW_US + (w->jitter_ns ? draw(w) % w->jitter_ns : 0);
		f->order = w->order++;
		f->to_us = to_us;
		f->len = len;
		memcpy(f->frame, frame, len);
		if (draw(w) % 1000000 < w->corrupt_ppm) {
			f->frame[ETH + draw(w) % (len - ETH)] ^= (uint8_t)(1 << draw(w) % 8);
			w->corrupted++;
		}
		return;
	}
}

static void
send_frame(struct world *w, bool to_us, const uint8_t *frame, uint32_t len)
{
	assert_true(len <= sizeof(w->wire->frame));
	if (draw(w) % 1000000 < w->loss_ppm)
		return;
	fly(w, to_us, frame, len);
	if (draw(w) % 1000000 < w->dup_ppm)
		fly(w, to_us, frame, len);
}

static void
from_lwip(void *arg, const uint8_t *packet, uint32_t len)
{
	static const uint8_t eth4[ETH] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
	static const uint8_t eth6[ETH] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd};
	uint8_t frame[1600];

	memcpy(frame, wire_is_v6() ? eth6 : eth4, ETH);
	memcpy(frame + ETH, packet, len);
	send_frame(arg, true, frame, ETH + len);
}

static void
to_us(struct world *w, struct rte_mbuf *m)
{
	struct net_icmp_err err;
	struct net_pkt pkt;
	enum net_verdict v = net_rx(w->net, m, w->now_ns, &pkt, &err);

	if (v == NET_TCP)
		tcp_rx(w->tcp, m, &pkt, w->now_ns);
	else if (v == NET_HOST)
		rte_pktmbuf_free(m);
}

static void
deliver(struct world *w, const struct flight *f)
{
	struct rte_mbuf *m;

	if (!f->to_us) {
		lwip_peer_input(&w->peer, f->frame + ETH, f->len - ETH);
		return;
	}
	m = rte_pktmbuf_alloc(w->env.data_pool);
	assert_non_null(m);
	memcpy(rte_pktmbuf_append(m, (uint16_t)f->len), f->frame, f->len);
	to_us(w, m);
}

/* The earliest that is on its way; NULL: none. */
static struct flight *
next_flight(struct world *w)
{
	struct flight *best = NULL;

	for (uint32_t i = 0; i < FRAMES; i++) {
		struct flight *f = &w->wire[i];

		if (f->len && (!best || f->at_ns < best->at_ns || (f->at_ns == best->at_ns && f->order < best->order)))
			best = f;
	}
	return best;
}

static void
drain(struct world *w)
{
	struct rte_mbuf *out[64];
	uint8_t buf[WIRE_FRAME_MAX];
	uint32_t n = net_drain(w->net, out, 64);

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *answer = wire_neighbour_answer(w->env.data_pool, out[i]);

		if (answer)
			to_us(w, answer);
		else
			send_frame(w, false, rte_pktmbuf_read(out[i], 0, out[i]->pkt_len, buf), out[i]->pkt_len);
		if (!answer && out[i]->nb_segs > 1)
			assert_true(out[i]->pkt_len <= sizeof(buf));
		rte_pktmbuf_free(out[i]);
	}
}

/* ---- our application ---- */

static void
read_all(struct world *w)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n = tcp_rx_peek(w->tcp, w->conn, views, TCP_PEEK_VIEWS), done = 0;

	for (uint32_t i = 0; i < n; i++) {
		w->hash = lwip_peer_hash(w->hash, iw_view_data(&views[i]), views[i].len);
		done += views[i].len;
	}
	w->got += done;
	tcp_rx_consume(w->tcp, w->conn, done, w->now_ns);
}

static void
write_all(struct world *w)
{
	struct tcp_grant g = tcp_tx_grant(w->tcp, w->conn);

	for (uint32_t k = 0; k < g.segments && w->sent < w->want; k++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(w->env.data_pool);
		uint64_t left = w->want - w->sent;
		uint16_t len = (uint16_t)(left < g.emss ? left : draw(w) % 8 ? g.emss : 1 + draw(w) % g.emss);

		assert_non_null(m);
		m->data_off = TCP_HEADROOM;
		m->data_len = len;
		m->pkt_len = len;
		for (uint16_t i = 0; i < len; i++)
			rte_pktmbuf_mtod(m, uint8_t *)[i] = lwip_peer_octet(0, w->sent + i);
		if (tcp_tx_append(w->tcp, w->conn, m))
			return;
		w->sent += len;
	}
}

static void
turn(struct world *w)
{
	struct tcp_ready r;

	net_tick(w->net, w->now_ns);
	tcp_tick(w->tcp, w->now_ns);
	while (tcp_ready_next(w->tcp, &r)) {
		if (r.bits & TCP_READY_UP && r.listener)
			tcp_adopt(w->tcp, r.conn, 1, NULL);
		w->conn = r.conn;
		w->bits |= r.bits;
	}
	if (w->conn && w->bits & TCP_READY_UP) {
		read_all(w);
		write_all(w);
		if (w->sent == w->want && !w->closed) {
			w->closed = true;
			tcp_close(w->tcp, w->conn, w->now_ns);
		}
	}
	tcp_tx_emit(w->tcp, 64, w->now_ns);
	drain(w);
	lwip_peer_turn(&w->peer, w->now_ns);
}

static void
step(struct world *w)
{
	struct flight *f;
	uint64_t next;

	turn(w);
	f = next_flight(w);
	next = iw_time_min(tcp_deadline(w->tcp), net_deadline(w->net));
	next = iw_time_min(next, w->peer.next_tick_ns);
	if (f)
		next = iw_time_min(next, f->at_ns);
	w->now_ns = next > w->now_ns ? next : w->now_ns + IW_US;
	for (uint32_t i = 0; i < 32 && (f = next_flight(w)) != NULL && f->at_ns <= w->now_ns; i++) {
		deliver(w, f);
		f->len = 0;
	}
}

/* ---- runs ---- */

static bool
start(struct world *w, uint64_t seed)
{
	struct tcp_params params = {.max_conns = 4, .max_listeners = 1, .max_timewait = 4, .max_ooo_mbufs = 1000};
	struct iw_addr peer = wire_addr(WIRE_PEER, 0);
	struct netif nif = wire_netif();

	memset(w, 0, sizeof(*w));
	w->now_ns = start_ns();
	w->rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	if (!lwip_peer_init(&w->peer, &peer, from_lwip, w))
		return false;
	w->wire = calloc(FRAMES, sizeof(*w->wire));
	w->env.data_pool = mbufpool_create("data", 9216, 0);
	w->env.ctl_pool = mbufpool_create("ctl", 512, 0);
	memset(w->env.secret, (int)seed, sizeof(w->env.secret));
	nif.mtu = 1500;
	w->net = net_create(&w->env, &nif, 16, w->now_ns);
	w->tcp = tcp_create(&w->env, w->net, &params, w->now_ns);
	assert_non_null(w->tcp);
	return true;
}

static void
finish(struct world *w)
{
	lwip_peer_fini(&w->peer);
	tcp_destroy(w->tcp);
	net_destroy(w->net);
	mbufpool_destroy(w->env.data_pool);
	mbufpool_destroy(w->env.ctl_pool);
	free(w->wire);
}

static uint64_t
hash_of(uint32_t which, uint64_t n)
{
	uint64_t hash = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint8_t octet = lwip_peer_octet(which, i);

		hash = lwip_peer_hash(hash, &octet, 1);
	}
	return hash;
}

static void
open_up(struct world *w, bool active)
{
	static uint16_t run; /* lwIP remembers connections of earlier runs in TIME_WAIT */
	struct iw_addr any = {.port = PORT}, local = {.port = (uint16_t)(2222 + run)};
	struct iw_addr remote = wire_addr(WIRE_PEER, (uint16_t)(PEER_PORT + run)), us = wire_addr(WIRE_US, PORT);
	uint32_t listener;

	if (active) {
		lwip_peer_listen(&w->peer, remote.port);
		assert_int_equal(tcp_open(w->tcp, &local, &remote, NULL, 5, w->now_ns, &w->conn), 0);
	} else {
		assert_int_equal(tcp_listen(w->tcp, &any, 4, 9, &listener), 0);
		lwip_peer_connect(&w->peer, remote.port, &us);
	}
	run++;
}

static void
exchange(uint64_t seed, bool active, uint32_t loss_ppm, uint32_t dup_ppm, uint32_t corrupt_ppm, uint64_t jitter_ns)
{
	static struct world w;
	uint64_t end;

	if (!start(&w, seed))
		skip();
	open_up(&w, active);
	w.loss_ppm = loss_ppm;
	w.dup_ppm = dup_ppm;
	w.corrupt_ppm = corrupt_ppm;
	w.jitter_ns = jitter_ns;
	w.want = w.peer.want = octets;
	end = w.now_ns + 3600 * IW_SEC;
	while (w.now_ns < end && !(w.bits & TCP_READY_CLOSED && w.peer.closed && w.peer.fin))
		step(&w);
	if (w.got != octets || w.peer.got != octets || w.peer.failed)
		fail_msg("seed %llu active %d: we got %llu, lwIP %llu, failed %d, ready 0x%x", (unsigned long long)seed,
			 active, (unsigned long long)w.got, (unsigned long long)w.peer.got, w.peer.failed, w.bits);
	assert_int_equal(w.hash, hash_of(1, octets));
	assert_int_equal(w.peer.hash, hash_of(0, octets));
	assert_true(w.bits & TCP_READY_FIN);
	assert_true(!corrupt_ppm || w.corrupted);
	assert_false(w.bits & (TCP_READY_RST | TCP_READY_TIMEOUT));
	finish(&w);
}

static void
both_roles(uint32_t loss_ppm, uint32_t dup_ppm, uint32_t corrupt_ppm, uint64_t jitter_ns)
{
	exchange(first_seed, true, loss_ppm, dup_ppm, corrupt_ppm, jitter_ns);
	exchange(first_seed + 1, false, loss_ppm, dup_ppm, corrupt_ppm, jitter_ns);
}

static void
test_clean(void **state)
{
	(void)state;
	both_roles(0, 0, 0, 0);
}

static void
test_loss(void **state)
{
	(void)state;
	both_roles(10000, 0, 0, 0);
}

static void
test_reorder(void **state)
{
	(void)state;
	both_roles(0, 0, 0, 400 * IW_US);
}

static void
test_duplication(void **state)
{
	(void)state;
	both_roles(0, 20000, 0, 0);
}

static void
test_corruption(void **state)
{
	(void)state;
	both_roles(0, 0, 10000, 0);
}

static void
test_all_at_once(void **state)
{
	(void)state;
	both_roles(10000, 10000, 5000, 300 * IW_US);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),      cmocka_unit_test(test_loss),
		cmocka_unit_test(test_reorder),    cmocka_unit_test(test_duplication),
		cmocka_unit_test(test_corruption), cmocka_unit_test(test_all_at_once),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		octets = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
