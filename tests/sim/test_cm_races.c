/* SPDX-License-Identifier: BSD-3-Clause */
/* The races that other connection managers had, by name: each with bursts of 1 and 32 frames, and with each single
 * frame lost, doubled and late.  Then connect/close cycles, half of them with faults: everything comes back exactly.
 *     test_cm_races [CYCLES [SEED]]   (default 2000) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "sim.h"

#define PORT 4420
#define MORE 3
#define FRAMES 14 /* of a whole connection, about */

static uint32_t cycles = 100000;
static uint64_t seed = 1;

/* What a handler does, as bits; in this order. */
enum act {
	ACCEPT = 1 << 0,
	REJECT = 1 << 1,
	SEND = 1 << 2,
	DISCONNECT = 1 << 3,
	ABRUPT = 1 << 4,
	KILL_QP = 1 << 5,  /* destroys it, with work pending */
	ERROR_QP = 1 << 6, /* sets it to ERROR */
	DESTROY = 1 << 7,
	DESTROY_OTHER = 1 << 8, /* the other id of this host: the listener */
	RETURN_1 = 1 << 9,
	ACCEPT_TWICE = 1 << 10,
	LATER = 1 << 11, /* accept comes 50 ms after the handler */
	NOBODY = 1 << 12 /* start: where nobody listens */
};

struct race {
	const char *name;
	uint16_t start;          /* right behind connect, by A */
	uint16_t on[2][6];       /* by host and event */
	uint64_t start_after_ns; /* not right behind it */
	uint16_t completes[2];   /* by host: inside the handler of the first completion */
	uint32_t loses;          /* this frame, beside the fault */
	bool flaps;              /* A's link goes and comes, and so does the listener */
};

