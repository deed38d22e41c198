/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the runner share. */
#ifndef SCRIPT_PVT_H
#define SCRIPT_PVT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"

/* Ends the test and names the row. */
#define ROW_FAIL(x, ...)                                                          \
	do {                                                                      \
		char what_[400];                                                  \
		snprintf(what_, sizeof(what_), __VA_ARGS__);                      \
		fail_msg("%s, line %u, at %.6f s: %s", (x)->name, (x)->row->line, \
			 (double)((x)->now_ns - (x)->start_ns) / 1e9, what_);     \
	} while (0)

const char *script_flag_text(uint8_t flags, char text[9]);
const char *script_seg_text(const struct script *x, const struct wire_seg *s, char *buf, size_t len);

/* A row of ROW_OUT. */
void script_out(struct script *x, const struct script_row *r);

#endif
