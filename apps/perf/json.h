/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as one JSON object: perftest's keys, units, what it ran on, and in "results" an element for each row. */
#ifndef JSON_H
#define JSON_H

#include "figures.h"

#define JSON_SCHEMA 1

/* False: the file cannot be written. */
bool json_open(struct report *r);
/* h: of latency, else NULL. */
void json_row(struct report *r, const struct figure *f, int n, const struct hist *h);
void json_close(struct report *r);

#endif