#define ON(event) [IW_CM_##event]
/* clang-format off */
static const struct race races[] = {
	{"graceful", 0, {{ON(CONNECT_REPLY) = SEND | DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT}}, 0},
	{"destroy while an event is queued", 0, {{ON(CONNECT_REPLY) = DISCONNECT | DESTROY}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = DESTROY}}, 0},
	{"the handler returns \"destroy\" as the last reference", 0, {{ON(CONNECT_REPLY) = DISCONNECT, ON(CLOSE) = RETURN_1}, {ON(CONNECT_REQUEST) = ACCEPT, ON(CLOSE) = RETURN_1}}, 0},
	{"CONNECT_REQUEST refused by the handler's result", 0, {{0}, {ON(CONNECT_REQUEST) = RETURN_1}}, 0},
	{"REQUEST, ESTABLISHED and CLOSE in one burst", 0, {{ON(CONNECT_REPLY) = ABRUPT}, {ON(CONNECT_REQUEST) = ACCEPT}}, 0},
	{"destroy from within another id's handler", 0, {{ON(CONNECT_REPLY) = DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT | DESTROY_OTHER}}, 0},
	{"the listener goes with a child in CONN_RECV", 0, {{0}, {ON(CONNECT_REQUEST) = DESTROY_OTHER | REJECT}}, 0},
	{"destroy in CONN_RECV puts a reject on the wire", 0, {{0}, {ON(CONNECT_REQUEST) = DESTROY}}, 0},
	{"QP destroyed with sends pending", 0, {{ON(CONNECT_REPLY) = SEND | KILL_QP}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = SEND}}, 0},
	{"QP set to ERROR by both", 0, {{ON(CONNECT_REPLY) = ERROR_QP}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = ERROR_QP}}, 0},
	{"accept with the peer gone", DESTROY, {{0}, {ON(CONNECT_REQUEST) = ACCEPT | LATER}}, 5 * IW_MS},
	{"accept with a QP that is used, and twice", 0, {{ON(CONNECT_REPLY) = DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT | ACCEPT_TWICE}}, 0},
	{"disconnect from both sides", 0, {{ON(CONNECT_REPLY) = DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT | DISCONNECT}}, 0},
	{"disconnect in ACCEPTED", 0, {{0}, {ON(CONNECT_REQUEST) = ACCEPT | DISCONNECT}}, 0},
	{"abrupt disconnect in ACCEPTED", 0, {{0}, {ON(CONNECT_REQUEST) = ACCEPT | ABRUPT}}, 0},
	{"disconnect in CONN_RECV means nothing", 0, {{ON(CONNECT_REPLY) = DISCONNECT}, {ON(CONNECT_REQUEST) = DISCONNECT | ACCEPT | LATER}}, 0},
	{"reject with private data, then close", 0, {{0}, {ON(CONNECT_REQUEST) = REJECT | DESTROY}}, 0},
	{"SYN-ACK after a local abort", DESTROY, {{0}, {ON(CONNECT_REQUEST) = ACCEPT}}, 60 * IW_US},
	{"RST after a local abort", NOBODY | DESTROY, {{0}, {0}}, 60 * IW_US},
	{"given up behind the Request", DISCONNECT, {{0}, {ON(CONNECT_REQUEST) = ACCEPT}}, 200 * IW_US},
	{"connect and give up in one breath", DISCONNECT, {{0}, {ON(CONNECT_REQUEST) = ACCEPT}}, 0},
	{"graceful, then abrupt", 0, {{ON(CONNECT_REPLY) = SEND | DISCONNECT | ABRUPT}, {ON(CONNECT_REQUEST) = ACCEPT, ON(DISCONNECT) = ABRUPT}}, 0},
	{"destroy while the QP's completion is handled", 0, {{ON(CONNECT_REPLY) = SEND}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = SEND}}, 0, .completes = {DESTROY, DESTROY}},
	{"disconnect while the QP's completion is handled", 0, {{ON(CONNECT_REPLY) = SEND}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = SEND}}, 0, .completes = {DISCONNECT, ABRUPT}},
	{"QP destroyed while its completion is handled", 0, {{ON(CONNECT_REPLY) = SEND}, {ON(CONNECT_REQUEST) = ACCEPT, ON(ESTABLISHED_EV) = SEND}}, 0, .completes = {KILL_QP, KILL_QP}},
	{"the Request comes with the handshake's ACK", 0, {{ON(CONNECT_REPLY) = SEND | DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT}}, 0, .loses = 3},
	{"listen and destroy while the link flaps", 0, {{ON(CONNECT_REPLY) = SEND | DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT}}, 0, .flaps = true},
	{"a peer that does not answer", 0, {{0}, {0}}, 0},
	{"connect refused", NOBODY, {{0}, {0}}, 0},
	{"destroy in DISCONNECT", 0, {{ON(CONNECT_REPLY) = DISCONNECT}, {ON(CONNECT_REQUEST) = ACCEPT, ON(DISCONNECT) = DESTROY}}, 0},
};
/* clang-format on */
#define RACES (sizeof(races) / sizeof(races[0]))

struct host {
	struct iw_engine *e;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	iw_cm_id id, listener;
	const uint16_t *on;
	uint64_t accept_at;
	bool owed, accepted, up, told, quit, gone, idle;
	uint32_t posted, completed, in_call;
	uint32_t completes; /* what the handler of a completion does, once */
};

static struct sim sim;
static struct host hosts[2];

/* ---- what the user does ---- */

static void
post(struct host *h)
{
	struct iw_send_wr wr = {.opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};

	h->posted += h->qp && iw_post_send(h->qp, &wr, NULL) == 0;
}

static void
drain_cq(struct host *h)
{
	struct iw_wc wc;

	while (iw_cq_poll(h->cq, &wc, 1) == 1)
		h->completed++;
	assert_true(h->completed <= h->posted);
}

static struct iw_qp *
new_qp(struct host *h)
{
	struct iw_qp_attr attr = {.send_cq = h->cq, .recv_cq = h->cq, .sq_sig_all = true};
	struct iw_recv_wr wr = {.wr_id = 7};
	int err;

	h->qp = iw_qp_create(h->e, h->pd, &attr, &err);
	assert_int_equal(err, 0);
	for (int i = 0; i < 2; i++)
		h->posted += iw_post_recv(h->qp, &wr, NULL) == 0;
	return h->qp;
}

static void
drop_qp(struct host *h)
{
	if (h->qp)
		assert_int_equal(iw_qp_destroy(h->qp), 0);
	h->qp = NULL;
}

