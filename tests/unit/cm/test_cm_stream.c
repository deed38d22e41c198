/* SPDX-License-Identifier: BSD-3-Clause */
/* From the Reply on: octets count before the FIN or RST behind them, the first FPDUs, the RTR, the delay
 * (docs/cm.md; M5, M17, M20-M22). */
#include "cmsim.h"
#include "rdmap_run.h"
#include "tcp_pvt.h"

static struct cmsim s;
static iw_cm_id id;
static struct iw_qp *qp;
static uint32_t conn;
static uint8_t got[2048], octets[2048];

/* A peer made by hand has the Request. */
static void
ask(const struct iw_cm_attr *attr, uint32_t budget)
{
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true, .fpdu_budget = budget});
	id = cmsim_id(&s.h[0]);
	qp = cmsim_qp(&s.h[0]);
	cmsim_post_recv(&s.h[0], qp, 100);
	cmsim_raw_listen(&s);
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, attr), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 24);
}

static uint32_t
good_reply(uint8_t *out, bool p2p)
{
	return cmsim_frame(out, true, 0x50, 2, 4, p2p ? "\x80\x10\x80\x10" : "\x00\x10\x00\x10", 4);
}

/* Everything that the peer does from here on is seen by this side in one poll. */
static void
hold_back(void)
{
	s.h[0].frozen = true;
}
static void
let_in(void)
{
	cmsim_run(&s, 1 * IW_MS);
	s.h[0].frozen = false;
	cmsim_run(&s, 1 * IW_MS);
}

enum end { NO_END, FIN, RST };
static void
end_peer(enum end how)
{
	if (how == FIN)
		tcp_close(s.h[1].tcp, conn, s.now_ns);
	cmsim_run(&s, 200 * IW_US);
	if (how == RST)
		tcp_abort(s.h[1].tcp, conn, s.now_ns);
}

/* Reply, FPDUs, and the end, in one poll: every octet counts first. */
static void
test_all_at_once(void **state)
{
	static const struct {
		uint32_t fpdus, cut; /* octets of one more FPDU */
		enum end how;
		const char *story;
	} rows[] = {
		{0, 0, FIN, "CONNECT_REPLY(0) DISCONNECT CLOSE(0)"},
		{0, 0, RST, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
		{1, 0, NO_END, "CONNECT_REPLY(0)"},
		{1, 0, FIN, "CONNECT_REPLY(0) DISCONNECT CLOSE(0)"},
		{1, 0, RST, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
		{20, 0, FIN, "CONNECT_REPLY(0) DISCONNECT CLOSE(0)"},
		{20, 0, RST, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
		{0, 1, FIN, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
		{3, 10, FIN, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
		{3, 10, RST, "CONNECT_REPLY(0) CLOSE(CONNRESET)"},
	};

	(void)state;
	for (int p2p = 0; p2p < 2; p2p++)
		for (uint32_t budget = 1; budget <= 64; budget *= 8)
			for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
				struct iw_cm_attr a = {.no_peer_to_peer = !p2p};
				uint32_t n = good_reply(octets, p2p), part;

				ask(&a, budget);
				hold_back();
				for (uint32_t k = 1; k <= rows[i].fpdus; k++)
					n += cmsim_fpdu(octets + n, k, 0);
				part = cmsim_fpdu(octets + n, rows[i].fpdus + 1, 0);
				n += rows[i].cut < part ? rows[i].cut : part;
				cmsim_raw_send(&s.h[1], conn, octets, n);
				end_peer(rows[i].how);
				let_in();
				cmsim_run(&s, 1 * IW_SEC);
				assert_string_equal(cmsim_story(&s.h[0], id), rows[i].story);
				assert_int_equal(s.h[0].recv_ok, rows[i].fpdus);
				if (rows[i].how != NO_END)
					assert_int_equal(s.h[0].completed, s.h[0].posted);
				cmsim_close(&s);
			}
}

/* M11, with a reject and FIN; the private data is not lost. */
static void
test_reject_and_fin(void **state)
{
	(void)state;
	ask(NULL, 0);
	hold_back();
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x70, 2, 7, "\0\0\0\0why", 7));
	end_peer(FIN);
	let_in();
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(CONNREFUSED)");
	assert_int_equal(s.h[0].log[0].ev.private_len, 3);
	assert_memory_equal(s.h[0].log[0].data, "why", 3);
	cmsim_close(&s);
}

/* ---- first_fpdu_delay ---- */

static const struct iw_cm_attr delayed = {.first_fpdu_delay_us = 5000};

static void
test_delay(void **state)
{
	(void)state;
	ask(&delayed, 0);
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 4 * IW_MS);
	assert_int_equal(s.h[0].logged, 0);
	assert_int_equal(s.datas[0], 1);
	assert_int_equal(cm_state(s.h[0].cm, id), IW_CM_CONN_SENT);
	cmsim_run(&s, 2 * IW_MS);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0)");
	assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 20);
	cmsim_close(&s);
}

