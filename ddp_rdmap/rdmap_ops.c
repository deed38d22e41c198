/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdmap_ops.h"

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
