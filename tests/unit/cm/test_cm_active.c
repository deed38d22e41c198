/* SPDX-License-Identifier: BSD-3-Clause */
/* The initiator against a peer made by hand: every outcome of connect (docs/cm.md; M1-M18; RFC 5044 §7.1,
 * §7). */
#include "cmsim.h"

static struct cmsim s;
static iw_cm_id id;
static struct iw_qp *qp;
static uint32_t conn; /* the peer's end */
static uint8_t got[2048];

static void
open_raw(void)
{
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	id = cmsim_id(&s.h[0]);
	qp = cmsim_qp(&s.h[0]);
	cmsim_post_recv(&s.h[0], qp, 4);
}

/* As far as the peer has the Request; returns its length. */
static uint32_t
ask(const struct iw_cm_attr *attr)
{
	open_raw();
	cmsim_raw_listen(&s);
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, attr), 0);
	conn = cmsim_raw_accept(&s);
	cmsim_run(&s, 1 * IW_MS);
	return cmsim_raw_recv(&s.h[1], conn, got, sizeof(got));
}

static const struct cmsim_event *
reply_event(void)
{
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), 1);
	return cmsim_nth(&s.h[0], IW_CM_CONNECT_REPLY, 0);
}

/* Once the attempt has failed nothing of it is left, but the QP, which can be used again. */
static void
check_failed(int status)
{
	assert_int_equal(reply_event()->ev.status, status);
	assert_int_equal(cm_state(s.h[0].cm, id), IW_CM_IDLE);
	assert_true(qp_is_free(qp));
	tcp_abort(s.h[1].tcp, conn, s.now_ns);
	tcp_release(s.h[1].tcp, conn, s.now_ns);
	cmsim_run(&s, 100 * IW_SEC);
	assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), 1);
	cmsim_close(&s);
}

static void
test_request_octets(void **state)
{
	static const uint8_t enhanced[] = {0xc0, 0x10, 0xc0, 0x10, 'h', 'i'}; /* A, Send, IRD 16; Write, Read, ORD 16 */
	struct iw_cm_attr a = {.private_data = "hi", .private_len = 2};

	(void)state;
	assert_int_equal(ask(&a), 26);
	assert_memory_equal(got, "MPA ID Req Frame\x50\x02\x00\x06", 20);
	assert_memory_equal(got + 20, enhanced, 6);
	assert_int_equal(s.datas[0], 1);
	cmsim_close(&s);

	a.no_peer_to_peer = a.no_ird_ord = a.no_crc = true;
	assert_int_equal(ask(&a), 26);
	assert_memory_equal(got, "MPA ID Req Frame\x10\x02\x00\x06\x3f\xff\x3f\xff", 24);
	cmsim_close(&s);

	a = (struct iw_cm_attr){.revision_1 = true};
	assert_int_equal(ask(&a), 20);
	assert_memory_equal(got, "MPA ID Req Frame\x40\x01\x00\x00", 20);
	cmsim_close(&s);
}

/* ---- Replies ---- */

enum want { REFUSED = -IW_E_CONNREFUSED, PROTO = -IW_E_PROTO };

struct reply {
	const char *name;
	uint8_t flags, rev;
	uint16_t pd_len;
	uint8_t pd[8];
	uint8_t pd_n;
	int status;
	uint8_t term; /* code of the Terminate 2/0/xx that is due; 0: none */
};

static const struct reply replies[] = {
	{"good, Write RTR", 0x50, 2, 4, {0x80, 0x10, 0x80, 0x10}, 4, 0, 0},
	{"good, Read RTR", 0x50, 2, 4, {0x80, 0x10, 0x40, 0x10}, 4, 0, 0},
	{"good, reserved bits", 0x5f, 2, 4, {0x80, 0x10, 0x80, 0x10}, 4, 0, 0},
	{"M3 length 513", 0x50, 2, 513, {0}, 0, PROTO, 0},
	{"M3 length 0xffff", 0x50, 2, 0xffff, {0}, 0, PROTO, 0},
	{"M7 revision 0", 0x40, 0, 0, {0}, 0, PROTO, 0},
	{"M7 revision 3", 0x50, 3, 4, {0x80, 0x10, 0x80, 0x10}, 4, PROTO, 0},
	{"M11 S without its octets", 0x50, 2, 0, {0}, 0, PROTO, 0},
	{"M11 S with 3 octets", 0x50, 2, 3, {0, 0, 0}, 3, PROTO, 0},
	{"M11 reject of siw", 0x30, 2, 0, {0}, 0, REFUSED, 0},
	{"reject of another revision", 0x20, 1, 0, {0}, 0, REFUSED, 0},
	{"M12 without S", 0x40, 2, 0, {0}, 0, PROTO, 0},
	{"M12 revision 1", 0x40, 1, 0, {0}, 0, PROTO, 0},
	{"M14 ORD above our IRD", 0x50, 2, 4, {0x80, 0x10, 0x80, 0x11}, 4, PROTO, 6},
	{"good, Send RTR", 0x50, 2, 4, {0xc0, 0x10, 0x00, 0x10}, 4, 0, 0},
	{"M14 with private data", 0x50, 2, 6, {0x80, 0x10, 0x80, 0x11, 'h', 'i'}, 6, PROTO, 6},
	{"M15 no RTR in common", 0x50, 2, 4, {0x80, 0x10, 0x00, 0x10}, 4, PROTO, 7},
	{"M15 A not mirrored", 0x50, 2, 4, {0x00, 0x10, 0x00, 0x10}, 4, PROTO, 7},
};

