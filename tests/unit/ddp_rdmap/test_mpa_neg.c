/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpa_neg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NN 0x3fff /* not negotiated */

/* Flags of a frame, for the tables. */
enum { M = 1 << 0, C = 1 << 1, R = 1 << 2, S = 1 << 3, A = 1 << 4, RB = 1 << 5, RC = 1 << 6, RD = 1 << 7 };

static struct mpa_startup
frame(bool reply, uint8_t rev, unsigned flags, uint16_t ird, uint16_t ord)
{
	return (struct mpa_startup){.reply = reply,
				    .markers = flags & M,
				    .crc = flags & C,
				    .reject = flags & R,
				    .enhanced = flags & S,
				    .rev = rev,
				    .peer_to_peer = flags & A,
				    .rtr_send = flags & RB,
				    .rtr_write = flags & RC,
				    .rtr_read = flags & RD,
				    .ird = ird,
				    .ord = ord};
}

static unsigned
flags_of(const struct mpa_startup *f)
{
	return (f->markers ? M : 0) | (f->crc ? C : 0) | (f->reject ? R : 0) | (f->enhanced ? S : 0) |
	       (f->peer_to_peer ? A : 0) | (f->rtr_send ? RB : 0) | (f->rtr_write ? RC : 0) | (f->rtr_read ? RD : 0);
}

/* ---- the Request ---- */

