/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_timewait.h"

#include <assert.h>
#include <iwarp/err.h>

#include "iw_time.h"
#include "seq.h"
#include "tcp_accept.h"

#define rec_of(l) iw_list_entry(l, struct tcp_timewait_rec, link)

int
tcp_timewait_init(struct tcp_timewait *tw, uint32_t max, uint64_t msl_ns)
{
	*tw = (struct tcp_timewait){.max = max};
	if (max == 0 || max > IW_POOL_MAX / 2 || msl_ns == 0 || msl_ns > IW_NEVER / 2)
		return -IW_E_INVAL;
	tw->period_ns = 2 * msl_ns;
	iw_list_init(&tw->waiting);
	iw_list_init(&tw->gone);
	return iw_pool_init(&tw->pool, sizeof(struct tcp_timewait_rec), 2 * max);
}

void
tcp_timewait_fini(struct tcp_timewait *tw)
{
	iw_pool_fini(&tw->pool);
	*tw = (struct tcp_timewait){0};
}

/* NULL: stale, or ended. */
static struct tcp_timewait_rec *
rec_at(const struct tcp_timewait *tw, uint32_t handle)
{
	struct tcp_timewait_rec *rec = iw_pool_at(&tw->pool, handle);

	return rec && rec->expires_ns != 0 ? rec : NULL;
}

static void
restart(struct tcp_timewait *tw, struct tcp_timewait_rec *rec, uint64_t now_ns)
{
	rec->expires_ns = iw_time_after(now_ns, tw->period_ns);
	iw_list_del(&rec->link);
	iw_list_add(&tw->waiting, &rec->link);
}

uint32_t
tcp_timewait_add(struct tcp_timewait *tw, const struct tcp_timewait_state *st, uint64_t now_ns)
{
	struct tcp_timewait_rec *rec;
	uint32_t handle;

	if (tw->used == tw->max)
		return 0;
	rec = iw_pool_get(&tw->pool, &handle);
	if (!rec)
		return 0;
	rec->st = *st;
	restart(tw, rec, now_ns);
	tw->used++;
	return handle;
}

/* With a tag it waits in the gone list, without one it is free. */
static void
end(struct tcp_timewait *tw, struct tcp_timewait_rec *rec)
{
	iw_list_del(&rec->link);
	tw->used--;
	rec->expires_ns = 0;
	if (rec->st.tag)
		iw_list_add(&tw->gone, &rec->link);
	else
		iw_pool_put(&tw->pool, iw_pool_handle(&tw->pool, rec));
}

bool
tcp_timewait_evict(struct tcp_timewait *tw, uint32_t *demux)
{
	struct iw_link *l = iw_list_first(&tw->waiting);

	if (!l)
		return false;
	*demux = rec_of(l)->st.demux;
	end(tw, rec_of(l));
	return true;
}

bool
tcp_timewait_expire(struct tcp_timewait *tw, uint64_t now_ns, uint32_t *demux)
{
	return tcp_timewait_deadline(tw) <= now_ns && tcp_timewait_evict(tw, demux);
}

uint32_t
tcp_timewait_hand_over(struct tcp_timewait *tw, uint32_t handle)
{
	struct tcp_timewait_rec *rec = rec_at(tw, handle);
	uint32_t demux;

	assert(rec);
	demux = rec->st.demux;
	end(tw, rec);
	return demux;
}

uint64_t
tcp_timewait_deadline(const struct tcp_timewait *tw)
{
	struct iw_link *l = iw_list_first(&tw->waiting);

	return l ? rec_of(l)->expires_ns : IW_NEVER;
}

bool
tcp_timewait_pop(struct tcp_timewait *tw, uint32_t *tag)
{
	struct iw_link *l = iw_list_pop(&tw->gone);

	if (!l)
		return false;
	*tag = rec_of(l)->st.tag;
	iw_pool_put(&tw->pool, iw_pool_handle(&tw->pool, rec_of(l)));
	return true;
}

