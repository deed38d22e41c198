/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder against a peer made by hand, and its listener (docs/cm.md; M16-M18). */
#include "cmraw.h"
#include "iw_addr.h"

/* Gone between Request and answer: nothing until accept or reject, which say so once. */
static void
test_gone_before_answer(void **state)
{
	uint8_t octets[64];

	(void)state;
	for (int rst = 0; rst < 2; rst++)
		for (int reject = 0; reject < 2; reject++)
			for (int seen = 0; seen < 2; seen++) {
				struct iw_qp *qp;
				iw_cm_id id;

				open_raw(NULL, 8);
				qp = cmsim_qp(&s.h[1]);
				cmsim_raw_send(&s.h[0], conn, octets, good(octets));
				cmsim_run(&s, 1 * IW_MS);
				id = asked(0);
				if (rst)
					tcp_abort(s.h[0].tcp, conn, s.now_ns);
				else
					tcp_close(s.h[0].tcp, conn, s.now_ns);
				cmsim_run(&s, seen ? 1 * IW_MS : 60 * IW_US);
				assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_CONN_RECV);
				assert_int_equal(cmsim_disconnect(&s.h[1], id, false), 0);
				assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_CONN_RECV);
				assert_int_equal(reject ? cmsim_reject(&s.h[1], id, NULL, 0)
							: cmsim_accept(&s.h[1], id, qp, NULL),
						 -IW_E_CONNRESET);
				assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_IDLE);
				assert_true(qp_is_free(qp));
				cmsim_run(&s, 100 * IW_SEC);
				assert_int_equal(s.h[1].logged, 1);
				assert_int_equal(tcp_conn_count(s.h[1].tcp), 0);
				cmsim_close(&s);
			}
}

/* Reply with R and private data in a segment, FIN in another. */
static void
test_reject(void **state)
{
	uint8_t octets[64];
	iw_cm_id id;

	(void)state;
	open_raw(NULL, 8);
	cmsim_raw_send(&s.h[0], conn, octets, good(octets));
	cmsim_run(&s, 1 * IW_MS);
	id = asked(0);
	assert_int_equal(cmsim_reject(&s.h[1], id, NULL, 5), -IW_E_INVAL);
	assert_int_equal(cmsim_reject(&s.h[1], id, got, 509), -IW_E_TOOBIG);
	assert_int_equal(cmsim_reject(&s.h[1], id, "no way", 6), 0);
	assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_IDLE);
	assert_int_equal(cmsim_reject(&s.h[1], id, NULL, 0), -IW_E_INVAL);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_raw_recv(&s.h[0], conn, got, sizeof(got)), 30);
	assert_memory_equal(got, "MPA ID Rep Frame\x70\x02\x00\x0a\x80\x10", 22); /* C mirrored, R, S; our IRD */
	assert_memory_equal(got + 24, "no way", 6);
	assert_true(cmsim_raw_bits(&s.h[0]) & TCP_READY_FIN);
	assert_false(s.fin_with_data);
	assert_int_equal(s.rsts[1], 0);
	assert_int_equal(s.h[1].logged, 1);
	cmsim_close(&s);
}

/* Bad arguments, or no memory: the id stays as it is. */
static void
test_accept_that_fails(void **state)
{
	static uint8_t data[512];
	uint8_t octets[64];
	struct iw_qp *qp, *used;
	iw_cm_id id;

	(void)state;
	open_raw(NULL, 8);
	qp = cmsim_qp(&s.h[1]);
	used = cmsim_qp(&s.h[1]);
	assert_int_equal(qp_bind(used, 12345), 0);
	cmsim_raw_send(&s.h[0], conn, octets, good(octets));
	cmsim_run(&s, 1 * IW_MS);
	id = asked(0);
	assert_int_equal(cmsim_accept(&s.h[1], id, NULL, NULL), -IW_E_INVAL);
	assert_int_equal(cmsim_accept(&s.h[1], id, used, NULL), -IW_E_INVAL); /* B13: another connection's QP */
	assert_int_equal(qp_owner(used), 12345);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, &(struct iw_cm_attr){.private_data = data, .private_len = 509}),
			 -IW_E_TOOBIG);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, &(struct iw_cm_attr){.private_len = 5}), -IW_E_INVAL);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, &(struct iw_cm_attr){.ird = 17}), -IW_E_INVAL);
	mbufpool_set_fuse(s.h[1].env.ctl_pool, 1);
	mbufpool_set_fuse(s.h[1].env.data_pool, 1);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), -IW_E_NOMEM);
	assert_true(qp_is_free(qp));
	assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_CONN_RECV);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, &(struct iw_cm_attr){.private_data = data, .private_len = 508}),
			 0);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), -IW_E_INVAL);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_raw_recv(&s.h[0], conn, got, sizeof(got)), 532);
	qp_unbind(used);
	cmsim_close(&s);
}

