/* SPDX-License-Identifier: BSD-3-Clause */
/* Any blocks into the scoreboard of a connection that sends, loses, sends again and gives up, against a model without
 * any cache: a record is SACKed when, and only when, a valid block covered the whole of it since it was last forgotten
 * (RFC 2018 §3, §8; RFC 2883).  Input: where the stream begins, then steps. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "len.h"
#include "mbufpool.h"
#include "seq.h"
#include "tcp_sack.h"

#define RECORDS 64u
#define STEPS 400

struct world {
	struct rte_mempool *pool;
	struct tcp_txq_pool recs;
	struct tcp_txq q;
	struct tcp_sack sack;
	uint64_t now;
};

enum step { APPEND, SEND, ACK, BLOCKS, LOSE, TIMEOUT, AGAIN, MISTAKE, KINDS };

static void
append(struct world *w, struct fuzz_in *in)
{
	uint16_t len = (uint16_t)(1 + fuzz_u8(in) % 16);
	struct rte_mbuf *m;

	if (w->q.recs == RECORDS)
		return;
	m = rte_pktmbuf_alloc(w->pool);
	memset(rte_pktmbuf_append(m, len), 0, len);
	assert(tcp_txq_append(&w->q, &w->recs, m, tcp_txq_sum(&w->recs, m)));
}

static struct tcp_txq_rec *
nth(struct world *w, uint32_t n)
{
	struct tcp_txq_rec *rec = tcp_txq_first(&w->q);

	for (uint32_t i = 0; rec && rec != w->q.unsent && i < n; i++)
		rec = tcp_txq_next(&w->q, rec);
	return rec == w->q.unsent ? NULL : rec;
}

static void
ack(struct world *w, struct fuzz_in *in)
{
	struct tcp_txq_delta d = {.rexmit_limit_ns = w->now};
	uint32_t flight = tcp_txq_flight_size(&w->q);

	tcp_txq_ack(&w->q, &w->recs, w->q.una + fuzz_u8(in) % (flight + 1), &d);
}

static bool
counts(const struct tcp_txq *q, const struct iw_range *b)
{
	return iw_seq_lt(b->from, b->to) && iw_seq_gt(b->from, q->una) && iw_seq_leq(b->to, q->nxt);
}

static bool
is_covered(const struct tcp_txq *q, const struct iw_range *b, uint32_t n, const struct tcp_txq_rec *rec)
{
	for (uint32_t i = 0; i < n; i++)
		if (counts(q, &b[i]) && iw_seq_leq(b[i].from, rec->seq) && iw_seq_leq(tcp_txq_rec_end(rec), b[i].to))
			return true;
	return false;
}

static void
blocks(struct world *w, struct fuzz_in *in)
{
	struct tcp_txq_delta d = {.rexmit_limit_ns = w->now};
	struct iw_range b[TCP_SACK_MAX];
	uint32_t n = fuzz_u8(in) % (TCP_SACK_MAX + 1), i = 0, newly = 0;
	bool was[RECORDS] = {false};
	struct tcp_sack_result res;

	for (uint32_t k = 0; k < n; k++) {
		uint8_t how = fuzz_u8(in);
		uint32_t from = how & 1 ? fuzz_u32(in) : fuzz_u8(in), len = how & 2 ? fuzz_u32(in) : fuzz_u8(in);

		b[k] = (struct iw_range){w->q.una + from, w->q.una + from + len};
	}
	for (struct tcp_txq_rec *r = tcp_txq_first(&w->q); r; r = tcp_txq_next(&w->q, r))
		was[i++] = r->flags & TCP_REC_SACKED;
	res = tcp_sack_rx(&w->sack, &w->q, w->q.una, b, n, &d);
	assert(!res.cut_short && res.bad <= n);
	i = 0;
	for (struct tcp_txq_rec *r = tcp_txq_first(&w->q); r; r = tcp_txq_next(&w->q, r), i++) {
		bool is = r->flags & TCP_REC_SACKED, want = was[i] || is_covered(&w->q, b, n, r);

		assert(is == want);
		newly += is && !was[i] ? r->len : 0;
	}
	assert(d.sacked == newly && d.delivered == newly);
}

/* What the queue keeps beside its records says the same as they do. */
static void
check(const struct world *w)
{
	const struct tcp_txq *q = &w->q;
	uint32_t sacked = 0, lost = 0, retrans = 0, recs = 0, sent = 0, flight = 0;

	for (struct tcp_txq_rec *r = tcp_txq_first(q); r; r = tcp_txq_next(q, r)) {
		recs++;
		sent += (r->flags & TCP_REC_SENT) != 0;
		sacked += r->flags & TCP_REC_SACKED ? r->len : 0;
		lost += r->flags & TCP_REC_LOST ? r->len : 0;
		retrans += r->flags & TCP_REC_RETRANS ? r->len : 0;
		assert(!(r->flags & TCP_REC_SACKED) || !(r->flags & (TCP_REC_LOST | TCP_REC_RETRANS)));
		assert((r->flags & TCP_REC_SENT) || !(r->flags & (TCP_REC_SACKED | TCP_REC_LOST)));
	}
	for (struct tcp_txq_rec *r = tcp_txq_flight_first(q); r; r = tcp_txq_flight_next(q, r))
		flight++;
	assert(recs == q->recs && sent == q->sent_recs && flight <= sent);
	assert(sacked == q->sacked && lost == q->lost_octets && retrans == q->retrans);
	assert(iw_seq_leq(q->una, q->nxt) && iw_seq_leq(q->nxt, q->end));
	assert(tcp_txq_pipe(q) <= q->end - q->una + RECORDS);
}

static void
step(struct world *w, struct fuzz_in *in)
{
	struct tcp_txq_rec *rec = NULL;
	bool forget;

	switch ((enum step)(fuzz_u8(in) % KINDS)) {
	case APPEND:
		append(w, in);
		break;
	case SEND:
		rec = w->q.unsent;
		break;
	case ACK:
		ack(w, in);
		break;
	case BLOCKS:
		blocks(w, in);
		break;
	case LOSE:
		if ((rec = nth(w, fuzz_u8(in))) != NULL)
			tcp_txq_mark_lost(&w->q, rec);
		rec = NULL;
		break;
	case TIMEOUT:
		forget = fuzz_u8(in) & 1;
		tcp_txq_mark_all_lost(&w->q, forget);
		if (forget)
			tcp_sack_init(&w->sack);
		break;
	case AGAIN:
		rec = tcp_txq_lost_first(&w->q);
		break;
	case MISTAKE:
		tcp_txq_undo_lost(&w->q);
		break;
	case KINDS:
		break;
	}
	if (rec)
		tcp_txq_sent(&w->q, rec, ++w->now);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = {data, data + len};
	struct world w = {.pool = mbufpool_create("fuzz", 64, 0)};

	assert(tcp_txq_pool_init(&w.recs, w.pool, w.pool, RECORDS) == 0);
	tcp_txq_init(&w.q, fuzz_u32(&in));
	tcp_sack_init(&w.sack);
	for (int i = 0; i < STEPS && fuzz_left(&in) > 0; i++) {
		step(&w, &in);
		check(&w);
	}
	tcp_txq_fini(&w.q, &w.recs);
	tcp_txq_pool_fini(&w.recs);
	mbufpool_destroy(w.pool);
	return 0;
}
