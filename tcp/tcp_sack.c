/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_sack.h"

#include <assert.h>

#include "seq.h"

void
tcp_sack_init(struct tcp_sack *s)
{
	s->n_seen = 0;
}

/* Inside (SND.UNA, SND.NXT]: the octet at SND.UNA is what the peer says it has not got. */
static bool
block_is_valid(const struct tcp_txq *q, const struct iw_range *b)
{
	return iw_seq_lt(b->from, b->to) && iw_seq_gt(b->from, q->una) && iw_seq_leq(b->to, q->nxt);
}

static bool
covers(const struct iw_range *outer, const struct iw_range *inner)
{
	return iw_seq_leq(outer->from, inner->from) && iw_seq_leq(inner->to, outer->to);
}

/* RFC 2883 §4, §5: the first block reports a duplicate. */
static bool
is_dsack(const struct tcp_txq *q, uint32_t ack, const struct iw_range *blocks, uint32_t n)
{
	if (n == 0 || iw_seq_geq(blocks[0].from, blocks[0].to))
		return false;
	if (iw_seq_leq(blocks[0].to, ack))
		return true;
	return n > 1 && block_is_valid(q, &blocks[0]) && block_is_valid(q, &blocks[1]) &&
	       covers(&blocks[1], &blocks[0]);
}

/* Ascending, so that RACK's reordering test sees records in order (RFC 8985 §6.2 step 3). */
static void
insert_sorted(struct iw_range *sorted, uint32_t n, const struct iw_range *b)
{
	uint32_t i = n;

	for (; i > 0 && iw_seq_lt(b->from, sorted[i - 1].from); i--)
		sorted[i] = sorted[i - 1];
	sorted[i] = *b;
}

/* Where news begin in this block: what the last ACK's blocks had covered was dealt with. */
static uint32_t
news_from(const struct tcp_sack *s, const struct iw_range *b)
{
	uint32_t from = b->from;

	for (uint32_t i = 0; i < s->n_seen; i++)
		if (iw_seq_leq(s->seen[i].from, b->from) && iw_seq_gt(s->seen[i].to, from))
			from = iw_seq_min(s->seen[i].to, b->to);
	return from;
}

static uint32_t
distance(uint32_t a, uint32_t b)
{
	return iw_seq_lt(a, b) ? b - a : a - b;
}

/* The first record that ends behind seq, from the nearest of both ends and the hint.  NULL: none, or too far; then the
 * hint has come nearer for the next ACK. */
static struct tcp_txq_rec *
find(struct tcp_txq *q, uint32_t seq, uint32_t *steps)
{
	struct tcp_txq_rec *start[] = {tcp_txq_first(q), q->hint, tcp_txq_last_sent(q)}, *rec = start[0], *prev;

	for (uint32_t i = 1; i < 3; i++)
		if (start[i] && rec && distance(start[i]->seq, seq) < distance(rec->seq, seq))
			rec = start[i];
	while (rec && *steps > 0 && iw_seq_leq(tcp_txq_rec_end(rec), seq)) {
		rec = tcp_txq_next(q, rec);
		--*steps;
	}
	while (rec && *steps > 0 && (prev = tcp_txq_prev(q, rec)) != NULL && iw_seq_gt(tcp_txq_rec_end(prev), seq)) {
		rec = prev;
		--*steps;
	}
	if (*steps > 0)
		return rec;
	q->hint = rec;
	return NULL;
}

/* Marks what the block wholly covers.  Returns how far it was dealt with: to its end, or as far as the steps went. */
static uint32_t
mark_block(const struct tcp_sack *s, struct tcp_txq *q, const struct iw_range *b, uint32_t *steps,
	   struct tcp_txq_delta *delta)
{
	uint32_t from = news_from(s, b);
	struct tcp_txq_rec *rec = from == b->to ? NULL : find(q, from, steps);

	while (rec && *steps > 0 && rec != q->unsent && iw_seq_leq(tcp_txq_rec_end(rec), b->to)) {
		if (iw_seq_geq(rec->seq, b->from))
			tcp_txq_mark_sacked(q, rec, delta);
		q->hint = rec;
		rec = tcp_txq_next(q, rec);
		--*steps;
	}
	if (*steps > 0)
		return b->to;
	return rec ? iw_seq_max(from, rec->seq) : from;
}

struct tcp_sack_result
tcp_sack_rx(struct tcp_sack *s, struct tcp_txq *q, uint32_t ack, const struct iw_range *blocks, uint32_t n,
	    struct tcp_txq_delta *delta)
{
	struct tcp_sack_result res = {.dsack = is_dsack(q, ack, blocks, n)};
	struct iw_range sorted[TCP_SACK_MAX];
	uint32_t steps = TCP_SACK_STEPS, n_sorted = 0, n_done = 0;

	assert(n <= TCP_SACK_MAX);
	if (res.dsack)
		res.dsack_block = blocks[0];
	for (uint32_t i = res.dsack; i < n; i++) {
		if (block_is_valid(q, &blocks[i]))
			insert_sorted(sorted, n_sorted++, &blocks[i]);
		else
			res.bad++;
	}
	while (n_done < n_sorted && steps > 0) {
		struct iw_range *b = &sorted[n_done++];

		b->to = mark_block(s, q, b, &steps, delta);
	}
	res.cut_short = steps == 0;
	s->n_seen = (uint8_t)n_done;
	for (uint32_t i = 0; i < n_done; i++)
		s->seen[i] = sorted[i];
	return res;
}
