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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_life_peer_to_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life_without_peer_to_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_life_revision_1, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
