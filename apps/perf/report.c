/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <string.h>

#include "cli.h"
#include "figures.h"
#include "json.h"

#define RULE "---------------------------------------------------------------------------------------\n"
#define BARS 50

static void
print_banner(const struct report *r)
{
	static const char *const verbs[PERF_VERBS] = {"RDMA_Write", "RDMA_Read", "Send", "RDMA_Write_Imm",
						      "Atomic FETCH_AND_ADD"};
	const char *verb = r->o->cmp_swap ? "Atomic CMP_AND_SWAP" : verbs[r->o->verb];
	const struct options *o = r->o;
	char device[16] = "in-process";

	if (!options_on_wire(o))
		snprintf(device, sizeof(device), "port %u", o->host.port_id);
	printf(RULE "                    %s %s%s Test\n", verb, o->both_ways ? "Bidirectional " : "",
	       o->test == PERF_LAT ? "Latency" : "BW");
	printf(" Dual-port       : OFF\t\tDevice         : %s\n", device);
	printf(" Number of qps   : %u\t\tTransport type : IW\n", o->qps);
	printf(" Connection type : RC\t\tUsing SRQ      : %s\n", o->srq ? "ON" : "OFF");
	printf(" TX depth        : %u\n", o->tx_depth);
	if (perf_takes_recv(o->verb))
		printf(" RX depth        : %u\n", o->rx_depth);
	if (o->test == PERF_BW)
		printf(" CQ Moderation   : %u\n", o->cq_mod);
	printf(" Mtu             : %u[B]\n Link type       : Ethernet\n Max inline data : %u[B]\n", r->mtu,
	       o->inline_size);
	printf(" rdma_cm QPs\t : ON\n Data ex. method : rdma_cm\n" RULE);
}

static void
print_header(const struct options *o)
{
	if (o->test == PERF_LAT && o->seconds > 0)
		printf(" #bytes        #iterations       t_avg[usec]    tps average   cycles/byte   cycles/msg\n");
	else if (o->test == PERF_LAT)
		printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
		       "t_stdev[usec]   99%% percentile[usec]   99.9%% percentile[usec]   cycles/byte   cycles/msg\n");
	else
		printf(" #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]%s   CRC   "
		       "roofline[%%]   cycles/byte   cycles/msg\n",
		       figures_bw_name(o), figures_bw_name(o), o->cpu_util ? "    CPU_Util[%]" : "");
}

static void
print_csv(const struct report *r, const struct figure *f, int n)
{
	for (int i = 0; r->rows == 0 && i < n; i++)
		printf("%s%s", f[i].name, i + 1 < n ? "," : "\n");
	for (int i = 0; i < n; i++)
		printf("%.*f%s", f[i].digits, f[i].value, i + 1 < n ? "," : "\n");
}

static double
value_of(const struct figure *f, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(f[i].name, name) == 0)
			return f[i].value;
	return NAN;
}

static void
print_bw(const struct report *r, const struct report_bw *row, const struct figure *f, int n)
{
	char share[16] = "-", util[24] = "";

	if (row->roofline > 0)
		snprintf(share, sizeof(share), "%.1f", value_of(f, n, "roofline_percent"));
	if (r->o->cpu_util)
		snprintf(util, sizeof(util), "   %-8.2f", 100 * row->cpu);
	printf(" %-7u    %-10llu       %-7.2lf            %-7.2lf\t\t     %-7.6lf%s      %-3s   %-8s       %-7.3lf     "
	       "  "
	       "%-7.0lf\n",
	       row->size, (unsigned long long)row->iters, value_of(f, n, "BW_peak"), value_of(f, n, "BW_average"),
	       value_of(f, n, "MsgRate"), util, row->crc ? "on" : "off", share, value_of(f, n, "cycles_per_byte"),
	       value_of(f, n, "cycles_per_message"));
}

