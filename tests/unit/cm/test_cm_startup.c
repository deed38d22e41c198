/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as they come in, by a peer made by hand (docs/cm.md; M1-M19). */
#include "cmraw.h"

/* The peer's connection has ended, nothing of it is left here. */
static void
check_gone(uint32_t bit)
{
	uint32_t bits = cmsim_raw_bits(&s.h[0]);

	assert_true(bits & bit);
	assert_int_equal(cm_id_count(s.h[1].cm), 1);
}

struct request {
	const char *name;
	uint8_t flags, rev;
	uint16_t pd_len;
	uint8_t pd[8];
	uint8_t pd_n; /* octets that follow */
	enum { SHOWN, CLOSED, REJECTED } what;
	uint16_t ird, ord; /* SHOWN: as reported */
};

static const struct request table[] = {
	{"revision 2", 0x50, 2, 4, {0x80, 0x10, 0xc0, 0x11}, 4, SHOWN, 0x10, 0x11},
	{"revision 1", 0x40, 1, 2, {1, 2}, 2, SHOWN, 0x3fff, 0x3fff},
	{"siw, plain revision 2", 0x00, 2, 0, {0}, 0, SHOWN, 0x3fff, 0x3fff},
	{"M10 reserved bits and R", 0x7f, 2, 4, {0x00, 0x01, 0x00, 0x01}, 4, SHOWN, 1, 1},
	{"M13 IRD 0", 0x50, 2, 4, {0x00, 0x00, 0x00, 0x00}, 4, SHOWN, 0, 0},
	{"M13 not negotiated", 0x50, 2, 4, {0x3f, 0xff, 0x3f, 0xfe}, 4, SHOWN, 0x3fff, 0x3ffe},
	{"M3 length 513", 0x50, 2, 513, {0}, 0, CLOSED, 0, 0},
	{"M3 length 0x8000", 0x40, 1, 0x8000, {0}, 0, CLOSED, 0, 0},
	{"M7 revision 0", 0x40, 0, 0, {0}, 0, CLOSED, 0, 0},
	{"M7 revision 3", 0x40, 3, 0, {0}, 0, CLOSED, 0, 0},
	{"M11 S without its octets", 0x50, 2, 0, {0}, 0, CLOSED, 0, 0},
	{"M11 S with 3 octets", 0x50, 2, 3, {0}, 3, CLOSED, 0, 0},
	{"M5 octets behind", 0x50, 2, 4, {0x80, 0x10, 0xc0, 0x10, 9}, 5, CLOSED, 0, 0},
	{"M8 markers wanted", 0xd0, 2, 4, {0x80, 0x10, 0xc0, 0x10}, 4, SHOWN, 0x10, 0x10},
};

static void
one_request(const struct request *r, uint32_t piece)
{
	uint8_t octets[64];
	uint32_t n = cmsim_frame(octets, false, r->flags, r->rev, r->pd_len, r->pd, r->pd_n);
	const struct cmsim_event *e;

	open_raw(NULL, 8);
	for (uint32_t off = 0; off < n; off += piece) {
		cmsim_raw_send(&s.h[0], conn, octets + off, n - off < piece ? n - off : piece);
		cmsim_run(&s, piece < n ? 200 * IW_US : 1 * IW_MS);
		if (r->what == CLOSED && cm_id_count(s.h[1].cm) == 1)
			break;
	}
	cmsim_run(&s, 1 * IW_MS);
	if (requests() != (r->what == SHOWN))
		fail_msg("%s: %u requests", r->name, requests());
	if (r->what == SHOWN) {
		e = cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, 0);
		assert_int_equal(e->ev.ird, r->ird);
		assert_int_equal(e->ev.ord, r->ord);
		assert_int_equal(e->ev.revision, r->rev);
		assert_int_equal(e->ev.crc, (r->flags & 0x40) != 0);
		assert_int_equal(s.datas[1], 0);
	} else if (r->what == CLOSED) {
		check_gone(TCP_READY_RST);
		assert_int_equal(s.datas[1], 0); /* no Reply, no Terminate */
	} else {
		assert_int_equal(cmsim_raw_recv(&s.h[0], conn, got, sizeof(got)), 24);
		assert_memory_equal(got, "MPA ID Rep Frame", 16);
		assert_int_equal(got[16] & 0x30, 0x30);
		check_gone(TCP_READY_FIN);
	}
	cmsim_close(&s);
}

