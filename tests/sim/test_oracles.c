/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracles can fail: for each of them a run in which the library is made to break the promise, by a hand in its
 * objects, and which must end with that oracle's words; and the same run without the hand, which must be good.  Each is
 * a process of its own: this program, called with the name of the fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cq.h"
#include "iw_time.h"
#include "oracle.h"
#include "qp.h"
#include "raw.h"
#include "traffic.h"
#include "victim.h"

static bool broken; /* else the run is left alone */
static struct sim *s;

/* ---- a victim and a peer made by hand ---- */

static struct victim v;
static struct raw r;
static uint8_t octets[4096];

static void
begin(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 5, 2, 1500);
	victim_init(&v, s, 0);
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
	assert_true(raw_start(&r));
}

static void
end(void)
{
	raw_close(&r);
	victim_close(&v);
}

static void
leave_mbuf(void)
{
	begin();
	if (broken)
		rte_pktmbuf_alloc(s->host[0].data_pool);
	end();
}

static int
no_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return 0;
}

static void
leave_id(void)
{
	begin();
	if (broken)
		iw_cm_create(v.engine, no_event, NULL);
	end();
}

/* Its last octets are behind the registration, if that is thought longer than it is. */
static void
write_behind(void)
{
	struct ddp_hdr h;

	begin();
	h = ddp_hdr_tagged(0, true, iw_mr_rkey(v.mr[VICTIM_RW]),
			   (uintptr_t)victim_at(&v, VICTIM_RW) + VICTIM_MR - (broken ? 4 : 8));
	v.mr[VICTIM_RW]->len += broken ? 64 : 0;
	raw_send(&r, octets, raw_fpdu(octets, &h, "written!", 8));
	raw_run(&r, IW_MS);
	end();
}

static void
read_behind(void)
{
	begin();
	v.mr[VICTIM_RO]->len += broken ? 64 : 0;
	raw_send(&r, octets,
		 raw_read_req(octets, 1, 64, iw_mr_rkey(v.mr[VICTIM_RO]),
			      (uintptr_t)victim_at(&v, VICTIM_RO) + VICTIM_MR - (broken ? 32 : 64)));
	raw_run(&r, IW_MS);
	assert_true(r.len > 64);
	end();
}

/* A registration that was taken back, and is looked at all the same. */
static void
read_after_invalidation(void)
{
	struct iw_mr *mr;
	struct iw_mr copy;

	begin();
	mr = v.mr[VICTIM_RO];
	copy = *mr;
	assert_int_equal(iw_mr_dereg(mr), 0);
	if (broken)
		*mr = copy;
	raw_send(&r, octets, raw_read_req(octets, 1, 64, copy.stag, (uintptr_t)victim_at(&v, VICTIM_RO)));
	raw_run(&r, IW_MS);
	assert_int_equal(raw_terminate(&r), broken ? 0 : 0x0100);
	v.mr[VICTIM_RO] = NULL;
	end();
}

/* The QP sends on behind its Terminate. */
static void
fpdu_behind_terminate(void)
{
	struct rte_mbuf *m;
	struct iw_qp *qp;

	begin();
	qp = v.conn[0].qp;
	raw_send(&r, octets, raw_read_req(octets, 1, 64, 1, 0));
	raw_run(&r, 100 * IW_US);
	assert_int_equal(raw_terminate(&r), 0x0100);
	if (broken) {
		qp->fsm.state = QP_FSM_TERMINATING;
		m = rte_pktmbuf_alloc(s->host[0].data_pool);
		rdmap_tx_fill(qp, m, 1448, NULL, s->now_ns);
		rte_pktmbuf_free(m);
	}
	end();
}

static void
terminate_for_terminate(void)
{
	struct ddp_hdr h = ddp_hdr_untagged(7, true, 0, 2, 1, 0);
	struct rte_mbuf *m;
	struct iw_qp *qp;

	begin();
	qp = v.conn[0].qp;
	raw_send(&r, octets, raw_fpdu(octets, &h, "\x20\x02\0\0", 4));
	raw_run(&r, 100 * IW_US);
	if (broken) {
		qp->fsm.state = QP_FSM_TERMINATING;
		qp->term_len = 4;
		m = rte_pktmbuf_alloc(s->host[0].data_pool);
		rdmap_tx_fill(qp, m, 1448, NULL, s->now_ns);
		rte_pktmbuf_free(m);
	}
	end();
}

