/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddp_hdr.h"

#include <assert.h>

#include "cursor.h"

enum ddp_octet { DDP_T = 0x80, DDP_L = 0x40, DDP_RSVD_SHIFT = 2, DDP_DV = 0x03 };
enum rdmap_octet { RDMAP_RV_SHIFT = 6, RDMAP_RSVD_SHIFT = 4, RDMAP_OPCODE = 0x0f };

static void
control_parse(struct ddp_hdr *h, uint8_t ddp, uint8_t rdmap)
{
	h->tagged = ddp & DDP_T;
	h->last = ddp & DDP_L;
	h->rsvd = ddp >> DDP_RSVD_SHIFT & 0x0f;
	h->dv = ddp & DDP_DV;
	h->rv = rdmap >> RDMAP_RV_SHIFT;
	h->rdmap_rsvd = rdmap >> RDMAP_RSVD_SHIFT & 0x03;
	h->opcode = rdmap & RDMAP_OPCODE;
}

bool
ddp_hdr_parse(const uint8_t *p, uint32_t n, struct ddp_hdr *h)
{
	struct iw_reader r = iw_reader_init(p, n);
	uint8_t ddp = iw_reader_u8(&r), rdmap = iw_reader_u8(&r);

	*h = (struct ddp_hdr){.hdr_len = (uint8_t)ddp_hdr_len(ddp)};
	control_parse(h, ddp, rdmap);
	h->stag = iw_reader_u32(&r);
	if (h->tagged) {
		h->to = iw_reader_u64(&r);
	} else {
		h->qn = iw_reader_u32(&r);
		h->msn = iw_reader_u32(&r);
		h->mo = iw_reader_u32(&r);
	}
	return !r.bad;
}

uint32_t
ddp_hdr_emit(const struct ddp_hdr *h, uint8_t *out, uint32_t room)
{
	struct iw_writer w = iw_writer_init(out, room);

	assert(h->hdr_len == (h->tagged ? DDP_HDR_TAGGED_LEN : DDP_HDR_UNTAGGED_LEN));
	if (room < h->hdr_len)
		return 0;
	iw_writer_u8(&w,
		     (uint8_t)((h->tagged ? DDP_T : 0) | (h->last ? DDP_L : 0) | h->rsvd << DDP_RSVD_SHIFT | h->dv));
	iw_writer_u8(&w, (uint8_t)(h->rv << RDMAP_RV_SHIFT | h->rdmap_rsvd << RDMAP_RSVD_SHIFT | h->opcode));
	iw_writer_u32(&w, h->stag);
	if (h->tagged) {
		iw_writer_u64(&w, h->to);
	} else {
		iw_writer_u32(&w, h->qn);
		iw_writer_u32(&w, h->msn);
		iw_writer_u32(&w, h->mo);
	}
	assert(!w.bad);
	return h->hdr_len;
}

struct ddp_hdr
ddp_hdr_tagged(uint8_t opcode, bool last, uint32_t stag, uint64_t to)
{
	return (struct ddp_hdr){.tagged = true,
				.last = last,
				.dv = DDP_HDR_DV,
				.rv = DDP_HDR_RV,
				.opcode = opcode,
				.hdr_len = DDP_HDR_TAGGED_LEN,
				.stag = stag,
				.to = to};
}

struct ddp_hdr
ddp_hdr_untagged(uint8_t opcode, bool last, uint32_t inv_stag, uint32_t qn, uint32_t msn, uint32_t mo)
{
	return (struct ddp_hdr){.last = last,
				.dv = DDP_HDR_DV,
				.rv = DDP_HDR_RV,
				.opcode = opcode,
				.hdr_len = DDP_HDR_UNTAGGED_LEN,
				.stag = inv_stag,
				.qn = qn,
				.msn = msn,
				.mo = mo};
}
