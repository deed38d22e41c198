/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddp_rx.h"

#include <assert.h>
#include <string.h>

#include "len.h"
#include "mpa_hdr.h"
#include "rdmap_ops.h"

/* A Terminate is never answered by one, whatever is wrong behind its header (R12). */
static bool
is_terminate(const struct ddp_hdr *h)
{
	return h->opcode == RDMAP_OP_TERMINATE && !h->tagged && h->qn == RDMAP_QN_TERMINATE;
}

enum rdmap_fault
ddp_rx_header(struct mpa_fpdu *f)
{
	struct ddp_hdr *h = &f->ddp;
	const struct rdmap_op *op;

	if (!ddp_hdr_parse(f->head, f->head_len, h))
		return RDMAP_FAULT_MPA_LENGTH;
	if (h->dv != DDP_HDR_DV)
		return h->tagged ? RDMAP_FAULT_DDP_T_VERSION : RDMAP_FAULT_DDP_U_VERSION;
	if (h->rv != DDP_HDR_RV)
		return RDMAP_FAULT_RDMAP_VERSION;
	op = rdmap_ops_get(h->opcode);
	if (!op->known)
		return RDMAP_FAULT_RDMAP_OPCODE;
	if (h->tagged != op->tagged)
		return RDMAP_FAULT_RDMAP_TAGGED;
	if (!h->tagged && h->qn != op->qn)
		return RDMAP_FAULT_DDP_U_QN;
	if (is_terminate(h))
		return RDMAP_FAULT_NONE;
	if (f->ulpdu_len < op->ulpdu_min)
		return RDMAP_FAULT_MPA_LENGTH;
	return f->ulpdu_len > op->ulpdu_max ? RDMAP_FAULT_DDP_U_TOO_LONG : RDMAP_FAULT_NONE;
}

static enum rdmap_fault
fault_of(enum mr_verdict v)
{
	switch (v) {
	case MR_OK:
		return RDMAP_FAULT_NONE;
	case MR_STAG:
		return RDMAP_FAULT_DDP_T_STAG;
	case MR_STREAM:
		return RDMAP_FAULT_DDP_T_STREAM;
	case MR_WRAP:
		return RDMAP_FAULT_DDP_T_WRAP;
	case MR_BOUNDS:
		return RDMAP_FAULT_DDP_T_BOUNDS;
	case MR_ACCESS:
		return RDMAP_FAULT_DDP_T_ACCESS;
	}
	return RDMAP_FAULT_DDP_LOCAL;
}

enum rdmap_fault
ddp_rx_tagged(const struct mr_user *user, const struct mpa_fpdu *f, struct ddp_place *place)
{
	uint32_t len = ddp_rx_payload_len(f);
	const struct iw_mr *mr;
	enum mr_verdict v = mr_get(user, f->ddp.stag, f->ddp.to, len, IW_REMOTE_WRITE, &mr);

	if (v != MR_OK)
		return fault_of(v);
	place->piece[0] = wr_piece_of(mr, f->ddp.to, len);
	place->n = 1;
	return RDMAP_FAULT_NONE;
}

void
ddp_rx_copy(const struct mpa_fpdu *f, const struct ddp_place *place)
{
	const struct iw_view *v = f->views;
	uint32_t off = f->off + FPDU_HDR_LENGTH_LEN + f->ddp.hdr_len;
	uint32_t left = ddp_rx_payload_len(f);

	if (place->n == 1 && !place->piece[0].map && place->piece[0].len == left && iw_len_fits(off, left, v->len)) {
		memcpy(place->piece[0].p, iw_view_data(v) + off, left);
		return;
	}
	for (uint32_t i = 0; i < place->n; i++) {
		const struct wr_piece *piece = &place->piece[i];
		uint32_t at = 0;

		assert(piece->len <= left);
		left -= piece->len;
		while (at < piece->len) {
			uint32_t part;
			uint8_t *dst;

			while (off >= v->len)
				off -= v++->len;
			part = iw_len_min(v->len - off, piece->len - at);
			dst = wr_piece_run(piece, at, &part);
			memcpy(dst, iw_view_data(v) + off, part);
			off += part;
			at += part;
		}
	}
	assert(left == 0);
}
