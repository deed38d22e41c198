/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_err.h"

#include <assert.h>

#include "rdmap_ops.h"

static const struct rdmap_err faults[RDMAP_FAULT_MAX] = {
#define ERR_ROW(fault, l, e, c, which) \
	[RDMAP_FAULT_##fault] = {.name = #fault, .layer = l, .etype = e, .code = c, .copies = RDMAP_ERR_##which},
	RDMAP_FAULTS(ERR_ROW)
#undef ERR_ROW
};

const struct rdmap_err *
rdmap_err_get(enum rdmap_fault fault)
{
	assert(fault > RDMAP_FAULT_NONE && fault < RDMAP_FAULT_MAX);
	return &faults[fault];
}

void
rdmap_err_term(enum rdmap_fault fault, const struct ddp_hdr *ddp, uint16_t ulpdu_len, const struct rdmap_read_req *read,
	       struct rdmap_term *term)
{
	const struct rdmap_err *err = rdmap_err_get(fault);

	*term = (struct rdmap_term){.layer = err->layer, .etype = err->etype, .code = err->code};
	if (err->copies == RDMAP_ERR_NONE || !ddp)
		return;
	term->has_length = term->has_ddp = true;
	term->seg_len = ulpdu_len;
	term->ddp = *ddp;
	if (err->copies == RDMAP_ERR_MDR && read && ddp->opcode == RDMAP_OP_READ_REQ && !ddp->tagged) {
		term->has_rdmap = true;
		term->read = *read;
	}
}
