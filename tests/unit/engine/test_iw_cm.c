/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and states of the calls of <iwarp/connect.h>: every error of the contract, and nothing changes by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "domains.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "pair.h"

static struct sim sim;
static struct pair pair;
static struct iw_engine *e;

static int
nothing(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return 0;
}

static int
setup(void **state)
{
	(void)state;
	sim_init(&sim, 1, 2, 1500);
	pair_init(&pair, &sim, NULL);
	e = sim.host[0].engine;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	pair_fini(&pair);
	sim_run(&sim, 10 * IW_MS);
	sim_fini(&sim);
	return 0;
}

static void
test_no_engine(void **state)
{
	struct iw_addr addr = sim_addr(0, 1);

	(void)state;
	assert_int_equal(iw_cm_create(NULL, nothing, NULL), 0);
	assert_int_equal(iw_cm_destroy(NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen(NULL, 1, &addr, 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(NULL, 1, &addr, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_accept(NULL, 1, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_reject(NULL, 1, NULL, 0), -IW_E_INVAL);
	assert_int_equal(iw_cm_disconnect(NULL, 1, false), -IW_E_INVAL);
	assert_int_equal(iw_cm_state(NULL, 1), IW_CM_IDLE);
	assert_int_equal(iw_cm_set_context(NULL, 1, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_addrs(NULL, 1, NULL, NULL), -IW_E_INVAL);
}

/* A handle of what is gone is recognised, also when its place has another id. */
static void
test_stale(void **state)
{
	struct iw_addr addr = sim_addr(0, 4000);
	iw_cm_id id = iw_cm_create(e, nothing, NULL), other, ids[3] = {0, id, 0xfffffffe};

	(void)state;
	assert_int_equal(iw_cm_destroy(e, id), 0);
	other = iw_cm_create(e, nothing, NULL);
	assert_int_not_equal(other, id);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(iw_cm_destroy(e, ids[i]), -IW_E_STALE);
		assert_int_equal(iw_cm_listen(e, ids[i], &addr, 1), -IW_E_STALE);
		addr.ip[15]++;
		assert_int_equal(iw_cm_connect(e, ids[i], &addr, pair.end[0].qp, NULL), -IW_E_STALE);
		addr.ip[15]--;
		assert_int_equal(iw_cm_accept(e, ids[i], pair.end[0].qp, NULL), -IW_E_STALE);
		assert_int_equal(iw_cm_reject(e, ids[i], NULL, 0), -IW_E_STALE);
		assert_int_equal(iw_cm_disconnect(e, ids[i], true), -IW_E_STALE);
		assert_int_equal(iw_cm_set_context(e, ids[i], NULL), -IW_E_STALE);
		assert_int_equal(iw_cm_addrs(e, ids[i], NULL, NULL), -IW_E_STALE);
		assert_int_equal(iw_cm_state(e, ids[i]), IW_CM_IDLE);
	}
	assert_int_equal(iw_cm_destroy(e, other), 0);
}

static void
test_table_full(void **state)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 4, .max_cm_ids = 3};
	struct sim *one = calloc(1, sizeof(*one));
	iw_cm_id id[3];

	(void)state;
	sim_init_params(one, 1, 1, &params);
	for (int i = 0; i < 3; i++) {
		id[i] = iw_cm_create(one->host[0].engine, nothing, NULL);
		assert_int_not_equal(id[i], 0);
	}
	assert_int_equal(iw_cm_create(one->host[0].engine, nothing, NULL), 0);
	assert_int_equal(iw_cm_destroy(one->host[0].engine, id[1]), 0);
	id[1] = iw_cm_create(one->host[0].engine, nothing, NULL);
	assert_int_not_equal(id[1], 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(iw_cm_destroy(one->host[0].engine, id[i]), 0);
	sim_fini(one);
	free(one);
}

static void
test_listen(void **state)
{
	struct iw_addr addr = sim_addr(0, 4000), theirs = sim_addr(1, 4000), chosen = sim_addr(0, 0), got;
	iw_cm_id id = iw_cm_create(e, nothing, NULL), other = iw_cm_create(e, nothing, NULL);

	(void)state;
	assert_int_equal(iw_cm_listen(e, id, NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen(e, id, &addr, 0), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen(e, id, &addr, -1), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen(e, id, &theirs, 1), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(iw_cm_state(e, id), IW_CM_IDLE);
	assert_int_equal(iw_cm_listen(e, id, &addr, 1), 0);
	assert_int_equal(iw_cm_state(e, id), IW_CM_LISTENING);
	assert_int_equal(iw_cm_listen(e, id, &addr, 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_listen(e, other, &addr, 1), -IW_E_ADDRINUSE);
	assert_int_equal(iw_cm_state(e, other), IW_CM_IDLE);
	/* What a listener cannot do. */
	assert_int_equal(iw_cm_connect(e, id, &theirs, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_accept(e, id, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_reject(e, id, NULL, 0), -IW_E_INVAL);
	assert_int_equal(iw_cm_disconnect(e, id, false), -IW_E_INVAL);
	/* Port 0: one is chosen, and can be asked for. */
	assert_int_equal(iw_cm_listen(e, other, &chosen, 1), 0);
	assert_int_equal(iw_cm_addrs(e, other, &got, NULL), 0);
	assert_int_not_equal(got.port, 0);
	assert_int_not_equal(got.port, 4000);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	assert_int_equal(iw_cm_destroy(e, other), 0);
}

static void
test_listeners_full(void **state)
{
	iw_cm_id id[200];
	int n = 0, err = 0;

	(void)state;
	while (n < 200) {
		struct iw_addr addr = sim_addr(0, (uint16_t)(5000 + n));

		id[n] = iw_cm_create(e, nothing, NULL);
		assert_int_not_equal(id[n], 0);
		err = iw_cm_listen(e, id[n++], &addr, 1);
		if (err)
			break;
	}
	assert_int_equal(err, -IW_E_NOMEM);
	assert_true(n > 32);
	while (n > 0)
		assert_int_equal(iw_cm_destroy(e, id[--n]), 0);
}

/* Attributes that connect refuses; accept looks at its id first. */
static void
test_attributes(void **state)
{
	static const uint8_t data[IW_MAX_PRIVATE + 1];
	static const struct {
		struct iw_cm_attr attr;
		int err;
	} cases[] = {
		{{.private_len = 1}, -IW_E_INVAL},
		{{.private_data = data, .private_len = 509}, -IW_E_TOOBIG},
		{{.private_data = data, .private_len = 513, .revision_1 = true}, -IW_E_TOOBIG},
		{{.ird = IW_MAX_IRD + 1}, -IW_E_INVAL},
		{{.ord = IW_MAX_IRD + 1}, -IW_E_INVAL},
		{{.revision_1 = true, .require_peer_to_peer = true}, -IW_E_INVAL},
	};
	struct iw_addr to = sim_addr(1, 4000);
	iw_cm_id id = iw_cm_create(e, nothing, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, &cases[i].attr), cases[i].err);
		assert_int_equal(iw_cm_accept(e, id, pair.end[0].qp, &cases[i].attr), -IW_E_INVAL);
		assert_int_equal(iw_cm_state(e, id), IW_CM_IDLE);
		assert_int_equal(iw_qp_state(pair.end[0].qp), IW_QP_IDLE);
	}
	assert_int_equal(iw_cm_reject(e, id, NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_reject(e, id, data, IW_MAX_PRIVATE + 1), -IW_E_INVAL);
	assert_int_equal(iw_cm_destroy(e, id), 0);
}

/* For its next frame. */
static void
no_mbuf(int host)
{
	mbufpool_set_fuse(sim.host[host].ctl_pool, 1);
	mbufpool_set_fuse(sim.host[host].data_pool, 1);
}

/* Nothing is changed by a connect for which there is no mbuf, or no port to leave by. */
static void
test_connect_short(void **state)
{
	struct iw_cm_attr attr = {.local_port = 5000};
	struct iw_addr to = sim_addr(1, 4000), everybody = iw_addr_from_v4(0xe0000001, 4000);
	iw_cm_id id = iw_cm_create(e, nothing, NULL), other = iw_cm_create(e, nothing, NULL);
	struct iw_qp *qp = iw_qp_create(
		e, pair.end[0].pd, &(struct iw_qp_attr){.send_cq = pair.end[0].cq, .recv_cq = pair.end[0].cq}, NULL);

	(void)state;
	no_mbuf(0);
	assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, &attr), -IW_E_NOMEM);
	assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, &attr), 0);
	assert_int_equal(iw_cm_connect(e, other, &to, qp, &attr), -IW_E_ADDRINUSE);
	assert_int_equal(iw_cm_connect(e, other, &everybody, qp, &attr), -IW_E_HOSTUNREACH);
	assert_int_equal(iw_cm_state(e, other), IW_CM_IDLE);
	assert_int_equal(iw_qp_state(qp), IW_QP_IDLE);
	attr.local_port++;
	assert_int_equal(iw_cm_connect(e, other, &to, qp, &attr), 0);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	assert_int_equal(iw_cm_destroy(e, other), 0);
	assert_int_equal(iw_qp_destroy(qp), 0);
}

/* Every port of the ephemeral ones leads to that peer; another peer is not concerned. */
static void
test_connect_ports_exhausted(void **state)
{
	struct engine_params params = {
		.nif.mtu = 1500, .max_conns = 32770, .max_qps = 4, .max_cm_ids = 4, .tcp.max_flights = 32770};
	struct iw_addr any = {0}, to = sim_addr(1, 4000), elsewhere = sim_addr(1, 4001);
	static struct sim many;
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4};
	struct iw_engine *full;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	uint32_t conn;
	iw_cm_id id;

	(void)state;
	sim_init_params(&many, 1, 1, &params);
	full = many.host[0].engine;
	pd = iw_pd_create(many.host[0].domain);
	cq = attr.send_cq = attr.recv_cq = iw_cq_create(full, 16, NULL, NULL);
	qp = iw_qp_create(full, pd, &attr, NULL);
	id = iw_cm_create(full, nothing, NULL);
	while (tcp_open(full->tcp, &any, &to, NULL, 5, many.now_ns, &conn) == 0)
		;
	assert_int_equal(iw_cm_connect(full, id, &to, qp, NULL), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(iw_cm_state(full, id), IW_CM_IDLE);
	assert_int_equal(iw_cm_connect(full, id, &elsewhere, qp, NULL), 0);
	assert_int_equal(iw_cm_destroy(full, id), 0);
	assert_int_equal(iw_qp_destroy(qp), 0);
	tcp_abort_all(full->tcp, many.now_ns);
	sim_run(&many, 10 * IW_MS);
	assert_int_equal(iw_cq_destroy(cq), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	engine_destroy(full);
	domains_put(many.host[0].domain);
	mbufpool_destroy(many.host[0].data_pool);
	mbufpool_destroy(many.host[0].ctl_pool);
}

/* Answers that cannot be given leave the request where it is. */
static int
answer_wrongly(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	static const uint8_t data[IW_MAX_PRIVATE];
	struct iw_cm_attr longer = {.private_data = data, .private_len = 509};
	struct iw_engine *theirs = sim.host[1].engine;
	bool *asked = context;

	if (event->type != IW_CM_CONNECT_REQUEST)
		return 0;
	assert_int_equal(iw_cm_accept(theirs, id, pair.end[1].qp, &longer), -IW_E_TOOBIG);
	assert_int_equal(iw_cm_reject(theirs, id, data, 509), -IW_E_TOOBIG);
	no_mbuf(1);
	assert_int_equal(iw_cm_accept(theirs, id, pair.end[1].qp, NULL), -IW_E_NOMEM);
	no_mbuf(1);
	assert_int_equal(iw_cm_reject(theirs, id, data, 2), -IW_E_NOMEM);
	assert_int_equal(iw_qp_state(pair.end[1].qp), IW_QP_IDLE);
	assert_int_equal(iw_cm_reject(theirs, id, "no", 2), 0);
	*asked = true;
	return 1; /* it is done with */
}

static int
note_reply(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct iw_cm_event *reply = context;

	*reply = *event;
	assert_int_equal(event->private_len, 2);
	assert_memory_equal(event->private_data, "no", 2);
	return 0;
}

static void
test_answers_short(void **state)
{
	struct iw_engine *theirs = sim.host[1].engine;
	struct iw_addr to = sim_addr(1, 4000);
	struct iw_cm_event reply = {0};
	bool asked = false;
	iw_cm_id listener = iw_cm_create(theirs, answer_wrongly, &asked), id = iw_cm_create(e, note_reply, &reply);

	(void)state;
	assert_int_equal(iw_cm_listen(theirs, listener, &to, 1), 0);
	assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, NULL), 0);
	sim_run(&sim, IW_SEC);
	assert_true(asked);
	assert_int_equal(reply.type, IW_CM_CONNECT_REPLY);
	assert_int_equal(reply.status, -IW_E_CONNREFUSED);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	assert_int_equal(iw_cm_destroy(theirs, listener), 0);
}

/* The longest private data of each revision gets through (RFC 5044 7.1, RFC 6581 4). */
static void
test_longest_private_data(void **state)
{
	uint8_t data[IW_MAX_PRIVATE];

	(void)state;
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 3 + 1);
	pair.end[0].attr = (struct iw_cm_attr){.private_data = data, .private_len = 508};
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	assert_int_equal(pair.end[1].private_len, 508);
	assert_memory_equal(pair.end[1].private_data, data, 508);
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
	teardown(state);
	setup(state);
	pair.end[0].attr = (struct iw_cm_attr){.private_data = data, .private_len = 512, .revision_1 = true};
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	assert_int_equal(pair.end[1].private_len, 512);
	assert_memory_equal(pair.end[1].private_data, data, 512);
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
}

static void
test_connect(void **state)
{
	struct iw_addr to = sim_addr(1, 4000), no_port = sim_addr(1, 0), any = {.port = 4000}, local, peer;
	iw_cm_id id = iw_cm_create(e, nothing, NULL), other = iw_cm_create(e, nothing, NULL);

	(void)state;
	assert_int_equal(iw_cm_connect(e, id, NULL, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(e, id, &to, NULL, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(e, id, &no_port, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(e, id, &any, pair.end[0].qp, NULL), -IW_E_HOSTUNREACH);
	assert_int_equal(iw_cm_state(e, id), IW_CM_IDLE);
	/* What an idle id cannot do. */
	assert_int_equal(iw_cm_accept(e, id, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_accept(e, id, NULL, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_reject(e, id, NULL, 0), -IW_E_INVAL);
	/* There is nothing to end. */
	assert_int_equal(iw_cm_disconnect(e, id, false), 0);
	assert_int_equal(iw_cm_disconnect(e, id, true), 0);
	assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, NULL), 0);
	assert_int_equal(iw_cm_state(e, id), IW_CM_CONN_SENT);
	assert_int_equal(iw_cm_addrs(e, id, &local, &peer), 0);
	assert_true(iw_addr_eq_ip(&peer, &to) && peer.port == 4000 && local.port != 0);
	/* One connection for each id, one for each QP. */
	assert_int_equal(iw_cm_connect(e, id, &to, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_connect(e, other, &to, pair.end[0].qp, NULL), -IW_E_INVAL);
	assert_int_equal(iw_cm_state(e, other), IW_CM_IDLE);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	/* The QP is free again. */
	assert_int_equal(iw_cm_connect(e, other, &to, pair.end[0].qp, NULL), 0);
	assert_int_equal(iw_cm_destroy(e, other), 0);
}

static void
test_names(void **state)
{
	(void)state;
	for (int i = IW_CM_CONNECT_REQUEST; i <= IW_CM_TIMEWAIT_EXIT; i++)
		for (int k = IW_CM_CONNECT_REQUEST; k < i; k++)
			assert_string_not_equal(iw_cm_event_name(i), iw_cm_event_name(k));
	for (int i = IW_CM_IDLE; i <= IW_CM_CLOSING; i++)
		for (int k = IW_CM_IDLE; k < i; k++)
			assert_string_not_equal(iw_cm_state_name(i), iw_cm_state_name(k));
	assert_non_null(iw_cm_event_name(-1));
	assert_non_null(iw_cm_event_name(99));
	assert_non_null(iw_cm_state_name(-1));
	assert_non_null(iw_cm_state_name(99));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_engine),
		TEST(test_stale),
		TEST(test_table_full),
		TEST(test_listen),
		TEST(test_listeners_full),
		TEST(test_attributes),
		TEST(test_longest_private_data),
		TEST(test_connect),
		TEST(test_names),
		TEST(test_connect_short),
		TEST(test_answers_short),
		cmocka_unit_test(test_connect_ports_exhausted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