static void
accept_now(struct host *h, uint32_t acts)
{
	struct iw_cm_attr attr = {.private_data = "yes", .private_len = 3};
	int err = iw_cm_accept(h->e, h->id, new_qp(h), &attr);

	assert_true(err == 0 || err == -IW_E_CONNRESET);
	h->accepted = err == 0;
	h->idle |= err != 0;
	if (err == 0 && acts & ACCEPT_TWICE)
		assert_int_equal(iw_cm_accept(h->e, h->id, h->qp, &attr), -IW_E_INVAL);
}

static void
destroy(struct host *h)
{
	iw_cm_id id = h->id;

	assert_int_equal(iw_cm_destroy(h->e, id), 0);
	assert_int_equal(iw_cm_destroy(h->e, id), -IW_E_STALE);
	h->gone = true;
}

static void
act(struct host *h, uint32_t acts)
{
	h->in_call++;
	if (acts & ACCEPT && acts & LATER)
		h->accept_at = sim.now_ns + 50 * IW_MS;
	else if (acts & ACCEPT)
		accept_now(h, acts);
	if (acts & DESTROY_OTHER && h->listener) {
		assert_int_equal(iw_cm_destroy(h->e, h->listener), 0);
		h->listener = 0;
	}
	if (acts & REJECT) {
		int err = iw_cm_reject(h->e, h->id, "no", 2);

		assert_true(err == 0 || err == -IW_E_CONNRESET);
		h->idle = true;
	}
	if (acts & SEND)
		post(h);
	if (acts & (DISCONNECT | ABRUPT)) {
		h->quit |= h->up;
		if (acts & DISCONNECT)
			assert_int_equal(iw_cm_disconnect(h->e, h->id, false), 0);
		if (acts & ABRUPT)
			assert_int_equal(iw_cm_disconnect(h->e, h->id, true), 0);
	}
	if (acts & KILL_QP)
		drop_qp(h);
	if (acts & ERROR_QP)
		assert_int_equal(iw_qp_set_error(h->qp), 0);
	if (acts & DESTROY)
		destroy(h);
	h->in_call--;
}

/* Completions are taken by the handler only when it is asked for. */
static void
on_completion(struct iw_cq *cq, void *context)
{
	struct host *h = context;
	uint32_t acts = h->completes;

	h->completes = 0;
	assert_int_equal(h->in_call, 0);
	drain_cq(h);
	if (acts && h->id && !h->gone)
		act(h, h->qp ? acts : acts & ~(uint32_t)KILL_QP);
}

/* ---- the language of events ---- */

static void
check(struct host *h, const struct iw_cm_event *ev)
{
	assert_false(h->gone);
	assert_int_equal(h->in_call, 0);
	switch (ev->type) {
	case IW_CM_CONNECT_REQUEST:
		assert_memory_equal(ev->private_data, "ask", 3);
		break;
	case IW_CM_CONNECT_REPLY:
		assert_true(h->owed && !h->up);
		h->owed = false;
		h->up = ev->status == 0;
		h->idle = ev->status != 0;
		if (ev->status == -IW_E_CONNREFUSED && ev->private_len)
			assert_memory_equal(ev->private_data, "no", 2);
		break;
	case IW_CM_ESTABLISHED_EV:
		assert_true(h->accepted && !h->up);
		h->accepted = false;
		h->up = true;
		break;
	case IW_CM_DISCONNECT:
		assert_true(h->up && !h->told && !h->quit);
		h->told = true;
		break;
	case IW_CM_CLOSE:
		assert_true(h->up);
		drain_cq(h);
		assert_int_equal(h->completed, h->posted); /* flushed before */
		h->up = false;
		h->idle = true;
		break;
	case IW_CM_TIMEWAIT_EXIT:
		fail();
	}
}

static int
handler(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	struct host *h = context;
	uint32_t acts = h->on[ev->type];

	if (ev->type == IW_CM_CONNECT_REQUEST) {
		assert_int_equal(h->id, 0);
		h->id = id;
	}
	assert_int_equal(id, h->id);
	check(h, ev);
	act(h, acts);
	if (acts & RETURN_1)
		h->gone = true;
	return acts & RETURN_1 ? 1 : 0;
}

