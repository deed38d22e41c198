/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <inttypes.h>
#include <rte_lcore.h>
#include <rte_version.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void
put_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, "\"%s\": \"", name);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text >= 32)
			fputc(*text, f);
	fputc('"', f);
}

/* "model name : ..." of the first CPU. */
static void
read_cpu(char *out, size_t len)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	snprintf(out, len, "unknown");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
			snprintf(out, len, "%s", strchr(line, ':') + 2);
			out[strcspn(out, "\n")] = 0;
			break;
		}
	if (f)
		fclose(f);
}

static void
put_host(const struct report *r)
{
	struct iw_port_info info;
	char host[256] = "", cpu[256];
	const char *separator = "";
	unsigned lcore;
	bool port = !options_on_wire(r->o) && iw_port_info_get(r->o->host.port_id, &info) == 0;

	gethostname(host, sizeof(host) - 1);
	read_cpu(cpu, sizeof(cpu));
	fprintf(r->json, "  ");
	put_text(r->json, "host", host);
	fprintf(r->json, ",\n  ");
	put_text(r->json, "cpu", cpu);
	fprintf(r->json, ",\n  ");
	put_text(r->json, "version", cli_version());
	fprintf(r->json, ",\n  ");
	put_text(r->json, "dpdk_version", rte_version());
	fprintf(r->json, ",\n  ");
	put_text(r->json, "driver", port ? info.driver : "in-process");
	fprintf(r->json, ",\n  \"lcores\": [");
	RTE_LCORE_FOREACH(lcore)
	{
		fprintf(r->json, "%s%u", separator, lcore);
		separator = ", ";
	}
	fprintf(r->json, "],\n  \"mpa_crc\": %s,\n  \"mtu\": %u,\n", r->crc ? "true" : "false", r->mtu);
}

static void
put_test_info(const struct report *r)
{
	static const char *const yes[] = {"OFF", "ON"};
	const struct options *o = r->o;

	fprintf(r->json, "  \"test_info\": {\"test\": \"%s_%s\", \"Device\": ", perf_verb_name(o->verb),
		o->test == PERF_LAT ? "lat" : "bw");
	if (options_on_wire(o))
		fprintf(r->json, "\"in-process\"");
	else
		fprintf(r->json, "\"port %u\"", o->host.port_id);
	fprintf(r->json,
		", \"Number_of_qps\": %u, \"Transport_type\": \"IW\", \"Connection_type\": \"RC\", \"Using_SRQ\": "
		"\"%s\", \"TX_depth\": %u, \"RX_depth\": %u, \"CQ_Moderation\": %u, \"Mtu\": %u, \"Link_type\": "
		"\"Ethernet\", \"Max_inline_data\": %u, \"rdma_cm_QPs\": \"ON\", \"Data_ex_method\": \"rdma_cm\", "
		"\"bidirectional\": \"%s\", \"outs\": %u, \"post_list\": %u, \"data_validation\": \"%s\", "
		"\"loss_percent\": %g},\n",
		o->qps, yes[o->srq], o->tx_depth, o->rx_depth, o->cq_mod, r->mtu, o->inline_size, yes[o->both_ways],
		o->outs, o->post_list, yes[o->validate], o->loss);
}

bool
json_open(struct report *r)
{
	r->json = fopen(r->o->json_file, "w");
	if (!r->json)
		return false;
	fprintf(r->json, "{\n  \"schema_version\": %d,\n", JSON_SCHEMA);
	put_host(r);
	put_test_info(r);
	fprintf(r->json,
		"  \"units\": {\"MsgSize\": \"bytes\", \"BW_peak\": \"%s\", \"BW_average\": \"%s\", "
		"\"limit_average\": \"%s\", \"MsgRate\": \"Mpps\", \"seconds\": \"s\", \"t\": \"usec\", "
		"\"percentile\": \"usec\", \"tps_average\": \"1/s\", \"CPU_Util\": \"%% of a core\", \"cycles\": "
		"\"TSC\"},\n  \"results\": [",
		figures_bw_name(r->o), figures_bw_name(r->o), figures_bw_name(r->o));
	return true;
}

/* Steps that hold samples: the largest value of each, and how many. */
static void
put_hist(const struct report *r, const struct hist *h)
{
	double unit = figures_lat_unit(r->o);
	const char *separator = "";

	fprintf(r->json, ", \"percentiles\": {");
	for (int i = 0; i < figures_ladder_len; i++)
		fprintf(r->json, "%s\"%.10g\": %.3f", i ? ", " : "", figures_ladder[i],
			(double)hist_at(h, figures_ladder[i] / 100) * unit);
	fprintf(r->json, "}, \"histogram\": [");
	for (uint32_t i = 0; i < HIST_POWERS * HIST_STEPS; i++)
		if (h->count[i]) {
			fprintf(r->json, "%s[%.3f, %" PRIu64 "]", separator, (double)figures_slot_top(i) * unit,
				h->count[i]);
			separator = ", ";
		}
	fprintf(r->json, "]");
}

void
json_row(struct report *r, const struct figure *f, int n, const struct hist *h)
{
	fprintf(r->json, "%s\n    {", r->rows ? "," : "");
	for (int i = 0; i < n; i++)
		fprintf(r->json, "%s\"%s\": %.*f", i ? ", " : "", f[i].name, f[i].digits, f[i].value);
	if (h)
		put_hist(r, h);
	fprintf(r->json, "}");
}

void
json_close(struct report *r)
{
	fprintf(r->json, "\n  ]\n}\n");
	fclose(r->json);
	r->json = NULL;
}
