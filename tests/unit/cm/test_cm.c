/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face: whole lives of connections, and every call in every state ("States and API calls"). */
#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;

static int
setup(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	cmsim_close(&s);
	return 0;
}

/* Request and Reply with private data, then an orderly end begun by the initiator. */
static void
one_life(const struct iw_cm_attr *active)
{
	struct iw_cm_attr a = *active, b = {.private_data = "from the responder", .private_len = 18};
	const struct cmsim_event *rq, *rp;

	a.private_data = "from the initiator";
	a.private_len = 18;
	cmsim_pair(&s, &p, &a, &b);
	rq = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0);
	rp = cmsim_nth(&s.h[0], IW_CM_CONNECT_REPLY, 0);
	assert_int_equal(rq->ev.private_len, 18);
	assert_memory_equal(rq->data, "from the initiator", 18);
	assert_int_equal(rp->ev.private_len, 18);
	assert_memory_equal(rp->data, "from the responder", 18);
	assert_int_equal(rq->ev.listener, p.listener);
	assert_int_equal(rq->ev.revision, active->revision_1 ? 1 : 2);
	assert_int_equal(rp->ev.revision, active->revision_1 ? 1 : 2);
	assert_int_equal(rq->ev.peer_to_peer, !active->revision_1 && !active->no_peer_to_peer);
	assert_int_equal(rp->ev.peer_to_peer, rq->ev.peer_to_peer);
	assert_true(rp->ev.crc);
	assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(0)");
	assert_string_equal(cmsim_story(&s.h[1], p.b), "CONNECT_REQUEST ESTABLISHED DISCONNECT CLOSE(0)");
	assert_int_equal(s.rsts[0] + s.rsts[1], 0);
	assert_false(s.fin_with_data);
	assert_int_equal(cm_state(s.h[0].cm, p.a), IW_CM_IDLE);
}

static void
test_life_peer_to_peer(void **state)
{
	(void)state;
	one_life(&(struct iw_cm_attr){.ird = 0});
}

static void
test_life_without_peer_to_peer(void **state)
{
	(void)state;
	one_life(&(struct iw_cm_attr){.no_peer_to_peer = true});
}

static void
test_life_revision_1(void **state)
{
	(void)state;
	one_life(&(struct iw_cm_attr){.revision_1 = true});
}

/* ---- every call in every state ---- */

enum call { LISTEN, CONNECT, ACCEPT, REJECT, DISCONNECT, ABRUPT, DESTROY, CALLS };
enum { OK = 0, NO = -IW_E_INVAL };

struct expect {
	int ret;
	enum iw_cm_state next;
};

