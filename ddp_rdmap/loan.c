/* SPDX-License-Identifier: BSD-3-Clause */
#include "loan.h"

#include <assert.h>
#include <string.h>

#include "env.h"

_Static_assert(sizeof(struct loan) <= IW_LOAN_ROOM, "it lies in an mbuf of the pool");

/* The last reference has gone, on any thread. */
static void
give_back(void *addr, void *opaque)
{
	struct loan *loan = opaque;

	(void)addr;
	__atomic_sub_fetch(&loan->mr->bound, 1, __ATOMIC_RELEASE);
	rte_pktmbuf_free(loan->m);
}

struct loan *
loan_make(struct rte_mempool *pool, struct iw_mr *mr)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct loan *loan;

	if (!m)
		return NULL;
	loan = m->buf_addr;
	*loan = (struct loan){.shared = {.free_cb = give_back, .fcb_opaque = loan, .refcnt = 1}, .m = m, .mr = mr};
	__atomic_add_fetch(&mr->bound, 1, __ATOMIC_RELAXED);
	return loan;
}

void
loan_end(struct loan *loan)
{
	if (rte_mbuf_ext_refcnt_update(&loan->shared, -1) == 0)
		give_back(NULL, loan);
}

struct rte_mbuf *
loan_mbufs(struct loan *loan, uint8_t *p, uint32_t len, uint32_t zeros)
{
	struct rte_mbuf *m[2];

	assert(len <= UINT16_MAX && zeros <= 8);
	if (rte_mbuf_ext_refcnt_read(&loan->shared) >= LOAN_REFS_MAX ||
	    rte_pktmbuf_alloc_bulk(loan->m->pool, m, 2) != 0)
		return NULL;
	rte_mbuf_ext_refcnt_update(&loan->shared, 1);
	/* Ports that read by address have IOVAs that are the addresses: lib/port lends a pool only then. */
	rte_pktmbuf_attach_extbuf(m[0], p, (uintptr_t)p, (uint16_t)len, &loan->shared);
	m[0]->data_len = (uint16_t)len;
	m[0]->pkt_len = len;
	m[1]->data_off = 0;
	memset(rte_pktmbuf_append(m[1], (uint16_t)zeros), 0, zeros);
	rte_pktmbuf_chain(m[0], m[1]);
	return m[0];
}
