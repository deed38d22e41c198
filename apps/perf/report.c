/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RULE "---------------------------------------------------------------------------------------\n"
#define MIB 1048576.0

void
report_end(void)
{
	fputs(RULE, stdout);
	fflush(stdout);
}

void
report_banner(const struct options *o, uint16_t mtu)
{
	static const char *const verbs[] = {"RDMA_Write", "RDMA_Read", "Send"};
	char device[16] = "in-process";

	if (o->mode != PERF_LOOPBACK)
		snprintf(device, sizeof(device), "port %u", o->host.port_id);
	printf(RULE "                    %s %s Test\n", verbs[o->verb], o->test == PERF_LAT ? "Latency" : "BW");
	printf(" Dual-port       : OFF\t\tDevice         : %s\n", device);
	printf(" Number of qps   : %u\t\tTransport type : IW\n", o->qps);
	printf(" Connection type : RC\t\tUsing SRQ      : OFF\n");
	printf(" TX depth        : %u\n", o->tx_depth);
	if (o->verb == PERF_SEND)
		printf(" RX depth        : %u\n", o->rx_depth);
	if (o->test == PERF_BW)
		printf(" CQ Moderation   : %u\n", o->cq_mod);
	printf(" Mtu             : %u[B]\n Link type       : Ethernet\n Max inline data : %u[B]\n", mtu,
	       o->inline_size);
	printf(" rdma_cm QPs\t : ON\n Data ex. method : rdma_cm\n" RULE);
}

void
report_header(const struct options *o)
{
	if (o->test == PERF_LAT)
		printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
		       "t_stdev[usec]   99%% "
		       "percentile[usec]   99.9%% percentile[usec] \n");
	else if (o->gbits)
		printf(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]   CRC   "
		       "roofline[%%]   "
		       "cycles/byte   cycles/msg\n");
	else
		printf(" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]   CRC   "
		       "roofline[%%]   "
		       "cycles/byte   cycles/msg\n");
	fflush(stdout); /* who reads it sees that the run has begun */
}

void
report_bw_row(const struct options *o, const struct report_bw *r)
{
	double rate = (double)r->iters * r->size / r->seconds, unit = o->gbits ? 1e9 / 8 : MIB;
	char share[16] = "-";

	if (r->roofline > 0)
		snprintf(share, sizeof(share), "%.1f", 100 * rate / r->roofline);
	printf(" %-7u    %-10llu       %-7.2lf            %-7.2lf\t\t     %-7.6lf      %-3s   %-8s       %-7.3lf       "
	       "%-7.0lf\n",
	       r->size, (unsigned long long)r->iters, r->peak / unit, rate / unit, (double)r->iters / r->seconds / 1e6,
	       r->crc ? "on" : "off", share, r->cycles / ((double)r->iters * r->size), r->cycles / (double)r->iters);
	fflush(stdout);
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void
report_lat_row(const struct options *o, struct report_lat *r)
{
	/* A Read is a round trip; of the others half of it is reported, as perftest does. */
	double us = o->verb == PERF_READ ? 1e-3 : 5e-4, sum = 0, squares = 0, mean;
	uint64_t middle = r->n / 2;

	qsort(r->ns, r->n, sizeof(r->ns[0]), compare);
	for (uint64_t i = 0; i < r->n; i++) {
		double t = (double)r->ns[i] * us;

		sum += t;
		squares += t * t;
	}
	mean = sum / (double)r->n;
	printf(" %-7u %-10llu          %-7.2f        %-7.2f      %-7.2f  	       %-7.2f     	%-7.2f	"
	       "	%-7.2f 		%-7.2f\n",
	       r->size, (unsigned long long)r->n, (double)r->ns[0] * us, (double)r->ns[r->n - 1] * us,
	       (double)r->ns[middle] * us, mean, sqrt(fmax(0, squares / (double)r->n - mean * mean)),
	       (double)r->ns[(uint64_t)((double)r->n * 0.99)] * us,
	       (double)r->ns[(uint64_t)((double)r->n * 0.999)] * us);
	fflush(stdout);
}