static void
print_lat(const struct report *r, const struct report_lat *row, const struct figure *f, int n)
{
	unsigned long long many = row->hist.samples;
	double byte = value_of(f, n, "cycles_per_byte"), message = value_of(f, n, "cycles_per_message");

	if (r->o->seconds > 0) {
		printf(" %-7u        %-10llu          %-7.2f        %-10.2f    %-7.3f       %-7.0f\n", row->size, many,
		       value_of(f, n, "t_avg"), value_of(f, n, "tps_average"), byte, message);
		return;
	}
	printf(" %-7u %-10llu          %-7.2f        %-7.2f      %-7.2f  	       %-7.2f     	%-7.2f	"
	       "	%-7.2f 		%-7.2f                %-7.3f       %-7.0f\n",
	       row->size, many, value_of(f, n, "t_min"), value_of(f, n, "t_max"), value_of(f, n, "t_typical"),
	       value_of(f, n, "t_avg"), value_of(f, n, "t_stdev"), value_of(f, n, "percentile_99"),
	       value_of(f, n, "percentile_99.9"), byte, message);
}

static void
print_ladder(const struct options *o, const struct hist *h)
{
	for (int i = 0; i < figures_ladder_len; i++)
		printf("# %9.4f%% : %12.3f us\n", figures_ladder[i],
		       (double)hist_at(h, figures_ladder[i] / 100) * figures_lat_unit(o));
}

/* Every step that holds samples; or with a bar, several steps in one. */
static void
print_steps(const struct options *o, const struct hist *h, uint32_t together, bool bar)
{
	for (uint32_t i = 0; i < HIST_POWERS * HIST_STEPS; i += together) {
		uint64_t n = 0;

		for (uint32_t k = 0; k < together; k++)
			n += h->count[i + k];
		if (n == 0)
			continue;
		printf("# to %12.3f us : %10llu", (double)figures_slot_top(i + together - 1) * figures_lat_unit(o),
		       (unsigned long long)n);
		if (bar)
			printf(" %.*s", (int)ceil(BARS * (double)n / (double)h->samples),
			       "##################################################");
		putchar('\n');
	}
}

static void
add_json(struct report *r, const struct figure *f, int n, const struct hist *h)
{
	if (r->json)
		json_row(r, f, n, h);
	r->rows++;
	fflush(stdout); /* who reads it sees that the run goes on */
}

bool
report_open(struct report *r, const struct options *o, uint16_t mtu, bool crc)
{
	*r = (struct report){.o = o, .mtu = mtu, .crc = crc};
	if (o->json && !json_open(r)) {
		cli_fail("%s: cannot be written", o->json_file);
		return false;
	}
	if (o->output == PERF_TABLE) {
		print_banner(r);
		print_header(o);
	}
	fflush(stdout);
	return true;
}

void
report_bw_row(struct report *r, const struct report_bw *row)
{
	struct figure f[FIGURES_MAX];
	int n = figures_of_bw(r->o, row, f);

	if (r->o->output == PERF_TABLE)
		print_bw(r, row, f, n);
	else if (r->o->output == PERF_CSV)
		print_csv(r, f, n);
	else if (r->o->output == PERF_ONE_RATE)
		printf("%f\n", value_of(f, n, "MsgRate"));
	else
		printf("%f\n", value_of(f, n, "BW_average"));
	add_json(r, f, n, NULL);
}

void
report_lat_row(struct report *r, const struct report_lat *row)
{
	struct figure f[FIGURES_MAX];
	int n = figures_of_lat(r->o, row, f);

	if (r->o->output == PERF_TABLE)
		print_lat(r, row, f, n);
	else if (r->o->output == PERF_CSV)
		print_csv(r, f, n);
	else
		printf("%f\n", value_of(f, n, "t_avg"));
	if (r->o->ladder)
		print_ladder(r->o, &row->hist);
	if (r->o->samples)
		print_steps(r->o, &row->hist, 1, false);
	if (r->o->bars)
		print_steps(r->o, &row->hist, HIST_STEPS / 8, true);
	add_json(r, f, n, &row->hist);
}

void
report_close(struct report *r)
{
	if (r->json)
		json_close(r);
	if (r->o->output == PERF_TABLE)
		fputs(RULE, stdout);
	fflush(stdout);
}