/* ---- one connection ---- */

static bool
is_over(const struct host *h)
{
	return h->id == 0 || h->gone || h->idle;
}

static void
listen_again(struct host *h)
{
	struct iw_addr any = {.port = PORT};

	h->listener = iw_cm_create(h->e, handler, h);
	assert_int_equal(iw_cm_listen(h->e, h->listener, &any, 8), 0);
}

static void
prepare(const struct race *r)
{
	for (uint32_t n = 0; n < 2; n++) {
		struct host *h = &hosts[n], keep = *h;

		*h = (struct host){
			.e = keep.e, .pd = keep.pd, .cq = keep.cq, .listener = keep.listener, .on = r->on[n]};
		h->completes = r->completes[n];
		if (h->completes)
			assert_int_equal(iw_cq_arm(h->cq, false), 0);
	}
	if (r->loses && !sim.drop_nth)
		sim.drop_nth = r->loses;
	if (!hosts[1].listener)
		listen_again(&hosts[1]);
}

static void
open_connection(const struct race *r)
{
	/* No second attempt: one CONNECT_REQUEST at most. */
	bool rev_1 = sim_draw(&sim) & 1;
	struct iw_cm_attr attr = {
		.private_data = "ask", .private_len = 3, .revision_1 = rev_1, .require_peer_to_peer = !rev_1};
	struct iw_addr to = sim_addr(1, r->start & NOBODY ? PORT + 1 : PORT);

	hosts[0].id = iw_cm_create(hosts[0].e, handler, &hosts[0]);
	assert_int_equal(iw_cm_connect(hosts[0].e, hosts[0].id, &to, new_qp(&hosts[0]), &attr), 0);
	hosts[0].owed = true;
	if (!(r->start & ~NOBODY))
		return;
	if (r->start_after_ns)
		sim_run(&sim, r->start_after_ns);
	if (!hosts[0].gone)
		act(&hosts[0], r->start);
}

/* Whoever is left without an event of his own to end it does so now. */
static void
clean(uint32_t n)
{
	struct host *h = &hosts[n];

	if (h->id && !h->gone)
		destroy(h);
	drop_qp(h);
	drain_cq(h);
	assert_int_equal(h->completed, h->posted);
}

/* Every 40 ms, for half a second. */
static void
flap(uint64_t since_ns)
{
	struct host *b = &hosts[1];
	uint64_t n = (sim.now_ns - since_ns) / (40 * IW_MS);
	bool out = n < 12 && n & 1;

	if (sim.host[0].cut == out)
		return;
	sim.host[0].cut = out;
	if (b->listener)
		assert_int_equal(iw_cm_destroy(b->e, b->listener), 0);
	b->listener = 0;
	if (!out)
		listen_again(b);
}

static void
run_race(const struct race *r)
{
	uint64_t begun, end;

	sim_run(&sim, IW_US); /* engines know what time it is */
	begun = sim.now_ns;
	end = begun + 30 * IW_SEC;
	prepare(r);
	open_connection(r);
	while (sim.now_ns < end && !(is_over(&hosts[0]) && is_over(&hosts[1]) && !hosts[1].accept_at)) {
		sim_step(&sim, r->flaps ? sim.now_ns + 5 * IW_MS : end);
		if (r->flaps)
			flap(begun);
		if (hosts[1].accept_at && sim.now_ns >= hosts[1].accept_at) {
			hosts[1].accept_at = 0;
			act(&hosts[1], ACCEPT);
		}
	}
	for (uint32_t n = 0; n < 2; n++)
		clean(n);
	sim.host[0].cut = false;
	sim.drop_nth = sim.dup_nth = sim.late_nth = 0;
	sim.wire.loss = sim.wire.dup = 0;
	for (end = sim.now_ns + 200 * IW_SEC; sim.now_ns < end;) {
		if (!tcp_conn_count(hosts[0].e->tcp) && !tcp_conn_count(hosts[1].e->tcp))
			break;
		sim_step(&sim, end);
		hosts[1].accept_at = 0;
		clean(1); /* a Request that came late */
	}
	assert_int_equal(cm_id_count(hosts[0].e->cm), 0);
	assert_int_equal(cm_id_count(hosts[1].e->cm), hosts[1].listener != 0);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(tcp_conn_count(hosts[n].e->tcp), 0);
		assert_int_equal(rdmap_qp_count(hosts[n].e->rdmap), 0);
	}
}

