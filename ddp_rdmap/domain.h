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
#include "mr_obj.h"
#include "pool.h"
#include "stag.h"

#define DOMAIN_READERS 256 /* engines of one domain */
#define DOMAIN_CHUNK_BITS 10
#define DOMAIN_CHUNK (1u << DOMAIN_CHUNK_BITS)
#define DOMAIN_CHUNKS (STAG_SLOTS / DOMAIN_CHUNK)
#define DOMAIN_PDS 65536

struct domain_reader {
	bool used;
	const void *thread; /* who is in the middle of a turn: the address of that thread's domain_self; NULL: nobody */
};

struct iw_domain {
	struct stag_perm perm;
	struct iw_mr *chunk[DOMAIN_CHUNKS]; /* made when first needed, kept until the end */
	struct rte_rcu_qsbr *rcu;
	struct iw_env env; /* the domain's own secret */
	struct domain_reader reader[DOMAIN_READERS];
	uint32_t lock;              /* of everything below, and of writes to the table */
	uint32_t fresh, head, tail; /* slots never used; free ones, first in first out */
	uint32_t readers, mrs;
	struct iw_pool pds;
	uint64_t serial; /* of QPs: never used twice */
	/* Lent by lib/port: whether ports may read this memory by themselves.  NULL: any (tests). */
	bool (*is_mapped)(const void *addr, uint64_t len);
};

struct iw_pd {
	struct iw_domain *domain; /* NULL: destroyed */
	uint32_t handle;
	uint32_t users; /* MRs, windows, SRQs and QPs */
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

/* An object for an STag, of which gen is set and nothing else, not yet visible; the one that was free for longest.  It
 * is in slot *slot.  NULL: all are used, or memory is short. */
struct iw_mr *domain_mr_get(struct iw_domain *domain, uint32_t *slot);
/* Makes it visible to every engine. */
void domain_publish(struct iw_mr *mr);
/* Takes it out; readers may still hold it until domain_wait(). */
void domain_unpublish(struct iw_mr *mr);
/* Gives it back. */
void domain_mr_put(struct iw_domain *domain, struct iw_mr *mr);

uint64_t domain_draw(struct iw_domain *domain);
uint64_t domain_serial(struct iw_domain *domain);

/* A PD is used by one more (n = 1) or one less (n = -1). */
void domain_pd_use(struct iw_pd *pd, int n);

/* ---- inline ---- */

/* What stands in the slot that an STag names, valid or not: the caller compares the whole STag.  NULL: nothing ever
 * did. */
static inline struct iw_mr *
domain_mr(const struct iw_domain *domain, uint32_t stag)
{
	uint32_t slot = stag_slot(&domain->perm, stag);
	struct iw_mr *chunk = __atomic_load_n(&domain->chunk[slot >> DOMAIN_CHUNK_BITS], __ATOMIC_ACQUIRE);

	return chunk ? &chunk[slot & (DOMAIN_CHUNK - 1)] : NULL;
}

/* 0, or what is wrong with a PD that a user names. */
int domain_pd_check(const struct iw_pd *pd);

#endif
