/* SPDX-License-Identifier: BSD-3-Clause */
/* What depends on the RDMAP opcode is a column of rdmap_ops.def. */
#ifndef RDMAP_OPS_H
#define RDMAP_OPS_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum rdmap_opcode {
#define RDMAP_OP(op, id, ...) RDMAP_OP_##id = op,
#include "rdmap_ops.def"
#undef RDMAP_OP
	RDMAP_OP_MAX
};

/* DDP queues (RFC 5040 §5.1, Fig. 4; RFC 7306 §5.2). */
enum rdmap_qn {
	RDMAP_QN_SEND,
	RDMAP_QN_READ_REQ, /* and Atomic Requests */
	RDMAP_QN_TERMINATE,
	RDMAP_QN_ATOMIC_RESP,
	RDMAP_QN_MAX
};

#define RDMAP_OPS_WC_NONE 0xff

/* One row of rdmap_ops.def; the columns are explained there. */
struct rdmap_op {
	const char *name;
	bool known;
	bool tagged;
	uint8_t qn;
	uint16_t ulpdu_min, ulpdu_max;
	bool single;
	bool takes_recv;
	bool invalidates;
	bool solicited;
	uint8_t wc;    /* enum iw_wc_opcode or RDMAP_OPS_WC_NONE */
	uint8_t rx_wc; /* the same */
};

extern const struct rdmap_op rdmap_ops[RDMAP_OP_MAX];

/* The row of an opcode as parsed: 4 bits, every value has one; unknown ones have known = false. */
static inline const struct rdmap_op *
rdmap_ops_get(uint8_t opcode)
{
	return &rdmap_ops[opcode & 15];
}

#endif