const struct tcp_timewait_state *
tcp_timewait_at(const struct tcp_timewait *tw, uint32_t handle)
{
	const struct tcp_timewait_rec *rec = rec_at(tw, handle);

	return rec ? &rec->st : NULL;
}

/* ---- segments ---- */

/* RFC 6191 §2: five rows accept, two drop.  "The last sequence number seen" is that of the peer's FIN. */
static bool
syn_is_new(const struct tcp_timewait_state *st, const struct tcp_seg *seg)
{
	bool seq_greater = iw_seq_geq(seg->seq, st->rcv_nxt);

	if (!seg->has_ts)
		return seq_greater;
	if (!st->has_ts)
		return true;
	return iw_seq_gt(seg->tsval, st->ts_recent) || (seg->tsval == st->ts_recent && seq_greater);
}

static enum tcp_timewait_act
judge_syn(const struct tcp_timewait_state *st, const struct tcp_seg *seg)
{
	if (seg->flags & TCP_ACK)
		return TCP_TW_ACK; /* RFC 5961 §4 */
	return syn_is_new(st, seg) ? TCP_TW_SYN : TCP_TW_DROP;
}

static bool
is_inside(const struct tcp_timewait_state *st, const struct tcp_seg *seg)
{
	return tcp_accept_is_inside(seg->seq, tcp_hdr_seg_len(seg), st->rcv_nxt, st->rcv_wnd);
}

/* Neither RST nor SYN, timestamps passed. */
static enum tcp_timewait_act
judge(const struct tcp_timewait_state *st, const struct tcp_seg *seg)
{
	if (!is_inside(st, seg))
		return TCP_TW_ACK;
	if (!(seg->flags & TCP_ACK))
		return TCP_TW_DROP;
	/* Octets behind the peer's FIN are not taken; an ACK of what was never sent is answered. */
	return tcp_hdr_seg_len(seg) > 0 || iw_seq_gt(seg->ack, st->snd_nxt) ? TCP_TW_ACK : TCP_TW_DROP;
}

static bool
is_fin_again(const struct tcp_timewait_state *st, const struct tcp_seg *seg)
{
	return (seg->flags & (TCP_FIN | TCP_ACK)) == (TCP_FIN | TCP_ACK) &&
	       seg->seq + tcp_hdr_seg_len(seg) == st->rcv_nxt;
}

struct tcp_timewait_verdict
tcp_timewait_seg(struct tcp_timewait *tw, uint32_t handle, const struct tcp_seg *seg, uint64_t now_ns)
{
	struct tcp_timewait_rec *rec = rec_at(tw, handle);
	struct tcp_timewait_verdict v = {.act = TCP_TW_DROP};
	struct tcp_timewait_state *st;

	assert(rec);
	st = &rec->st;
	if (seg->flags & TCP_RST) /* RFC 1337 F1 */
		return v;
	if (seg->flags & TCP_SYN) {
		v.act = judge_syn(st, seg);
		v.isn_after = st->snd_nxt;
		return v;
	}
	if (st->has_ts && !seg->has_ts) /* RFC 7323 §3.2 */
		return v;
	v.act = TCP_TW_ACK;
	if (st->has_ts && iw_seq_lt(seg->tsval, st->ts_recent)) /* PAWS, RFC 7323 §5.3 R1 */
		return v;
	v.act = judge(st, seg);
	v.restarted = is_fin_again(st, seg);
	/* RFC 7323 §5.3 R2, R3: not from what lies elsewhere, or a stranger could shut out the peer's next SYN. */
	if (st->has_ts && iw_seq_leq(seg->seq, st->rcv_nxt) && (v.restarted || is_inside(st, seg)))
		st->ts_recent = seg->tsval;
	if (v.restarted)
		restart(tw, rec, now_ns);
	return v;
}
