/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues.  A ring of receives with one poster; a QP copies the first one into its own queue of one when
 * a message begins, and keeps it until that message has come.  What completes is noted in `done`, so that the poster
 * can see when it was polled: never more receives are posted, under way, or completed and not polled, than the SRQ is
 * deep, which is what each CQ reserves for it (RFC 5042 §6.4.3.2). */
#ifndef SRQ_H
#define SRQ_H

#include <iwarp/err.h>
#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "ring.h"
#include "wr.h"

#define SRQ_MAGIC 0x53525102u

struct srq_done {
	struct iw_cq *cq;
	uint64_t pos;
	uint32_t handle; /* of the CQ: another one may have its place by now */
};

/* A CQ that QPs of this SRQ complete receives to. */
struct srq_cq {
	struct srq_cq *next;
	struct iw_cq *cq;
	uint32_t qps;
};

struct iw_srq {
	struct iw_ring ring; /* posted and not taken */
	struct iw_ring done_ring;
	struct wr_recv *wr;
	struct srq_done *done;
	uint32_t out; /* poster: posted and not known to be polled */
	uint32_t limit;
	bool foreign;
	uint32_t magic;
	uint32_t handle;
	uint32_t users; /* QPs */
	struct rdmap *rdmap;
	struct iw_pd *pd;
	struct srq_cq *cqs;
	struct iw_list waiters; /* QPs that hold back a message (struct srq_user) */
	struct iw_link async;   /* in rdmap's list: the limit was passed */
	struct door door;
	void *context;
};

/* A QP's account with its SRQ. */
struct srq_user {
	struct iw_srq *srq;
	struct iw_qp *qp;
	struct iw_link wait; /* in waiters of the SRQ, or at the limit in held of the CQ */
	uint32_t limit;      /* 0: none */
	uint32_t head, tail, mask;
	uint64_t pos[]; /* of each receive that it has: 1 + place in the CQ; 0: under way */
};

struct iw_srq *srq_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_srq_attr *attr, int *err);
int srq_destroy(struct iw_srq *srq);

/* A QP that completes receives to cq begins or ends to use it.  -IW_E_NOMEM: the CQ is too short. */
int srq_attach(struct iw_srq *srq, struct iw_cq *cq);
void srq_detach(struct iw_srq *srq, struct iw_cq *cq);

void srq_user_init(struct srq_user *user, struct iw_srq *srq, struct iw_qp *qp, uint32_t limit);
void srq_user_fini(struct srq_user *user);

/* Is there a receive that this QP may have? */
bool srq_has(struct srq_user *user);
/* Moves one into its own queue; false: there is none for it. */
bool srq_take(struct srq_user *user);
/* It has completed, at that place of the QP's CQ. */
void srq_completed(struct srq_user *user, struct iw_cq *cq, uint64_t pos);
/* It waits for a receive to be posted, or at its limit for one of its completions to be polled. */
void srq_wait(struct srq_user *user);
/* Receives that it has and whose completions were not polled; only counted where there is a limit. */
uint32_t srq_used(struct srq_user *user);

/* One more receive; the poster's thread.  Errors of iw_post_srq_recv(). */
int srq_post(struct iw_srq *srq, const struct iw_recv_wr *wr);

/* 0, or what is wrong with an SRQ that a user names. */
static inline int
srq_named(const struct iw_srq *srq)
{
	if (!srq)
		return -IW_E_INVAL;
	return __atomic_load_n(&srq->magic, __ATOMIC_ACQUIRE) == SRQ_MAGIC ? 0 : -IW_E_STALE;
}

#endif
