/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of TIME_WAIT themselves, with comparisons that a mutant may get wrong. */
#include "seq.h"

enum wrong { RIGHT, EQUAL_IS_OLD, PLAIN_SEQ, EQUAL_IS_NEW, PLAIN_TS };
static enum wrong wrong;

static bool
open_geq(uint32_t a, uint32_t b)
{
	if (wrong == PLAIN_SEQ)
		return a >= b;
	return wrong == EQUAL_IS_OLD ? iw_seq_gt(a, b) : iw_seq_geq(a, b);
}

static bool
open_gt(uint32_t a, uint32_t b)
{
	if (wrong == PLAIN_TS)
		return a > b;
	return wrong == EQUAL_IS_NEW ? iw_seq_geq(a, b) : iw_seq_gt(a, b);
}

#define iw_seq_geq open_geq
#define iw_seq_gt open_gt
#include "tcp_timewait.c"

#include "mutants.h"

void
open_tw_restore(void)
{
	wrong = RIGHT;
}

#define MUTANT(id, how)               \
	static void mutant_##id(void) \
	{                             \
		wrong = how;          \
	}

MUTANT(equal_is_old, EQUAL_IS_OLD)
MUTANT(plain_seq, PLAIN_SEQ)
MUTANT(equal_is_new, EQUAL_IS_NEW)
MUTANT(plain_ts, PLAIN_TS)

const struct mutant open_tw_mutants[] = {
	{"a SYN right behind the FIN is taken for an old one", mutant_equal_is_old, NULL, "P8"},
	{"sequence numbers of a SYN that do not wrap", mutant_plain_seq, NULL, "P8"},
	{"an equal timestamp of a SYN is enough", mutant_equal_is_new, NULL, "P8"},
	{"timestamps of a SYN that do not wrap", mutant_plain_ts, NULL, "P8"},
	{.name = NULL},
};
