/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays tests/captures of two Linux hosts with siw.  No code of ours made an octet of it, so the parsers, the CRC and
 * the start-up agreement are held against what real peers send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define F(name) RDMAP_FAULT_##name

static const struct clean_row {
	const char *file;
	uint32_t conns, repeated;
	uint32_t fpdus, with_crc, stale_pads;
	uint32_t ops[8];
	bool crc;
	enum qp_rtr rtr;
} clean_rows[] = {
	/* counted by another decoder           Write Req Resp Send */
	{"rping.pcap", 1, 40, 44, 0, 0, {12, 4, 12, 16}, false, QP_RTR_NONE},
	{"rping-crc.pcap", 1, 0, 44, 44, 0, {12, 4, 12, 16}, true, QP_RTR_NONE},
	{"rping-p2p.pcap", 1, 0, 45, 0, 0, {13, 4, 12, 16}, false, QP_RTR_WRITE},
	{"rping-gso.pcap", 1, 44, 63, 0, 0, {3, 3, 45, 12}, false, QP_RTR_NONE},
	{"rping-ipv6.pcap", 1, 0, 33, 0, 0, {9, 3, 9, 12}, false, QP_RTR_NONE},
	{"write_bw.pcap", 2, 24, 192, 192, 2, {160, 0, 0, 32}, true, QP_RTR_NONE},
	{"read_bw.pcap", 2, 0, 212, 0, 2, {0, 20, 160, 32}, false, QP_RTR_NONE},
};

/* Request and Reply agree, and our responder would have sent the very octets that siw sent. */
static void
clean_startup(const struct clean_row *row, const struct pcap_conn *conn, uint32_t total[2], struct mpa_neg *agreed)
{
	static const struct mpa_neg_local like_siw = {.revision = 2, .ird = 128, .ord = 128};
	uint8_t out[MPA_HDR_STARTUP_MAX];
	struct mpa_neg_local initiator;
	struct mpa_startup f[2];
	struct mpa_neg ours;
	uint32_t len;

	for (int d = 0; d < 2; d++) {
		replay_check_whole(&conn->dir[d]);
		assert_int_equal(replay_startup(&conn->dir[d], d, &f[d], &total[d]), MPA_HDR_OK);
		replay_check_startup_emit(&conn->dir[d], &f[d]);
	}
	initiator = replay_local_of(&f[0]);
	mpa_neg_initiator(&initiator, &f[0], &f[1], agreed);
	assert_int_equal(agreed->verdict, MPA_NEG_AGREED);
	mpa_neg_responder(&like_siw, &f[0], NULL, 0, &ours);
	assert_int_equal(ours.verdict, MPA_NEG_AGREED);
	len = mpa_hdr_startup_emit(&ours.reply, out, sizeof(out));
	assert_int_equal(len, total[1]);
	out[16] |= f[1].reserved; /* siw echoes them */
	assert_memory_equal(out, conn->dir[1].octets, len);
	assert_int_equal(ours.stream.crc, agreed->stream.crc);
	assert_int_equal(ours.stream.rtr, agreed->stream.rtr);
	assert_int_equal(agreed->stream.rtr, row->rtr);
	assert_int_equal(agreed->stream.crc, row->crc);
}

static void
clean_conn(const struct clean_row *row, const struct pcap_conn *conn, struct tally *tally)
{
	uint32_t total[2];
	struct mpa_neg agreed;

	clean_startup(row, conn, total, &agreed);
	for (int d = 0; d < 2; d++) {
		struct replay r = {.stream = &conn->dir[d],
				   .crc = agreed.stream.crc,
				   .siw = true,
				   .reads = replay_count_reads(&conn->dir[!d], total[!d]),
				   .tally = tally};

		assert_int_equal(replay_stream(&r, total[d]), F(NONE));
		assert_int_equal(r.reads, 0); /* each was answered, with L at its end */
		assert_int_equal(r.mo, 0);    /* no Send is left half */
	}
	if (row->rtr == QP_RTR_WRITE) /* the RTR is the first FPDU (RFC 6581) */
		assert_memory_equal(conn->dir[0].octets + total[0], "\x00\x0e\xc1\x40\x00\x00\x00\x01\0\0\0\0\0\0\0\0",
				    16);
}