static void
close_twice(void)
{
	begin();
	raw_rst(&r);
	raw_run(&r, IW_MS);
	assert_true(v.conn[0].closed);
	if (broken)
		oracle_cm_event(v.engine->cm, v.conn[0].id, &v.conn[0].last);
	end();
}

static void
say(iw_cm_id id, enum iw_cm_event_type type)
{
	const struct iw_cm_event ev = {.type = type};

	if (broken)
		oracle_cm_event(v.engine->cm, id, &ev);
}

static void
answer_unasked(void)
{
	begin();
	say(v.listener, IW_CM_CONNECT_REPLY);
	end();
}

static void
ask_again(void)
{
	begin();
	say(v.conn[0].id, IW_CM_CONNECT_REQUEST);
	end();
}

static void
speak_of_the_dead(void)
{
	iw_cm_id id;

	begin();
	id = iw_cm_create(v.engine, no_event, NULL);
	assert_int_equal(iw_cm_destroy(v.engine, id), 0);
	say(id, IW_CM_TIMEWAIT_EXIT);
	end();
}

/* ---- a pair at work ---- */

static void
complete_twice(void)
{
	struct iw_send_wr wr = {.wr_id = 7, .opcode = IW_WR_RDMA_WRITE, .flags = IW_SEND_SIGNALED};
	struct pair p;
	struct iw_wc wc;

	s = malloc(sizeof(*s));
	sim_init(s, 5, 2, 1500);
	pair_init(&p, s, NULL);
	assert_true(pair_connect(&p, IW_SEC));
	assert_int_equal(iw_post_send(p.end[0].qp, &wr, NULL), 0);
	sim_run(s, IW_MS);
	assert_int_equal(iw_cq_poll(p.end[0].cq, &wc, 1), 1);
	if (broken)
		cq_push(p.end[0].cq, &wc);
	assert_int_equal(iw_cq_poll(p.end[0].cq, &wc, 1), 0);
	assert_true(pair_disconnect(&p, IW_SEC));
	pair_fini(&p);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}

/* A shared receive that nobody posted. */
static void
complete_shared(void)
{
	struct iw_srq_attr srq_attr = {.depth = 16};
	struct iw_recv_wr recv = {.wr_id = 3};
	struct iw_wc wc = {.wr_id = broken ? 4 : 3, .opcode = IW_WC_RECV};
	struct iw_srq *srq;

	begin();
	srq = iw_srq_create(v.engine, v.pd, &srq_attr, NULL);
	wc.qp = iw_qp_create(v.engine, v.pd, &(struct iw_qp_attr){.send_cq = v.cq, .recv_cq = v.cq, .srq = srq}, NULL);
	assert_int_equal(iw_post_srq_recv(srq, &recv, NULL), 0);
	cq_push(v.cq, &wc);
	assert_int_equal(iw_cq_poll(v.cq, &wc, 1), 1);
	assert_int_equal(iw_qp_destroy(wc.qp), 0);
	assert_int_equal(iw_srq_destroy(srq), 0);
	end();
}

/* One octet in the wrong place. */
static void
place_wrongly(void)
{
	struct traffic t;
	struct pair p;

	s = malloc(sizeof(*s));
	sim_init(s, 5, 2, 1500);
	pair_init(&p, s, NULL);
	traffic_init(&t, &p);
	assert_true(pair_connect(&p, IW_SEC));
	traffic_exchange(&t, 10 * IW_SEC);
	assert_true(pair_disconnect(&p, IW_SEC));
	if (broken)
		*(uint8_t *)(uintptr_t)t.end[1].mr[TRAFFIC_READ_INTO]->addr ^= 1;
	traffic_check(&t);
	traffic_fini(&t);
	pair_fini(&p);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}

/* ---- an honest pair beside a hostile peer ---- */

/* The hostile peer's stream ends by its own fault; hand(): what must not befall the other's QP by that. */
static void
beside_hostile(void (*hand)(struct iw_qp *honest))
{
	struct pair p;

	s = malloc(sizeof(*s));
	sim_init(s, 5, 3, 1500);
	pair_init(&p, s, NULL);
	victim_init(&v, s, 1);
	victim_listen(&v);
	assert_true(pair_connect(&p, IW_SEC));
	assert_true(raw_open(&r, s, 2, 1, VICTIM_PORT));
	assert_true(raw_start(&r));
	raw_send(&r, octets, raw_read_req(octets, 1, 64, 1, 0));
	pair_ping(&p, 0, 5 * IW_MS);
	raw_run(&r, IW_MS);
	assert_int_equal(raw_terminate(&r), 0x0100);
	if (broken)
		hand(p.end[1].qp);
	pair_ping(&p, 1, 5 * IW_MS);
	assert_true(pair_disconnect(&p, IW_SEC));
	pair_fini(&p);
	end();
}

