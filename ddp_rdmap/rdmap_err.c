/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_err.h"

#include <assert.h>
#include <stddef.h>

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
rdmap_err_is_defined(uint8_t layer, uint8_t etype, uint8_t code)
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