static void
test_two_siw_hosts(void **state)
{
	for (size_t i = 0; i < COUNT(clean_rows); i++) {
		const struct clean_row *row = &clean_rows[i];
		struct tally tally = {0};
		struct pcap_file file;
		uint32_t repeated = 0;

		replay_capture(row->file, &file);
		if (file.n_conns != row->conns)
			fail_msg("%s: %u connections", row->file, file.n_conns);
		for (uint32_t c = 0; c < file.n_conns; c++) {
			clean_conn(row, &file.conns[c], &tally);
			repeated += file.conns[c].dir[0].repeated + file.conns[c].dir[1].repeated;
		}
		if (tally.fpdus != row->fpdus || tally.with_crc != row->with_crc || tally.stale_pads != row->stale_pads)
			fail_msg("%s: %u FPDUs, %u with CRC, %u stale pads", row->file, tally.fpdus, tally.with_crc,
				 tally.stale_pads);
		assert_memory_equal(tally.ops, row->ops, sizeof(row->ops));
		if (repeated != row->repeated)
			fail_msg("%s: %u octets repeated", row->file, repeated);
		pcap_file_free(&file);
	}
}

/* ---- the reader itself ---- */

#define MAX_RECORDS 512

/* Rewrites a capture with its records in another order: the SYNs first, all others back to front. */
static size_t
shuffle(const uint8_t *in, size_t len, uint8_t *out)
{
	struct {
		size_t off, len;
	} rec[MAX_RECORDS];
	size_t n = 0, at = 24;

	memcpy(out, in, at);
	for (size_t off = 24; off < len; n++) {
		uint32_t cap = (uint32_t)in[off + 8] | (uint32_t)in[off + 9] << 8; /* frames are below 64 KiB */

		assert_true(n < MAX_RECORDS);
		rec[n].off = off;
		rec[n].len = 16 + cap;
		off += 16 + cap;
	}
	for (int syn = 1; syn >= 0; syn--) {
		for (size_t i = 0; i < n; i++) {
			size_t k = syn ? i : n - 1 - i;
			const uint8_t *frame = in + rec[k].off + 16;
			bool is_syn = rec[k].len > 16 + 47 && frame[12] == 8 && frame[13] == 0 && frame[47] & 2;

			if (is_syn == syn) {
				memcpy(out + at, in + rec[k].off, rec[k].len);
				at += rec[k].len;
			}
		}
	}
	return at;
}

/* Octets in any order of arrival give the same streams. */
static void
test_out_of_order(void **state)
{
	uint8_t *in = malloc(1 << 20), *out = malloc(1 << 20);
	struct pcap_file a, b;
	FILE *f = fopen(CAPTURES_DIR "/rping-gso.pcap", "rb");
	size_t len;

	assert_non_null(f);
	len = fread(in, 1, 1 << 20, f);
	fclose(f);
	assert_int_equal(pcap_file_parse(in, len, &a), 0);
	assert_int_equal(pcap_file_parse(out, shuffle(in, len, out), &b), 0);
	assert_int_equal(a.n_conns, 1);
	assert_int_equal(b.n_conns, 1);
	for (int d = 0; d < 2; d++) {
		const struct pcap_stream *x = &a.conns[0].dir[d], *y = &b.conns[0].dir[d];

		replay_check_whole(y);
		assert_true(y->late > x->late + 10);
		assert_int_equal(x->len, y->len);
		assert_memory_equal(x->octets, y->octets, x->len);
	}
	assert_int_equal(pcap_file_parse(in, 23, &(struct pcap_file){0}), -1);
	assert_int_equal(pcap_file_parse(in, len - 1, &(struct pcap_file){0}), -1);
	pcap_file_free(&a);
	pcap_file_free(&b);
	free(in);
	free(out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_siw_hosts),
		cmocka_unit_test(test_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
