/* SPDX-License-Identifier: BSD-3-Clause */
/* One counter of an engine; behind the includes that cmocka wants. */
#ifndef STAT_OF_H
#define STAT_OF_H

#include <iwarp.h>
#include <string.h>

/* Fails when there is none of this name. */
static inline uint64_t
stat_of(const struct iw_engine *engine, const char *name)
{
	static struct iw_stat stats[512];
	int n = iw_engine_stats(engine, stats, 512);

	for (int i = 0; i < n; i++)
		if (strcmp(stats[i].name, name) == 0)
			return stats[i].value;
	fail_msg("no counter %s", name);
	return 0;
}

#endif