/* Whatever comes in the delay cuts it short: the RTR goes first, and never a RST. */
static void
test_delay_cut_short(void **state)
{
	(void)state;
	for (int how = 0; how < 6; how++) {
		ask(&delayed, 0);
		cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
		cmsim_run(&s, 1 * IW_MS);
		if (how == 0 || how == 1) {
			end_peer(how ? RST : FIN);
			cmsim_run(&s, 1 * IW_MS);
			assert_string_equal(cmsim_story(&s.h[0], id), how ? "CONNECT_REPLY(0) CLOSE(CONNRESET)"
									  : "CONNECT_REPLY(0) DISCONNECT CLOSE(0)");
			cmsim_close(&s);
			continue;
		}
		if (how == 2 || how == 3)
			assert_int_equal(cmsim_disconnect(&s.h[0], id, how == 3), 0);
		else if (how == 4)
			cmsim_destroy(&s.h[0], id);
		else
			cmsim_qp_destroy(&s.h[0], qp);
		cmsim_run(&s, 1 * IW_MS);
		assert_string_equal(cmsim_story(&s.h[0], id), how == 4 ? "" : "CONNECT_REPLY(CONNABORTED)");
		assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 20);
		assert_true(cmsim_raw_bits(&s.h[1]) & TCP_READY_FIN);
		assert_int_equal(s.rsts[0], 0);
		assert_int_equal(s.h[0].completed, s.h[0].posted);
		cmsim_close(&s);
	}
}

/* ---- the RTR ---- */

/* Handed to TCP before CONNECT_REPLY(0); without an mbuf it goes at the QP's next turn, and still first. */
static void
test_rtr_without_memory(void **state)
{
	(void)state;
	ask(NULL, 0);
	hold_back();
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 1 * IW_MS);
	s.h[0].frozen = false;
	mbufpool_set_fuse(s.h[0].env.data_pool, 1);
	mbufpool_set_fuse(s.h[0].env.ctl_pool, 1);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_counter(&s.h[0], "cm.no_mbuf"), 1);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0)");
	assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 20);
	assert_memory_equal(got, "\x00\x0e\xc1\x40", 4);
	cmsim_close(&s);
}

/* TCP has no transmit record for it: likewise, and nothing counts as sent that was not. */
static void
test_rtr_without_record(void **state)
{
	struct tcp_txq_pool *recs;
	uint32_t max;

	(void)state;
	ask(NULL, 0);
	hold_back();
	recs = &s.h[0].tcp->txq_pool;
	max = recs->max;
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 1 * IW_MS);
	s.h[0].frozen = false;
	recs->max = recs->used;
	cmsim_run(&s, 100 * IW_US);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0)");
	assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 0);
	recs->max = max;
	rdmap_run_add(qp);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 20);
	assert_memory_equal(got, "\x00\x0e\xc1\x40", 4);
	cmsim_close(&s);
}

static bool
lose_second_data(struct cmsim *sim, const struct cmsim_seg *seg)
{
	return seg->from == 0 && seg->len && sim->datas[0] == 2;
}