static void
test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		one_request(&table[i], 64);
		if (table[i].pd_n == 5)
			continue;          /* M5 in pieces: test_early_octets() */
		one_request(&table[i], 1); /* M6 */
		one_request(&table[i], 17);
	}
}

static void
test_wrong_key(void **state)
{
	uint8_t octets[32];

	(void)state;
	for (uint32_t i = 0; i <= 16; i++) {
		cmsim_frame(octets, i == 16, 0x50, 2, 0, NULL, 0);
		if (i < 16)
			octets[i] ^= 0x01;
		open_raw(NULL, 8);
		cmsim_raw_send(&s.h[0], conn, octets, i < 16 ? i + 1 : 20);
		cmsim_run(&s, 1 * IW_MS);
		assert_int_equal(requests(), 0);
		assert_int_equal(s.datas[1], 0);
		check_gone(TCP_READY_RST);
		cmsim_close(&s);
	}
}

/* M5: octets behind the Request before our Reply; the id learns of it when it answers. */
static void
test_early_octets(void **state)
{
	uint8_t octets[64];
	struct iw_qp *qp;
	iw_cm_id id;

	(void)state;
	open_raw(NULL, 8);
	qp = cmsim_qp(&s.h[1]);
	cmsim_raw_send(&s.h[0], conn, octets, good(octets));
	cmsim_run(&s, 1 * IW_MS);
	id = asked(0);
	cmsim_raw_send(&s.h[0], conn, "x", 1);
	cmsim_run(&s, 1 * IW_MS);
	assert_true(cmsim_raw_bits(&s.h[0]) & TCP_READY_RST);
	assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_CONN_RECV);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), -IW_E_CONNRESET);
	assert_int_equal(cm_state(s.h[1].cm, id), IW_CM_IDLE);
	assert_int_equal(cmsim_accept(&s.h[1], id, qp, NULL), -IW_E_INVAL);
	assert_int_equal(requests(), 1);
	assert_int_equal(cmsim_counter(&s.h[1], "cm.drop_request_early"), 1);
	assert_true(qp_is_free(qp));
	cmsim_close(&s);
}

/* M4, M18: nobody hears of a peer that does not finish its Request. */
static void
test_unfinished(void **state)
{
	uint8_t octets[64];
	uint32_t n = good(octets);

	(void)state;
	for (uint32_t len = 0; len < n; len += 5)
		for (int how = 0; how < 3; how++) {
			open_raw(NULL, 8);
			if (len)
				cmsim_raw_send(&s.h[0], conn, octets, len);
			cmsim_run(&s, 1 * IW_MS);
			assert_int_equal(cm_id_count(s.h[1].cm), 2);
			if (how == 0)
				tcp_close(s.h[0].tcp, conn, s.now_ns);
			else if (how == 1)
				tcp_abort(s.h[0].tcp, conn, s.now_ns);
			cmsim_run(&s, how == 2 ? 11 * IW_SEC : 1 * IW_SEC);
			assert_int_equal(cm_id_count(s.h[1].cm), 1);
			assert_int_equal(requests(), 0);
			assert_int_equal(
				cmsim_counter(&s.h[1], how == 2 ? "cm.drop_request_late" : "cm.drop_request_gone"), 1);
			if (how == 2)
				assert_true(cmsim_raw_bits(&s.h[0]) & TCP_READY_RST);
			cmsim_close(&s);
		}
}

static uint32_t
more(void)
{
	uint8_t octets[64];
	uint32_t c = cmsim_raw_open(&s);

	cmsim_raw_send(&s.h[0], c, octets, good(octets));
	cmsim_run(&s, 1 * IW_MS);
	return c;
}

