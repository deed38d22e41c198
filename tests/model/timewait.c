/* SPDX-License-Identifier: BSD-3-Clause */
#include "timewait.h"

#include <stdio.h>
#include <string.h>

#include "tcp_timewait.h"

#define HALF 0x7fffffff
#define MSL_NS 30000000000u

/* Where numbers of a record begin: at both ends of both circles. */
static const uint32_t starts[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
#define STARTS (sizeof(starts) / sizeof(starts[0]))

/* Distances from the peer's FIN and from TS.Recent. */
static const int32_t far[] = {-HALF, -70000, -1, 0, 1, 70000, HALF};
#define FAR (sizeof(far) / sizeof(far[0]))

/* What may come before the SYN: flags, distance of the sequence number from RCV.NXT, timestamp from TS.Recent. */
static const struct before {
	const char *what;
	uint8_t flags;
	int32_t seq, ts;
	bool has_ts, remembered; /* its timestamp */
} befores[] = {
	{"nothing", 0, 0, 0, false, false},
	{"the FIN again", TCP_FIN | TCP_ACK, -1, 0, true, true},
	{"the FIN again, later", TCP_FIN | TCP_ACK, -1, 5, true, true},
	{"the FIN again, from before", TCP_FIN | TCP_ACK, -1, -5, true, false},
	{"the FIN again, without a timestamp", TCP_FIN | TCP_ACK, -1, 0, false, false},
	{"an ACK, later", TCP_ACK, 0, 5, true, true},
	{"an ACK from behind the FIN", TCP_ACK, 1, 5, true, false},
	{"old octets, later", TCP_ACK, -1000, 1, true, false},
	{"a RST", TCP_RST, 0, 5, true, false},
	{"an old SYN", TCP_SYN, -1000, -5, true, false},
};
#define BEFORES (sizeof(befores) / sizeof(befores[0]))

struct question {
	struct tcp_timewait tw;
	uint32_t record;
	uint32_t fin, ts_recent; /* of the peer, as the standards say it */
	bool has_ts;
	struct search_result *r;
	const struct before *first, *second;
};

/* RFC 6191 §2. */
static bool
is_accepted(const struct question *q, bool has_ts, int32_t ts, int32_t seq)
{
	if (q->has_ts && has_ts)
		return ts > 0 || (ts == 0 && seq > 0);
	return has_ts || seq > 0; /* timestamps on the new one only: always */
}

static void
ask(struct question *q, bool has_ts, int32_t ts, int32_t seq)
{
	struct tcp_seg syn = {.flags = TCP_SYN,
			      .seq = q->fin + (uint32_t)seq,
			      .has_ts = has_ts,
			      .tsval = q->ts_recent + (uint32_t)ts};
	bool in = tcp_timewait_seg(&q->tw, q->record, &syn, 0).act == TCP_TW_SYN;

	q->r->states++;
	if (q->r->broken || in == is_accepted(q, has_ts, ts, seq))
		return;
	q->r->broken = in ? "P8: TIME_WAIT lets in no SYN that RFC 6191 refuses"
			  : "P8: TIME_WAIT lets in every SYN that RFC 6191 accepts";
	(void)snprintf(q->r->trace, sizeof(q->r->trace),
		       "   1. a record %s timestamps: FIN at %08x, TS.Recent %08x\n   2. %s\n   3. %s\n"
		       "   *. a SYN, %+d from the FIN, %s %+d\n",
		       q->has_ts ? "with" : "without", q->fin, q->ts_recent, q->first->what, q->second->what, seq,
		       has_ts ? "timestamp" : "no timestamp", ts);
}

/* A newer timestamp is remembered of what lies in the window, and not behind what was acknowledged (RFC 7323 §5.3: R2
 * before R3), and of the FIN. */
static void
come(struct question *q, const struct before *b)
{
	struct tcp_seg seg = {.flags = b->flags,
			      .seq = q->fin + 1 + (uint32_t)b->seq,
			      .ack = 1000,
			      .wnd = 1000,
			      .has_ts = b->has_ts && q->has_ts,
			      .tsval = q->ts_recent + (uint32_t)b->ts};

	if (!b->flags)
		return;
	(void)tcp_timewait_seg(&q->tw, q->record, &seg, 0);
	if (seg.has_ts && b->remembered)
		q->ts_recent += (uint32_t)b->ts;
}

static void
one_record(struct question *q, uint32_t seq, uint32_t ts)
{
	struct tcp_timewait_state st = {
		.snd_nxt = 1000, .rcv_nxt = seq, .rcv_wnd = 65535, .ts_recent = ts, .has_ts = q->has_ts};
	uint32_t demux;

	q->fin = seq - 1;
	q->ts_recent = ts;
	q->record = tcp_timewait_add(&q->tw, &st, 0);
	come(q, q->first);
	come(q, q->second);
	for (size_t s = 0; s < FAR; s++) {
		ask(q, false, 0, far[s]);
		for (size_t t = 0; t < FAR; t++)
			ask(q, true, far[t], far[s]);
	}
	(void)tcp_timewait_evict(&q->tw, &demux);
}

void
timewait_run(struct search_result *r)
{
	struct question q = {.r = r};

	memset(r, 0, sizeof(*r));
	if (tcp_timewait_init(&q.tw, 4, MSL_NS) != 0)
		r->broken = "no memory for records";
	for (uint32_t n = 0; !r->broken && n < 2 * BEFORES * BEFORES; n++) {
		q.has_ts = n & 1;
		q.first = &befores[n / 2 % BEFORES];
		q.second = &befores[n / 2 / BEFORES];
		for (size_t k = 0; k < STARTS * STARTS; k++)
			one_record(&q, starts[k % STARTS], starts[k / STARTS]);
	}
	tcp_timewait_fini(&q.tw);
}

bool
timewait_lets_in(void)
{
	struct tcp_timewait_state st = {.rcv_nxt = 0xffffffff, .ts_recent = 0xffffffff, .has_ts = true};
	struct tcp_seg syn = {.flags = TCP_SYN, .seq = 77, .has_ts = true, .tsval = 3};
	struct tcp_timewait tw;
	bool in = false;

	if (tcp_timewait_init(&tw, 1, MSL_NS) == 0)
		in = tcp_timewait_seg(&tw, tcp_timewait_add(&tw, &st, 0), &syn, 0).act == TCP_TW_SYN;
	tcp_timewait_fini(&tw);
	return in;
}