/* "States and API calls"; next: what cm_state() says right after the call. */
static const struct expect calls[7][CALLS] = {
	[IW_CM_IDLE] = {{OK, IW_CM_LISTENING},
			{OK, IW_CM_CONN_SENT},
			{NO, IW_CM_IDLE},
			{NO, IW_CM_IDLE},
			{OK, IW_CM_IDLE},
			{OK, IW_CM_IDLE},
			{OK, IW_CM_IDLE}},
	[IW_CM_LISTENING] = {{NO, IW_CM_LISTENING},
			     {NO, IW_CM_LISTENING},
			     {NO, IW_CM_LISTENING},
			     {NO, IW_CM_LISTENING},
			     {NO, IW_CM_LISTENING},
			     {NO, IW_CM_LISTENING},
			     {OK, IW_CM_IDLE}},
	[IW_CM_CONN_SENT] = {{NO, IW_CM_CONN_SENT},
			     {NO, IW_CM_CONN_SENT},
			     {NO, IW_CM_CONN_SENT},
			     {NO, IW_CM_CONN_SENT},
			     {OK, IW_CM_CONN_SENT},
			     {OK, IW_CM_CONN_SENT},
			     {OK, IW_CM_IDLE}},
	[IW_CM_CONN_RECV] = {{NO, IW_CM_CONN_RECV},
			     {NO, IW_CM_CONN_RECV},
			     {OK, IW_CM_ACCEPTED},
			     {OK, IW_CM_IDLE},
			     {OK, IW_CM_CONN_RECV},
			     {OK, IW_CM_CONN_RECV},
			     {OK, IW_CM_IDLE}},
	[IW_CM_ACCEPTED] = {{NO, IW_CM_ACCEPTED},
			    {NO, IW_CM_ACCEPTED},
			    {NO, IW_CM_ACCEPTED},
			    {NO, IW_CM_ACCEPTED},
			    {OK, IW_CM_ACCEPTED},
			    {OK, IW_CM_ACCEPTED},
			    {OK, IW_CM_IDLE}},
	[IW_CM_ESTABLISHED] = {{NO, IW_CM_ESTABLISHED},
			       {NO, IW_CM_ESTABLISHED},
			       {NO, IW_CM_ESTABLISHED},
			       {NO, IW_CM_ESTABLISHED},
			       {OK, IW_CM_CLOSING},
			       {OK, IW_CM_CLOSING},
			       {OK, IW_CM_IDLE}},
	[IW_CM_CLOSING] = {{NO, IW_CM_CLOSING},
			   {NO, IW_CM_CLOSING},
			   {NO, IW_CM_CLOSING},
			   {NO, IW_CM_CLOSING},
			   {OK, IW_CM_CLOSING},
			   {OK, IW_CM_CLOSING},
			   {OK, IW_CM_IDLE}},
};

/* Brings an id to the state; *host is where it lives. */
static iw_cm_id
reach(enum iw_cm_state st, uint32_t *host)
{
	*host = st == IW_CM_CONN_RECV || st == IW_CM_ACCEPTED;
	switch (st) {
	case IW_CM_IDLE:
		return cmsim_id(&s.h[0]);
	case IW_CM_LISTENING:
		return cmsim_listen(&s.h[0], 1);
	case IW_CM_CONN_SENT:
	case IW_CM_CONN_RECV:
		cmsim_ask(&s, &p, NULL);
		break;
	case IW_CM_ACCEPTED:
		cmsim_ask(&s, &p, NULL);
		assert_int_equal(cmsim_accept(&s.h[1], p.b, p.qb, NULL), 0);
		break;
	case IW_CM_ESTABLISHED:
	case IW_CM_CLOSING:
		cmsim_pair(&s, &p, NULL, NULL);
		if (st == IW_CM_CLOSING)
			assert_int_equal(cmsim_disconnect(&s.h[0], p.a, false), 0);
		break;
	}
	return *host ? p.b : p.a;
}

static int
make_call(struct cmsim_host *h, iw_cm_id id, enum call call)
{
	struct iw_addr any = {.port = 6000};

	switch (call) {
	case LISTEN:
		return cm_listen(h->cm, id, &any, 1);
	case CONNECT:
		return cmsim_connect(h, id, cmsim_qp(h), NULL);
	case ACCEPT:
		return cmsim_accept(h, id, cmsim_qp(h), NULL);
	case REJECT:
		return cmsim_reject(h, id, NULL, 0);
	case DISCONNECT:
	case ABRUPT:
		return cmsim_disconnect(h, id, call == ABRUPT);
	case DESTROY:
		return cmsim_destroy(h, id);
	case CALLS:
		break;
	}
	return 1;
}

static void
test_every_call_in_every_state(void **state)
{
	(void)state;
	for (int st = IW_CM_IDLE; st <= IW_CM_CLOSING; st++)
		for (int call = 0; call < CALLS; call++) {
			const struct expect *want = &calls[st][call];
			uint32_t host;
			iw_cm_id id;

			cmsim_open(&s, NULL);
			memset(&p, 0, sizeof(p));
			id = reach((enum iw_cm_state)st, &host);
			assert_int_equal(cm_state(s.h[host].cm, id), st);
			if (make_call(&s.h[host], id, (enum call)call) != want->ret ||
			    cm_state(s.h[host].cm, id) != want->next)
				fail_msg("call %d in %s", call, iw_cm_state_name(st));
			cmsim_run(&s, 300 * IW_SEC);
			for (uint32_t i = 0; i < s.h[host].seen_n; i++)
				assert_true(s.h[host].seen[i].gone || !s.h[host].seen[i].owed_replies);
			cmsim_close(&s);
		}
}