/* M19: many that never send their Request: the oldest go, who comes in earnest is served. */
static void
test_half_open_flood(void **state)
{
	struct cm_params params = {.max_ids = 6};

	(void)state;
	open_raw(&params, 128);
	for (int i = 0; i < 30; i++)
		cmsim_raw_open(&s);
	assert_int_equal(cm_id_count(s.h[1].cm), 6);
	assert_int_equal(cmsim_counter(&s.h[1], "cm.drop_reaped"), 26);
	more();
	assert_int_equal(requests(), 1);
	assert_int_not_equal(cmsim_id(&s.h[1]), 0); /* room for an own one too */
	cmsim_close(&s);
}

/* All ids in earnest use: refused by a reject, never by RST (M16). */
static void
test_no_ids_left(void **state)
{
	struct cm_params params = {.max_ids = 3};
	uint32_t c;

	(void)state;
	open_raw(&params, 128);
	more();
	more();
	assert_int_equal(requests(), 2);
	assert_int_equal(cmsim_id(&s.h[1]), 0);
	c = more();
	assert_int_equal(requests(), 2);
	assert_int_equal(cmsim_raw_recv(&s.h[0], c, got, sizeof(got)), 24);
	assert_int_equal(got[16] & 0x20, 0x20);
	cmsim_close(&s);
}

/* Handshake, Request and FIN lie before the door together: one ready entry has them all. */
static void
test_everything_at_once(void **state)
{
	struct iw_addr to, from = {.port = 0};
	uint8_t octets[64];
	struct iw_qp *qp;

	(void)state;
	cmsim_open(&s, &(struct cmsim_opts){.raw_client = true});
	listener = cmsim_listen(&s.h[1], 8);
	qp = cmsim_qp(&s.h[1]);
	to = cmsim_addr(&s, 1);
	assert_int_equal(tcp_open(s.h[0].tcp, &from, &to, NULL, 97, s.now_ns, &conn), 0);
	for (int i = 0; i < 100 && !(cmsim_raw_bits(&s.h[0]) & TCP_READY_UP); i++)
		cmsim_step(&s, s.now_ns + 1 * IW_MS); /* the last ACK is not there yet */
	s.h[1].frozen = true;
	cmsim_raw_send(&s.h[0], conn, octets, good(octets));
	tcp_close(s.h[0].tcp, conn, s.now_ns);
	cmsim_run(&s, 1 * IW_MS);
	s.h[1].frozen = false;
	cmsim_run(&s, 1 * IW_MS);
	assert_int_equal(cmsim_accept(&s.h[1], asked(0), qp, NULL), -IW_E_CONNRESET);
	cmsim_run(&s, 100 * IW_SEC);
	assert_int_equal(tcp_conn_count(s.h[1].tcp), 0);
	cmsim_close(&s);
}

/* Both connect at once, each from the port that the other asks for: TCP makes one connection of it, and MPA has two
 * initiators.  Both notice (M2, RFC 5044 §7.1.2 rule 8). */
static void
test_simultaneous_open(void **state)
{
	iw_cm_id ids[2];

	(void)state;
	cmsim_open(&s, NULL);
	for (uint32_t n = 0; n < 2; n++) {
		struct iw_cm_attr a = {.local_port = (uint16_t)(6000 + n)};
		struct iw_addr to = cmsim_addr(&s, !n);

		to.port = (uint16_t)(6000 + !n);
		ids[n] = cmsim_id(&s.h[n]);
		assert_int_equal(cm_connect(s.h[n].cm, ids[n], &to, cmsim_qp(&s.h[n]), &a, s.now_ns), 0);
		s.h[n].seen[s.h[n].seen_n++] = (struct cmsim_seen){.id = ids[n], .owed_replies = 1};
	}
	cmsim_run(&s, 30 * IW_SEC);
	for (uint32_t n = 0; n < 2; n++) {
		assert_string_equal(cmsim_story(&s.h[n], ids[n]), "CONNECT_REPLY(PROTO)");
		assert_int_equal(cm_state(s.h[n].cm, ids[n]), IW_CM_IDLE);
		assert_int_equal(tcp_conn_count(s.h[n].tcp), 0);
	}
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests),           cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_early_octets),       cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_half_open_flood),    cmocka_unit_test(test_no_ids_left),
		cmocka_unit_test(test_everything_at_once), cmocka_unit_test(test_simultaneous_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
