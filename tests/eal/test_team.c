/* SPDX-License-Identifier: BSD-3-Clause */
/* Several engines on one port: every connection comes up and carries data, whichever engine its segments reach; on
 * ports with as many queues as engines, with fewer, and with one; in one thread and in one for each. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ends.h"
#include "env.h"
#include "stat_of.h"

#define ENGINES_MAX 4
#define CONNS 24
#define LEN 3000
#define PORT 4420

struct side;

/* An engine and what it needs to take connections. */
struct place {
	struct side *side;
	struct iw_engine *engine;
	iw_cm_id listener;
};

struct conn {
	struct place *at;
	iw_cm_id id;
	struct iw_cq *cq;
	struct iw_qp *qp;
	bool up, closed, received;
	int status;
};

struct side {
	uint16_t port;
	uint32_t n; /* engines */
	struct iw_domain *domain;
	struct iw_pd *pd;
	struct iw_mr *mr;
	struct place place[ENGINES_MAX];
	struct conn conn[CONNS];
	uint32_t conns; /* only the thread that polls counts, but in two_threads() */
	uint8_t area[2 * LEN];
};

static struct side a, b; /* a connects, b listens */
static uint32_t opened;

static struct iw_engine_params
params_of(const struct side *s)
{
	return (struct iw_engine_params){.port_id = s->port,
					 .addr = ends_addr(s == &b, 0),
					 .prefix_len = 24,
					 .max_conns = 64,
					 .num_mbufs = 2047,
					 .no_claim = true};
}

