/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_ops.h"

#include <assert.h>

#define IW_WC_NONE RDMAP_OPS_WC_NONE

const struct rdmap_op rdmap_ops[RDMAP_OP_MAX] = {
#define RDMAP_OP(op, id, text, is_known, t, queue, min, max, one, recv, inv, se, wc_sq, wc_rx) \
	[op] = {.name = text,                                                                  \
		.known = is_known,                                                             \
		.tagged = t,                                                                   \
		.qn = queue,                                                                   \
		.ulpdu_min = min,                                                              \
		.ulpdu_max = max,                                                              \
		.single = one,                                                                 \
		.takes_recv = recv,                                                            \
		.invalidates = inv,                                                            \
		.solicited = se,                                                               \
		.wc = IW_WC_##wc_sq,                                                           \
		.rx_wc = IW_WC_##wc_rx},
#include "rdmap_ops.def"
#undef RDMAP_OP
};

enum rdmap_opcode
rdmap_ops_of_wr(enum iw_wr_opcode opcode, bool solicited)
{
	switch (opcode) {
	case IW_WR_SEND:
		return solicited ? RDMAP_OP_SEND_SE : RDMAP_OP_SEND;
	case IW_WR_SEND_INV:
		return solicited ? RDMAP_OP_SEND_SE_INV : RDMAP_OP_SEND_INV;
	case IW_WR_RDMA_WRITE:
		return RDMAP_OP_WRITE;
	case IW_WR_RDMA_READ:
		return RDMAP_OP_READ_REQ;
	}
	assert(!"a work request opcode was checked at its post");
	return RDMAP_OP_SEND;
}
