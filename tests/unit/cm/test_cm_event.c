/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivery: calls from inside handlers, on the own id and others, handlers that ask for the end of their id,
 * TIMEWAIT_EXIT (docs/cm.md; design D7). */
#include "cm_id.h"
#include "cmsim.h"

static struct cmsim s;
static struct cmsim_pair p;
static enum iw_cm_event_type on_type;
static uint32_t on_host;
static enum { RESULT, OWN, OTHER_HOST, BY_ABORT, BY_QP } what;
static uint32_t done;

static void
answer(struct cmsim_host *h, iw_cm_id id)
{
	p.b = id;
	assert_int_equal(cmsim_accept(h, id, p.qb, &(struct iw_cm_attr){.timewait_exit = true}), 0);
}

static int
act_in_handler(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	/* It outlives the id: it lies elsewhere. */
	if (ev->private_len)
		assert_ptr_equal(ev->private_data, h->cm->told_data);
	if (ev->type == IW_CM_CONNECT_REQUEST && on_type != IW_CM_CONNECT_REQUEST)
		answer(h, id);
	if (h->n != on_host || ev->type != on_type || done)
		return 0;
	done++;
	switch (what) {
	case RESULT:
		return 1;
	case OWN:
		assert_int_equal(cmsim_destroy(h, id), 0);
		assert_int_equal(cmsim_destroy(h, id), -IW_E_STALE);
		assert_int_equal(cmsim_disconnect(h, id, false), -IW_E_STALE);
		break;
	case OTHER_HOST:
		cmsim_destroy(&s.h[!h->n], h->n ? p.a : p.b);
		break;
	case BY_ABORT:
		assert_int_equal(cmsim_disconnect(h, id, true), 0);
		break;
	case BY_QP:
		cmsim_qp_destroy(h, h->n ? p.qb : p.qa);
		if (h->n)
			p.qb = cmsim_qp(h);
		else
			p.qa = cmsim_qp(h);
		break;
	}
	return 0;
}

/* Each event of each side, each thing done in its handler: the language holds (cmsim checks it), all comes back. */
static void
test_everything_in_every_handler(void **state)
{
	static const struct {
		uint32_t host;
		enum iw_cm_event_type type;
	} places[] = {{1, IW_CM_CONNECT_REQUEST}, {0, IW_CM_CONNECT_REPLY}, {1, IW_CM_ESTABLISHED_EV},
		      {1, IW_CM_DISCONNECT},      {0, IW_CM_CLOSE},         {1, IW_CM_CLOSE},
		      {0, IW_CM_TIMEWAIT_EXIT}};
	struct iw_cm_attr a = {.timewait_exit = true, .private_data = "x", .private_len = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		for (what = RESULT; what <= BY_QP; what++) {
			iw_cm_id listener;

			cmsim_open(&s, NULL);
			memset(&p, 0, sizeof(p));
			on_host = places[i].host;
			on_type = places[i].type;
			done = 0;
			s.h[0].hook = s.h[1].hook = act_in_handler;
			listener = cmsim_listen(&s.h[1], 4);
			p.qa = cmsim_qp(&s.h[0]);
			p.qb = cmsim_qp(&s.h[1]);
			cmsim_post_recv(&s.h[0], p.qa, 2);
			p.a = cmsim_id(&s.h[0]);
			assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, &a), 0);
			cmsim_run(&s, 5 * IW_MS);
			cmsim_disconnect(&s.h[0], p.a, false);
			cmsim_run(&s, 200 * IW_SEC);
			assert_int_equal(done, 1);
			if (what == RESULT || what == OWN)
				assert_int_equal(cm_state(s.h[on_host].cm, on_host ? p.b : p.a), IW_CM_IDLE);
			cmsim_qp_destroy(&s.h[0], p.qa);
			cmsim_qp_destroy(&s.h[1], p.qb);
			for (uint32_t n = 0; n < 2; n++) {
				assert_int_equal(tcp_conn_count(s.h[n].tcp), 0);
				assert_int_equal(s.h[n].completed, s.h[n].posted);
				for (uint32_t k = 0; k < s.h[n].seen_n; k++)
					if (!s.h[n].seen[k].gone)
						assert_false(s.h[n].seen[k].up || s.h[n].seen[k].accepted ||
							     s.h[n].seen[k].owed_replies);
			}
			assert_int_equal(cm_state(s.h[1].cm, listener), IW_CM_LISTENING);
			cmsim_close(&s);
		}
}

/* A CONNECT_REQUEST whose handler returns non-zero is a reject of the new id; the listener stays. */
static void
test_request_handler_says_no(void **state)
{
	(void)state;
	cmsim_open(&s, NULL);
	on_host = 1;
	on_type = IW_CM_CONNECT_REQUEST;
	what = RESULT;
	done = 0;
	s.h[1].hook = act_in_handler;
	cmsim_listen(&s.h[1], 4);
	p.qa = cmsim_qp(&s.h[0]);
	p.a = cmsim_id(&s.h[0]);
	assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, NULL), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], p.a), "CONNECT_REPLY(CONNREFUSED)");
	assert_int_equal(cm_id_count(s.h[1].cm), 1);
	assert_int_equal(s.rsts[1], 0);
	cmsim_close(&s);
}

static int
disconnect_at_once(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	if (ev->type == IW_CM_CONNECT_REQUEST) {
		if (done++)
			return 1; /* the RST was faster than the Reply: asked again with revision 1 */
		answer(h, id);
		assert_int_equal(cmsim_disconnect(h, id, on_host), 0);
		assert_int_equal(cm_state(h->cm, id), IW_CM_ACCEPTED);
	}
	return 0;
}

/* In ACCEPTED a disconnect is remembered: ESTABLISHED first, with and without peer-to-peer. */
static void
test_disconnect_in_accepted(void **state)
{
	(void)state;
	for (int p2p = 0; p2p < 2; p2p++)
		for (on_host = 0; on_host < 2; on_host++) { /* 1: abrupt */
			struct iw_cm_attr a = {.no_peer_to_peer = !p2p};

			cmsim_open(&s, NULL);
			done = 0;
			s.h[1].hook = disconnect_at_once;
			cmsim_listen(&s.h[1], 4);
			p.qa = cmsim_qp(&s.h[0]);
			p.qb = cmsim_qp(&s.h[1]);
			p.a = cmsim_id(&s.h[0]);
			assert_int_equal(cmsim_connect(&s.h[0], p.a, p.qa, &a), 0);
			cmsim_run(&s, 1 * IW_SEC);
			assert_string_equal(cmsim_story(&s.h[1], p.b),
					    on_host ? "CONNECT_REQUEST ESTABLISHED CLOSE(CONNABORTED)"
						    : "CONNECT_REQUEST ESTABLISHED CLOSE(0)");
			cmsim_close(&s);
		}
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(iw_cm_event_name(IW_CM_CONNECT_REQUEST), "CONNECT_REQUEST");
	assert_string_equal(iw_cm_event_name(IW_CM_ESTABLISHED_EV), "ESTABLISHED");
	assert_string_equal(iw_cm_event_name(IW_CM_TIMEWAIT_EXIT), "TIMEWAIT_EXIT");
	assert_string_equal(iw_cm_event_name(77), "unknown");
	assert_string_equal(iw_cm_state_name(IW_CM_IDLE), "IDLE");
	assert_string_equal(iw_cm_state_name(IW_CM_CLOSING), "CLOSING");
	assert_string_equal(iw_cm_state_name(-1), "unknown");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_in_every_handler),
		cmocka_unit_test(test_request_handler_says_no),
		cmocka_unit_test(test_disconnect_in_accepted),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
