/* SPDX-License-Identifier: BSD-3-Clause */
/* O2 and O5: what each QP was given to do, what came of it, and what it put on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpa_hdr.h"
#include "oracle_seen.h"
#include "qp_obj.h"
#include "rdmap_face.h"

#define QPS 512
#define DEPTH 8192 /* requests under way in one queue */

struct posted {
	uint64_t wr_id;
	uint32_t takes_back; /* STag that it invalidates here; 0: none */
	bool signalled;
};

/* Receives of an SRQ, as posted; what completed is closed up. */
struct srq_book {
	const struct iw_srq *srq;
	uint64_t *wr_id;
	uint32_t n;
};

struct queue {
	struct posted *wr;
	uint64_t head, tail;
	bool failed; /* a request completed in error */
};

struct qp_book {
	const struct iw_qp *qp;
	const struct iw_srq *srq; /* its receives come from there; NULL: from its own queue */
	struct queue sq, rq;
	bool terminated; /* a Terminate was filled */
	bool gone;       /* destroyed: what was flushed can still be read, until its memory is another QP's */
	uint32_t at;     /* octets filled */
};

#define SRQS 16

static struct srq_book srq_book[SRQS];
static uint32_t srq_books;
static struct qp_book book[QPS];
static uint32_t books;
static uint64_t fpdus, terminates;

void
oracle_qp_begin(void)
{
	for (uint32_t i = 0; i < books; i++) {
		free(book[i].sq.wr);
		free(book[i].rq.wr);
	}
	for (uint32_t i = 0; i < srq_books; i++)
		free(srq_book[i].wr_id);
	srq_books = 0;
	memset(book, 0, sizeof(book));
	books = 0;
	fpdus = terminates = 0;
}

uint64_t
oracle_fpdus(void)
{
	return fpdus;
}

uint64_t
oracle_terminates(void)
{
	return terminates;
}

static const struct iw_srq *
srq_of(const struct iw_qp *qp)
{
	struct iw_qp_info info;

	return iw_qp_query(qp, &info) == 0 ? info.srq : NULL;
}

static struct qp_book *
book_of(const struct iw_qp *qp)
{
	for (uint32_t i = 0; i < books; i++)
		if (book[i].qp == qp)
			return &book[i];
	assert_true(books < QPS);
	book[books].qp = qp;
	book[books].srq = srq_of(qp);
	book[books].sq.wr = malloc(DEPTH * sizeof(struct posted));
	book[books].rq.wr = malloc(DEPTH * sizeof(struct posted));
	return &book[books++];
}

/* For a post. */
static struct qp_book *
book_for_post(const struct iw_qp *qp)
{
	struct qp_book *b = book_of(qp);

	if (b->gone)
		*b = (struct qp_book){.qp = qp, .srq = srq_of(qp), .sq.wr = b->sq.wr, .rq.wr = b->rq.wr};
	return b;
}

static void
push(struct queue *q, uint64_t wr_id, bool signalled, uint32_t takes_back)
{
	assert_true(q->head - q->tail < DEPTH);
	q->wr[q->head++ % DEPTH] = (struct posted){wr_id, takes_back, signalled};
}

/* A local request, or a Read whose STag cannot be invalidated, that fails by itself: the stream goes on. */
static bool
fails_alone(const struct iw_wc *wc)
{
	return wc->status == IW_WC_MW_BIND_ERR ||
	       (wc->status == IW_WC_LOC_QP_OP_ERR &&
		(wc->opcode == IW_WC_LOCAL_INV || wc->opcode == IW_WC_FAST_REG || wc->opcode == IW_WC_RDMA_READ));
}

/* Requests that were not to be told may stand before it, while all is well. */
static void
complete(struct queue *q, const struct iw_wc *wc)
{
	struct posted p;

	do {
		if (q->tail == q->head)
			fail_msg("O2: a completion of what was not posted, wr_id %llu", (unsigned long long)wc->wr_id);
		p = q->wr[q->tail++ % DEPTH];
		if (p.wr_id != wc->wr_id && (p.signalled || q->failed))
			fail_msg("O2: wr_id %llu completes, but %llu was due", (unsigned long long)wc->wr_id,
				 (unsigned long long)p.wr_id);
		if (p.wr_id != wc->wr_id && !q->failed)
			oracle_invalidated(p.takes_back);
	} while (p.wr_id != wc->wr_id);
	if (q->failed && wc->status == IW_WC_SUCCESS)
		fail_msg("O2: success behind an error, wr_id %llu", (unsigned long long)wc->wr_id);
	q->failed |= wc->status != IW_WC_SUCCESS && !fails_alone(wc);
	if (wc->status == IW_WC_SUCCESS)
		oracle_invalidated(p.takes_back);
}

/* ---- O5 ---- */