/* RFC 5040 §4.8: a Terminate of layer 2, type 0. */
static void
check_terminate(uint8_t code)
{
	uint32_t n = cmsim_raw_recv(&s.h[1], conn, got, sizeof(got));
	uint8_t head[] = {0x00, 0x16, 0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0x20, code, 0, 0};

	assert_int_equal(n, code ? 28 : 0);
	if (code)
		assert_memory_equal(got, head, sizeof(head));
}

static void
one_reply(const struct reply *r, uint32_t piece)
{
	uint8_t octets[64];
	uint32_t n = cmsim_frame(octets, true, r->flags, r->rev, r->pd_len, r->pd, r->pd_n), fins;

	ask(NULL);
	for (uint32_t off = 0; off < n; off += piece) {
		if (cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY))
			break; /* it knew enough */
		cmsim_raw_send(&s.h[1], conn, octets + off, n - off < piece ? n - off : piece);
		cmsim_run(&s, 200 * IW_US);
	}
	cmsim_run(&s, 1 * IW_MS);
	if (reply_event()->ev.status != r->status)
		fail_msg("%s: %d", r->name, reply_event()->ev.status);
	assert_int_equal(reply_event()->ev.private_len, 0); /* none agrees or rejects with some */
	assert_null(reply_event()->ev.private_data);
	fins = s.fins[0];
	assert_int_equal(s.rsts[0], 0); /* never between Reply and RTR */
	if (r->status == 0) {
		assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), r->pd[2] & 0x80   ? 20
										  : r->pd[2] & 0x40 ? 52
												    : 24);
		assert_int_equal(fins, 0);
		assert_int_equal(iw_qp_state(qp), IW_QP_RTS);
		cmsim_close(&s);
		return;
	}
	assert_int_equal(fins, 1);
	check_terminate(r->term);
	check_failed(r->status);
}

static void
test_replies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		one_reply(&replies[i], 64); /* one segment */
		one_reply(&replies[i], 1);  /* M6 */
		one_reply(&replies[i], 19);
	}
}

/* M1, M2: any wrong octet of the key; found as soon as it is there. */
static void
test_wrong_key(void **state)
{
	uint8_t octets[32];

	(void)state;
	for (uint32_t i = 0; i <= 16; i++) {
		cmsim_frame(octets, i < 16, 0x50, 2, 0, NULL, 0); /* 16: the Request's key */
		if (i < 16)
			octets[i] ^= 0x20;
		ask(NULL);
		cmsim_raw_send(&s.h[1], conn, octets, i < 16 ? i + 1 : 20);
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(s.rsts[0], 0);
		check_failed(-IW_E_PROTO);
	}
}

/* ---- no Reply ---- */

static void
test_refused_by_rst(void **state)
{
	(void)state;
	open_raw(); /* nobody listens */
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, NULL), 0);
	cmsim_run(&s, 1 * IW_SEC);
	check_failed(-IW_E_CONNREFUSED);
}

static void
test_nobody_there(void **state)
{
	struct iw_addr to;

	(void)state;
	open_raw();
	to = cmsim_addr(&s, 1);
	to.ip[15] = 77;
	assert_int_equal(cm_connect(s.h[0].cm, id, &to, qp, NULL, s.now_ns), 0);
	s.h[0].seen[s.h[0].seen_n++] = (struct cmsim_seen){.id = id, .owed_replies = 1};
	cmsim_run(&s, 60 * IW_SEC);
	check_failed(-IW_E_HOSTUNREACH);
}

