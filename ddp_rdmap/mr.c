/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"

#include <iwarp/err.h>

#include "len.h"

/* What stands in an STag's slot is valid, this one and for this user. */
static enum mr_verdict
is_named(const struct mr_user *user, const struct iw_mr *m, uint32_t stag)
{
	uint64_t scope;

	if (!m || !__atomic_load_n(&m->valid, __ATOMIC_ACQUIRE) || __atomic_load_n(&m->stag, __ATOMIC_RELAXED) != stag)
		return MR_STAG;
	scope = __atomic_load_n(&m->scope, __ATOMIC_RELAXED);
	return m->pd != user->pd || (scope && scope != user->serial) ? MR_STREAM : MR_OK;
}

/* The registration or window of an STag, if it is valid and for this user. */
static enum mr_verdict
find(const struct mr_user *user, uint32_t stag, struct iw_mr **mr)
{
	struct iw_mr *m = domain_mr(user->domain, stag);
	enum mr_verdict v = is_named(user, m, stag);

	if (v == MR_OK)
		*mr = m;
	return v;
}

static enum mr_verdict
grants(const struct iw_mr *m, uint64_t addr, uint64_t len, uint32_t access)
{
	if (iw_len_wraps(addr, len))
		return MR_WRAP;
	if (addr < m->addr || !iw_len_fits(addr - m->addr, len, m->len))
		return MR_BOUNDS;
	return (m->access & access) == access ? MR_OK : MR_ACCESS;
}

enum mr_verdict
mr_get(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access, const struct iw_mr **mr)
{
	struct iw_mr *m = NULL;
	enum mr_verdict v = find(user, stag, &m);

	if (v == MR_OK)
		v = grants(m, addr, len, access);
	if (v == MR_OK || v == MR_ACCESS)
		*mr = m;
	return v;
}

bool
mr_get_again(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, const struct iw_mr **mr)
{
	const struct iw_mr *m = *mr;

	if (is_named(user, m, stag) == MR_OK)
		return grants(m, addr, len, 0) == MR_OK;
	return mr_get(user, stag, addr, len, 0, mr) == MR_OK;
}

enum mr_verdict
mr_check(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access)
{
	const struct iw_mr *mr;

	return mr_get(user, stag, addr, len, access, &mr);
}

/* A window that grants nothing any more does not hold its registration. */
static void
take_back(struct iw_mr *mr)
{
	__atomic_store_n(&mr->valid, 0, __ATOMIC_RELAXED);
	if (mr->kind == MR_WINDOW) {
		__atomic_sub_fetch(&mr->parent->bound, 1, __ATOMIC_RELEASE);
		mr->parent = NULL;
	}
}

static enum mr_verdict
invalidate(const struct mr_user *user, uint32_t stag, uint32_t access)
{
	struct iw_mr *mr = NULL;
	enum mr_verdict v = find(user, stag, &mr);

	if (v != MR_OK)
		return v;
	if (!mr->scope || (mr->access & access) != access)
		return MR_ACCESS;
	take_back(mr);
	return MR_OK;
}

enum mr_verdict
mr_invalidate(const struct mr_user *user, uint32_t stag)
{
	return invalidate(user, stag, IW_REMOTE_INVALIDATE);
}

enum mr_verdict
mr_invalidate_local(const struct mr_user *user, uint32_t stag)
{
	return invalidate(user, stag, 0);
}

struct iw_mr *
mr_create(struct iw_pd *pd, enum mr_kind kind, struct rdmap *home)
{
	struct iw_domain *d = pd->domain;
	uint32_t slot;
	struct iw_mr *mr = domain_mr_get(d, &slot);

	if (!mr)
		return NULL;
	do /* 0 is nobody's STag */
		mr->stag = stag_make(&d->perm, slot, mr->gen, (uint8_t)domain_draw(d));
	while (mr->stag == 0);
	mr->announced = mr->stag;
	mr->pd = pd;
	mr->home = home;
	mr->kind = (uint8_t)kind;
	domain_pd_use(pd, 1);
	return mr;
}

int
mr_destroy(struct iw_mr *mr)
{
	struct iw_pd *pd = mr->pd;
	struct iw_domain *d = pd->domain;
	bool valid = mr->valid;

	if (mr->kind == MR_WINDOW && valid)
		take_back(mr);
	domain_unpublish(mr);
	domain_wait(d);
	if (mr->kind == MR_PLAIN && __atomic_load_n(&mr->bound, __ATOMIC_ACQUIRE)) {
		if (valid)
			domain_publish(mr);
		return -IW_E_BUSY;
	}
	if (mr->kind != MR_WINDOW)
		mr_map_destroy(mr->map);
	domain_mr_put(d, mr);
	domain_pd_use(pd, -1);
	return 0;
}

bool
mr_is_slot_of(const struct iw_mr *mr, enum mr_kind kind, uint32_t stag)
{
	return mr->kind == kind && (mr->stag ^ stag) >> 8 == 0;
}

bool
mr_is_next(const struct iw_mr *mr, uint32_t stag)
{
	uint32_t last = __atomic_load_n(&mr->announced, __ATOMIC_RELAXED);

	return stag != 0 && stag != last && (stag ^ last) >> 8 == 0;
}

bool
mr_is_posted(const struct iw_mr *mr)
{
	return __atomic_load_n(&mr->posted, __ATOMIC_ACQUIRE);
}

/* A request that outlived its object does not touch the next one in its place. */
void
mr_posted(struct iw_mr *mr, uint32_t stag, bool posted)
{
	if (posted)
		__atomic_store_n(&mr->announced, stag, __ATOMIC_RELAXED);
	if (mr->kind != MR_FREE && (mr->stag ^ stag) >> 8 == 0)
		__atomic_store_n(&mr->posted, posted, __ATOMIC_RELEASE);
}

void
mr_give(struct iw_mr *mr, uint64_t serial, uint32_t stag)
{
	__atomic_store_n(&mr->scope, serial, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->stag, stag, __ATOMIC_RELAXED);
	__atomic_store_n(&mr->posted, 0, __ATOMIC_RELEASE);
	domain_publish(mr);
}

int
mr_named(const struct iw_mr *mr, enum mr_kind kind)
{
	if (!mr)
		return -IW_E_INVAL;
	if (mr->kind == MR_FREE)
		return -IW_E_STALE;
	return mr->kind == kind ? 0 : -IW_E_INVAL;
}