/* ---- arguments, addresses, depths ---- */

static void
test_connect_arguments(void **state)
{
	static uint8_t data[513];
	static const struct iw_cm_attr bad[] = {
		{.private_data = data, .private_len = 509},
		{.private_data = data, .private_len = 513, .revision_1 = true},
		{.private_len = 1},
		{.ird = 17},
		{.ord = 17},
		{.require_peer_to_peer = true, .no_peer_to_peer = true},
		{.require_peer_to_peer = true, .revision_1 = true},
	};
	struct iw_addr to, nowhere;
	struct iw_qp *qp;
	struct cm *cm;
	iw_cm_id id;

	(void)state;
	cmsim_open(&s, NULL);
	cm = s.h[0].cm;
	to = nowhere = cmsim_addr(&s, 1);
	nowhere.port = 0;
	id = cmsim_id(&s.h[0]);
	qp = cmsim_qp(&s.h[0]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cmsim_connect(&s.h[0], id, qp, &bad[i]),
				 bad[i].private_len > 500 ? -IW_E_TOOBIG : -IW_E_INVAL);
	assert_int_equal(cm_connect(cm, id, NULL, qp, NULL, s.now_ns), -IW_E_INVAL);
	assert_int_equal(cm_connect(cm, id, &nowhere, qp, NULL, s.now_ns), -IW_E_INVAL);
	assert_int_equal(cm_connect(cm, id, &to, NULL, NULL, s.now_ns), -IW_E_INVAL);
	assert_int_equal(qp_bind(qp, 77), 0);
	assert_int_equal(cm_connect(cm, id, &to, qp, NULL, s.now_ns), -IW_E_INVAL);
	assert_int_equal(qp_owner(qp), 77);
	qp_unbind(qp);
	to.ip[12] = 99; /* no way leads there */
	assert_int_equal(cm_connect(cm, id, &to, qp, NULL, s.now_ns), -IW_E_HOSTUNREACH);
	assert_int_equal(cm_state(cm, id), IW_CM_IDLE);
	assert_true(qp_is_free(qp));
	assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
	cmsim_close(&s);
}

static void
test_listen_arguments(void **state)
{
	struct iw_addr any = {.port = CMSIM_PORT}, chosen = {.port = 0}, other, local;
	iw_cm_id id;

	(void)state;
	cmsim_open(&s, NULL);
	other = cmsim_addr(&s, 1); /* of the other host */
	cmsim_listen(&s.h[0], 0);
	id = cmsim_id(&s.h[0]);
	assert_int_equal(cm_listen(s.h[0].cm, id, NULL, 1), -IW_E_INVAL);
	assert_int_equal(cm_listen(s.h[0].cm, id, &any, -1), -IW_E_INVAL);
	assert_int_equal(cm_listen(s.h[0].cm, id, &any, 1), -IW_E_ADDRINUSE);
	assert_int_equal(cm_listen(s.h[0].cm, id, &other, 1), -IW_E_ADDRNOTAVAIL);
	assert_int_equal(cm_state(s.h[0].cm, id), IW_CM_IDLE);
	assert_int_equal(cm_listen(s.h[0].cm, id, &chosen, 1), 0);
	assert_int_equal(cm_addrs(s.h[0].cm, id, &local, NULL), 0);
	assert_true(local.port >= 1024);
	cmsim_close(&s);
}