/* What a peer that speaks revision 1 is told may be as long as that has room for. */
static void
test_longest_answer_of_revision_1(void **state)
{
	static uint8_t data[513];
	struct iw_cm_attr a = {.private_data = data};
	uint8_t octets[64];
	struct iw_qp *qp;
	iw_cm_id id;

	(void)state;
	for (int reject = 0; reject < 2; reject++) {
		open_raw(NULL, 8);
		qp = cmsim_qp(&s.h[1]);
		cmsim_raw_send(&s.h[0], conn, octets, cmsim_frame(octets, false, 0x40, 1, 0, NULL, 0));
		cmsim_run(&s, 1 * IW_MS);
		id = asked(0);
		for (a.private_len = 513; a.private_len >= 512; a.private_len--)
			assert_int_equal(reject ? cmsim_reject(&s.h[1], id, data, a.private_len)
						: cmsim_accept(&s.h[1], id, qp, &a),
					 a.private_len > 512 ? -IW_E_TOOBIG : 0);
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(cmsim_raw_recv(&s.h[0], conn, got, sizeof(got)), 532);
		cmsim_close(&s);
	}
}

/* ---- the listener ---- */

static uint32_t
more(void)
{
	uint8_t octets[64];
	uint32_t c = cmsim_raw_open(&s);

	cmsim_raw_send(&s.h[0], c, octets, good(octets));
	cmsim_run(&s, 1 * IW_MS);
	return c;
}

/* Requests that wait for an answer beyond the backlog are rejected unseen; answers make room (fault 32). */
static void
test_backlog(void **state)
{
	uint32_t third;

	(void)state;
	open_raw(NULL, 2);
	more();
	more();
	assert_int_equal(requests(), 2);
	third = more();
	assert_int_equal(requests(), 2);
	assert_int_equal(cmsim_raw_recv(&s.h[0], third, got, sizeof(got)), 24);
	assert_int_equal(got[16] & 0x20, 0x20);
	assert_int_equal(cmsim_counter(&s.h[1], "cm.drop_request_full"), 1);
	assert_int_equal(cmsim_accept(&s.h[1], asked(1), cmsim_qp(&s.h[1]), NULL), 0);
	more();
	assert_int_equal(requests(), 3);
	assert_int_equal(cmsim_reject(&s.h[1], asked(2), NULL, 0), 0);
	more();
	cmsim_destroy(&s.h[1], asked(3));
	more();
	assert_int_equal(requests(), 5);
	assert_int_equal(cmsim_counter(&s.h[1], "cm.drop_request_full"), 1);
	cmsim_close(&s);
}

/* One that cannot listen takes no listener's place for good; one that had a connection has no peer any more. */
static void
test_listen_again(void **state)
{
	struct iw_addr taken = {.port = CMSIM_PORT}, other = {.port = 5001}, peer;
	struct cmsim_pair p = {0};

	(void)state;
	cmsim_open(&s, NULL);
	cmsim_pair(&s, &p, NULL, NULL);
	assert_int_equal(cmsim_disconnect(&s.h[1], p.b, true), 0);
	cmsim_run(&s, 1 * IW_SEC);
	for (int i = 0; i < 10; i++) /* there are four listeners */
		assert_int_equal(cm_listen(s.h[1].cm, p.b, &taken, 1), -IW_E_ADDRINUSE);
	assert_int_equal(cm_state(s.h[1].cm, p.b), IW_CM_IDLE);
	assert_int_equal(cm_listen(s.h[1].cm, p.b, &other, 1), 0);
	assert_int_equal(cm_addrs(s.h[1].cm, p.b, NULL, &peer), 0);
	assert_true(iw_addr_is_any(&peer) && peer.port == 0);
	cmsim_close(&s);
}

static int
kill_listener(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	(void)id;
	(void)ev;
	assert_int_equal(cmsim_destroy(h, listener), 0);
	h->hook = NULL;
	return 0;
}

/* Stops listening: half-open ones get RST, requests not yet shown a reject, those shown live on. */
static void
test_listener_destroyed(void **state)
{
	uint8_t octets[64];
	uint32_t shown, unseen, n = good(octets);
	struct iw_qp *qp;
	iw_cm_id id;

	(void)state;
	open_raw(NULL, 8);
	qp = cmsim_qp(&s.h[1]);
	shown = cmsim_raw_open(&s);
	unseen = cmsim_raw_open(&s);
	cmsim_raw_bits(&s.h[0]);
	s.h[1].hook = kill_listener; /* in the first of two requests that are there at once */
	cmsim_raw_send(&s.h[0], shown, octets, n);
	cmsim_raw_send(&s.h[0], unseen, octets, n);
	cmsim_raw_send(&s.h[0], conn, octets, 10);
	cmsim_run(&s, 10 * IW_MS);
	id = asked(0);
	assert_int_equal(cm_id_count(s.h[1].cm), 1);
	assert_int_equal(cmsim_raw_recv(&s.h[0], unseen, got, sizeof(got)), 24);
	assert_int_equal(got[16] & 0x20, 0x20);
	assert_int_equal(s.rsts[1], 1); /* conn's */
	assert_int_equal(cmsim_destroy(&s.h[1], listener), -IW_E_STALE);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), 0);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_raw_recv(&s.h[0], shown, got, sizeof(got)), 24);
	assert_int_equal(got[16] & 0x20, 0);
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gone_before_answer), cmocka_unit_test(test_reject),
		cmocka_unit_test(test_accept_that_fails),  cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_listen_again),       cmocka_unit_test(test_longest_answer_of_revision_1),
		cmocka_unit_test(test_listener_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
