/* SPDX-License-Identifier: BSD-3-Clause */
/* Every option as a line of a table: the parser and the help text are made from it. */
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include <stddef.h>

#include "options.h"

enum option_kind {
	OPTION_FLAG,     /* a bool at `offset` becomes true */
	OPTION_U16,      /* a number from min to max at `offset` */
	OPTION_U32,      /* likewise */
	OPTION_U64,      /* likewise */
	OPTION_CALL,     /* take() */
	OPTION_SILENT,   /* always so here; nothing is said */
	OPTION_NOTE,     /* InfiniBand's: one note, no value */
	OPTION_NOTE_ARG, /* InfiniBand's: one note, with a value */
};

struct option_line {
	char letter;      /* 0: none */
	const char *name; /* NULL: none */
	enum option_kind kind;
	size_t offset;
	uint64_t min, max;
	bool (*take)(const char *arg, struct options *o); /* arg: NULL without a value */
	const char *value;                                /* what stands for it in the help; NULL: it has none */
	const char *help;                                 /* NULL: not shown */
};

extern const struct option_line option_lines[];
extern const uint32_t option_line_count;

#endif
