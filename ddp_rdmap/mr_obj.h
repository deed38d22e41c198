/* SPDX-License-Identifier: BSD-3-Clause */
/* What an STag stands for: a registration or a window.  The objects lie in the domain's table, one for each slot that
 * an STag can name, and stay there when they are free: a pointer that outlived its object shows by `kind`. */
#ifndef MR_OBJ_H
#define MR_OBJ_H

#include <iwarp/verbs.h>
#include <stdint.h>

struct mr_map;
struct rdmap;

enum mr_kind {
	MR_FREE,
	MR_PLAIN, /* registered by a call */
	MR_FAST,  /* registered by work requests */
	MR_WINDOW
};

/* Other engines look at it while it is not theirs: whatever may change then is read and written as a whole.  Of PLAIN
 * nothing but `valid` and `bound` changes while it is published; FAST and WINDOW belong to one engine, whose QPs'
 * serials are the only scopes that they ever have. */
struct iw_mr {
	uint64_t addr, len;
	struct iw_pd *pd;
	uint64_t scope; /* serial of the only QP that may use it; 0: every QP of the PD */
	union {
		struct mr_map *map;   /* PLAIN, FAST; NULL: addr is the place itself */
		struct iw_mr *parent; /* WINDOW, while bound */
	};
	struct rdmap *home; /* FAST, WINDOW: the engine's */
	uint32_t stag;
	uint32_t announced; /* what the user was told: as of the last post */
	union {
		uint32_t next;   /* FREE */
		uint32_t bound;  /* PLAIN: windows bound to it, and loans of its memory (loan.h) */
		uint32_t posted; /* FAST, WINDOW: a request that will change it is in a send queue */
	};
	uint8_t access; /* enum iw_access */
	uint8_t kind;   /* enum mr_kind */
	uint8_t valid;  /* grants something; published with release */
	uint8_t gen;    /* of the slot */
};

struct iw_mw {
	struct iw_mr mr;
};

_Static_assert(sizeof(struct iw_mr) == 64, "one cache line");

#endif
