/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_hdr.h"

#include <assert.h>
#include <stddef.h>

#include "cursor.h"

/* Octet 2 of the Terminate: RFC 5040 Fig. 8, and the place where Linux' siw has the three bits. */
enum term_bits { T_M = 0x80, T_D = 0x40, T_R = 0x20 };
enum term_swapped_bits { TS_M = 0x01, TS_D = 0x02, TS_R = 0x04 };

static void
read_req_read(struct rdmap_read_req *req, struct iw_reader *r)
{
	req->sink_stag = iw_reader_u32(r);
	req->sink_to = iw_reader_u64(r);
	req->size = iw_reader_u32(r);
	req->src_stag = iw_reader_u32(r);
	req->src_to = iw_reader_u64(r);
}

bool
rdmap_hdr_read_req_parse(const uint8_t *p, uint32_t n, struct rdmap_read_req *req)
{
	struct iw_reader r = iw_reader_init(p, n);

	read_req_read(req, &r);
	return !r.bad;
}

uint32_t
rdmap_hdr_read_req_emit(const struct rdmap_read_req *req, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);

	if (room < RDMAP_HDR_READ_REQ_LEN)
		return 0;
	iw_writer_u32(&w, req->sink_stag);
	iw_writer_u64(&w, req->sink_to);
	iw_writer_u32(&w, req->size);
	iw_writer_u32(&w, req->src_stag);
	iw_writer_u64(&w, req->src_to);
	assert(!w.bad);
	return RDMAP_HDR_READ_REQ_LEN;
}

bool
rdmap_hdr_atomic_req_parse(const uint8_t *p, uint32_t n, struct rdmap_atomic_req *req)
{
	struct iw_reader r = iw_reader_init(p, n);

	req->code = iw_reader_u32(&r) & 15; /* 28 reserved bits, ignored */
	req->id = iw_reader_u32(&r);
	req->stag = iw_reader_u32(&r);
	req->to = iw_reader_u64(&r);
	req->data = iw_reader_u64(&r);
	req->mask = iw_reader_u64(&r);
	req->compare = iw_reader_u64(&r);
	req->compare_mask = iw_reader_u64(&r);
	return !r.bad;
}

uint32_t
rdmap_hdr_atomic_req_emit(const struct rdmap_atomic_req *req, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);

	if (room < RDMAP_HDR_ATOMIC_REQ_LEN)
		return 0;
	iw_writer_u32(&w, req->code & 15);
	iw_writer_u32(&w, req->id);
	iw_writer_u32(&w, req->stag);
	iw_writer_u64(&w, req->to);
	iw_writer_u64(&w, req->data);
	iw_writer_u64(&w, req->mask);
	iw_writer_u64(&w, req->compare);
	iw_writer_u64(&w, req->compare_mask);
	assert(!w.bad);
	return RDMAP_HDR_ATOMIC_REQ_LEN;
}

bool
rdmap_hdr_atomic_resp_parse(const uint8_t *p, uint32_t n, struct rdmap_atomic_resp *resp)
{
	struct iw_reader r = iw_reader_init(p, n);

	resp->id = iw_reader_u32(&r);
	resp->original = iw_reader_u64(&r);
	return !r.bad;
}

uint32_t
rdmap_hdr_atomic_resp_emit(const struct rdmap_atomic_resp *resp, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);

	if (room < RDMAP_HDR_ATOMIC_RESP_LEN)
		return 0;
	iw_writer_u32(&w, resp->id);
	iw_writer_u64(&w, resp->original);
	assert(!w.bad);
	return RDMAP_HDR_ATOMIC_RESP_LEN;
}

bool
rdmap_hdr_imm_parse(const uint8_t *p, uint32_t n, uint64_t *imm)
{
	struct iw_reader r = iw_reader_init(p, n);

	*imm = iw_reader_u64(&r);
	return !r.bad;
}

uint32_t
rdmap_hdr_imm_emit(uint64_t imm, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);

	if (room < RDMAP_HDR_IMM_LEN)
		return 0;
	iw_writer_u64(&w, imm);
	return RDMAP_HDR_IMM_LEN;
}

/* Codes that exist, by layer and type: bit n for code n < 16; `ff` for the unspecified one. */
static const struct {
	uint8_t layer, etype;
	uint16_t codes;
	bool ff;
} defined[] = {
	{0, 1, 0x021f, true},  /* RFC 5040 Fig. 9: 00..04, 09 */
	{0, 2, 0x03e0, true},  /* 05..09 */
	{1, 0, 0x0001, false}, /* RFC 5041 §7.2 */
	{1, 1, 0x001f, false}, /* 00..04 */
	{1, 2, 0x007e, false}, /* 01..06 */
	{2, 0, 0x00fe, false}, /* RFC 5044 §8: 01..04, RFC 6581 §8: 05..07 */
};

