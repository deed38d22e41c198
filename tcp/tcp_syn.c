/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_syn.h"

#include <assert.h>
#include <iwarp/err.h>

#include "iw_time.h"
#include "ring.h"
#include "seq.h"
#include "tcp_accept.h"
#include "tcp_isn.h"

#define TICK_SHIFT 24 /* 16.8 ms: 16 bits of ticks go round in 18 min, far beyond the longest wait */
#define WAIT_NS IW_SEC

enum rec_bits {
	BIT_WS = 15, /* the shift */
	BIT_HAS_WS = 1 << 4,
	BIT_TS = 1 << 5,
	BIT_SACK = 1 << 6,
	BIT_MSS = 1 << 7,
	BIT_ECE = 1 << 8,
	BIT_CWR = 1 << 9,
	RETRIES_SHIFT = 10, /* three bits */
	RETRIES_MASK = 7,
	BIT_UNTIMED = 1 << 13
};

int
tcp_syn_init(struct tcp_syn *s, const struct iw_env *env, uint32_t max)
{
	*s = (struct tcp_syn){.env = env};
	if (max == 0 || max > TCP_SYN_MAX)
		return -IW_E_INVAL;
	s->sets = iw_ring_size((max + TCP_SYN_WAYS - 1) / TCP_SYN_WAYS);
	s->recs = (struct tcp_syn_rec *)iw_env_alloc((size_t)s->sets * TCP_SYN_WAYS * sizeof(*s->recs));
	return s->recs ? 0 : -IW_E_NOMEM;
}

void
tcp_syn_fini(struct tcp_syn *s)
{
	iw_env_free(s->recs);
	*s = (struct tcp_syn){0};
}

/* ---- the table ---- */

static struct tcp_syn_rec *
set_of(const struct tcp_syn *s, const struct tcp_tuple *t)
{
	uint64_t hash = iw_env_hash(s->env, IW_HASH_SYN, t, sizeof(*t));

	return &s->recs[(hash & (s->sets - 1)) * TCP_SYN_WAYS];
}

struct tcp_syn_rec *
tcp_syn_find(const struct tcp_syn *s, const struct tcp_tuple *t)
{
	struct tcp_syn_rec *set;

	if (s->used == 0)
		return NULL;
	set = set_of(s, t);
	for (uint32_t i = 0; i < TCP_SYN_WAYS; i++)
		if (tcp_tuple_equal(&set[i].tuple, t))
			return &set[i];
	return NULL;
}

uint32_t
tcp_syn_retries(const struct tcp_syn_rec *rec)
{
	return rec->bits >> RETRIES_SHIFT & RETRIES_MASK;
}

void
tcp_syn_set_untimed(struct tcp_syn_rec *rec)
{
	rec->bits |= BIT_UNTIMED;
}

uint64_t
tcp_syn_sent_ns(const struct tcp_syn *s, const struct tcp_syn_rec *rec, uint64_t now_ns)
{
	uint32_t ticks = tcp_isn_seq(s->env, &rec->tuple, now_ns) - rec->iss;
	uint64_t tick = now_ns / TCP_ISN_TICK_NS;

	if (tcp_syn_retries(rec) || rec->bits & BIT_UNTIMED || ticks * TCP_ISN_TICK_NS > 2 * WAIT_NS || ticks >= tick)
		return 0;
	return (tick - ticks) * TCP_ISN_TICK_NS;
}

static uint32_t
place(const struct tcp_syn *s, const struct tcp_syn_rec *rec)
{
	return (uint32_t)(rec - s->recs) + 1;
}

/* At the end of the list of its retries: nobody there is due later. */
static void
wait(struct tcp_syn *s, struct tcp_syn_rec *rec, uint64_t now_ns)
{
	struct tcp_syn_list *l = &s->wait[tcp_syn_retries(rec)];
	uint64_t at = now_ns + (WAIT_NS << tcp_syn_retries(rec));

	s->now_ns = now_ns;
	rec->due = (uint16_t)((at >> TICK_SHIFT) + 1);
	rec->next = 0;
	rec->prev = l->last;
	if (l->last)
		s->recs[l->last - 1].next = place(s, rec);
	else
		l->first = place(s, rec);
	l->last = place(s, rec);
}

static void
unlink_rec(struct tcp_syn *s, struct tcp_syn_rec *rec)
{
	struct tcp_syn_list *l = &s->wait[tcp_syn_retries(rec)];

	if (rec->prev)
		s->recs[rec->prev - 1].next = rec->next;
	else
		l->first = rec->next;
	if (rec->next)
		s->recs[rec->next - 1].prev = rec->prev;
	else
		l->last = rec->prev;
}

static uint16_t
bits_of(const struct tcp_seg *syn)
{
	return (uint16_t)((syn->has_ws ? BIT_HAS_WS | syn->ws : 0) | (syn->has_ts ? BIT_TS : 0) |
			  (syn->sack_perm ? BIT_SACK : 0) | (syn->has_mss ? BIT_MSS : 0) |
			  (syn->flags & TCP_ECE ? BIT_ECE : 0) | (syn->flags & TCP_CWR ? BIT_CWR : 0));
}

