/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are ready to leave, first in first out, bounded. */
#ifndef OUTQ_H
#define OUTQ_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "net_face.h"

struct outq {
	uint32_t head, tail; /* frames ever put and taken */
	struct rte_mbuf *frames[NET_OUTQ];
};

static inline uint32_t
outq_count(const struct outq *q)
{
	return q->head - q->tail;
}

static inline uint32_t
outq_space(const struct outq *q)
{
	return NET_OUTQ - outq_count(q);
}

/* false: full; the mbuf stays the caller's. */
static inline bool
outq_put(struct outq *q, struct rte_mbuf *m)
{
	if (outq_space(q) == 0)
		return false;
	q->frames[q->head++ % NET_OUTQ] = m;
	return true;
}

/* Up to max frames, the caller's from now on. */
static inline uint32_t
outq_take(struct outq *q, struct rte_mbuf **out, uint32_t max)
{
	uint32_t n = outq_count(q) < max ? outq_count(q) : max;

	for (uint32_t i = 0; i < n; i++)
		out[i] = q->frames[q->tail++ % NET_OUTQ];
	return n;
}

#endif