bool
rdmap_hdr_is_defined(uint8_t layer, uint8_t etype, uint8_t code)
{
	if (layer == 0 && etype == 0) /* "Any value in this field is acceptable" */
		return true;
	for (size_t i = 0; i < sizeof(defined) / sizeof(defined[0]); i++) {
		if (defined[i].layer != layer || defined[i].etype != etype)
			continue;
		return code == 0xff ? defined[i].ff : code < 16 && defined[i].codes >> code & 1;
	}
	return false;
}

/* M or D tell the orders apart by their place; without them only a code that exists in one order alone does. */
static bool
term_is_swapped(uint8_t where, uint8_t code, uint8_t bits)
{
	if (bits & (T_M | T_D))
		return false;
	if (bits & (TS_M | TS_D))
		return true;
	return !rdmap_hdr_is_defined(where >> 4, where & 15, code) &&
	       rdmap_hdr_is_defined(where & 15, where >> 4, code);
}

static void
term_control_parse(struct rdmap_term *t, struct iw_reader *r)
{
	uint8_t where = iw_reader_u8(r), code = iw_reader_u8(r), bits = iw_reader_u8(r);
	bool swapped;

	iw_reader_u8(r); /* reserved */
	swapped = term_is_swapped(where, code, bits);
	t->nibbles_swapped = swapped;
	t->layer = swapped ? where & 15 : where >> 4;
	t->etype = swapped ? where >> 4 : where & 15;
	t->code = code;
	t->has_length = bits & (swapped ? TS_M : T_M);
	t->has_ddp = bits & (swapped ? TS_D : T_D);
	t->has_rdmap = bits & (swapped ? TS_R : T_R);
}

/* The copied headers, as far as they are there: a has_ bit whose octets are missing is taken back. */
static void
term_copies_parse(struct rdmap_term *t, struct iw_reader *r)
{
	if (t->has_length || t->has_ddp) { /* "MUST be present when the D bit is set" */
		t->seg_len = iw_reader_u16(r);
		t->has_length = t->has_length && !r->bad;
	}
	if (t->has_ddp) {
		t->has_ddp = !r->bad && ddp_hdr_parse(r->p, (uint32_t)iw_reader_left(r), &t->ddp);
		if (!t->has_ddp)
			t->ddp = (struct ddp_hdr){0};
		r->bad = r->bad || !t->has_ddp;
		iw_reader_take(r, t->ddp.hdr_len);
	}
	if (t->has_rdmap) {
		t->has_rdmap = !r->bad && rdmap_hdr_read_req_parse(r->p, (uint32_t)iw_reader_left(r), &t->read);
		if (!t->has_rdmap)
			t->read = (struct rdmap_read_req){0};
		r->bad = r->bad || !t->has_rdmap;
		iw_reader_take(r, t->has_rdmap ? RDMAP_HDR_READ_REQ_LEN : 0);
	}
}

void
rdmap_hdr_term_parse(const uint8_t *p, uint32_t n, struct rdmap_term *t)
{
	struct iw_reader r = iw_reader_init(p, n);

	*t = (struct rdmap_term){0};
	if (n < RDMAP_HDR_TERM_MIN) {
		t->malformed = true;
		return;
	}
	term_control_parse(t, &r);
	term_copies_parse(t, &r);
	t->malformed = r.bad || iw_reader_left(&r) > 0;
}

/* Octets of the payload with the copies that t claims. */
static uint32_t
term_len(const struct rdmap_term *t)
{
	return RDMAP_HDR_TERM_MIN + (t->has_length || t->has_ddp ? 2 : 0) + (t->has_ddp ? t->ddp.hdr_len : 0) +
	       (t->has_rdmap ? RDMAP_HDR_READ_REQ_LEN : 0);
}

uint32_t
rdmap_hdr_term_emit(const struct rdmap_term *t, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);
	uint32_t len = term_len(t);

	if (room < len)
		return 0;
	iw_writer_u8(&w, (uint8_t)(t->layer << 4 | t->etype));
	iw_writer_u8(&w, t->code);
	iw_writer_u8(&w, (uint8_t)((t->has_length ? T_M : 0) | (t->has_ddp ? T_D : 0) | (t->has_rdmap ? T_R : 0)));
	iw_writer_u8(&w, 0);
	if (t->has_length || t->has_ddp)
		iw_writer_u16(&w, t->seg_len);
	if (t->has_ddp)
		iw_writer_take(&w, ddp_hdr_emit(&t->ddp, w.p, (uint32_t)iw_writer_left(&w)));
	if (t->has_rdmap)
		rdmap_hdr_read_req_emit(&t->read, w.p, (uint32_t)iw_writer_left(&w));
	assert(!w.bad);
	return len;
}