static void
open_side(struct side *s, uint32_t n, enum iw_steering steering)
{
	struct iw_engine_params params = params_of(s);
	struct iw_engine *engines[ENGINES_MAX];
	char why[160];
	int err;

	s->n = n;
	s->domain = iw_domain_create();
	s->pd = iw_pd_create(s->domain);
	s->mr = iw_mr_reg(s->pd, s->area, sizeof(s->area), IW_LOCAL_WRITE, &err);
	assert_non_null(s->mr);
	if (iw_engines_create(s->domain, &params, n, engines, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_string_equal(why, "");
	for (uint32_t i = 0; i < n; i++) {
		s->place[i] = (struct place){.side = s, .engine = engines[i]};
		assert_int_equal(iw_engines_steering(engines[i]), steering);
	}
}

static enum iw_steering
expected(uint32_t n, uint32_t queues)
{
	return n == 1 ? IW_STEERING_NONE : n > queues ? IW_STEERING_SOFTWARE : IW_STEERING_PORT;
}

static void
open_both(uint32_t n_a, uint32_t n_b, uint32_t queues)
{
	char name[16];

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	snprintf(name, sizeof(name), "team%u", ++opened);
	assert_int_equal(iw_wire_create_queues(name, 1024, queues, &a.port, &b.port), 0);
	open_side(&a, n_a, expected(n_a, queues));
	open_side(&b, n_b, expected(n_b, queues));
}

static void
close_conn(struct conn *c)
{
	if (c->id)
		iw_cm_destroy(c->at->engine, c->id);
	assert_int_equal(iw_qp_destroy(c->qp), 0);
	assert_int_equal(iw_cq_destroy(c->cq), 0);
	memset(c, 0, sizeof(*c));
}

static void
close_place(struct place *p)
{
	if (!p->engine)
		return;
	for (uint32_t i = 0; i < CONNS; i++)
		if (p->side->conn[i].at == p)
			close_conn(&p->side->conn[i]);
	if (p->listener)
		iw_cm_destroy(p->engine, p->listener);
	assert_int_equal(iw_engine_destroy(p->engine), 0);
	p->engine = NULL;
}

static void
close_side(struct side *s)
{
	for (uint32_t i = s->n; i-- > 0;)
		close_place(&s->place[i]);
	assert_int_equal(iw_mr_dereg(s->mr), 0);
	assert_int_equal(iw_pd_destroy(s->pd), 0);
	assert_int_equal(iw_domain_destroy(s->domain), 0);
}

static void
close_both(void)
{
	close_side(&a);
	close_side(&b);
	iw_wire_destroy(a.port, b.port);
}

static void
poll_side(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->place[i].engine)
			assert_true(iw_engine_poll(s->place[i].engine) >= 0);
}

/* ---- connections ---- */

static struct conn *
new_conn(struct place *p)
{
	struct side *s = p->side;
	struct conn *c = &s->conn[__atomic_fetch_add(&s->conns, 1, __ATOMIC_RELAXED)];
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	struct iw_sge sge = {(uintptr_t)s->area + LEN, LEN, iw_mr_lkey(s->mr)};
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	int err;

	assert_true(c < s->conn + CONNS);
	c->at = p;
	c->cq = attr.send_cq = attr.recv_cq = iw_cq_create(p->engine, 16, NULL, NULL);
	c->qp = iw_qp_create(p->engine, s->pd, &attr, &err);
	assert_non_null(c->qp);
	assert_int_equal(iw_post_recv(c->qp, &recv, NULL), 0);
	return c;
}

static void
send_one(struct conn *c)
{
	struct iw_sge sge = {(uintptr_t)c->at->side->area, LEN, iw_mr_lkey(c->at->side->mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND};

	assert_int_equal(iw_post_send(c->qp, &wr, NULL), 0);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct conn *c = context;

	switch (event->type) {
	case IW_CM_CONNECT_REPLY:
	case IW_CM_ESTABLISHED_EV:
		c->up = event->status == 0;
		c->status = event->status;
		if (c->up)
			send_one(c);
		break;
	case IW_CM_CLOSE:
		c->closed = true;
		break;
	case IW_CM_CONNECT_REQUEST:
	case IW_CM_DISCONNECT:
	case IW_CM_TIMEWAIT_EXIT:
		break;
	}
	return 0;
}

static int
on_request(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct place *p = context;
	struct conn *c;

	assert_int_equal(event->type, IW_CM_CONNECT_REQUEST);
	c = new_conn(p);
	c->id = id;
	assert_int_equal(iw_cm_set_context(p->engine, id, c), 0);
	return iw_cm_accept(p->engine, id, c->qp, NULL);
}

static int
on_listener(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return event->type == IW_CM_CONNECT_REQUEST ? on_request(id, event, context) : on_event(id, event, context);
}

static void
listen_at(struct place *p)
{
	struct iw_addr addr = ends_addr(1, PORT);

	p->listener = iw_cm_create(p->engine, on_listener, p);
	assert_int_equal(iw_cm_listen(p->engine, p->listener, &addr, CONNS), 0);
}

static void
listen_all(void)
{
	for (uint32_t i = 0; i < b.n; i++)
		if (b.place[i].engine)
			listen_at(&b.place[i]);
}

static struct conn *
connect_from(struct place *p, uint16_t to_port, uint16_t local_port)
{
	struct iw_addr to = ends_addr(1, to_port);
	struct iw_cm_attr attr = {.local_port = local_port};
	struct conn *c = new_conn(p);

	c->id = iw_cm_create(p->engine, on_event, c);
	assert_int_equal(iw_cm_connect(p->engine, c->id, &to, c->qp, &attr), 0);
	return c;
}

static void
reap(struct conn *c)
{
	struct iw_wc wc;

	while (c->cq && iw_cq_poll(c->cq, &wc, 1) == 1) {
		if (wc.status != IW_WC_SUCCESS)
			fail_msg("%s", iw_wc_status_name(wc.status));
		c->received |= wc.opcode == IW_WC_RECV && wc.byte_len == LEN;
	}
}

static bool
all_received(struct side *s, uint32_t want)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CONNS; i++) {
		reap(&s->conn[i]);
		n += s->conn[i].received;
	}
	return n == want;
}

/* Until both sides of all connections have the other's message. */
static void
exchange(uint32_t want)
{
	time_t end = time(NULL) + 20;
	bool done = false;

	while (!done && time(NULL) < end) {
		poll_side(&a);
		poll_side(&b);
		done = all_received(&a, want) & all_received(&b, want);
	}
	assert_true(done);
}

static uint64_t
sum_of(const struct side *s, const char *name)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->place[i].engine)
			sum += stat_of(s->place[i].engine, name);
	return sum;
}

static uint32_t
conns_at(const struct place *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CONNS; i++)
		n += p->side->conn[i].at == p;
	return n;
}

/* ---- tests ---- */

