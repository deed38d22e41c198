/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engines of one process share (design D16): the secret, PDs, and the table of memory registrations, which
 * engines read without a lock.  Writers take a lock; whoever takes a registration out waits for the readers
 * that are in the middle of a turn (rte_rcu_qsbr). */
#ifndef DOMAIN_H
#define DOMAIN_H

#include <iwarp/verbs.h>
#include <rte_rcu_qsbr.h>
#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "stag.h"

#define DOMAIN_READERS 256 /* engines of one domain */
#define DOMAIN_CHUNK_BITS 10
#define DOMAIN_CHUNK (1u << DOMAIN_CHUNK_BITS)
#define DOMAIN_CHUNKS (STAG_SLOTS / DOMAIN_CHUNK)

struct domain_slot {
	struct iw_mr *mr; /* published with release; NULL: free */
	uint32_t next;    /* free list */
	uint8_t gen;
};

struct domain_reader {
	bool used;
	const void *thread; /* who is in the middle of a turn: the address of that thread's domain_self; NULL: nobody */
};

struct iw_domain {
	struct stag_perm perm;
	struct domain_slot *chunk[DOMAIN_CHUNKS]; /* made when first needed, kept until the end */
	struct rte_rcu_qsbr *rcu;
	struct iw_env env; /* the domain's own secret */
	struct domain_reader reader[DOMAIN_READERS];
	uint32_t lock;              /* of everything below, and of writes to the table */
	uint32_t fresh, head, tail; /* slots never used; free ones, first in first out */
	uint32_t readers, pds, mrs;
	uint64_t serial; /* of QPs: never used twice */
};

struct iw_pd {
	struct iw_domain *domain;
	uint32_t users; /* MRs and QPs */
};

/* A domain under a given secret; the public iw_domain_create() (lib/port) draws one.  NULL: memory is short. */
struct iw_domain *domain_create(const uint8_t secret[IW_SECRET_LEN]);

/* An engine joins: *reader is its number.  -IW_E_NOMEM when there are DOMAIN_READERS already. */
int domain_join(struct iw_domain *domain, uint32_t *reader);
void domain_leave(struct iw_domain *domain, uint32_t reader);

/* The engine is about to read the table on this thread: from here to domain_quiescent() others wait for it. */
void domain_enter(struct iw_domain *domain, uint32_t reader);
/* The engine holds no pointer into the table, and does not look at it before the next domain_enter(). */
void domain_quiescent(struct iw_domain *domain, uint32_t reader);

/* Returns when no engine can hold a pointer that was taken out of the table before the call.  Engines that are
 * polled by the calling thread hold none, nor does one that nobody is polling. */
void domain_wait(struct iw_domain *domain);

/* Takes a slot, in *slot and *gen, for an MR that is not yet visible; the one that was free for longest.
 * -IW_E_NOMEM. */
int domain_slot_get(struct iw_domain *domain, uint32_t *slot, uint32_t *gen);
/* Makes it visible to every engine. */
void domain_publish(struct iw_domain *domain, uint32_t slot, struct iw_mr *mr);
/* Takes it out; readers may still hold it until domain_wait(). */
void domain_unpublish(struct iw_domain *domain, uint32_t slot);
void domain_slot_put(struct iw_domain *domain, uint32_t slot);

uint64_t domain_draw(struct iw_domain *domain);
uint64_t domain_serial(struct iw_domain *domain);

/* A PD is used by one more (n = 1) or one less (n = -1). */
void domain_pd_use(struct iw_pd *pd, int n);

/* ---- inline ---- */

/* What stands in the slot that an STag names: the caller compares the whole STag. */
static inline const struct iw_mr *
domain_mr(const struct iw_domain *domain, uint32_t stag)
{
	uint32_t slot = stag_slot(&domain->perm, stag);
	struct domain_slot *chunk = __atomic_load_n(&domain->chunk[slot >> DOMAIN_CHUNK_BITS], __ATOMIC_ACQUIRE);

	return chunk ? __atomic_load_n(&chunk[slot & (DOMAIN_CHUNK - 1)].mr, __ATOMIC_ACQUIRE) : NULL;
}

#endif
