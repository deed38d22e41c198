/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "crc32c.h"

#define F(name) RDMAP_FAULT_##name

void
replay_capture(const char *name, struct pcap_file *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", CAPTURES_DIR, name);
	if (pcap_file_read(path, file) != 0)
		fail_msg("cannot read %s", path);
}

/* ---- one FPDU: what the codecs alone can judge of F, D and R rows, in their order ---- */

static enum rdmap_fault
judge_order(struct replay *r, const struct ddp_hdr *h, uint32_t payload)
{
	const struct rdmap_op *op = rdmap_ops_get(h->opcode);

	if (h->opcode == RDMAP_OP_READ_RESP && r->reads == 0)
		return F(RESP_UNEXPECTED);
	if (h->opcode == RDMAP_OP_READ_RESP)
		r->reads -= h->last;
	if (op->tagged)
		return F(NONE);
	if (h->qn != op->qn)
		return F(DDP_U_QN);
	if (h->msn != r->msn[h->qn] + 1)
		return F(DDP_U_MSN);
	if (h->mo != (h->qn == RDMAP_QN_SEND ? r->mo : 0))
		return F(DDP_U_MO);
	r->msn[h->qn] += h->last;
	if (h->qn == RDMAP_QN_SEND)
		r->mo = h->last ? 0 : r->mo + payload;
	return F(NONE);
}

static enum rdmap_fault
judge(struct replay *r, const struct ddp_hdr *h, uint32_t ulpdu)
{
	const struct rdmap_op *op = rdmap_ops_get(h->opcode);

	if (h->dv != DDP_HDR_DV)
		return h->tagged ? F(DDP_T_VERSION) : F(DDP_U_VERSION);
	if (h->rv != DDP_HDR_RV)
		return F(RDMAP_VERSION);
	if (!op->known)
		return F(RDMAP_OPCODE);
	if (op->tagged != h->tagged)
		return F(RDMAP_TAGGED);
	if (ulpdu < op->ulpdu_min)
		return F(MPA_LENGTH);
	if (ulpdu > op->ulpdu_max)
		return F(DDP_U_TOO_LONG);
	return judge_order(r, h, ulpdu - h->hdr_len);
}

/* What follows the DDP header; parsed headers give the same octets again. */
static void
check_payload(struct tally *t, const struct ddp_hdr *h, const uint8_t *p, uint32_t len)
{
	uint8_t out[RDMAP_HDR_TERM_MAX];
	struct rdmap_read_req req;

	if (h->opcode == RDMAP_OP_READ_REQ) {
		assert_true(rdmap_hdr_read_req_parse(p, len, &req));
		assert_int_equal(rdmap_hdr_read_req_emit(&req, out, sizeof(out)), RDMAP_HDR_READ_REQ_LEN);
		assert_memory_equal(out, p, RDMAP_HDR_READ_REQ_LEN);
	}
	if (h->opcode != RDMAP_OP_TERMINATE)
		return;
	rdmap_hdr_term_parse(p, len, &t->term);
	assert_false(t->term.malformed);
	t->swapped += t->term.nibbles_swapped;
	assert_int_equal(rdmap_hdr_term_emit(&t->term, out, sizeof(out)), len);
	assert_memory_equal(out + 4, p + 4, len - 4);
	if (!t->term.nibbles_swapped)
		assert_memory_equal(out, p, 4);
}

static bool
is_crc_good(struct replay *r, const uint8_t *fpdu, uint32_t ulpdu)
{
	uint32_t off = fpdu_hdr_crc_off(ulpdu), field = fpdu_hdr_crc_parse(fpdu + off);

	if (!r->crc) {
		if (r->siw)
			assert_int_equal(field, 0); /* siw's way of saying "off" */
		return true;
	}
	r->tally->with_crc++;
	return field == iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, fpdu, off));
}

