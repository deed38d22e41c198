/* SPDX-License-Identifier: BSD-3-Clause */
#include "wr_kind.h"

#define RDMAP_OP_NONE RDMAP_OP_MAX

const struct wr_kind wr_kinds[WR_KINDS] = {
#define WR_KIND(kind, op, op_se, completion, sges, inlined, names_remote, takes_ord, solicits, invalidates) \
	[IW_WR_##kind] = {.name = #kind,                                                                    \
			  .wire = RDMAP_OP_##op,                                                            \
			  .wire_se = RDMAP_OP_##op_se,                                                      \
			  .wc = IW_WC_##completion,                                                         \
			  .data = WR_DATA_##sges,                                                           \
			  .inv = WR_INV_##invalidates,                                                      \
			  .inl = inlined,                                                                   \
			  .remote = names_remote,                                                           \
			  .asks = takes_ord,                                                                \
			  .se = solicits},
#include "wr_kind.def"
#undef WR_KIND
};

#define WR_KIND(kind, ...) _Static_assert((int)WR_KIND_##kind == (int)IW_WR_##kind, "in the order of the public enum");
#include "wr_kind.def"
#undef WR_KIND
