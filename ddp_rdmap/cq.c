/* SPDX-License-Identifier: BSD-3-Clause */
#include "cq.h"

#include <assert.h>

#include "rdmap_ctx.h"
#include "ring.h"

#define CQ_DEPTH_MAX (1u << 24)

struct iw_cq *
cq_create(struct rdmap *rdmap, uint32_t depth, iw_cq_handler handler, void *context)
{
	struct iw_wc *ring;
	struct iw_cq *cq;
	uint32_t handle, size;

	if (depth == 0 || depth > CQ_DEPTH_MAX)
		return NULL;
	size = iw_ring_size(depth);
	ring = iw_env_alloc((size_t)size * sizeof(*ring));
	cq = ring ? iw_pool_get(&rdmap->cqs, &handle) : NULL;
	if (!cq) {
		iw_env_free(ring);
		return NULL;
	}
	cq->ring = ring;
	cq->mask = size - 1;
	cq->rdmap = rdmap;
	cq->handler = handler;
	cq->context = context;
	cq->handle = handle;
	cq->door.kind = DOOR_CQ;
	cq->polled.kind = DOOR_POLLED;
	iw_list_init(&cq->held);
	cq->fd = -1;
	cq->magic = CQ_MAGIC;
	return cq;
}

int
cq_destroy(struct iw_cq *cq)
{
	if (cq->users)
		return -IW_E_BUSY;
	rdmap_doorbells(cq->rdmap); /* it is in the stack no more */
	__atomic_store_n(&cq->magic, 0, __ATOMIC_RELEASE);
	iw_list_del(&cq->notify);
	iw_env_free(cq->ring);
	cq->ring = NULL;
	iw_pool_put(&cq->rdmap->cqs, cq->handle);
	return 0;
}

/* Entries that QPs which are gone may still occupy. */
static uint64_t
still_left(struct iw_cq *cq)
{
	uint64_t tail = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE);

	if (tail >= cq->left_at)
		return cq->left = 0;
	return cq->left < cq->left_at - tail ? cq->left : cq->left_at - tail;
}

int
cq_attach(struct iw_cq *cq, uint32_t n)
{
	if (cq->reserved + still_left(cq) + n > cq->mask + 1)
		return -IW_E_NOMEM;
	cq->reserved += n;
	cq->users++;
	return 0;
}

void
cq_detach(struct iw_cq *cq, uint32_t n)
{
	assert(cq->reserved >= n && cq->users > 0);
	cq->reserved -= n;
	cq->users--;
	cq->left = still_left(cq) + n;
	cq->left_at = cq->head;
}

/* Places count up for ever, so the entries keep theirs in the new ring. */
int
cq_resize(struct iw_cq *cq, uint32_t depth)
{
	uint64_t tail = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE), size;
	struct iw_wc *ring;

	if (depth == 0 || depth > CQ_DEPTH_MAX)
		return -IW_E_INVAL;
	size = iw_ring_size(depth);
	if (cq->reserved + still_left(cq) > size || cq->head - tail > size)
		return -IW_E_BUSY;
	ring = iw_env_alloc(size * sizeof(*ring));
	if (!ring)
		return -IW_E_NOMEM;
	for (uint64_t i = tail; i != cq->head; i++)
		ring[i & (size - 1)] = cq->ring[i & cq->mask];
	iw_env_free(cq->ring);
	cq->ring = ring;
	cq->mask = size - 1;
	cq->tail_seen = tail;
	return 0;
}

/* What an arming for solicited ones waits for. */
static bool
is_urgent(const struct iw_wc *wc)
{
	return wc->flags & IW_WC_SOLICITED || wc->status != IW_WC_SUCCESS;
}

void
cq_fire(struct iw_cq *cq)
{
	uint32_t armed = __atomic_load_n(&cq->armed, __ATOMIC_ACQUIRE);
	uint64_t behind = armed == CQ_ARMED ? cq->head : cq->urgent;

	if (armed == CQ_DISARMED || __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE) >= behind)
		return;
	__atomic_store_n(&cq->armed, CQ_DISARMED, __ATOMIC_RELAXED);
	iw_list_add(&cq->rdmap->notify, &cq->notify);
}

/* No barrier here, where each completion would pay for it: who arms rings, and the engine looks again. */
uint64_t
cq_push(struct iw_cq *cq, const struct iw_wc *wc)
{
	uint64_t pos = cq->head;

	if (pos - cq->tail_seen > cq->mask)
		cq->tail_seen = __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE);
	assert(pos - cq->tail_seen <= cq->mask); /* a slot posted to again was polled: cq_is_polled() */
	cq->ring[pos & cq->mask] = *wc;
	if (is_urgent(wc))
		cq->urgent = pos + 1;
	__atomic_store_n(&cq->head, pos + 1, __ATOMIC_RELEASE);
	cq_fire(cq);
	return pos;
}

