/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids and what hangs off them: handles, tables that are full, memory that comes back. */
#include "cm_id.h"

#include "cmsim.h"
#include "qp.h"
#include "tcp_conn_obj.h"

static struct cmsim s;
static struct cmsim_pair p;

static void
test_stale_handles(void **state)
{
	struct iw_addr any = {.port = 1}, a, b;
	struct cm *cm;
	iw_cm_id id;

	(void)state;
	cmsim_open(&s, NULL);
	cm = s.h[0].cm;
	assert_int_equal(cm_id_create(cm, NULL, NULL), 0); /* without a handler nobody would hear of it */
	id = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_destroy(&s.h[0], id), 0);
	for (int i = 0; i < 2; i++) {
		iw_cm_id bad = i ? id : 0;

		assert_int_equal(cm_id_destroy(cm, bad, s.now_ns), -IW_E_STALE);
		assert_int_equal(cm_listen(cm, bad, &any, 1), -IW_E_STALE);
		assert_int_equal(cm_connect(cm, bad, &any, NULL, NULL, s.now_ns), -IW_E_STALE);
		assert_int_equal(cm_accept(cm, bad, NULL, NULL, s.now_ns), -IW_E_STALE);
		assert_int_equal(cm_reject(cm, bad, NULL, 0, s.now_ns), -IW_E_STALE);
		assert_int_equal(cm_disconnect(cm, bad, false, s.now_ns), -IW_E_STALE);
		assert_int_equal(cm_set_context(cm, bad, NULL), -IW_E_STALE);
		assert_int_equal(cm_addrs(cm, bad, &a, &b), -IW_E_STALE);
		assert_int_equal(cm_state(cm, bad), IW_CM_IDLE);
	}
	cmsim_close(&s);
}

static void
test_table_full(void **state)
{
	iw_cm_id ids[3];

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.cm = {.max_ids = 3, .max_listeners = 1}});
	for (int i = 0; i < 3; i++)
		assert_int_not_equal(ids[i] = cmsim_id(&s.h[0]), 0);
	assert_int_equal(cmsim_id(&s.h[0]), 0);
	assert_int_equal(cm_id_count(s.h[0].cm), 3);
	cmsim_destroy(&s.h[0], ids[1]);
	assert_int_not_equal(cmsim_id(&s.h[0]), 0);
	assert_int_equal(cm_listen(s.h[0].cm, ids[0], &(struct iw_addr){.port = 9}, 1), 0);
	assert_int_equal(cm_listen(s.h[0].cm, ids[2], &(struct iw_addr){.port = 8}, 1), -IW_E_NOMEM);
	assert_int_equal(cm_state(s.h[0].cm, ids[2]), IW_CM_IDLE);
	cmsim_close(&s);
}

/* In pages, and of those that users have: what lives on behind a destroyed one until its peer has closed is none. */
static void
test_list(void **state)
{
	iw_cm_id ids[4], page[3];
	struct cm_id *orphan;
	uint32_t pos = 0;
	struct cm *cm;

	(void)state;
	cmsim_open(&s, NULL);
	cm = s.h[0].cm;
	for (int i = 0; i < 4; i++)
		ids[i] = cmsim_id(&s.h[0]);
	orphan = cm_id_new(cm, NULL, NULL, CM_ID_ORPHAN);
	assert_int_equal(cm_id_list(cm, &pos, page, 3), 3);
	assert_memory_equal(page, ids, sizeof(page));
	assert_int_equal(cm_id_list(cm, &pos, page, 3), 1);
	assert_int_equal(page[0], ids[3]);
	assert_int_equal(cm_id_list(cm, &pos, page, 3), 0);
	cmsim_destroy(&s.h[0], ids[1]);
	pos = 0;
	assert_int_equal(cm_id_list(cm, &pos, page, 3), 3);
	assert_int_equal(page[1], ids[2]);
	assert_int_equal(cm_id_list(cm, &pos, page, 3), 0);
	cm_id_free(cm, orphan);
	cmsim_close(&s);
}

