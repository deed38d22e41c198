/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddp_hdr.h"

#include <assert.h>
#include <string.h>

#include "cursor.h"

static void
control_parse(struct ddp_hdr *h, uint8_t ddp, uint8_t rdmap)
{
	h->tagged = ddp & DDP_HDR_T;
	h->last = ddp & DDP_HDR_L;
	h->rsvd = ddp >> DDP_HDR_RSVD_SHIFT & 0x0f;
	h->dv = ddp & DDP_HDR_DV_MASK;
	h->rv = rdmap >> DDP_HDR_RV_SHIFT;
	h->rdmap_rsvd = rdmap >> DDP_HDR_RDMAP_RSVD_SHIFT & 0x03;
	h->opcode = rdmap & DDP_HDR_OPCODE_MASK;
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
	struct ddp_hdr_image image = ddp_hdr_image(h);

	assert(h->hdr_len == (h->tagged ? DDP_HDR_TAGGED_LEN : DDP_HDR_UNTAGGED_LEN));
	if (room < h->hdr_len)
		return 0;
	memcpy(out, (const uint8_t *)&image + DDP_HDR_FRONT_LEN, h->hdr_len);
	return h->hdr_len;
}

void
ddp_hdr_advance(uint8_t *hdr, uint32_t len)
{
	if (hdr[0] & DDP_HDR_T)
		iw_be64_put(hdr + 6, iw_be64(hdr + 6) + len);
	else
		iw_be32_put(hdr + 14, iw_be32(hdr + 14) + len);
}
