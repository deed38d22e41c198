/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory registrations: what an STag grants, to whom, and the one check that every access goes through
 * (RFC 5040 §7.2, §8.1.1; RFC 5041 §7.2). */
#ifndef MR_H
#define MR_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "domain.h"
#include "mr_map.h"

/* Who asks. */
struct mr_user {
	struct iw_domain *domain;
	struct iw_pd *pd;
	uint64_t serial; /* of the QP */
};

enum mr_verdict {
	MR_OK,
	MR_STAG,   /* unknown, wrong key, invalidated */
	MR_STREAM, /* of another PD or QP */
	MR_WRAP,   /* passes the end of the address space */
	MR_BOUNDS, /* outside of what was registered */
	MR_ACCESS  /* without the right asked for */
};

/* May `user` do `access` (enum iw_access bits; 0: read it locally) to len > 0 octets at addr?  The first reason
 * why not, in the order of the enum; MR_OK: *mr is what grants it, good until the end of the turn. */
enum mr_verdict mr_get(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access,
		       const struct iw_mr **mr);

/* May `user` read it locally?  *mr: what granted the last one, or NULL; what it is now.  Nothing is looked up as long
 * as that is the same: objects stay where they are as long as the domain lives. */
bool mr_get_again(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, const struct iw_mr **mr);

/* The same question, when only the answer counts. */
enum mr_verdict mr_check(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access);

/* Send with Invalidate (RFC 5040 §5.3, R10): MR_OK: it is invalid now; MR_STAG: unknown or invalid already;
 * MR_STREAM: of another PD or QP; MR_ACCESS: shared by the QPs of a PD, or not to be invalidated by peers. */
enum mr_verdict mr_invalidate(const struct mr_user *user, uint32_t stag);

/* The same for the user's own request, who needs no right for it. */
enum mr_verdict mr_invalidate_local(const struct mr_user *user, uint32_t stag);

/* A new object of the table with an STag that nobody can guess, not valid yet; counts as a user of pd.  NULL: memory is
 * short. */
struct iw_mr *mr_create(struct iw_pd *pd, enum mr_kind kind, struct rdmap *home);
/* Takes it out of use, waits until nobody looks at it any more, and gives it back.  -IW_E_BUSY: a window was bound to
 * it meanwhile, or memory of it lent. */
int mr_destroy(struct iw_mr *mr);
/* ---- FAST and WINDOW: what a work request changes ---- */

/* Is it still the object of this STag, whatever the key octet is? */
bool mr_is_slot_of(const struct iw_mr *mr, enum mr_kind kind, uint32_t stag);
/* Is this the STag with another key octet than the last one, and not 0? */
bool mr_is_next(const struct iw_mr *mr, uint32_t stag);
/* A request that will change it is in a send queue; set with the STag that it will have, taken back by its turn. */
bool mr_is_posted(const struct iw_mr *mr);
void mr_posted(struct iw_mr *mr, uint32_t stag, bool posted);
/* Valid for one QP under this STag; the other fields are set. */
void mr_give(struct iw_mr *mr, uint64_t serial, uint32_t stag);

/* 0, or what is wrong with an object that a user names. */
int mr_named(const struct iw_mr *mr, enum mr_kind kind);

#endif