/* 10 s from the first SYN to the Reply: no answer to the SYN, and none to the Request. */
static void
test_silence(void **state)
{
	uint64_t start;

	(void)state;
	open_raw();
	cmsim_raw_listen(&s);
	cmsim_run(&s, 1 * IW_MS);
	s.cut = true;
	start = s.now_ns;
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, NULL), 0);
	cmsim_run(&s, 60 * IW_SEC);
	assert_true(reply_event()->ev.status == -IW_E_TIMEDOUT || reply_event()->ev.status == -IW_E_HOSTUNREACH);
	assert_true(reply_event()->at_ns <= start + 10 * IW_SEC + IW_MS);
	cmsim_close(&s);

	start = 1000 * IW_SEC;
	ask(NULL);
	cmsim_run(&s, 9 * IW_SEC);
	assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), 0);
	cmsim_run(&s, 2 * IW_SEC);
	assert_in_range(reply_event()->at_ns, start + 10 * IW_SEC, start + 10 * IW_SEC + IW_MS);
	assert_int_equal(s.fins[0], 1);
	assert_int_equal(s.rsts[0], 0);
	check_failed(-IW_E_TIMEDOUT);
}

static bool
lose_syns(struct cmsim *sim, const struct cmsim_seg *seg)
{
	(void)sim;
	return seg->syn;
}

/* For as long as the user wants, also when TCP would have given up before. */
static void
test_long_silence(void **state)
{
	uint64_t start;

	(void)state;
	open_raw();
	cmsim_raw_listen(&s);
	cmsim_run(&s, 1 * IW_MS);
	s.filter = lose_syns;
	start = s.now_ns;
	assert_int_equal(cmsim_connect(&s.h[0], id, qp, &(struct iw_cm_attr){.connect_timeout_ms = 600000}), 0);
	cmsim_run(&s, 700 * IW_SEC);
	assert_in_range(reply_event()->at_ns, start + 600 * IW_SEC, start + 600 * IW_SEC + IW_MS);
	check_failed(-IW_E_TIMEDOUT);
}

/* M18: the stream ends inside the Reply: no second attempt. */
static void
test_end_inside_reply(void **state)
{
	uint8_t octets[32];

	(void)state;
	for (uint32_t n = 1; n < 24; n += 3)
		for (int rst = 0; rst < 2; rst++) {
			ask(NULL);
			cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4);
			cmsim_raw_send(&s.h[1], conn, octets, n);
			cmsim_run(&s, 1 * IW_MS);
			if (rst)
				tcp_abort(s.h[1].tcp, conn, s.now_ns);
			else
				tcp_close(s.h[1].tcp, conn, s.now_ns);
			cmsim_run(&s, 1 * IW_MS);
			assert_int_equal(cmsim_counter(&s.h[0], "cm.connects_rev1"), 0);
			check_failed(-IW_E_CONNRESET);
		}
}

/* ---- once more with revision 1 ---- */

static uint16_t
peer_port(void)
{
	struct tcp_info info;

	assert_true(tcp_conn_info(s.h[1].tcp, conn, &info));
	return info.peer.port;
}

enum { BY_FIN, BY_RST, BY_BOTH }; /* both: our side sees them in one poll */

static void
end_peer(int how)
{
	s.h[0].frozen = how == BY_BOTH;
	if (how != BY_RST)
		tcp_close(s.h[1].tcp, conn, s.now_ns);
	if (how == BY_BOTH)
		cmsim_run(&s, 1 * IW_MS);
	if (how != BY_FIN)
		tcp_abort(s.h[1].tcp, conn, s.now_ns);
	tcp_release(s.h[1].tcp, conn, s.now_ns);
	if (how == BY_BOTH)
		cmsim_run(&s, 1 * IW_MS);
	s.h[0].frozen = false;
}

static void
test_second_attempt(void **state)
{
	struct iw_cm_attr a = {.private_data = "again", .private_len = 5, .local_port = 3000};
	uint8_t octets[32];

	(void)state;
	for (int how = BY_FIN; how <= BY_BOTH; how++) {
		ask(&a);
		assert_int_equal(peer_port(), 3000);
		end_peer(how);
		conn = cmsim_raw_accept(&s);
		assert_int_equal(s.rsts[0], 0); /* a FIN is answered by a FIN */
		assert_int_not_equal(peer_port(), 3000);
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(cmsim_raw_recv(&s.h[1], conn, got, sizeof(got)), 25);
		assert_memory_equal(got,
				    "MPA ID Req Frame\x40\x01\x00\x05"
				    "again",
				    25);
		assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), 0);
		cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x40, 1, 2, "ok", 2));
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(reply_event()->ev.status, 0);
		assert_int_equal(reply_event()->ev.revision, 1);
		assert_false(reply_event()->ev.peer_to_peer);
		assert_memory_equal(reply_event()->data, "ok", 2);
		assert_int_equal(cm_state(s.h[0].cm, id), IW_CM_ESTABLISHED);
		assert_int_equal(cmsim_counter(&s.h[0], "cm.connects"), 1);
		assert_int_equal(cmsim_counter(&s.h[0], "cm.connects_rev1"), 1);
		assert_int_equal(cmsim_counter(&s.h[0], "cm.connects_failed"), 0);
		cmsim_close(&s);
	}
}