void
cq_want_poll(struct iw_cq *cq)
{
	/* Sequential against ring_polled(): it sees this, or we see what it polled. */
	__atomic_store_n(&cq->poll_wanted, 1, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void
ring_polled(struct iw_cq *cq)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&cq->poll_wanted, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&cq->poll_wanted, 0, __ATOMIC_SEQ_CST))
		door_ring(&cq->rdmap->doors, &cq->polled);
}

int
iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max)
{
	uint64_t head, tail;
	int n = cq_named(cq);

	if (n)
		return n;
	if (max > 0 && !wc)
		return -IW_E_INVAL;
	head = __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE);
	tail = cq->tail;
	while (n < max && tail != head)
		wc[n++] = cq->ring[tail++ & cq->mask];
	if (n > 0) /* pairs with cq_is_polled(): the entries and their slots are free */
		__atomic_store_n(&cq->tail, tail, __ATOMIC_RELEASE);
	if (n > 0 && __atomic_load_n(&cq->limited, __ATOMIC_RELAXED))
		ring_polled(cq);
	return n;
}

int
iw_cq_arm(struct iw_cq *cq, bool solicited_only)
{
	int err = cq_named(cq);

	if (err)
		return err;
	__atomic_store_n(&cq->armed, solicited_only ? CQ_ARMED_SOLICITED : CQ_ARMED, __ATOMIC_RELEASE);
	door_ring(&cq->rdmap->doors, &cq->door);
	return 0;
}

struct iw_cq *
cq_notify_next(struct rdmap *rdmap)
{
	struct iw_link *n = iw_list_pop(&rdmap->notify);

	return n ? iw_list_entry(n, struct iw_cq, notify) : NULL;
}

struct iw_engine *
cq_engine(const struct iw_cq *cq)
{
	return cq->rdmap->engine;
}

void
cq_set_fd(struct iw_cq *cq, int fd)
{
	cq->fd = fd;
}

int
cq_fd(const struct iw_cq *cq)
{
	return cq->fd;
}

void
cq_notify(struct iw_cq *cq)
{
	if (cq->handler)
		cq->handler(cq, cq->context);
}

const char *
iw_wc_status_name(int status)
{
	switch ((enum iw_wc_status)status) {
	case IW_WC_SUCCESS:
		return "IW_WC_SUCCESS";
	case IW_WC_LOC_LEN_ERR:
		return "IW_WC_LOC_LEN_ERR";
	case IW_WC_LOC_PROT_ERR:
		return "IW_WC_LOC_PROT_ERR";
	case IW_WC_LOC_QP_OP_ERR:
		return "IW_WC_LOC_QP_OP_ERR";
	case IW_WC_LOC_ACCESS_ERR:
		return "IW_WC_LOC_ACCESS_ERR";
	case IW_WC_REM_ACCESS_ERR:
		return "IW_WC_REM_ACCESS_ERR";
	case IW_WC_REM_OP_ERR:
		return "IW_WC_REM_OP_ERR";
	case IW_WC_WR_FLUSH_ERR:
		return "IW_WC_WR_FLUSH_ERR";
	case IW_WC_FATAL_ERR:
		return "IW_WC_FATAL_ERR";
	case IW_WC_MW_BIND_ERR:
		return "IW_WC_MW_BIND_ERR";
	}
	return "unknown";
}

const char *
iw_wc_opcode_name(int opcode)
{
	switch ((enum iw_wc_opcode)opcode) {
	case IW_WC_SEND:
		return "IW_WC_SEND";
	case IW_WC_RDMA_WRITE:
		return "IW_WC_RDMA_WRITE";
	case IW_WC_RDMA_READ:
		return "IW_WC_RDMA_READ";
	case IW_WC_RECV:
		return "IW_WC_RECV";
	case IW_WC_IMM:
		return "IW_WC_IMM";
	case IW_WC_FETCH_ADD:
		return "IW_WC_FETCH_ADD";
	case IW_WC_CMP_SWAP:
		return "IW_WC_CMP_SWAP";
	case IW_WC_LOCAL_INV:
		return "IW_WC_LOCAL_INV";
	case IW_WC_FAST_REG:
		return "IW_WC_FAST_REG";
	case IW_WC_BIND_MW:
		return "IW_WC_BIND_MW";
	}
	return "unknown";
}