static void
fail_honest(struct iw_qp *honest)
{
	assert_int_equal(iw_qp_set_error(honest), 0);
}

/* Its turn never comes. */
static void
delay_honest(struct iw_qp *honest)
{
	(void)honest;
	sim_sleep(s, 1, true);
}

static void
isolate_error(void)
{
	beside_hostile(fail_honest);
}

static void
isolate_delay(void)
{
	beside_hostile(delay_honest);
}

/* ---- */

static const struct fault {
	const char *name, *says;
	void (*run)(void);
} faults[] = {
	{"O1_mbuf", "mbufs leaked", leave_mbuf},
	{"O1_id", "sim.c", leave_id},
	{"O2_twice", "O2:", complete_twice},
	{"O2_shared", "O2:", complete_shared},
	{"O3_write", "O3:", write_behind},
	{"O4_read", "O4:", read_behind},
	{"O4_invalidated", "O4:", read_after_invalidation},
	{"O5_behind", "O5: an FPDU behind", fpdu_behind_terminate},
	{"O5_answer", "O5: a Terminate in answer", terminate_for_terminate},
	{"O6_twice", "O6:", close_twice},
	{"O6_reply", "O6:", answer_unasked},
	{"O6_request", "O6:", ask_again},
	{"O6_gone", "O6:", speak_of_the_dead},
	{"O12_error", "O12: an honest connection has ended", isolate_error},
	{"O12_delay", "O12: an honest connection waits", isolate_delay},
	{"O10_place", "differs at", place_wrongly},
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static const struct fault *chosen;

static void
run_chosen(void **state)
{
	(void)state;
	chosen->run();
}

static int
run_fault(const char *name)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(run_chosen)};

	broken = name[0] == '-';
	for (size_t i = 0; i < FAULTS; i++)
		if (!strcmp(faults[i].name, name + broken))
			chosen = &faults[i];
	return chosen ? cmocka_run_group_tests(tests, NULL, NULL) : 99;
}

/* This program with that name; what it says, and its exit status. */
static int
run_self(const char *name, char *says, size_t len)
{
	int fd[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		dup2(fd[1], 2);
		close(fd[0]);
		execl("/proc/self/exe", "test_oracles", name, (char *)NULL);
		_exit(98);
	}
	close(fd[1]);
	while ((got = read(fd[0], says + n, len - 1 - n)) > 0)
		n += (size_t)got;
	says[n] = 0;
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static void
test_each_can_fail(void **state)
{
	char *says = malloc(1 << 16), name[32];

	(void)state;
	for (size_t i = 0; i < FAULTS; i++) {
		if (run_self(faults[i].name, says, 1 << 16) != 0)
			fail_msg("%s fails without its fault: %s", faults[i].name, says);
		snprintf(name, sizeof(name), "-%s", faults[i].name);
		if (run_self(name, says, 1 << 16) == 0 || !strstr(says, faults[i].says))
			fail_msg("%s was not seen: %s", faults[i].name, says);
	}
	free(says);
}

/* What a run draws with this IW_SEED; NULL: without. */
static uint64_t
drawn(const char *seed)
{
	char *before = getenv("IW_SEED"), *kept = before ? strdup(before) : NULL;
	uint64_t first;

	s = malloc(sizeof(*s));
	seed ? setenv("IW_SEED", seed, 1) : unsetenv("IW_SEED");
	sim_init(s, 5, 1, 1500);
	first = sim_draw(s);
	sim_fini(s);
	free(s);
	kept ? setenv("IW_SEED", kept, 1) : unsetenv("IW_SEED");
	free(kept);
	return first;
}

/* Else a soak would repeat one run for ever. */
static void
test_seeds(void **state)
{
	(void)state;
	assert_true(drawn(NULL) == drawn(NULL) && drawn(NULL) == drawn("0"));
	assert_true(drawn("1") == drawn("1") && drawn("1") != drawn("2") && drawn("1") != drawn(NULL));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_seeds), cmocka_unit_test(test_each_can_fail)};

	if (argc > 1)
		return run_fault(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