/* ---- the network ---- */

static void
open_net(uint32_t burst)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 64, .tcp.msl_ns = 1 * IW_SEC};

	sim_init_params(&sim, seed, 2, &params);
	sim.burst = burst;
	sim.wire.delay_ns = 50 * IW_US;
	memset(hosts, 0, sizeof(hosts));
	for (uint32_t n = 0; n < 2; n++) {
		hosts[n].e = sim.host[n].engine;
		hosts[n].pd = iw_pd_create(sim.host[n].domain);
		hosts[n].cq = iw_cq_create(hosts[n].e, 256, on_completion, &hosts[n]);
	}
	run_race(&races[0]); /* neighbours are known afterwards, mbufs have settled */
}

static void
close_net(void)
{
	sim_run(&sim, 300 * IW_SEC);
	for (uint32_t n = 0; n < 2; n++) {
		struct host *h = &hosts[n];

		assert_int_equal(tcp_timewait_count(h->e->tcp), 0);
		if (h->listener)
			assert_int_equal(iw_cm_destroy(h->e, h->listener), 0);
		assert_int_equal(iw_cq_destroy(h->cq), 0);
		assert_int_equal(iw_pd_destroy(h->pd), 0);
	}
	sim_run(&sim, 1 * IW_SEC);
	sim_fini(&sim); /* fails when an mbuf is out */
}

static void
sweep(uint32_t burst)
{
	open_net(burst);
	for (size_t r = 0; r < RACES; r++) {
		uint64_t frames = 0;

		/* Each frame of a run without faults, and those that the first faults bring about. */
		for (uint32_t k = 0; k <= frames + MORE; k++)
			for (uint32_t fault = 0; fault < (k ? 3 : 1); fault++) {
				const uint64_t before = sim.sent;

				sim.drop_nth = fault == 0 ? k : 0;
				sim.dup_nth = fault == 1 ? k : 0;
				sim.late_nth = fault == 2 ? k : 0;
				if (getenv("IW_VERBOSE"))
					print_message("%s, fault %u at frame %u\n", races[r].name, fault, k);
				run_race(&races[r]);
				if (!k)
					frames = sim.sent - before;
			}
		assert_true(frames > 0 || races[r].start & DISCONNECT); /* what is given up in one breath */
		if (getenv("IW_VERBOSE"))
			print_message("%s: %u frames\n", races[r].name, (unsigned)frames);
	}
	close_net();
}

static void
test_races_burst_1(void **state)
{
	(void)state;
	sweep(1);
}

static void
test_races_burst_32(void **state)
{
	(void)state;
	sweep(32);
}

/* Mbufs that are out, but for those that an engine keeps at hand. */
static uint32_t
mbufs_out(uint32_t n)
{
	return mbufpool_in_use(sim.host[n].data_pool) + mbufpool_in_use(sim.host[n].ctl_pool) -
	       sim.host[n].engine->stock.n;
}

static void
test_cycles(void **state)
{
	uint32_t in_use[2];

	(void)state;
	open_net(32);
	sim_run(&sim, 100 * IW_SEC);
	for (uint32_t n = 0; n < 2; n++)
		in_use[n] = mbufs_out(n);
	for (uint32_t i = 0; i < cycles; i++) {
		if (i & 1) {
			sim.wire.loss = 0.05;
			sim.wire.dup = 0.05;
			sim.drop_nth = sim_below(&sim, FRAMES);
		}
		run_race(&races[i & 1 ? sim_below(&sim, RACES) : 0]);
	}
	sim_run(&sim, 300 * IW_SEC);
	for (uint32_t n = 0; n < 2; n++)
		assert_int_equal(in_use[n], mbufs_out(n));
	close_net();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_races_burst_1),
		cmocka_unit_test(test_races_burst_32),
		cmocka_unit_test(test_cycles),
	};

	if (argc > 1)
		cycles = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