static void
test_request(void **state)
{
	static const struct {
		const char *name;
		struct mpa_neg_local local;
		uint8_t rev;
		unsigned flags;
		uint16_t ird, ord;
	} rows[] = {
		{"plain", {.revision = 2, .ird = 16, .ord = 8}, 2, S, 16, 8},
		{"M9: CRC", {.revision = 2, .crc = true, .ird = 16, .ord = 8}, 2, S | C, 16, 8},
		{"peer-to-peer",
		 {.revision = 2, .peer_to_peer = true, .ird = 16, .ord = 8},
		 2,
		 S | A | RB | RC | RD,
		 16,
		 8},
		{"M15: no Read RTR without an ORD",
		 {.revision = 2, .peer_to_peer = true, .ird = 16},
		 2,
		 S | A | RB | RC,
		 16,
		 0},
		{"M13: not negotiated", {.revision = 2, .no_ird_ord = true, .ird = 16, .ord = 8}, 2, S, NN, NN},
		{"revision 1 has none of it",
		 {.revision = 1, .crc = true, .peer_to_peer = true, .ird = 16, .ord = 8},
		 1,
		 C,
		 0,
		 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct mpa_startup f;

		mpa_neg_request(&rows[i].local, "data", 4, &f);
		if (f.reply || f.rev != rows[i].rev || flags_of(&f) != rows[i].flags || f.ird != rows[i].ird ||
		    f.ord != rows[i].ord)
			fail_msg("%s", rows[i].name);
		assert_int_equal(f.private_len, 4);
		assert_memory_equal(f.private_data, "data", 4);
	}
}

/* ---- the responder ---- */

static const struct mpa_neg_local local_16 = {.revision = 2, .ird = 16, .ord = 8};
static const struct mpa_neg_local local_crc = {.revision = 2, .crc = true, .ird = 16, .ord = 8};
static const struct mpa_neg_local local_no_read = {.revision = 2, .ird = 0, .ord = 0};
static const struct mpa_neg_local local_nn = {.revision = 2, .no_ird_ord = true, .ird = 16, .ord = 8};

static const struct responder_row {
	const char *name;
	const struct mpa_neg_local *local;
	uint8_t rev;
	unsigned flags; /* of the Request */
	uint16_t ird, ord;
	unsigned reply; /* flags of the Reply */
	uint16_t reply_ird, reply_ord;
	bool crc; /* agreed */
	uint16_t got_ird, got_ord;
	enum qp_rtr rtr;
} responder_rows[] = {
	/* M7, M12: the form is mirrored */
	{"M12 revision 1", &local_16, 1, 0, 0, 0, 0, 0, 0, false, 16, 8, QP_RTR_NONE},
	{"M12 revision 2 without S", &local_16, 2, 0, 0, 0, 0, 0, 0, false, 16, 8, QP_RTR_NONE},
	{"M12 enhanced", &local_16, 2, S, 16, 16, S, 16, 8, false, 16, 8, QP_RTR_NONE},
	/* M9 */
	{"M9 peer alone asks", &local_16, 2, S | C, 16, 16, S | C, 16, 8, true, 16, 8, QP_RTR_NONE},
	{"M9 we alone ask", &local_crc, 2, S, 16, 16, S | C, 16, 8, true, 16, 8, QP_RTR_NONE},
	{"M9 both", &local_crc, 1, C, 0, 0, C, 0, 0, true, 16, 8, QP_RTR_NONE},
	{"M9 revision 1, we alone ask", &local_crc, 1, 0, 0, 0, C, 0, 0, true, 16, 8, QP_RTR_NONE},
	/* M13 (6581 §9.1) */
	{"M13 0, 0", &local_16, 2, S, 0, 0, S, 0, 0, false, 0, 0, QP_RTR_NONE},
	{"M13 1, 1", &local_16, 2, S, 1, 1, S, 1, 1, false, 1, 1, QP_RTR_NONE},
	{"M13 max", &local_16, 2, S, 8, 16, S, 16, 8, false, 16, 8, QP_RTR_NONE},
	{"M13 max - 1", &local_16, 2, S, 7, 15, S, 15, 7, false, 15, 7, QP_RTR_NONE},
	{"M13 max + 1", &local_16, 2, S, 9, 17, S, 16, 8, false, 16, 8, QP_RTR_NONE},
	{"M13 0x3ffe", &local_16, 2, S, 0x3ffe, 0x3ffe, S, 16, 8, false, 16, 8, QP_RTR_NONE},
	{"M13 0x3fff", &local_16, 2, S, NN, NN, S, NN, NN, false, 16, 8, QP_RTR_NONE},
	{"M13 IRD 0x3fff alone", &local_16, 2, S, NN, 3, S, 3, NN, false, 3, 8, QP_RTR_NONE},
	{"M13 ORD 0x3fff alone", &local_16, 2, S, 3, NN, S, NN, 3, false, 16, 3, QP_RTR_NONE},
	{"M13 we do not negotiate, the peer does: its IRD binds us all the same", &local_nn, 2, S, 3, 3, S, 3, 3, false,
	 3, 3, QP_RTR_NONE},
	/* M15 (6581 §9.2): exactly one type, Write before Read before Send */
	{"M15 all", &local_16, 2, S | A | RB | RC | RD, 4, 4, S | A | RC, 4, 4, false, 4, 4, QP_RTR_WRITE},
	{"M15 Write", &local_16, 2, S | A | RC, 4, 4, S | A | RC, 4, 4, false, 4, 4, QP_RTR_WRITE},
	{"M15 Read", &local_16, 2, S | A | RD, 4, 4, S | A | RD, 4, 4, false, 4, 4, QP_RTR_READ},
	{"M15 Send", &local_16, 2, S | A | RB, 4, 4, S | A | RB, 4, 4, false, 4, 4, QP_RTR_SEND},
	{"M15 Read before Send", &local_16, 2, S | A | RB | RD, 4, 4, S | A | RD, 4, 4, false, 4, 4, QP_RTR_READ},
	{"M15 none offered", &local_16, 2, S | A, 4, 4, S | A | RC, 4, 4, false, 4, 4, QP_RTR_WRITE},
	{"M15 Read: IRD at least 1", &local_16, 2, S | A | RD, 4, 0, S | A | RD, 1, 4, false, 1, 4, QP_RTR_READ},
	{"M15 Write: IRD may be 0", &local_16, 2, S | A | RC, 4, 0, S | A | RC, 0, 4, false, 0, 4, QP_RTR_WRITE},
	{"M15 Read, ORD 0x3fff", &local_16, 2, S | A | RD, 4, NN, S | A | RD, NN, 4, false, 16, 4, QP_RTR_READ},
	{"M15 Read, but we can hold none: one of ours", &local_no_read, 2, S | A | RD, 4, 4, S | A | RC, 0, 0, false, 0,
	 0, QP_RTR_WRITE},
	{"M15 A = 0: B, C, D are ignored", &local_16, 2, S | RB | RC | RD, 4, 4, S, 4, 4, false, 4, 4, QP_RTR_NONE},
};

static void
check_responder(const struct responder_row *row)
{
	struct mpa_startup request = frame(false, row->rev, row->flags, row->ird, row->ord);
	struct mpa_neg out;

	mpa_neg_responder(row->local, &request, "yes", 3, &out);
	if (out.verdict != MPA_NEG_AGREED)
		fail_msg("%s: verdict %d", row->name, out.verdict);
	if (!out.reply.reply || out.reply.rev != row->rev || flags_of(&out.reply) != row->reply ||
	    out.reply.ird != row->reply_ird || out.reply.ord != row->reply_ord)
		fail_msg("%s: reply", row->name);
	if (out.stream.initiator || out.stream.crc != row->crc || out.stream.revision != row->rev ||
	    out.stream.ird != row->got_ird || out.stream.ord != row->got_ord || out.stream.rtr != row->rtr)
		fail_msg("%s: agreed", row->name);
	assert_int_equal(out.reply.private_len, 3);
	assert_memory_equal(out.reply.private_data, "yes", 3);
}

static void
test_responder(void **state)
{
	for (size_t i = 0; i < COUNT(responder_rows); i++)
		check_responder(&responder_rows[i]);
}

/* M8: each direction by its receiver's wish (RFC 5044 §7.1): M of the Request is about what the responder sends, M of
 * the Reply about what the initiator sends. */
static void
test_M8_markers(void **state)
{
	static const struct {
		uint8_t rev;
		unsigned flags;
	} forms[] = {{2, S}, {2, S | C}, {1, 0}, {2, 0}, {2, S | A | RC}};

	for (size_t i = 0; i < COUNT(forms); i++) {
		for (unsigned wish = 0; wish < 4; wish++) {
			bool theirs = wish & 1, ours = wish & 2;
			struct mpa_startup request =
				frame(false, forms[i].rev, forms[i].flags | (theirs ? M : 0), 1, 1);
			struct mpa_neg_local local = {.revision = forms[i].rev, .markers = ours, .ird = 16, .ord = 8};
			struct mpa_neg out;

			mpa_neg_responder(&local, &request, "yes", 3, &out);
			assert_int_equal(out.verdict, MPA_NEG_AGREED);
			assert_int_equal(out.reply.markers, ours);
			assert_int_equal(out.stream.tx_markers, theirs);
			assert_int_equal(out.stream.rx_markers, ours);
		}
	}
}

static void
test_M8_markers_of_the_initiator(void **state)
{
	for (unsigned wish = 0; wish < 8; wish++) {
		bool theirs = wish & 1, ours = wish & 2, rev_1 = wish & 4;
		struct mpa_neg_local local = {.revision = rev_1 ? 1 : 2, .markers = ours, .ird = 16, .ord = 8};
		struct mpa_startup request, reply;
		struct mpa_neg out;

		mpa_neg_request(&local, NULL, 0, &request);
		assert_int_equal(request.markers, ours);
		reply = frame(true, local.revision, (theirs ? M : 0) | (rev_1 ? 0 : S), 8, 8);
		mpa_neg_initiator(&local, &request, &reply, &out);
		assert_int_equal(out.verdict, MPA_NEG_AGREED);
		assert_int_equal(out.stream.tx_markers, theirs);
		assert_int_equal(out.stream.rx_markers, ours);
		reply.reject = true;
		mpa_neg_initiator(&local, &request, &reply, &out);
		assert_int_equal(out.verdict, MPA_NEG_REJECTED);
	}
}

/* The ULP's reject: the Request's form, S never with a PD_Length below 4 (RFC 6581 §6). */
static void
test_reject(void **state)
{
	struct mpa_startup request = frame(false, 2, S | A | RC | RD, 1, 1), reply;
	uint8_t out[64];

	mpa_neg_reject(NULL, &request, "no", 2, &reply);
	assert_int_equal(mpa_hdr_startup_emit(&reply, out, sizeof(out)), 26);
	assert_memory_equal(out, "MPA ID Rep Frame\x30\x02\x00\x06\x80\x00\x80\x00no", 26);
	mpa_neg_reject(&local_crc, &request, NULL, 0, &reply); /* states our IRD and ORD */
	assert_int_equal(mpa_hdr_startup_emit(&reply, out, sizeof(out)), 24);
	assert_memory_equal(out, "MPA ID Rep Frame\x70\x02\x00\x04\x80\x10\x80\x08", 24);
	request = frame(false, 2, S, 1, 1);
	mpa_neg_reject(NULL, &request, NULL, 0, &reply);
	assert_int_equal(mpa_hdr_startup_emit(&reply, out, sizeof(out)), 24);
	assert_memory_equal(out, "MPA ID Rep Frame\x30\x02\x00\x04\x00\x00\x00\x00", 24);
	request = frame(false, 1, C, 0, 0);
	mpa_neg_reject(&local_16, &request, "no", 2, &reply);
	assert_int_equal(mpa_hdr_startup_emit(&reply, out, sizeof(out)), 22);
	assert_memory_equal(out, "MPA ID Rep Frame\x60\x01\x00\x02no", 22);
}

/* ---- the initiator ---- */

static const struct mpa_neg_local init = {.revision = 2, .ird = 16, .ord = 8};
static const struct mpa_neg_local init_1 = {.revision = 1, .ird = 16, .ord = 8};
static const struct mpa_neg_local init_crc = {.revision = 2, .crc = true, .ird = 16, .ord = 8};
static const struct mpa_neg_local init_nn = {.revision = 2, .no_ird_ord = true, .ird = 16, .ord = 8};
static const struct mpa_neg_local init_p2p = {.revision = 2, .peer_to_peer = true, .ird = 16, .ord = 8};
static const struct mpa_neg_local init_p2p_nn = {
	.revision = 2, .peer_to_peer = true, .no_ird_ord = true, .ird = 16, .ord = 8};

#define AGREED MPA_NEG_AGREED, RDMAP_FAULT_NONE
#define REJECTED MPA_NEG_REJECTED, RDMAP_FAULT_NONE, false, 0, 0, QP_RTR_NONE
#define CLOSED MPA_NEG_CLOSE, RDMAP_FAULT_NONE, false, 0, 0, QP_RTR_NONE
#define TERM(code) MPA_NEG_TERMINATE, RDMAP_FAULT_MPA_##code, false, 0, 0, QP_RTR_NONE

static const struct initiator_row {
	const char *name;
	const struct mpa_neg_local *local;
	uint8_t rev;
	unsigned flags; /* of the Reply */
	uint16_t ird, ord;
	enum mpa_neg_verdict verdict;
	enum rdmap_fault fault;
	bool crc; /* agreed */
	uint16_t got_ird, got_ord;
	enum qp_rtr rtr;
} initiator_rows[] = {
	/* M12 */
	{"M12 enhanced", &init, 2, S, 8, 16, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M12 revision 1", &init_1, 1, 0, 0, 0, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M12 S answered by no S", &init, 2, 0, 0, 0, CLOSED},
	{"M12 revision 2 answered by 1", &init, 1, 0, 0, 0, CLOSED},
	{"M12 revision 1 answered by 2", &init_1, 2, 0, 0, 0, CLOSED},
	{"M12 revision 1 answered by 2 with S", &init_1, 2, S, 8, 8, CLOSED},
	{"M12 reject", &init, 2, R | S, 0, 0, REJECTED},
	{"M12 R before Rev", &init, 0, R, 0, 0, REJECTED},
	{"M12 R before S", &init, 2, R, 0, 0, REJECTED},
	{"M12 R before M", &init, 2, R | M | S, 0, 0, REJECTED},
	{"M12 R, revision 1", &init_1, 2, R | S, 0, 0, REJECTED},
	{"M12 R before IRD", &init, 2, R | S, 0, 100, REJECTED},
	/* M8 */
	{"M8 the responder wants markers, revision 1", &init_1, 1, M, 0, 0, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M8 the responder wants markers", &init, 2, M | S, 8, 16, AGREED, false, 16, 8, QP_RTR_NONE},
	/* M9 */
	{"M9 peer alone asks", &init, 2, S | C, 8, 16, AGREED, true, 16, 8, QP_RTR_NONE},
	{"M9 we alone ask", &init_crc, 2, S, 8, 16, AGREED, true, 16, 8, QP_RTR_NONE},
	{"M9 both", &init_crc, 2, S | C, 8, 16, AGREED, true, 16, 8, QP_RTR_NONE},
	{"M9 revision 1", &init_1, 1, C, 0, 0, AGREED, true, 16, 8, QP_RTR_NONE},
	/* M13, M14 */
	{"M13 0, 0", &init, 2, S, 0, 0, AGREED, false, 0, 0, QP_RTR_NONE},
	{"M13 1, 1", &init, 2, S, 1, 1, AGREED, false, 1, 1, QP_RTR_NONE},
	{"M13 Reply's IRD below our ORD", &init, 2, S, 7, 16, AGREED, false, 16, 7, QP_RTR_NONE},
	{"M13 Reply's IRD above our ORD", &init, 2, S, 128, 15, AGREED, false, 15, 8, QP_RTR_NONE},
	{"M13 0x3fff", &init, 2, S, NN, NN, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M13 IRD 0x3fff alone", &init, 2, S, NN, 2, AGREED, false, 2, 8, QP_RTR_NONE},
	{"M13 ORD 0x3fff alone", &init, 2, S, 2, NN, AGREED, false, 16, 2, QP_RTR_NONE},
	{"M13 0x3fff answered by 128 (siw)", &init_nn, 2, S, 128, 128, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M13 0x3fff answered by 2", &init_nn, 2, S, 2, 2, AGREED, false, 16, 2, QP_RTR_NONE},
	{"M13 0x3fff answered by 0x3fff", &init_nn, 2, S, NN, NN, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M14 max + 1", &init, 2, S, 8, 17, TERM(IRD)},
	{"M14 0x3ffe", &init, 2, S, 8, 0x3ffe, TERM(IRD)},
	/* M15 */
	{"M15 Write", &init_p2p, 2, S | A | RC, 8, 16, AGREED, false, 16, 8, QP_RTR_WRITE},
	{"M15 Read", &init_p2p, 2, S | A | RD, 8, 16, AGREED, false, 16, 8, QP_RTR_READ},
	{"M15 both", &init_p2p, 2, S | A | RC | RD, 8, 16, AGREED, false, 16, 8, QP_RTR_WRITE},
	{"M15 all", &init_p2p, 2, S | A | RB | RC | RD, 8, 16, AGREED, false, 16, 8, QP_RTR_WRITE},
	{"M15 Send", &init_p2p, 2, S | A | RB, 8, 16, AGREED, false, 16, 8, QP_RTR_SEND},
	{"M15 Read before Send", &init_p2p, 2, S | A | RB | RD, 8, 16, AGREED, false, 16, 8, QP_RTR_READ},
	{"M15 Read or Send, IRD 0", &init_p2p, 2, S | A | RB | RD, 0, 16, AGREED, false, 16, 0, QP_RTR_SEND},
	{"M15 none", &init_p2p, 2, S | A, 8, 16, TERM(RTR)},
	{"M15 A not repeated", &init_p2p, 2, S | RC, 8, 16, TERM(RTR)},
	{"M15 A not asked for", &init, 2, S | A | RC, 8, 16, TERM(RTR)},
	{"M15 A = 0: B, C, D are ignored", &init, 2, S | RB | RC | RD, 8, 16, AGREED, false, 16, 8, QP_RTR_NONE},
	{"M15 Read, but the Reply's IRD is 0", &init_p2p, 2, S | A | RD, 0, 16, TERM(RTR)},
	{"M15 Read or Write, IRD 0", &init_p2p, 2, S | A | RC | RD, 0, 16, AGREED, false, 16, 0, QP_RTR_WRITE},
	{"M15 Read, IRD 0x3fff", &init_p2p_nn, 2, S | A | RD, NN, NN, AGREED, false, 16, 8, QP_RTR_READ},
	{"M14 before M15", &init_p2p, 2, S | A, 8, 17, TERM(IRD)},
};

static void
test_initiator(void **state)
{
	for (size_t i = 0; i < COUNT(initiator_rows); i++) {
		const struct initiator_row *row = &initiator_rows[i];
		struct mpa_startup request, reply = frame(true, row->rev, row->flags, row->ird, row->ord);
		struct mpa_neg out;

		mpa_neg_request(row->local, NULL, 0, &request);
		mpa_neg_initiator(row->local, &request, &reply, &out);
		if (out.verdict != row->verdict || out.fault != row->fault)
			fail_msg("%s: verdict %d, fault %d", row->name, out.verdict, out.fault);
		/* Never above what the QP has, also where a Terminate is still to go. */
		assert_true(out.stream.ird <= row->local->ird && out.stream.ord <= row->local->ord);
		if (out.verdict != MPA_NEG_AGREED)
			continue;
		if (!out.stream.initiator || out.stream.crc != row->crc || out.stream.revision != row->rev ||
		    out.stream.ird != row->got_ird || out.stream.ord != row->got_ord || out.stream.rtr != row->rtr)
			fail_msg("%s: agreed", row->name);
	}
}

/* Both sides ours, through octets, all mixes of wishes: they agree, and hold the same (P7). */
static void
check_pair(const struct mpa_neg_local *a, const struct mpa_neg_local *b)
{
	struct mpa_startup request, got_request, got_reply;
	uint8_t wire[2][MPA_HDR_STARTUP_MAX];
	struct mpa_neg active, passive;
	uint32_t n, total;

	mpa_neg_request(a, "ping", 4, &request);
	n = mpa_hdr_startup_emit(&request, wire[0], sizeof(wire[0]));
	assert_int_equal(mpa_hdr_startup_parse(wire[0], n, false, &got_request, &total), MPA_HDR_OK);
	mpa_neg_responder(b, &got_request, "pong", 4, &passive);
	assert_int_equal(passive.verdict, MPA_NEG_AGREED);
	n = mpa_hdr_startup_emit(&passive.reply, wire[1], sizeof(wire[1]));
	assert_int_equal(mpa_hdr_startup_parse(wire[1], n, true, &got_reply, &total), MPA_HDR_OK);
	mpa_neg_initiator(a, &request, &got_reply, &active);
	assert_int_equal(active.verdict, MPA_NEG_AGREED);
	assert_int_equal(active.stream.crc, passive.stream.crc);
	assert_int_equal(active.stream.crc, a->crc || b->crc);
	assert_int_equal(active.stream.revision, passive.stream.revision);
	assert_int_equal(active.stream.rtr, passive.stream.rtr);
	assert_int_equal(active.stream.rtr != QP_RTR_NONE, a->peer_to_peer && a->revision == 2);
	assert_true(active.stream.ird <= a->ird && active.stream.ord <= a->ord);
	assert_true(passive.stream.ird <= b->ird && passive.stream.ord <= b->ord);
	if (a->revision == 2 && !a->no_ird_ord) {
		assert_int_equal(active.stream.ird, passive.stream.ord);
		assert_true(active.stream.ord <= passive.stream.ird);
		assert_int_equal(active.stream.ord, a->ord < b->ird ? a->ord : b->ird);
	}
}

static void
test_P7_both_ours(void **state)
{
	static const uint16_t depths[] = {0, 1, 16, 128, 0x3ffe};

	for (unsigned bits = 0; bits < 64; bits++) {
		for (unsigned d = 0; d < COUNT(depths) * COUNT(depths); d++) {
			struct mpa_neg_local a = {.revision = bits & 1 ? 2 : 1,
						  .crc = bits & 2,
						  .peer_to_peer = bits & 4,
						  .no_ird_ord = bits & 8,
						  .ird = depths[d % COUNT(depths)],
						  .ord = depths[d / COUNT(depths)]};
			struct mpa_neg_local b = {.revision = 2,
						  .crc = bits & 16,
						  .no_ird_ord = bits & 32,
						  .ird = depths[d / COUNT(depths)],
						  .ord = depths[(d + 2) % COUNT(depths)]};

			check_pair(&a, &b);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),      cmocka_unit_test(test_responder),
		cmocka_unit_test(test_M8_markers),   cmocka_unit_test(test_M8_markers_of_the_initiator),
		cmocka_unit_test(test_reject),       cmocka_unit_test(test_initiator),
		cmocka_unit_test(test_P7_both_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