/* Engines of both ends and queues of the wire; listeners on all engines. */
static void
test_all_listen(void **state)
{
	static const struct {
		uint32_t a, b, queues;
	} rows[] = {{1, 2, 1}, {2, 1, 1}, {2, 2, 2}, {2, 2, 1}, {3, 4, 1}, {4, 3, 2}, {1, 4, 4}};

	(void)state;
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		open_both(rows[r].a, rows[r].b, rows[r].queues);
		listen_all();
		for (uint32_t i = 0; i < CONNS; i++)
			connect_from(&a.place[i % a.n], PORT, 0);
		exchange(CONNS);
		/* They spread: by the way of the SYNs, or by their hashes. */
		for (uint32_t i = 0; i < b.n; i++)
			if (b.n != rows[r].queues || a.n == b.n)
				assert_true(conns_at(&b.place[i]) > 0);
		assert_int_equal(sum_of(&a, "port.hand_lost") + sum_of(&b, "port.hand_lost"), 0);
		if (rows[r].queues < rows[r].b)
			assert_true(sum_of(&b, "tcp.rx_strays") > 0 && sum_of(&b, "port.carried") > 0);
		/* A wire that keeps queues apart brings answers back to where the question left. */
		if (rows[r].queues == a.n && a.n == b.n)
			assert_int_equal(sum_of(&a, "tcp.rx_strays") + sum_of(&b, "tcp.rx_strays"), 0);
		close_both();
	}
}

/* One engine listens, and connections choose their own ports: hashes lead anywhere, they are found all the same. */
static void
test_one_listens(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 3; at++)
		for (uint32_t queues = 1; queues <= 3; queues += 2) {
			open_both(3, 3, queues);
			listen_at(&b.place[at]);
			for (uint32_t i = 0; i < CONNS; i++)
				connect_from(&a.place[i % 3], PORT, (uint16_t)(5000 + i));
			exchange(CONNS);
			assert_int_equal(conns_at(&b.place[at]), CONNS);
			assert_true(sum_of(&b, "tcp.rx_strays") > 0);
			close_both();
		}
}

/* All are asked, the last one refuses. */
static void
test_nobody_listens(void **state)
{
	bool *closed;

	(void)state;
	open_both(2, 3, 1);
	listen_all();
	for (int i = 0; i < 8; i++) {
		struct conn *c = connect_from(&a.place[i % 2], PORT + 1, 0);
		time_t end = time(NULL) + 10;

		closed = &c->closed;
		while (c->status == 0 && !*closed && time(NULL) < end) {
			poll_side(&a);
			poll_side(&b);
		}
		assert_int_equal(c->status, -IW_E_CONNREFUSED);
	}
	assert_int_equal(sum_of(&b, "tcp.rx_nobody"), 8);
	assert_int_equal(sum_of(&b, "tcp.tx_rst"), 8);
	close_both();
}

/* The lead goes, and the one that had a queue: another one answers ARP, and takes and sends by their queues. */
static void
forget_conns(struct side *s)
{
	for (uint32_t i = 0; i < CONNS; i++)
		if (s->conn[i].at)
			close_conn(&s->conn[i]);
	s->conns = 0;
}

static void
test_engines_go(void **state)
{
	(void)state;
	for (uint32_t queues = 1; queues <= 3; queues++)
		for (uint32_t left = 1; left < 3; left++) {
			open_both(queues, 3, queues);
			listen_all();
			for (uint32_t i = 0; i < 6; i++)
				connect_from(&a.place[i % a.n], PORT, 0);
			exchange(6);
			for (uint32_t i = 0; i < left; i++)
				close_place(&b.place[i]);
			forget_conns(&b);
			/* The other side begins anew: it has to ask where we are. */
			close_side(&a);
			a.conns = 0;
			open_side(&a, queues, expected(queues, queues));
			for (uint32_t i = 0; i < 6; i++)
				connect_from(&a.place[i % a.n], PORT, 0);
			exchange(6);
			assert_true(stat_of(b.place[left].engine, "net.arp_answered") > 0);
			close_both();
		}
}

/* Ends meet while the engine that has the connection is one and the engine that is told another. */
static void
test_disconnect(void **state)
{
	time_t end;
	uint32_t closed = 0;

	(void)state;
	open_both(2, 3, 1);
	listen_at(&b.place[2]);
	for (uint32_t i = 0; i < CONNS; i++)
		connect_from(&a.place[i % 2], PORT, (uint16_t)(6000 + i));
	exchange(CONNS);
	for (uint32_t i = 0; i < CONNS; i++)
		assert_int_equal(iw_cm_disconnect(a.conn[i].at->engine, a.conn[i].id, false), 0);
	for (end = time(NULL) + 10; closed < 2 * CONNS && time(NULL) < end;) {
		poll_side(&a);
		poll_side(&b);
		closed = 0;
		for (uint32_t i = 0; i < CONNS; i++)
			closed += a.conn[i].closed + b.conn[i].closed;
	}
	assert_int_equal(closed, 2 * CONNS);
	assert_int_equal(sum_of(&a, "tcp.tx_rst") + sum_of(&b, "tcp.tx_rst"), 0);
	close_both();
}

