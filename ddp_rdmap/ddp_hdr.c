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
	*h = (struct ddp_hdr){.hdr_len = 0};
	if (n < 1)
		return false;
	h->hdr_len = (uint8_t)ddp_hdr_len(p[0]);
	control_parse(h, p[0], n > 1 ? p[1] : 0);
	if (n < h->hdr_len)
		return false;
	h->stag = iw_be32(p + 2);
	if (h->tagged) {
		h->to = iw_be64(p + 6);
	} else {
		h->qn = iw_be32(p + 6);
		h->msn = iw_be32(p + 10);
		h->mo = iw_be32(p + 14);
	}
	return true;
}

uint32_t
ddp_hdr_emit(const struct ddp_hdr *h, uint8_t *out, uint32_t room)
{
	assert(h->hdr_len == (h->tagged ? DDP_HDR_TAGGED_LEN : DDP_HDR_UNTAGGED_LEN));
	if (room < h->hdr_len)
		return 0;
	out[0] = (uint8_t)((h->tagged ? DDP_T : 0) | (h->last ? DDP_L : 0) | h->rsvd << DDP_RSVD_SHIFT | h->dv);
	out[1] = (uint8_t)(h->rv << RDMAP_RV_SHIFT | h->rdmap_rsvd << RDMAP_RSVD_SHIFT | h->opcode);
	iw_be32_put(out + 2, h->stag);
	if (h->tagged) {
		iw_be64_put(out + 6, h->to);
	} else {
		iw_be32_put(out + 6, h->qn);
		iw_be32_put(out + 10, h->msn);
		iw_be32_put(out + 14, h->mo);
	}
	return h->hdr_len;
}

void
ddp_hdr_advance(uint8_t *hdr, uint32_t len)
{
	if (hdr[0] & DDP_T)
		iw_be64_put(hdr + 6, iw_be64(hdr + 6) + len);
	else
		iw_be32_put(hdr + 14, iw_be32(hdr + 14) + len);
}
