/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures.h"

#include <math.h>

#define MIB 1048576.0

const double figures_ladder[] = {1, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.99, 99.999, 99.9999};
const int figures_ladder_len = sizeof(figures_ladder) / sizeof(figures_ladder[0]);

const char *
figures_bw_name(const struct options *o)
{
	return o->gbits ? "Gb/sec" : "MiB/sec";
}

double
figures_bw_unit(const struct options *o)
{
	return o->gbits ? 1e9 / 8 : MIB;
}

double
figures_lat_unit(const struct options *o)
{
	return o->verb == PERF_READ || o->verb == PERF_ATOMIC ? 1e-3 : 5e-4;
}

uint64_t
figures_slot_top(uint32_t slot)
{
	uint32_t power = slot / HIST_STEPS;

	return power == 0 ? slot : ((uint64_t)(HIST_STEPS + slot % HIST_STEPS + 1) << (power - 1)) - 1;
}

int
figures_of_bw(const struct options *o, const struct report_bw *row, struct figure *f)
{
	double n = (double)row->iters, octets = n * row->size, unit = figures_bw_unit(o);
	const struct figure all[] = {
		{"MsgSize", row->size, 0},
		{"n_iterations", n, 0},
		{"BW_peak", row->peak / unit, 2},
		{"BW_average", octets / row->seconds / unit, 2},
		{"MsgRate", n / row->seconds / 1e6, 6},
		{"seconds", row->seconds, 6},
		{"roofline_percent", row->roofline > 0 ? 100 * octets / row->seconds / row->roofline : 0, 1},
		{"cycles_per_byte", row->cycles / octets, 3},
		{"cycles_per_message", row->cycles / n, 0},
		{"CPU_Util", 100 * row->cpu, 1},
	};
	int many = sizeof(all) / sizeof(all[0]);

	for (int i = 0; i < many; i++)
		f[i] = all[i];
	return many;
}

int
figures_of_lat(const struct options *o, const struct report_lat *row, struct figure *f)
{
	const struct hist *h = &row->hist;
	double us = figures_lat_unit(o), n = (double)h->samples, mean = hist_mean(h);
	double deviation = sqrt(fmax(0, row->squares / n - mean * mean));
	const struct figure all[] = {
		{"MsgSize", row->size, 0},
		{"n_iterations", n, 0},
		{"t_min", (double)h->min * us, 2},
		{"t_max", (double)h->max * us, 2},
		{"t_typical", (double)hist_at(h, 0.5) * us, 2},
		{"t_avg", mean * us, 2},
		{"t_stdev", deviation * us, 2},
		{"percentile_99", (double)hist_at(h, 0.99) * us, 2},
		{"percentile_99.9", (double)hist_at(h, 0.999) * us, 2},
		{"tps_average", n / row->seconds, 2},
		{"cycles_per_byte", row->cycles / n / row->size, 3},
		{"cycles_per_message", row->cycles / n, 0},
	};
	int many = sizeof(all) / sizeof(all[0]);

	for (int i = 0; i < many; i++)
		f[i] = all[i];
	return many;
}