/* What start-up needs goes when it is over and told. */
static void
test_setup_comes_back(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	cmsim_ask(&s, &p, NULL);
	assert_int_equal(s.h[0].cm->setups.used, 1);
	assert_int_equal(s.h[1].cm->setups.used, 1);
	assert_int_equal(cmsim_accept(&s.h[1], p.b, p.qb, NULL), 0);
	assert_int_equal(s.h[1].cm->setups.used, 0);
	cmsim_run(&s, 10 * IW_MS);
	assert_int_equal(s.h[0].cm->setups.used, 0);
	assert_null(cm_id_setup(s.h[0].cm, cm_id_at(s.h[0].cm, p.a)));
	assert_ptr_equal(cm_id_qp(s.h[0].cm, cm_id_at(s.h[0].cm, p.a)), p.qa);
	cmsim_close(&s);
}

/* n-th allocation fails: nothing changes, nothing leaks, the next try works (B10). */
static void
test_failing_pools(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	memset(&p, 0, sizeof(p));
	p.qa = cmsim_qp(&s.h[0]);
	s.h[0].cm->ids.fuse = 1;
	assert_int_equal(cmsim_id(&s.h[0]), 0);
	p.a = cmsim_id(&s.h[0]);
	s.h[0].cm->setups.fuse = 1;
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), -IW_E_NOMEM);
	mbufpool_set_fuse(s.h[0].env.ctl_pool, 1);
	mbufpool_set_fuse(s.h[0].env.data_pool, 1);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), -IW_E_NOMEM);
	assert_int_equal(cm_state(s.h[0].cm, p.a), IW_CM_IDLE);
	assert_true(qp_is_free(p.qa));
	assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
	assert_int_equal(s.h[0].cm->setups.used, 0);
	cmsim_destroy(&s.h[0], p.a);
	cmsim_ask(&s, &p, NULL);
	cmsim_close(&s);
}

/* The responder has no room for what a Request needs: closed, and the next one is served. */
static void
test_failing_pools_of_the_responder(void **state)
{
	iw_cm_id id;

	(void)state;
	for (int which = 0; which < 2; which++) {
		cmsim_open(&s, NULL);
		memset(&p, 0, sizeof(p));
		p.listener = cmsim_listen(&s.h[1], 4);
		if (which)
			s.h[1].cm->ids.fuse = 1;
		else
			s.h[1].cm->setups.fuse = 1;
		id = cmsim_id(&s.h[0]);
		assert_int_equal(cmsim_connect(&s.h[0], id, cmsim_qp(&s.h[0]),
					       &(struct iw_cm_attr){.require_peer_to_peer = true}),
				 0);
		cmsim_run(&s, 1 * IW_SEC);
		assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(CONNRESET)");
		assert_int_equal(cm_id_count(s.h[1].cm), 1);
		assert_int_equal(tcp_conn_count(s.h[1].tcp), 0);
		cmsim_ask(&s, &p, NULL);
		cmsim_close(&s);
	}
}

static void
test_create_fails_whole(void **state)
{
	struct cm_params params = {.max_ids = 4, .max_listeners = 2};
	uint32_t n = 1;

	(void)state;
	cmsim_open(&s, NULL);
	for (;; n++) {
		struct cm *cm;

		iw_env_alloc_fuse = n;
		cm = cm_create(&s.h[0].env, s.h[0].tcp, s.h[0].rdmap, &params);
		if (cm) {
			iw_env_alloc_fuse = 0;
			cm_free(cm);
			break;
		}
	}
	assert_true(n > 4);
	cmsim_close(&s);
}

/* An idle connection besides what its user sizes, as pools hand it out: whole cache lines (design: 1 KiB). */
static void
test_budget(void **state)
{
	static const size_t octets[] = {sizeof(struct tcp_conn), sizeof(struct cm_id), sizeof(struct iw_qp)};
	size_t sum = 0;

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		sum += (octets[i] + 63) & ~(size_t)63;
	assert_true(sum <= 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stale_handles),
		cmocka_unit_test(test_table_full),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_setup_comes_back),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_failing_pools),
		cmocka_unit_test(test_failing_pools_of_the_responder),
		cmocka_unit_test(test_create_fails_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