/* The RTR is lost on its way: an abrupt end still does not reset before it has arrived. */
static void
test_no_rst_before_rtr(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		ask(NULL, 0);
		s.filter = lose_second_data;
		cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
		cmsim_run(&s, 1 * IW_MS);
		assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0)");
		if (how == 0)
			cmsim_disconnect(&s.h[0], id, true);
		else if (how == 1)
			cmsim_destroy(&s.h[0], id);
		else
			cmsim_qp_destroy(&s.h[0], qp);
		cmsim_raw_send(&s.h[1], conn, octets, cmsim_fpdu(octets, 1, 0)); /* as siw may */
		cmsim_run(&s, 3 * IW_SEC);
		assert_int_equal(s.rsts[0], 0);
		assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 20);
		assert_true(cmsim_raw_bits(&s.h[1]) & TCP_READY_FIN);
		if (how != 1)
			assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) CLOSE(CONNABORTED)");
		cmsim_close(&s);
	}
	/* Once it has arrived: RST. */
	ask(NULL, 0);
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 100 * IW_MS);
	cmsim_disconnect(&s.h[0], id, true);
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(s.rsts[0], 1);
	cmsim_close(&s);
}

/* ---- the responder's first FPDU ---- */

struct first {
	const char *name;
	uint8_t flags; /* bit 0: good FPDU, 1: bad CRC, 2: part of one */
	enum end how;
	const char *story;
};

/* M20, M22 and "ESTABLISHED": whatever comes first, ESTABLISHED comes before. */
static void
test_first_fpdu(void **state)
{
	static const struct first rows[] = {
		{"Send instead of an RTR", 1, NO_END, "CONNECT_REQUEST ESTABLISHED"},
		{"bad CRC", 2, NO_END, "CONNECT_REQUEST ESTABLISHED CLOSE(PROTO)"},
		{"FIN", 0, FIN, "CONNECT_REQUEST ESTABLISHED DISCONNECT CLOSE(0)"},
		{"RST", 0, RST, "CONNECT_REQUEST ESTABLISHED CLOSE(CONNRESET)"},
		{"part, FIN", 4, FIN, "CONNECT_REQUEST ESTABLISHED CLOSE(CONNRESET)"},
		{"Send, FIN", 1, FIN, "CONNECT_REQUEST ESTABLISHED DISCONNECT CLOSE(0)"},
		{"Send, RST", 1, RST, "CONNECT_REQUEST ESTABLISHED CLOSE(CONNRESET)"},
		{"bad CRC, FIN", 2, FIN, "CONNECT_REQUEST ESTABLISHED CLOSE(PROTO)"},
		{"nothing for 10 s", 0, NO_END, "CONNECT_REQUEST ESTABLISHED CLOSE(TIMEDOUT)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t c, n;

		cmsim_open(&s, &(struct cmsim_opts){.raw_client = true});
		cmsim_listen(&s.h[1], 8);
		qp = cmsim_qp(&s.h[1]);
		cmsim_post_recv(&s.h[1], qp, 4);
		c = cmsim_raw_open(&s);
		cmsim_raw_send(&s.h[0], c, octets, cmsim_frame(octets, false, 0x50, 2, 4, "\x80\x10\xc0\x10", 4));
		cmsim_run(&s, 1 * IW_MS);
		id = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0)->id;
		assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), 0);
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_ACCEPTED);
		s.h[1].frozen = true;
		n = cmsim_fpdu(octets, 1, 0);
		octets[n - 1] ^= rows[i].flags & 2;
		if (rows[i].flags)
			cmsim_raw_send(&s.h[0], c, octets, rows[i].flags & 4 ? n / 2 : n);
		if (rows[i].how == FIN)
			tcp_close(s.h[0].tcp, c, s.now_ns);
		cmsim_run(&s, 1 * IW_MS);
		if (rows[i].how == RST)
			tcp_abort(s.h[0].tcp, c, s.now_ns);
		cmsim_run(&s, 1 * IW_MS);
		s.h[1].frozen = false;
		cmsim_run(&s, 9 * IW_SEC);
		if (i == 8)
			assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_ACCEPTED);
		cmsim_run(&s, 2 * IW_SEC);
		if (strcmp(cmsim_story(&s.h[1], id), rows[i].story))
			fail_msg("%s: %s", rows[i].name, cmsim_story(&s.h[1], id));
		assert_int_equal(s.h[1].recv_ok, rows[i].flags & 1);
		cmsim_close(&s);
	}
}

/* ---- back-pressure ---- */