/* Walks one FPDU; returns its octets on the wire. */
static uint32_t
walk(struct qp_book *b, const uint8_t *p, uint32_t left)
{
	bool markers = b->qp->tx_markers;
	uint32_t at = b->at, off = markers && at % 512 == 0 ? 4 : 0, begin = off, octets, op_at = off + 3;

	assert_true(left >= off + 8);
	octets = fpdu_hdr_len(fpdu_hdr_length_parse(p + off));
	for (uint32_t i = 0; i < octets; i += 4, off += 4) {
		if (markers && (at + off) % 512 == 0 && off != begin) {
			assert_int_equal(mpa_hdr_marker_parse(p + off), off - begin);
			off += 4;
		}
	}
	assert_true(off <= left);
	fpdus++;
	if (b->terminated)
		fail_msg("O5: an FPDU behind a Terminate");
	if ((p[op_at] & 15) == RDMAP_OP_TERMINATE) {
		b->terminated = true;
		terminates++;
		if (b->qp->term.valid && !b->qp->term.sent)
			fail_msg("O5: a Terminate in answer to one");
	}
	return off;
}

void
oracle_filled(const struct iw_qp *qp, const struct rte_mbuf *m, uint32_t n)
{
	struct qp_book *b = n > 0 ? book_for_post(qp) : NULL;
	static uint8_t whole[UINT16_MAX]; /* of several mbufs */
	const uint8_t *p = rte_pktmbuf_read(m, 0, n, whole);

	for (uint32_t off = 0; off < n;) {
		uint32_t part = walk(b, p + off, n - off);

		off += part;
		b->at += part;
	}
}

void
oracle_posted_send(const struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr *stop)
{
	for (; wr && wr != stop; wr = wr->next) {
		bool inv = wr->opcode == IW_WR_LOCAL_INV || wr->opcode == IW_WR_RDMA_READ_INV;

		push(&book_for_post(qp)->sq, wr->wr_id, qp->sig_all || wr->flags & IW_SEND_SIGNALED,
		     inv ? wr->invalidate_rkey : 0);
		if (wr->opcode == IW_WR_FAST_REG)
			oracle_mapped(&wr->reg);
	}
}

void
oracle_posted_recv(const struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr *stop)
{
	for (; wr && wr != stop; wr = wr->next)
		push(&book_for_post(qp)->rq, wr->wr_id, true, 0);
}

/* ---- shared receive queues ---- */

static struct srq_book *
srq_book_of(const struct iw_srq *srq)
{
	for (uint32_t i = 0; i < srq_books; i++)
		if (srq_book[i].srq == srq)
			return &srq_book[i];
	assert_true(srq_books < SRQS);
	srq_book[srq_books] = (struct srq_book){.srq = srq, .wr_id = malloc(DEPTH * sizeof(uint64_t))};
	return &srq_book[srq_books++];
}

void
oracle_posted_srq(const struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr *stop)
{
	struct srq_book *b = srq_book_of(srq);

	for (; wr && wr != stop; wr = wr->next) {
		assert_true(b->n < DEPTH);
		b->wr_id[b->n++] = wr->wr_id;
	}
}

/* What is still posted is forgotten. */
void
oracle_srq_destroyed(const struct iw_srq *srq)
{
	srq_book_of(srq)->n = 0;
}

/* Streams take receives in the order of their posts, but whose message is whole first completes first. */
static void
complete_shared(const struct iw_srq *srq, const struct iw_wc *wc)
{
	struct srq_book *b = srq_book_of(srq);

	for (uint32_t i = 0; i < b->n; i++)
		if (b->wr_id[i] == wc->wr_id) {
			memmove(b->wr_id + i, b->wr_id + i + 1, (--b->n - i) * sizeof(b->wr_id[0]));
			return;
		}
	fail_msg("O2: a shared receive completes that is not posted, wr_id %llu", (unsigned long long)wc->wr_id);
}

static void
complete_recv(struct qp_book *b, const struct iw_wc *wc)
{
	if (!b->srq) {
		complete(&b->rq, wc);
		return;
	}
	complete_shared(b->srq, wc);
	if (b->rq.failed && wc->status == IW_WC_SUCCESS)
		fail_msg("O2: success behind an error, wr_id %llu", (unsigned long long)wc->wr_id);
	b->rq.failed |= wc->status != IW_WC_SUCCESS;
}

void
oracle_completed(const struct iw_wc *wc)
{
	struct qp_book *b = book_of(wc->qp);

	if (wc->opcode == IW_WC_RECV)
		complete_recv(b, wc);
	else
		complete(&b->sq, wc);
	if (wc->flags & IW_WC_WITH_INV)
		oracle_invalidated(wc->invalidated_rkey);
}

/* What it flushes can still be read, until its memory is another QP's. */
void
oracle_qp_destroyed(const struct iw_qp *qp)
{
	for (uint32_t i = 0; i < books; i++)
		if (book[i].qp == qp)
			book[i].gone = true;
}
