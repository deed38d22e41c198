/* SPDX-License-Identifier: BSD-3-Clause */
/* What a further core brings: both ends of a connection on one lcore, against as many such pairs on as many lcores. */
#ifndef ENGINES_H
#define ENGINES_H

#include "options.h"

/* A row for each number of lcores; exit code. */
int engines_run(const struct options *o);

#endif
