/* SPDX-License-Identifier: BSD-3-Clause */
/* What depends on the kind of a work request is a column of wr_kind.def. */
#ifndef WR_KIND_H
#define WR_KIND_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "rdmap_ops.h"

enum wr_data { WR_DATA_NONE, WR_DATA_SOURCE, WR_DATA_SINK, WR_DATA_WORD };
enum wr_inv { WR_INV_NONE, WR_INV_PEER, WR_INV_OWN };

enum wr_kinds {
#define WR_KIND(kind, ...) WR_KIND_##kind,
#include "wr_kind.def"
#undef WR_KIND
	WR_KINDS
};

/* One row of wr_kind.def; the columns are explained there. */
struct wr_kind {
	const char *name;
	uint8_t wire, wire_se; /* enum rdmap_opcode; RDMAP_OP_MAX: nothing goes out */
	uint8_t wc;            /* enum iw_wc_opcode */
	uint8_t data;          /* enum wr_data */
	uint8_t inv;           /* enum wr_inv */
	bool inl, remote, asks, se;
};

extern const struct wr_kind wr_kinds[WR_KINDS];

/* The row of an opcode that was checked at its post. */
static inline const struct wr_kind *
wr_kind_get(uint8_t opcode)
{
	return &wr_kinds[opcode];
}

/* Nothing goes out: it is done here. */
static inline bool
wr_kind_is_local(uint8_t opcode)
{
	return wr_kinds[opcode].wire == RDMAP_OP_MAX;
}

#endif