/* One only, under the same deadline; none when the user insists on peer-to-peer or has asked for revision 1. */
static void
test_second_attempt_is_the_last(void **state)
{
	(void)state;
	ask(NULL);
	end_peer(BY_RST);
	conn = cmsim_raw_accept(&s);
	end_peer(BY_FIN);
	cmsim_run(&s, 1 * IW_MS);
	check_failed(-IW_E_CONNRESET);

	ask(NULL);
	cmsim_run(&s, 6 * IW_SEC);
	end_peer(BY_FIN);
	conn = cmsim_raw_accept(&s);
	cmsim_run(&s, 5 * IW_SEC);
	assert_in_range(reply_event()->at_ns, 1010 * IW_SEC, 1010 * IW_SEC + IW_MS);
	check_failed(-IW_E_TIMEDOUT);

	ask(&(struct iw_cm_attr){.require_peer_to_peer = true});
	end_peer(BY_RST);
	cmsim_run(&s, 1 * IW_MS);
	check_failed(-IW_E_CONNRESET);

	ask(&(struct iw_cm_attr){.revision_1 = true});
	end_peer(BY_FIN);
	cmsim_run(&s, 1 * IW_MS);
	check_failed(-IW_E_CONNRESET);
}

/* Its Request needs an mbuf. */
static void
test_second_attempt_without_memory(void **state)
{
	(void)state;
	ask(NULL);
	end_peer(BY_RST);
	cmsim_run(&s, 40 * IW_US); /* the RST is on its way */
	mbufpool_set_fuse(s.h[0].env.ctl_pool, 1);
	mbufpool_set_fuse(s.h[0].env.data_pool, 1);
	cmsim_run(&s, 1 * IW_MS);
	check_failed(-IW_E_CONNRESET);
}

/* ---- given up here ---- */

/* RST before the Request has left. */
static void
test_give_up_early(void **state)
{
	(void)state;
	for (int how = 0; how < 4; how++) {
		open_raw();
		cmsim_raw_listen(&s);
		assert_int_equal(cmsim_connect(&s.h[0], id, qp, NULL), 0);
		cmsim_run(&s, 60 * IW_US); /* ARP, SYN */
		if (how == 3)
			cmsim_destroy(&s.h[0], id);
		else if (how == 2)
			cm_qp_gone(s.h[0].cm, qp, s.now_ns);
		else
			assert_int_equal(cmsim_disconnect(&s.h[0], id, how), 0);
		assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), 0); /* not from inside the call */
		assert_int_equal(cm_deadline(s.h[0].cm) == 0, how != 3);        /* but now */
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(s.datas[0], 0);
		assert_int_equal(cmsim_count(&s.h[0], IW_CM_CONNECT_REPLY), how != 3);
		if (how != 3)
			assert_int_equal(reply_event()->ev.status, -IW_E_CONNABORTED);
		assert_int_equal(cm_id_count(s.h[0].cm), how != 3);
		assert_true(qp_is_free(qp));
		cmsim_close(&s);
	}
}

/* FIN afterwards; and a Reply that is on its way meets no RST, for the peer waits for the RTR. */
static void
test_give_up_late(void **state)
{
	uint8_t octets[32];

	(void)state;
	for (int how = 0; how < 4; how++) {
		ask(NULL);
		cmsim_raw_send(&s.h[1], conn, octets, cmsim_frame(octets, true, 0x50, 2, 4, "\x80\x10\x80\x10", 4));
		s.h[0].frozen = true;
		cmsim_run(&s, 1 * IW_MS); /* it lies before the door */
		if (how == 3)
			cmsim_destroy(&s.h[0], id);
		else if (how == 2)
			cm_qp_gone(s.h[0].cm, qp, s.now_ns);
		else
			assert_int_equal(cmsim_disconnect(&s.h[0], id, how), 0);
		s.h[0].frozen = false;
		assert_int_equal(cm_id_count(s.h[0].cm), how != 3);
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(s.rsts[0], 0);
		assert_int_equal(s.fins[0], 1);
		assert_true(cmsim_raw_bits(&s.h[1]) & TCP_READY_FIN);
		if (how != 3)
			assert_int_equal(reply_event()->ev.status, -IW_E_CONNABORTED);
		end_peer(BY_FIN);
		cmsim_run(&s, 1 * IW_SEC);
		assert_int_equal(tcp_conn_count(s.h[0].tcp), 0);
		assert_int_equal(s.rsts[0], 0);
		cmsim_close(&s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_octets),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_refused_by_rst),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_long_silence),
		cmocka_unit_test(test_end_inside_reply),
		cmocka_unit_test(test_second_attempt),
		cmocka_unit_test(test_second_attempt_is_the_last),
		cmocka_unit_test(test_second_attempt_without_memory),
		cmocka_unit_test(test_give_up_early),
		cmocka_unit_test(test_give_up_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