/* The id connects, with a QP that waits for receives. */
static void
connect_waiting(void)
{
	struct iw_qp_attr attr = {.recv_back_pressure = true, .sq_sig_all = true};
	int err;

	attr.send_cq = attr.recv_cq = s.h[0].cq;
	qp = qp_create(s.h[0].rdmap, s.h[0].pd, &attr, &err);
	assert_non_null(qp);
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, NULL), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_run(&s, 1 * IW_MS);
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
}

/* The same, and a Send that waits stands before the peer's FIN. */
static void
hold_a_fin(void)
{
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	id = cmsim_id(&s.h[0]);
	cmsim_raw_listen(&s);
	connect_waiting();
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_fpdu(octets, 1, 0));
	end_peer(FIN);
	cmsim_run(&s, 5 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0)");
}

static void
receive_what_waits(void)
{
	cmsim_post_recv(&s.h[0], qp, 1);
	rdmap_doorbells(s.h[0].rdmap);
	cmsim_run(&s, 1 * IW_SEC);
}

static void
test_fin_behind_back_pressure(void **state)
{
	(void)state;
	hold_a_fin();
	receive_what_waits();
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) DISCONNECT CLOSE(0)");
	assert_int_equal(s.h[0].recv_ok, 1);
	cmsim_close(&s);
}

/* A reset does not wait for a receive: nothing can come of it. */
static void
test_rst_behind_back_pressure(void **state)
{
	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	id = cmsim_id(&s.h[0]);
	cmsim_raw_listen(&s);
	connect_waiting();
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_fpdu(octets, 1, 0));
	end_peer(RST);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) CLOSE(CONNRESET)");
	cmsim_close(&s);
}

/* What is held back of a stream ends with it: the id's next connection does not hear of a FIN of the one before. */
static void
test_held_fin_goes_with_its_stream(void **state)
{
	(void)state;
	hold_a_fin();
	assert_int_equal(cmsim_disconnect(&s.h[0], id, true), 0);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) CLOSE(CONNABORTED)");
	connect_waiting();
	cmsim_run(&s, 1 * IW_SEC);
	cmsim_raw_send(&s.h[1], conn, octets, cmsim_fpdu(octets, 1, 0));
	receive_what_waits();
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) CLOSE(CONNABORTED) CONNECT_REPLY(0)");
	assert_int_equal(s.h[0].recv_ok, 1);
	cmsim_close(&s);
}

/* Nor does it take its octets before the FIN, which are as many as the former left unread, for ones that nobody will
 * read. */
static void
test_unread_octets_go_with_their_stream(void **state)
{
	uint32_t n = cmsim_fpdu(octets, 1, 0);

	(void)state;
	ask(NULL, 1);
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 1 * IW_MS);
	cmsim_fpdu(octets, 1, 100);
	cmsim_raw_send(&s.h[1], conn, octets, n); /* a part of it, as long as an FPDU of nothing */
	end_peer(FIN);
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], id), "CONNECT_REPLY(0) CLOSE(CONNRESET)");

	qp = cmsim_qp(&s.h[0]);
	cmsim_post_recv(&s.h[0], qp, 2);
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, NULL), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_run(&s, 1 * IW_MS);
	cmsim_raw_send(&s.h[1], conn, octets, good_reply(octets, true));
	cmsim_run(&s, 1 * IW_MS);
	hold_back();
	cmsim_fpdu(octets, 1, 0);
	cmsim_fpdu(octets + n, 2, 0);
	cmsim_raw_send(&s.h[1], conn, octets, 2 * n); /* one is read before the FIN is looked at */
	end_peer(FIN);
	let_in();
	cmsim_run(&s, 1 * IW_SEC);
	assert_string_equal(cmsim_story(&s.h[0], id),
			    "CONNECT_REPLY(0) CLOSE(CONNRESET) CONNECT_REPLY(0) DISCONNECT CLOSE(0)");
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_reject_and_fin),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_delay_cut_short),
		cmocka_unit_test(test_rtr_without_memory),
		cmocka_unit_test(test_rtr_without_record),
		cmocka_unit_test(test_no_rst_before_rtr),
		cmocka_unit_test(test_first_fpdu),
		cmocka_unit_test(test_fin_behind_back_pressure),
		cmocka_unit_test(test_rst_behind_back_pressure),
		cmocka_unit_test(test_held_fin_goes_with_its_stream),
		cmocka_unit_test(test_unread_octets_go_with_their_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