/* ---- a thread for each engine ---- */

static bool over;

static void *
poll_alone(void *engine)
{
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		iw_engine_poll(engine);
	return NULL;
}

static void
test_threads(void **state)
{
	pthread_t thread[3];
	uint32_t n = 0;
	time_t end;

	(void)state;
	open_both(1, 3, 1);
	listen_all();
	over = false;
	for (uint32_t i = 0; i < CONNS; i++)
		connect_from(&a.place[0], PORT, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, poll_alone, b.place[i].engine), 0);
	for (end = time(NULL) + 20; n < CONNS && time(NULL) < end;) {
		poll_side(&a);
		n = 0;
		for (uint32_t i = 0; i < CONNS; i++) {
			reap(&a.conn[i]);
			n += a.conn[i].received;
		}
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(n, CONNS);
	close_both();
}

/* ---- making them ---- */

static void
test_errors(void **state)
{
	struct iw_engine *e[ENGINES_MAX], *many[IW_MAX_ENGINES + 1];
	struct iw_engine_params params;
	char why[160];
	size_t before;
	uint32_t fuse;

	(void)state;
	memset(&a, 0, sizeof(a));
	a.domain = iw_domain_create();
	assert_int_equal(iw_wire_create_queues("teamerr", 64, 0, &a.port, &b.port), -IW_E_INVAL);
	assert_int_equal(iw_wire_create_queues("teamerr", 64, IW_WIRE_QUEUES + 1, &a.port, &b.port), -IW_E_INVAL);
	assert_int_equal(iw_wire_create_queues("teamerr", 64, 2, &a.port, &b.port), 0);
	params = params_of(&a);
	assert_int_equal(iw_engines_create(NULL, &params, 2, e, why, sizeof(why)), -IW_E_INVAL);
	assert_int_equal(iw_engines_create(a.domain, NULL, 2, e, why, sizeof(why)), -IW_E_INVAL);
	assert_int_equal(iw_engines_create(a.domain, &params, 2, NULL, why, sizeof(why)), -IW_E_INVAL);
	assert_int_equal(iw_engines_create(a.domain, &params, 0, e, why, sizeof(why)), -IW_E_INVAL);
	assert_int_equal(iw_engines_create(a.domain, &params, IW_MAX_ENGINES + 1, many, why, sizeof(why)), -IW_E_INVAL);
	assert_non_null(strstr(why, "1 to 64"));
	params.autoconf = true;
	assert_int_equal(iw_engines_create(a.domain, &params, 2, e, why, sizeof(why)), -IW_E_INVAL);
	params.autoconf = false;
	assert_int_equal(iw_engines_steering(NULL), IW_STEERING_NONE);
	for (int s = IW_STEERING_NONE; s <= IW_STEERING_SOFTWARE; s++)
		assert_string_not_equal(iw_engines_steering_name((enum iw_steering)s), "unknown");
	/* Each allocation fails once; nothing is left. */
	assert_int_equal(iw_engines_create(a.domain, &params, 3, e, why, sizeof(why)), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(iw_engine_destroy(e[i]), 0);
	before = ends_heap_in_use();
	for (fuse = 1; fuse < 500; fuse++) {
		iw_env_alloc_fuse = fuse;
		if (iw_engines_create(a.domain, &params, 3, e, why, sizeof(why)) == 0) {
			bool all = iw_env_alloc_fuse != 0;

			iw_env_alloc_fuse = 0;
			for (int i = 0; i < 3; i++)
				assert_int_equal(iw_engine_destroy(e[i]), 0);
			if (all)
				break;
		}
		assert_int_equal(ends_heap_in_use(), before);
		for (int i = 0; i < 3; i++)
			assert_true(e[i] == NULL || iw_env_alloc_fuse == 0);
	}
	assert_true(fuse > 40 && fuse < 500);
	assert_int_equal(ends_heap_in_use(), before);
	iw_wire_destroy(a.port, b.port);
	assert_int_equal(iw_domain_destroy(a.domain), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_listen),     cmocka_unit_test(test_one_listens),
		cmocka_unit_test(test_nobody_listens), cmocka_unit_test(test_engines_go),
		cmocka_unit_test(test_disconnect),     cmocka_unit_test(test_threads),
		cmocka_unit_test(test_errors),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