struct tcp_syn_rec *
tcp_syn_add(struct tcp_syn *s, const struct tcp_tuple *t, const struct tcp_seg *syn, uint32_t iss, uint64_t now_ns)
{
	struct tcp_syn_rec *rec = set_of(s, t), *end = rec + TCP_SYN_WAYS;

	assert(t->local_port != 0 && syn->ws <= TCP_WS_MAX);
	while (rec < end && rec->tuple.local_port != 0)
		rec++;
	if (rec == end)
		return NULL;
	*rec = (struct tcp_syn_rec){.tuple = *t,
				    .irs = syn->seq,
				    .iss = iss,
				    .ts_recent = syn->tsval,
				    .wnd = syn->wnd,
				    .mss = syn->mss,
				    .bits = bits_of(syn)};
	s->used++;
	wait(s, rec, now_ns);
	return rec;
}

void
tcp_syn_del(struct tcp_syn *s, struct tcp_syn_rec *rec)
{
	assert(rec->tuple.local_port != 0);
	unlink_rec(s, rec);
	*rec = (struct tcp_syn_rec){0};
	s->used--;
}

struct tcp_seg
tcp_syn_seg(const struct tcp_syn_rec *rec)
{
	return (struct tcp_seg){
		.seq = rec->irs,
		.tsval = rec->ts_recent,
		.sport = rec->tuple.remote_port,
		.dport = rec->tuple.local_port,
		.wnd = rec->wnd,
		.mss = rec->mss,
		.flags = (uint8_t)(TCP_SYN | (rec->bits & BIT_ECE ? TCP_ECE : 0) | (rec->bits & BIT_CWR ? TCP_CWR : 0)),
		.ws = rec->bits & BIT_WS,
		.has_mss = (rec->bits & BIT_MSS) != 0,
		.has_ws = (rec->bits & BIT_HAS_WS) != 0,
		.has_ts = (rec->bits & BIT_TS) != 0,
		.sack_perm = (rec->bits & BIT_SACK) != 0};
}

/* ---- time ---- */

/* The tick that a record is due at: the one of these 16 bits that is next to the time now. */
static uint64_t
due_ns(const struct tcp_syn *s, const struct tcp_syn_rec *rec)
{
	uint64_t tick = s->now_ns >> TICK_SHIFT;

	return (tick + (uint64_t)(int16_t)(rec->due - (uint16_t)tick)) << TICK_SHIFT;
}

uint64_t
tcp_syn_deadline(const struct tcp_syn *s)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 0; s->used && i <= TCP_SYN_ACK_RETRIES; i++)
		if (s->wait[i].first)
			at = iw_time_min(at, due_ns(s, &s->recs[s->wait[i].first - 1]));
	return at;
}

struct tcp_syn_rec *
tcp_syn_due(struct tcp_syn *s, uint64_t now_ns)
{
	s->now_ns = now_ns;
	for (uint32_t i = 0; s->used && i <= TCP_SYN_ACK_RETRIES; i++)
		if (s->wait[i].first && due_ns(s, &s->recs[s->wait[i].first - 1]) <= now_ns)
			return &s->recs[s->wait[i].first - 1];
	return NULL;
}

bool
tcp_syn_again(struct tcp_syn *s, struct tcp_syn_rec *rec, uint64_t now_ns)
{
	if (tcp_syn_retries(rec) == TCP_SYN_ACK_RETRIES)
		return false;
	unlink_rec(s, rec);
	rec->bits += 1u << RETRIES_SHIFT;
	wait(s, rec, now_ns);
	return true;
}

/* ---- segments ---- */

static enum tcp_syn_verdict
check_rst(uint32_t seq, uint32_t nxt, uint32_t wnd)
{
	if (seq == nxt)
		return TCP_SYN_END;
	return iw_seq_within(seq, nxt, wnd) ? TCP_SYN_CHALLENGE : TCP_SYN_DROP;
}

static enum tcp_syn_verdict
check_syn(struct tcp_syn_rec *rec, const struct tcp_seg *seg)
{
	if (seg->seq != rec->irs || seg->flags & TCP_ACK)
		return TCP_SYN_CHALLENGE;
	if (rec->bits & BIT_TS && seg->has_ts)
		rec->ts_recent = seg->tsval;
	tcp_syn_set_untimed(rec);
	return TCP_SYN_REPEAT;
}

enum tcp_syn_verdict
tcp_syn_check(struct tcp_syn_rec *rec, const struct tcp_seg *seg, uint32_t wnd)
{
	uint32_t nxt = rec->irs + 1;

	if (seg->flags & TCP_RST)
		return check_rst(seg->seq, nxt, wnd);
	if (rec->bits & BIT_TS && seg->has_ts && iw_seq_lt(seg->tsval, rec->ts_recent))
		return TCP_SYN_CHALLENGE;
	if (seg->flags & TCP_SYN)
		return check_syn(rec, seg);
	if (!tcp_accept_is_inside(seg->seq, tcp_hdr_seg_len(seg), nxt, wnd))
		return TCP_SYN_CHALLENGE;
	if (!(seg->flags & TCP_ACK))
		return TCP_SYN_DROP;
	return seg->ack == rec->iss + 1 ? TCP_SYN_TAKE : TCP_SYN_REFUSE;
}
