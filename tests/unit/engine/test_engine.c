/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation with memory short at each place, destruction with work under way, deadlines, delivery. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain.h"
#include "engine_face.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "pair.h"

#define NOW (1000 * IW_SEC)

static const struct engine_params small = {.nif = {.mtu = 1500, .prefix_len = 24, .mac = {2, 0, 0, 0, 0, 1}},
					   .max_conns = 8};
static struct sim sim;
static struct pair pair;

static struct iw_env
make_env(void)
{
	return (struct iw_env){.data_pool = mbufpool_create("data", 2048, 0),
			       .ctl_pool = mbufpool_create("ctl", 1024, 0)};
}

static void
free_env(struct iw_env *env)
{
	mbufpool_destroy(env->data_pool); /* aborts when an mbuf is missing */
	mbufpool_destroy(env->ctl_pool);
}

/* A sanitizer sees what a failed creation leaves behind. */
static void
test_memory_short_at_each_place(void **state)
{
	uint8_t secret[IW_SECRET_LEN] = {1};
	struct iw_domain *domain = domain_create(secret);
	struct engine_params params = small;
	struct iw_env env = make_env();
	struct iw_engine *e = NULL;
	uint32_t fuse = 0;

	(void)state;
	params.nif.addr = sim_addr(0, 0);
	while (!e) {
		iw_env_alloc_fuse = ++fuse;
		e = engine_create(domain, &env, &params, NOW);
		/* It fails whenever an allocation did. */
		assert_int_equal(e == NULL, iw_env_alloc_fuse == 0);
		assert_true(fuse < 1000);
	}
	iw_env_alloc_fuse = 0;
	assert_true(fuse > 10);
	engine_destroy(e);
	free_env(&env);
	assert_int_equal(iw_domain_destroy(domain), 0);
}

/* What is created first and what only when it is used: QPs, CQs and ids come from what is there already. */
static void
test_idle(void **state)
{
	struct rte_mbuf *out[4];

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	assert_true(engine_deadline(sim.host[0].engine) > NOW);
	assert_int_equal(engine_deliver(sim.host[0].engine), 0);
	assert_int_equal(engine_tx(sim.host[0].engine, out, 4, sim.now_ns), 0);
	sim_fini(&sim);
}

/* A SYN that nobody answers is due again before the connection's time is up, and never in the past. */
static void
test_deadline_moves(void **state)
{
	uint64_t last = 0, at;

	(void)state;
	sim_init(&sim, 2, 2, 1500);
	pair_init(&pair, &sim, NULL);
	sim.host[1].cut = true;
	assert_false(pair_connect(&pair, IW_SEC));
	for (int i = 0; i < 20; i++) {
		sim_run(&sim, IW_SEC);
		at = engine_deadline(sim.host[0].engine);
		assert_true(at == IW_NEVER || at > sim.now_ns - 2 * IW_MS);
		assert_true(at >= last);
		last = at == IW_NEVER ? last : at;
	}
	/* The time for a connection is up: 10 s, and the user was told once. */
	assert_int_equal(pair.end[0].events, 1);
	assert_int_equal(pair.end[0].event[0], IW_CM_CONNECT_REPLY);
	assert_true(pair.end[0].status[0] == -IW_E_TIMEDOUT || pair.end[0].status[0] == -IW_E_HOSTUNREACH);
	pair_fini(&pair);
	sim_fini(&sim);
}

/* ---- the clock of these tests goes from deadline to deadline: one that is told late comes late ---- */

static void
test_deadline_of_net(void **state)
{
	struct engine_params params = {.nif = {.mtu = 1500, .claim = true}, .max_conns = 4};
	struct iw_addr_info a = {.state = IW_ADDR_TENTATIVE};
	uint64_t start;

	(void)state;
	sim_init_params(&sim, 5, 1, &params);
	start = sim.now_ns;
	net_own_claim(sim.host[0].engine->net, start);
	while (a.state == IW_ADDR_TENTATIVE && sim.now_ns < start + 100 * IW_SEC) {
		sim_step(&sim, start + 100 * IW_SEC);
		iw_engine_addrs(sim.host[0].engine, &a, 1);
	}
	assert_in_range(sim.now_ns, start + 100 * IW_MS, start + IW_SEC);
	sim_fini(&sim);
}

