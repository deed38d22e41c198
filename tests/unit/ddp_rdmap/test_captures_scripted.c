/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays siw against a scripted peer (10.77.0.1): siw's frames are sound, the peer's faults get the name they have in
 * the error tables (as far as the codecs alone can tell), and siw's Terminates are read in its own nibble order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define F(name) RDMAP_FAULT_##name

/* ---- siw as the responder ---- */

enum answer {
	NOTHING, /* not an octet */
	AGREED,  /* our initiator would go on with siw's Reply */
	REJECT,
	CLOSE, /* our initiator would leave */
	REV_0  /* a Reply of a revision that we do not speak */
};

#define NO_TERM false, false, 0, 0, 0
#define TERM(l, e, c) true, true, l, e, c
#define TERM_RFC(l, e, c) true, false, l, e, c

static const struct responder_row {
	const char *name;
	enum mpa_hdr_verdict request; /* M rows */
	enum answer answer;
	enum rdmap_fault fault; /* F, D, R rows: of the scripted peer's first bad FPDU */
	bool term, swapped;     /* siw's Terminate as we read it */
	uint8_t layer, etype, code;
} responder_rows[] = {
	{"plain", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M13 0x3fff", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M13 0", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M8 markers", MPA_HDR_OK, REJECT, F(NONE), NO_TERM},
	{"M11 S, PD_Length 0", MPA_HDR_BAD_ENHANCED, REJECT, F(NONE), NO_TERM},
	{"revision 1", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M10 revision 1, S reserved", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"revision 2 without S", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M7 revision 0", MPA_HDR_BAD_REV, REV_0, F(NONE), NO_TERM},
	{"M10 reserved bits", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M7 revision 3", MPA_HDR_BAD_REV, NOTHING, F(NONE), NO_TERM},
	{"M1 key", MPA_HDR_BAD_KEY, NOTHING, F(NONE), NO_TERM},
	{"PD_Length 257", MPA_HDR_OK, NOTHING, F(NONE), NO_TERM},
	{"PD_Length 256", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M9 CRC", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M18 RST", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"R2 opcode 9", MPA_HDR_OK, AGREED, F(NONE), TERM_RFC(2, 0, 6)}, /* RFC 7306: new to siw; cannot be told */
	{"R2 opcode 9, CRC", MPA_HDR_OK, AGREED, F(NONE), TERM_RFC(2, 0, 6)},
	{"D1 DV 2", MPA_HDR_OK, AGREED, F(DDP_U_VERSION), TERM(1, 2, 6)},
	{"R1 RV 0", MPA_HDR_OK, AGREED, F(RDMAP_VERSION), TERM_RFC(2, 0, 5)}, /* the same */
	{"D2 Write, bad STag", MPA_HDR_OK, AGREED, F(NONE), TERM(1, 1, 0)},
	{"D2 Write, bad STag, CRC", MPA_HDR_OK, AGREED, F(NONE), TERM(1, 1, 0)},
	{"D10 MSN 2", MPA_HDR_OK, AGREED, F(DDP_U_MSN), TERM(1, 2, 3)},
	{"D11 MO 4", MPA_HDR_OK, AGREED, F(DDP_U_MO), TERM(1, 2, 4)},
	{"D8 Send on QN 1", MPA_HDR_OK, AGREED, F(DDP_U_QN), TERM(1, 2, 1)},
	{"D12 Send of 1000", MPA_HDR_OK, AGREED, F(NONE), TERM(1, 2, 2)},
	{"R6 Read, bad STag", MPA_HDR_OK, AGREED, F(NONE), TERM(0, 1, 0)},
	{"R7 Read of 0, bad STag", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"D8 Read Request on QN 0", MPA_HDR_OK, AGREED, F(DDP_U_QN), NO_TERM},
	{"R9 Read Request of 29 octets", MPA_HDR_OK, AGREED, F(DDP_U_TOO_LONG), NO_TERM},
	{"R4 Read Response unasked", MPA_HDR_OK, AGREED, F(RESP_UNEXPECTED), TERM(1, 0, 0)},
	{"F3 length 10", MPA_HDR_OK, AGREED, F(MPA_LENGTH), TERM(2, 0, 3)},
	{"F1 CRC", MPA_HDR_OK, AGREED, F(MPA_CRC), TERM(2, 0, 2)},
	{"R10 Invalidate, bad STag", MPA_HDR_OK, AGREED, F(NONE), TERM(0, 2, 9)},
	{"R11 Terminate", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"D7 zero-length Write, bad STag", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"R8 more Reads than IRD", MPA_HDR_OK, AGREED, F(NONE), TERM(0, 2, 7)},
	{"plain", MPA_HDR_OK, AGREED, F(NONE), NO_TERM},
	{"M5 octets behind the Request", MPA_HDR_OK, NOTHING, F(NONE), NO_TERM},
	{"M5 octets behind the Request, revision 1", MPA_HDR_OK, NOTHING, F(NONE), NO_TERM},
};

/* siw's Reply, as our initiator takes it. */
static enum answer
answer_of(const struct pcap_stream *s, const struct mpa_startup *request, uint32_t *total, struct mpa_neg *out)
{
	struct mpa_neg_local local = replay_local_of(request);
	enum mpa_hdr_verdict verdict;
	struct mpa_startup reply;

	if (s->len == 0)
		return NOTHING;
	verdict = replay_startup(s, true, &reply, total);
	if (verdict == MPA_HDR_BAD_REV)
		return REV_0;
	assert_int_equal(verdict, MPA_HDR_OK);
	replay_check_startup_emit(s, &reply);
	mpa_neg_initiator(&local, request, &reply, out);
	return out->verdict == MPA_NEG_AGREED ? AGREED : out->verdict == MPA_NEG_REJECTED ? REJECT : CLOSE;
}

static void
check_terminate(const struct responder_row *row, const struct tally *t)
{
	if (t->ops[RDMAP_OP_TERMINATE] != row->term)
		fail_msg("%s: %u Terminates", row->name, t->ops[RDMAP_OP_TERMINATE]);
	if (row->term && (t->term.nibbles_swapped != row->swapped || t->term.layer != row->layer ||
			  t->term.etype != row->etype || t->term.code != row->code))
		fail_msg("%s: Terminate %u/%u/%02x, swapped %d", row->name, t->term.layer, t->term.etype, t->term.code,
			 t->term.nibbles_swapped);
}

static void
responder_conn(const struct responder_row *row, const struct pcap_conn *conn)
{
	const struct pcap_stream *peer = &conn->dir[0], *siw = &conn->dir[1];
	struct tally from_peer = {0}, from_siw = {0};
	struct mpa_startup request;
	uint32_t total[2] = {0};
	struct mpa_neg agreed = {0};
	enum rdmap_fault fault;

	replay_check_whole(siw);
	if (replay_startup(peer, false, &request, &total[0]) != row->request)
		fail_msg("%s: request", row->name);
	if (answer_of(siw, &request, &total[1], &agreed) != row->answer)
		fail_msg("%s: answer", row->name);
	if (row->answer != AGREED)
		return;
	struct replay from = {.stream = peer, .crc = agreed.stream.crc, .tally = &from_peer};
	struct replay to = {.stream = siw,
			    .crc = agreed.stream.crc,
			    .siw = true,
			    .reads = replay_count_reads(peer, total[0]),
			    .tally = &from_siw};

	fault = replay_stream(&from, total[0]);
	if (fault != row->fault)
		fail_msg("%s: fault %d", row->name, fault);
	assert_int_equal(replay_stream(&to, total[1]), F(NONE));
	check_terminate(row, &from_siw);
}

static void
test_siw_as_responder(void **state)
{
	struct pcap_file file;

	replay_capture("siw-responder-errors.pcap", &file);
	assert_int_equal(file.n_conns, COUNT(responder_rows));
	for (uint32_t i = 0; i < file.n_conns; i++)
		responder_conn(&responder_rows[i], &file.conns[i]);
	pcap_file_free(&file);
}

/* ---- siw as the initiator ---- */

static const struct initiator_row {
	const char *name;
	enum mpa_hdr_verdict reply;
	enum mpa_neg_verdict verdict; /* of our initiator with siw's Request */
	enum rdmap_fault fault;
	uint32_t fpdus; /* of siw */
	bool term;      /* the last is a Terminate: 2/0/code, or 0/2/code when it cannot be told */
	uint8_t layer, code;
} initiator_rows[] = {
	{"plain", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 1, false, 0, 0},
	{"Reply and FIN", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 0, false, 0, 0},
	{"Reply, then FIN", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 1, false, 0, 0},
	{"reject and FIN", MPA_HDR_OK, MPA_NEG_REJECTED, F(NONE), 0, false, 0, 0},
	{"reject, then FIN", MPA_HDR_OK, MPA_NEG_REJECTED, F(NONE), 0, false, 0, 0},
	{"M17 FPDU behind the Reply", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 0, false, 0, 0},
	{"FPDU after siw's", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 2, false, 0, 0},
	{"M13 0x3fff", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 1, true, 0, 6},
	{"M12 revision 1", MPA_HDR_OK, MPA_NEG_CLOSE, F(NONE), 0, false, 0, 0},
	{"M12 no S", MPA_HDR_OK, MPA_NEG_CLOSE, F(NONE), 0, false, 0, 0},
	{"M1 key", MPA_HDR_BAD_KEY, 0, F(NONE), 1, true, 2, 4},
	{"M8 markers", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 0, false, 0, 0},
	{"FIN without a Reply", MPA_HDR_NEED, 0, F(NONE), 0, false, 0, 0},
	{"M15 A unasked", MPA_HDR_OK, MPA_NEG_TERMINATE, F(MPA_RTR), 1, false, 0, 0},
	{"M13 0", MPA_HDR_OK, MPA_NEG_AGREED, F(NONE), 1, false, 0, 0},
	{"FIN without a Reply, late", MPA_HDR_NEED, 0, F(NONE), 0, false, 0, 0},
	{"M11 S, PD_Length 0", MPA_HDR_BAD_ENHANCED, 0, F(NONE), 0, false, 0, 0},
};

static void
check_siw_initiator(const struct initiator_row *row, const struct pcap_stream *siw, uint32_t off)
{
	struct tally tally = {0};
	struct replay r = {.stream = siw, .siw = true, .tally = &tally};

	assert_int_equal(replay_stream(&r, off), F(NONE));
	if (tally.fpdus != row->fpdus || tally.ops[RDMAP_OP_TERMINATE] != row->term)
		fail_msg("%s: %u FPDUs, %u Terminates", row->name, tally.fpdus, tally.ops[RDMAP_OP_TERMINATE]);
	if (row->term && (tally.term.layer != row->layer || tally.term.code != row->code))
		fail_msg("%s: Terminate %u/%u/%02x", row->name, tally.term.layer, tally.term.etype, tally.term.code);
}

static void
initiator_conn(const struct initiator_row *row, const struct pcap_conn *conn)
{
	const struct pcap_stream *siw = &conn->dir[0], *peer = &conn->dir[1];
	struct mpa_startup request, reply;
	struct tally from_peer = {0};
	struct mpa_neg_local local;
	uint32_t total[2];
	struct mpa_neg out;

	replay_check_whole(siw);
	assert_int_equal(replay_startup(siw, false, &request, &total[0]), MPA_HDR_OK);
	replay_check_startup_emit(siw, &request);
	check_siw_initiator(row, siw, total[0]);
	if (replay_startup(peer, true, &reply, &total[1]) != row->reply)
		fail_msg("%s: reply", row->name);
	if (row->reply != MPA_HDR_OK)
		return;
	local = replay_local_of(&request);
	mpa_neg_initiator(&local, &request, &reply, &out);
	if (out.verdict != row->verdict || out.fault != row->fault)
		fail_msg("%s: verdict %d, fault %d", row->name, out.verdict, out.fault);
	if (reply.reject)
		assert_memory_equal(reply.private_data, "no, thanks", 10);
	if (out.verdict == MPA_NEG_AGREED) {
		struct replay r = {.stream = peer, .crc = out.stream.crc, .tally = &from_peer};

		assert_int_equal(replay_stream(&r, total[1]), F(NONE));
	}
}

static void
test_siw_as_initiator(void **state)
{
	struct pcap_file file;

	replay_capture("siw-initiator-cases.pcap", &file);
	assert_int_equal(file.n_conns, COUNT(initiator_rows));
	for (uint32_t i = 0; i < file.n_conns; i++)
		initiator_conn(&initiator_rows[i], &file.conns[i]);
	pcap_file_free(&file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siw_as_responder),
		cmocka_unit_test(test_siw_as_initiator),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
