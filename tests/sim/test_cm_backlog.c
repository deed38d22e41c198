/* SPDX-License-Identifier: BSD-3-Clause */
/* Backlog exhausted, one of the races that other connection managers had: more peers at once than a listener wants.
 * With bursts of 1 and 32 frames, and with each single frame lost, doubled and late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "sim.h"

#define PORT 4420
#define BACKLOG 2
#define CROWD 6
#define FRAMES 48 /* of the whole crowd, about */
#define THINKS (20 * IW_MS)

/* One connection, as an end sees it. */
struct party {
	iw_cm_id id;
	struct iw_qp *qp;
	uint64_t accept_at; /* 0: not asked, or answered */
	uint32_t replies, closes;
	bool up, refused, over;
};

struct side {
	struct iw_engine *e;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct party party[2 * CROWD];
	uint32_t n, asking, most_asking;
};

static struct sim sim;
static struct side side[2];
static iw_cm_id listener;

static struct iw_qp *
new_qp(struct side *s)
{
	struct iw_qp_attr attr = {.send_cq = s->cq, .recv_cq = s->cq, .sq_depth = 4, .rq_depth = 4};
	int err;
	struct iw_qp *qp = iw_qp_create(s->e, s->pd, &attr, &err);

	assert_int_equal(err, 0);
	return qp;
}

static struct party *
party_of(struct side *s, iw_cm_id id)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->party[i].id == id)
			return &s->party[i];
	return NULL;
}

static int
on_near(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	struct party *p = party_of(&side[0], id);

	assert_non_null(p);
	if (ev->type == IW_CM_CONNECT_REPLY) {
		assert_int_equal(p->replies++, 0);
		p->up = ev->status == 0;
		p->refused = ev->status == -IW_E_CONNREFUSED;
		p->over = !p->up;
		if (p->up)
			assert_int_equal(iw_cm_disconnect(side[0].e, id, false), 0);
	} else if (ev->type == IW_CM_CLOSE) {
		assert_true(p->up && p->closes++ == 0);
		p->over = true;
	}
	return 0;
}

static int
on_far(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	struct side *s = &side[1];
	struct party *p = party_of(s, id);

	if (ev->type == IW_CM_CONNECT_REQUEST) {
		assert_null(p);
		assert_true(s->n < 2 * CROWD);
		p = &s->party[s->n++];
		*p = (struct party){.id = id, .accept_at = sim.now_ns + THINKS};
		s->asking++;
		s->most_asking = s->asking > s->most_asking ? s->asking : s->most_asking;
	} else if (ev->type == IW_CM_CLOSE) {
		assert_int_equal(p->closes++, 0);
		p->over = true;
	}
	return 0;
}

static void
answer_those_due(void)
{
	struct side *s = &side[1];

	for (uint32_t i = 0; i < s->n; i++) {
		struct party *p = &s->party[i];

		if (!p->accept_at || sim.now_ns < p->accept_at)
			continue;
		p->accept_at = 0;
		s->asking--;
		p->qp = new_qp(s);
		p->over = iw_cm_accept(s->e, p->id, p->qp, NULL) != 0;
	}
}

static void
all_at_once(void)
{
	struct iw_addr to = sim_addr(1, PORT);
	struct iw_cm_attr attr = {.require_peer_to_peer = true}; /* no second attempt */

	side[0].n = CROWD;
	for (uint32_t i = 0; i < CROWD; i++) {
		struct party *p = &side[0].party[i];

		*p = (struct party){.id = iw_cm_create(side[0].e, on_near, NULL), .qp = new_qp(&side[0])};
		assert_int_equal(iw_cm_connect(side[0].e, p->id, &to, p->qp, &attr), 0);
	}
}

static bool
is_over(const struct side *s)
{
	bool over = true;

	for (uint32_t i = 0; i < s->n; i++)
		over = over && s->party[i].over;
	return over;
}

static void
leave(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		assert_int_equal(iw_cm_destroy(s->e, s->party[i].id), 0);
		if (s->party[i].qp)
			assert_int_equal(iw_qp_destroy(s->party[i].qp), 0);
	}
	s->n = s->asking = s->most_asking = 0;
}

/* Everybody hears exactly one answer: served in turn, or refused with a whole Request in hand; never more wait for the
 * listener's user than it wanted, and it goes on to serve. */
static void
run_crowd(bool faultless)
{
	uint64_t end = sim.now_ns + 60 * IW_SEC;
	uint32_t served = 0;

	all_at_once();
	while (sim.now_ns < end && !(is_over(&side[0]) && is_over(&side[1]))) {
		sim_step(&sim, sim.now_ns + 5 * IW_MS);
		answer_those_due();
	}
	assert_true(side[1].most_asking == BACKLOG);
	for (uint32_t i = 0; i < CROWD; i++) {
		assert_int_equal(side[0].party[i].replies, 1);
		assert_true(side[0].party[i].up || side[0].party[i].refused || !faultless);
		served += side[0].party[i].up;
	}
	assert_true(served + (faultless ? 0 : 1) >= BACKLOG);
	leave(&side[0]);
	leave(&side[1]);
	sim.drop_nth = sim.dup_nth = sim.late_nth = 0;
	sim_run(&sim, 10 * IW_SEC);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(tcp_conn_count(side[n].e->tcp), 0);
		assert_int_equal(cm_id_count(side[n].e->cm), n);
		assert_int_equal(rdmap_qp_count(side[n].e->rdmap), 0);
	}
}

static void
open_net(uint32_t burst)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 64, .tcp.msl_ns = 1 * IW_SEC};
	struct iw_addr any = {.port = PORT};

	sim_init_params(&sim, 1, 2, &params);
	sim.burst = burst;
	sim.wire.delay_ns = 50 * IW_US;
	memset(side, 0, sizeof(side));
	for (uint32_t n = 0; n < 2; n++) {
		side[n].e = sim.host[n].engine;
		side[n].pd = iw_pd_create(sim.host[n].domain);
		side[n].cq = iw_cq_create(side[n].e, 1024, NULL, NULL);
	}
	listener = iw_cm_create(side[1].e, on_far, NULL);
	assert_int_equal(iw_cm_listen(side[1].e, listener, &any, BACKLOG), 0);
}

static void
close_net(void)
{
	assert_int_equal(iw_cm_destroy(side[1].e, listener), 0);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(iw_cq_destroy(side[n].cq), 0);
		assert_int_equal(iw_pd_destroy(side[n].pd), 0);
	}
	sim_run(&sim, 10 * IW_SEC);
	sim_fini(&sim); /* fails when an mbuf is out */
}

static void
sweep(uint32_t burst)
{
	open_net(burst);
	run_crowd(true);
	for (uint32_t k = 1; k <= FRAMES; k++)
		for (uint32_t fault = 0; fault < 3; fault++) {
			sim.drop_nth = fault == 0 ? k : 0;
			sim.dup_nth = fault == 1 ? k : 0;
			sim.late_nth = fault == 2 ? k : 0;
			run_crowd(false);
		}
	close_net();
}

static void
test_backlog_burst_1(void **state)
{
	(void)state;
	sweep(1);
}

static void
test_backlog_burst_32(void **state)
{
	(void)state;
	sweep(32);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backlog_burst_1),
		cmocka_unit_test(test_backlog_burst_32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