static void
test_deadline_of_rdmap(void **state)
{
	struct iw_qp_attr attr = {.recv_back_pressure = true, .recv_wait_ms = 700};
	struct iw_send_wr wr = {.opcode = IW_WR_SEND};
	uint64_t start;

	(void)state;
	sim_init(&sim, 5, 2, 1500);
	pair_init(&pair, &sim, &attr);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	sim_run(&sim, IW_SEC);
	start = sim.now_ns;
	assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0); /* nobody posts a receive for it */
	assert_true(sim_until(&sim, &pair.end[1].closed, 100 * IW_SEC));
	assert_in_range(sim.now_ns, start + 700 * IW_MS, start + 710 * IW_MS);
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

/* A Send waits for a receive.  Whoever posts one need not wait, too. */
static void
test_deadline_of_a_posted_receive(void **state)
{
	struct iw_qp_attr attr = {.recv_back_pressure = true, .foreign_poster = true};
	struct iw_send_wr wr = {.opcode = IW_WR_SEND};
	struct iw_recv_wr recv = {.num_sge = 0};
	uint64_t start, at;
	struct iw_wc wc;

	(void)state;
	sim_init(&sim, 5, 2, 1500);
	pair_init(&pair, &sim, &attr);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0);
	sim_run(&sim, IW_SEC);
	start = sim.now_ns;
	assert_int_equal(iw_post_recv(pair.end[1].qp, &recv, NULL), 0);
	do {
		at = sim.now_ns;
		sim_step(&sim, start + 100 * IW_SEC);
	} while (iw_cq_poll(pair.end[1].cq, &wc, 1) == 0);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_in_range(at, start, start + IW_MS);
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

static void
test_deadline_of_cm(void **state)
{
	uint64_t start;

	(void)state;
	sim_init(&sim, 5, 2, 1500);
	pair_init(&pair, &sim, NULL);
	pair.end[0].attr.first_fpdu_delay_us = 800000;
	start = sim.now_ns;
	assert_true(pair_connect(&pair, 9 * IW_SEC));
	assert_in_range(sim.now_ns, start + 800 * IW_MS, start + 810 * IW_MS);
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

/* With connections, posted work and received data that nobody has taken: mbufs and memory come back (sanitizer). */
static void
test_destroy_with_work_under_way(void **state)
{
	static uint8_t memory[300000];
	struct iw_send_wr wr = {.num_sge = 1, .opcode = IW_WR_RDMA_READ, .flags = IW_SEND_SIGNALED};
	struct iw_sge sge = {(uintptr_t)memory, sizeof(memory) / 2, 0};
	struct iw_mr *mr[2];

	(void)state;
	sim_init(&sim, 3, 2, 1500);
	pair_init(&pair, &sim, NULL);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	for (int i = 0; i < 2; i++)
		mr[i] = iw_mr_reg(pair.end[i].pd, memory, sizeof(memory),
				  IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, NULL);
	sge.lkey = iw_mr_lkey(mr[0]);
	wr.sg_list = &sge;
	wr.remote_addr = (uintptr_t)memory + sizeof(memory) / 2;
	wr.rkey = iw_mr_rkey(mr[1]);
	for (int i = 0; i < 8; i++)
		assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0);
	sim_run(&sim, 200 * IW_US);
	for (int i = 0; i < 2; i++)
		engine_destroy(sim.host[i].engine);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(iw_mr_dereg(mr[i]), 0);
		assert_int_equal(iw_pd_destroy(pair.end[i].pd), 0);
		assert_int_equal(iw_domain_destroy(sim.host[i].domain), 0);
	}
	while (sim.frames)
		rte_pktmbuf_free(sim.frame[--sim.frames].m);
	for (int i = 0; i < 2; i++) {
		mbufpool_destroy(sim.host[i].data_pool);
		mbufpool_destroy(sim.host[i].ctl_pool);
		mbufpool_destroy(sim.host[i].loan_pool);
	}
}