static enum rdmap_fault
replay_fpdu(struct replay *r, const uint8_t *fpdu, uint32_t ulpdu)
{
	struct tally *t = r->tally;
	uint8_t out[DDP_HDR_MAX_LEN];
	enum rdmap_fault fault;
	struct ddp_hdr h;

	t->fpdus++;
	for (uint32_t i = 0; i < fpdu_hdr_pad(ulpdu); i++)
		if (fpdu[FPDU_HDR_LENGTH_LEN + ulpdu + i]) {
			t->stale_pads++;
			break;
		}
	if (!is_crc_good(r, fpdu, ulpdu))
		return F(MPA_CRC);
	if (!ddp_hdr_parse(fpdu + FPDU_HDR_LENGTH_LEN, ulpdu, &h))
		return F(MPA_LENGTH);
	assert_int_equal(ddp_hdr_emit(&h, out, sizeof(out)), h.hdr_len);
	assert_memory_equal(out, fpdu + FPDU_HDR_LENGTH_LEN, h.hdr_len);
	t->ops[h.opcode]++;
	fault = judge(r, &h, ulpdu);
	if (fault == F(NONE))
		check_payload(t, &h, fpdu + FPDU_HDR_LENGTH_LEN + h.hdr_len, ulpdu - h.hdr_len);
	return fault;
}

enum rdmap_fault
replay_stream(struct replay *r, uint32_t off)
{
	const struct pcap_stream *s = r->stream;

	while (off < s->len) {
		enum rdmap_fault fault;
		uint32_t ulpdu;

		assert_true(s->len - off >= FPDU_HDR_LENGTH_LEN);
		ulpdu = fpdu_hdr_length_parse(s->octets + off);
		assert_true(s->len - off >= fpdu_hdr_len(ulpdu));
		fault = replay_fpdu(r, s->octets + off, ulpdu);
		if (fault != F(NONE))
			return fault;
		off += fpdu_hdr_len(ulpdu);
	}
	return F(NONE);
}

uint32_t
replay_count_reads(const struct pcap_stream *s, uint32_t off)
{
	uint32_t n = 0;

	while (off + 20 <= s->len) {
		n += (s->octets[off + 3] & 15) == RDMAP_OP_READ_REQ;
		off += fpdu_hdr_len(fpdu_hdr_length_parse(s->octets + off));
	}
	return n;
}

/* ---- start-up frames ---- */

enum mpa_hdr_verdict
replay_startup(const struct pcap_stream *s, bool reply, struct mpa_startup *f, uint32_t *total)
{
	enum mpa_hdr_verdict whole = mpa_hdr_startup_parse(s->octets, s->len, reply, f, total);
	struct mpa_startup g;
	uint32_t t;

	for (uint32_t n = 0; n < s->len && n < *total; n++) {
		enum mpa_hdr_verdict v = mpa_hdr_startup_parse(s->octets, n, reply, &g, &t);

		assert_true(v == MPA_HDR_NEED || v == whole);
	}
	return whole;
}

void
replay_check_startup_emit(const struct pcap_stream *s, const struct mpa_startup *f)
{
	uint8_t out[MPA_HDR_STARTUP_MAX];
	uint32_t len = mpa_hdr_startup_emit(f, out, sizeof(out));
	uint8_t ignored = f->reserved | (f->rev == 2 && !f->enhanced ? 0x10 : 0);

	assert_int_equal(len, MPA_HDR_STARTUP_LEN + f->pd_len);
	assert_int_equal(out[16], s->octets[16] & ~ignored);
	out[16] = s->octets[16];
	assert_memory_equal(out, s->octets, len);
}

struct mpa_neg_local
replay_local_of(const struct mpa_startup *request)
{
	return (struct mpa_neg_local){
		.revision = request->rev,
		.crc = request->crc,
		.peer_to_peer = request->peer_to_peer,
		.ird = request->enhanced && request->ird != MPA_HDR_NOT_NEGOTIATED ? request->ird : 1,
		.ord = request->enhanced && request->ord != MPA_HDR_NOT_NEGOTIATED ? request->ord : 1};
}

void
replay_check_whole(const struct pcap_stream *s)
{
	assert_true(s->syn);
	assert_int_equal(s->lost, 0);
	assert_int_equal(s->contradictory, 0);
}