static void
test_addresses_and_context(void **state)
{
	struct iw_addr la, pa, lb, pb;
	struct iw_cm_attr a = {.local_port = 2049};

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, &a, NULL);
	assert_int_equal(cm_addrs(s.h[0].cm, p.a, &la, &pa), 0);
	assert_int_equal(cm_addrs(s.h[1].cm, p.b, &lb, &pb), 0);
	assert_int_equal(la.port, 2049);
	assert_int_equal(pa.port, CMSIM_PORT);
	assert_memory_equal(&la, &pb, sizeof(la));
	assert_memory_equal(&pa, &lb, sizeof(la));
	assert_memory_equal(&cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0)->ev.peer, &la, sizeof(la));
	assert_int_equal(cm_set_context(s.h[0].cm, p.a, &s.h[0]), 0);
	cmsim_close(&s);
}

/* What an id takes along to another engine; from IDLE only, before a connection and after it. */
static void
test_idle(void **state)
{
	iw_cm_handler handler = NULL;
	void *context = NULL;
	iw_cm_id id;

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	id = cmsim_id(&s.h[0]);
	assert_int_equal(cm_set_context(s.h[0].cm, id, &p), 0);
	assert_int_equal(cm_idle(s.h[0].cm, id, &handler, &context), 0);
	assert_true(handler != NULL);
	assert_ptr_equal(context, &p);
	assert_int_equal(cm_id_destroy(s.h[0].cm, id, s.now_ns), 0);
	context = NULL;
	assert_int_equal(cm_idle(s.h[0].cm, id, &handler, &context), -IW_E_STALE);
	cmsim_pair(&s, &p, NULL, NULL);
	assert_int_equal(cm_idle(s.h[0].cm, p.a, &handler, &context), -IW_E_INVAL);
	assert_int_equal(cm_idle(s.h[1].cm, p.listener, &handler, &context), -IW_E_INVAL);
	assert_null(context);
	cmsim_close(&s);
}

/* B32: each number is its own side's, whichever way it is looked at (RFC 6581 §9.1). */
static void
test_depths(void **state)
{
	struct iw_cm_attr a = {.ird = 3, .ord = 9}, b = {.ird = 5, .ord = 11};
	const struct cmsim_event *rq, *rp;

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, &a, &b);
	rq = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0);
	rp = cmsim_nth(&s.h[0], IW_CM_CONNECT_REPLY, 0);
	assert_int_equal(rq->ev.ird, 3);
	assert_int_equal(rq->ev.ord, 9);
	assert_int_equal(rp->ev.ord, 5); /* min(9, their IRD 5) */
	assert_int_equal(rp->ev.ird, 3); /* their ORD 11 was cut to our IRD */
	cmsim_close(&s);
}

/* An id is counted while it lives; the engine's end tells everybody. */
static void
test_destroy_all(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, NULL, NULL);
	assert_int_equal(cm_id_count(s.h[1].cm), 2);
	cm_destroy_all(s.h[1].cm, s.now_ns);
	assert_int_equal(cm_id_count(s.h[1].cm), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(0) CLOSE(CONNRESET)");
	assert_int_equal(cmsim_count(&s.h[1], IW_CM_CLOSE), 0);
	cmsim_close(&s);
}

/* B13: a QP that names an id which has another one leaves that id alone. */
static void
test_another_qp_gone(void **state)
{
	struct iw_qp *qp;

	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_pair(&s, &p, NULL, NULL);
	qp = cmsim_qp(&s.h[0]);
	assert_int_equal(qp_bind(qp, p.a), 0);
	cm_qp_gone(s.h[0].cm, qp, s.now_ns);
	assert_int_equal(cm_state(s.h[0].cm, p.a), IW_CM_ESTABLISHED);
	qp_unbind(qp);
	cm_qp_gone(s.h[0].cm, qp, s.now_ns);
	assert_int_equal(cm_state(s.h[0].cm, p.a), IW_CM_ESTABLISHED);
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life_peer_to_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life_without_peer_to_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life_revision_1, setup, teardown),
		cmocka_unit_test(test_every_call_in_every_state),
		cmocka_unit_test(test_connect_arguments),
		cmocka_unit_test(test_listen_arguments),
		cmocka_unit_test(test_addresses_and_context),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_depths),
		cmocka_unit_test(test_destroy_all),
		cmocka_unit_test(test_another_qp_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