/* The peer hears of it at once. */
static void
test_abort_tells_the_peer(void **state)
{
	(void)state;
	sim_init(&sim, 4, 2, 1500);
	pair_init(&pair, &sim, NULL);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	engine_abort(sim.host[0].engine);
	/* The RST waits in net's queue: that is work, whether or not anything else comes. */
	assert_false(net_tx_is_empty(sim.host[0].engine->net));
	assert_false(engine_is_idle(sim.host[0].engine));
	assert_int_equal(engine_deadline(sim.host[0].engine), 0);
	sim_run(&sim, 10 * IW_MS);
	assert_true(pair.end[1].closed);
	assert_int_equal(pair.end[1].last.type, IW_CM_CLOSE);
	assert_int_equal(pair.end[1].last.status, -IW_E_CONNRESET);
	/* Its own ids are gone without a word. */
	assert_int_equal(pair.end[0].events, 1);
	pair.end[0].id = 0;
	pair_fini(&pair);
	sim_fini(&sim);
}

/* ---- delivery ---- */

static uint32_t told;

static uint64_t
later(const struct iw_engine *e)
{
	return e->now_ns + IW_SEC;
}

/* Asks for the end, as lib/port does for iw_engine_destroy(). */
static int
end_it(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct iw_engine *e = context;

	(void)id;
	(void)event;
	told++;
	e->destroy_asked = true;
	assert_true(e->in_handler);
	assert_int_equal(engine_now(e), e->now_ns); /* one time for a whole turn */
	return 0;
}

/* From inside a handler: no other one is called any more. */
static void
test_end_asked_in_a_handler(void **state)
{
	struct iw_addr to = sim_addr(1, 7); /* nobody listens */
	struct iw_qp *qp[2];
	struct iw_engine *e;
	iw_cm_id id[2];

	(void)state;
	sim_init(&sim, 5, 2, 1500);
	e = sim.host[0].engine;
	pair_init(&pair, &sim, NULL);
	sim.host[0].unheard = true;
	told = 0;
	for (int i = 0; i < 2; i++) {
		struct iw_qp_attr attr = {.send_cq = pair.end[0].cq, .recv_cq = pair.end[0].cq};

		qp[i] = iw_qp_create(e, pair.end[0].pd, &attr, NULL);
		id[i] = iw_cm_create(e, end_it, e);
		assert_int_equal(iw_cm_connect(e, id[i], &to, qp[i], NULL), 0);
	}
	sim_run(&sim, IW_SEC);
	e->clock = later;
	assert_int_equal(engine_now(e), e->now_ns + IW_SEC);
	assert_int_equal(engine_deliver(e), 1);
	assert_int_equal(told, 1);
	assert_false(e->in_handler);
	e->destroy_asked = false;
	assert_int_equal(engine_deliver(e), 1);
	assert_int_equal(told, 2);
	e->destroy_asked = false;
	e->clock = NULL;
	sim.host[0].unheard = false;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(iw_cm_destroy(e, id[i]), 0);
		assert_int_equal(iw_qp_destroy(qp[i]), 0);
	}
	pair_fini(&pair);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_short_at_each_place),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_deadline_moves),
		cmocka_unit_test(test_deadline_of_net),
		cmocka_unit_test(test_deadline_of_rdmap),
		cmocka_unit_test(test_deadline_of_a_posted_receive),
		cmocka_unit_test(test_deadline_of_cm),
		cmocka_unit_test(test_destroy_with_work_under_way),
		cmocka_unit_test(test_abort_tells_the_peer),
		cmocka_unit_test(test_end_asked_in_a_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
