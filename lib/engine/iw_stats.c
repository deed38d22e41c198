/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of every room, as one list. */
#include "engine_face.h"

static struct iw_counter_list
own_counters(const struct iw_engine *e)
{
#define IW_COUNTER_PREFIX "engine"
	static const char *const names[] = {ENGINE_COUNTERS(IW_COUNTER_NAME)};
#undef IW_COUNTER_PREFIX

	return (struct iw_counter_list){
		.names = names, .values = (const uint64_t *)&e->counters, .n = sizeof(names) / sizeof(names[0])};
}

static int
append(struct iw_stat *stats, int max, int n, struct iw_counter_list list)
{
	for (uint32_t i = 0; i < list.n; i++, n++)
		if (n < max)
			stats[n] = (struct iw_stat){.name = list.names[i], .value = list.values[i]};
	return n;
}

int
iw_engine_stats(const struct iw_engine *engine, struct iw_stat *stats, int max)
{
	int n = 0;

	if (!engine || (max > 0 && !stats))
		return -IW_E_INVAL;
	n = append(stats, max, n, net_counter_list(engine->net));
	n = append(stats, max, n, tcp_counter_list(engine->tcp));
	n = append(stats, max, n, rdmap_counter_list(engine->rdmap));
	n = append(stats, max, n, cm_counter_list(engine->cm));
	n = append(stats, max, n, own_counters(engine));
	return append(stats, max, n, engine->lent);
}
