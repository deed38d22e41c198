/* SPDX-License-Identifier: BSD-3-Clause */
#include "wr.h"

#include <assert.h>
#include <iwarp/err.h>
#include <string.h>

#include "len.h"
#include "wr_kind.h"

#define ALL_FLAGS (IW_SEND_SIGNALED | IW_SEND_SOLICITED | IW_SEND_INLINE | IW_SEND_FENCE | IW_SEND_LOCAL_FENCE)
#define WORD_LEN 8

/* Octets of the list, or an error. */
static int
sum_sges(const struct iw_sge *sge, int n, uint32_t *total)
{
	uint64_t sum = 0;

	if (n < 0 || n > IW_MAX_SGE || (n > 0 && !sge))
		return -IW_E_INVAL;
	for (int i = 0; i < n; i++) {
		if (iw_len_wraps(sge[i].addr, sge[i].length))
			return -IW_E_INVAL;
		sum += sge[i].length;
	}
	*total = (uint32_t)sum;
	return sum > UINT32_MAX ? -IW_E_TOOBIG : 0;
}

static int
check_send(const struct iw_send_wr *wr, uint32_t length)
{
	const struct wr_kind *k;

	if (wr->opcode >= WR_KINDS || wr->flags & ~ALL_FLAGS)
		return -IW_E_INVAL;
	k = wr_kind_get(wr->opcode);
	if ((wr->flags & IW_SEND_SOLICITED && !k->se) || (wr->flags & IW_SEND_INLINE && !k->inl))
		return -IW_E_INVAL;
	if ((k->data == WR_DATA_NONE && wr->num_sge) ||
	    (k->data == WR_DATA_WORD && (wr->num_sge != 1 || length != WORD_LEN)))
		return -IW_E_INVAL;
	if (k->remote && iw_len_wraps(wr->remote_addr, length))
		return -IW_E_INVAL;
	return wr->flags & IW_SEND_INLINE && length > IW_MAX_INLINE ? -IW_E_TOOBIG : 0;
}

static void
copy_inline(struct wr_send *out, const struct iw_send_wr *wr)
{
	uint32_t off = 0;

	for (int i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length)
			memcpy(out->inl + off, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
		off += wr->sg_list[i].length;
	}
}

/* What is behind the fixed fields, by the kind of the request. */
static void
copy_payload(struct wr_send *out, const struct iw_send_wr *wr, const struct wr_kind *k)
{
	if (wr->flags & IW_SEND_INLINE)
		copy_inline(out, wr);
	else if (wr->num_sge)
		memcpy(out->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*wr->sg_list));
	if (k->data == WR_DATA_WORD)
		out->atomic = wr->atomic;
}

int
wr_send_copy(struct wr_send *out, const struct iw_send_wr *wr, bool sig_all)
{
	const struct wr_kind *k;
	uint32_t length = 0;
	int err = sum_sges(wr->sg_list, wr->num_sge, &length);

	if (err == 0)
		err = check_send(wr, length);
	if (err)
		return err;
	k = wr_kind_get(wr->opcode);
	out->wr_id = wr->wr_id;
	out->remote_addr = wr->remote_addr;
	out->remote_stag = k->inv == WR_INV_PEER ? wr->invalidate_rkey : wr->rkey;
	out->own_stag = wr->invalidate_rkey;
	out->imm = wr->imm_data;
	out->length = length;
	out->opcode = wr->opcode;
	out->flags = wr->flags | (sig_all ? IW_SEND_SIGNALED : 0);
	out->num_sge = (uint8_t)wr->num_sge;
	out->done = false;
	out->status = IW_WC_SUCCESS;
	copy_payload(out, wr, k);
	return 0;
}

void
wr_send_drop(const struct wr_send *wr)
{
	if (wr->opcode == IW_WR_FAST_REG || wr->opcode == IW_WR_BIND_MW)
		mr_posted(wr->mem.mr, wr->mem.stag, false);
}

int
wr_recv_copy(struct wr_recv *out, const struct iw_recv_wr *wr)
{
	uint32_t length = 0;
	int err = sum_sges(wr->sg_list, wr->num_sge, &length);

	if (err)
		return err;
	out->wr_id = wr->wr_id;
	out->length = length;
	out->num_sge = (uint8_t)wr->num_sge;
	if (wr->num_sge)
		memcpy(out->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*wr->sg_list));
	return 0;
}

/* A completion that nobody polled yet still owns its slot: else the CQ could overflow (cq.h). */
struct wr_send *
wr_sq_slot(struct wr_sq *sq)
{
	struct wr_send *wr = wr_sq_at(sq, sq->ring.head);

	if (iw_ring_space(&sq->ring) == 0 || (wr->cq_free && !cq_is_polled(sq->cq, wr->cq_free - 1)))
		return NULL;
	return wr;
}

struct wr_recv *
wr_rq_slot(struct wr_rq *rq)
{
	struct wr_recv *wr = wr_rq_at(rq, rq->ring.head);

	if (iw_ring_space(&rq->ring) == 0 || (wr->cq_free && !cq_is_polled(rq->cq, wr->cq_free - 1)))
		return NULL;
	return wr;
}

enum mr_verdict
wr_cut(const struct mr_user *user, const struct iw_sge *sge, uint32_t num_sge, struct wr_cursor *cur, uint32_t len,
       uint32_t access, struct wr_piece *pieces, uint32_t *n_pieces)
{
	uint32_t n = 0;

	while (len > 0) {
		uint32_t part = iw_len_min(sge[cur->sge].length - cur->off, len);
		uint64_t addr = sge[cur->sge].addr + cur->off;

		assert(cur->sge < num_sge && n < WR_PIECES);
		if (part > 0) {
			const struct iw_mr *mr;
			enum mr_verdict v = mr_get(user, sge[cur->sge].lkey, addr, part, access, &mr);

			if (v != MR_OK)
				return v;
			pieces[n++] = wr_piece_of(mr, addr, part);
		}
		len -= part;
		cur->off += part;
		if (cur->off == sge[cur->sge].length) {
			cur->sge++;
			cur->off = 0;
		}
	}
	*n_pieces = n;
	return MR_OK;
}
