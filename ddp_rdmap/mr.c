/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr.h"

#include "len.h"

/* The registration of an STag, if it is valid and for this user. */
static enum mr_verdict
find(const struct mr_user *user, uint32_t stag, const struct iw_mr **mr)
{
	const struct iw_mr *m = domain_mr(user->domain, stag);

	if (!m || m->stag != stag || !__atomic_load_n(&m->valid, __ATOMIC_RELAXED))
		return MR_STAG;
	if (m->pd != user->pd || (m->scope && m->scope != user->serial))
		return MR_STREAM;
	*mr = m;
	return MR_OK;
}

enum mr_verdict
mr_check(const struct mr_user *user, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access)
{
	const struct iw_mr *mr = NULL;
	enum mr_verdict v = find(user, stag, &mr);

	if (v != MR_OK)
		return v;
	if (iw_len_wraps(addr, len))
		return MR_WRAP;
	if (addr < mr->addr || !iw_len_fits(addr - mr->addr, len, mr->len))
		return MR_BOUNDS;
	return (mr->access & access) == access ? MR_OK : MR_ACCESS;
}

enum mr_verdict
mr_invalidate(const struct mr_user *user, uint32_t stag)
{
	const struct iw_mr *mr = NULL;
	enum mr_verdict v = find(user, stag, &mr);

	if (v != MR_OK)
		return v;
	if (!mr->scope || !(mr->access & IW_REMOTE_INVALIDATE))
		return MR_ACCESS;
	__atomic_store_n(&((struct iw_mr *)mr)->valid, 0, __ATOMIC_RELAXED);
	return MR_OK;
}
