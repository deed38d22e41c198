/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is registered by a call, and taken back. */
#include <iwarp/err.h>

#include "len.h"
#include "mr.h"
#include "qp_obj.h"

#define SHARED_RIGHTS (IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_MW_BIND | IW_ZERO_COPY)
#define STREAM_RIGHTS (IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_REMOTE_INVALIDATE)

/* What is to be registered, and for whom. */
struct order {
	uint64_t addr, len;
	uint64_t scope;
	uint32_t access;
	struct mr_map *map; /* NULL: addr is the place itself */
};

/* All of it, in however many pieces. */
static bool
is_mapped(const struct iw_domain *d, const struct order *o)
{
	uint64_t run;

	if (!d->is_mapped)
		return true;
	if (!o->map)
		return d->is_mapped((const void *)(uintptr_t)o->addr, o->len);
	for (uint32_t i = 0; i < o->map->n; i++) {
		run = o->map->seg[i + 1].off - o->map->seg[i].off;
		if (!d->is_mapped(o->map->seg[i].p, run))
			return false;
	}
	return true;
}

/* What several streams share no peer may invalidate (RFC 5040 §8.1.1 item 7). */
static int
check(const struct iw_pd *pd, const struct order *o)
{
	uint32_t rights = o->scope ? STREAM_RIGHTS : SHARED_RIGHTS;
	int err = domain_pd_check(pd);

	if (err)
		return err;
	if ((!o->addr && o->len && !o->map) || o->access & ~rights || iw_len_wraps(o->addr, o->len))
		return -IW_E_INVAL;
	return o->access & IW_ZERO_COPY && !is_mapped(pd->domain, o) ? -IW_E_NOTSUP : 0;
}

static struct iw_mr *
reg(struct iw_pd *pd, const struct order *o, int *err)
{
	int e = check(pd, o);
	struct iw_mr *mr = e ? NULL : mr_create(pd, MR_PLAIN, NULL);

	if (!e && !mr)
		e = -IW_E_NOMEM;
	if (err)
		*err = e;
	if (e)
		return NULL;
	mr->addr = o->addr;
	mr->len = o->len;
	mr->scope = o->scope;
	mr->access = (uint8_t)o->access;
	mr->map = o->map;
	domain_publish(mr);
	return mr;
}

struct iw_mr *
iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err)
{
	return reg(pd, &(struct order){.addr = (uintptr_t)addr, .len = len, .access = access}, err);
}

struct iw_mr *
iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err)
{
	struct order o = {.addr = (uintptr_t)addr, .len = len, .access = access};
	int e = qp_named(qp);

	if (e) {
		if (err)
			*err = e;
		return NULL;
	}
	o.scope = qp->user.serial;
	return reg(qp->user.pd, &o, err);
}

static int
make_map(const struct iw_iov *iov, uint32_t n, struct order *o)
{
	int err;

	if (n == 0 || n > IW_MAX_IOV)
		return -IW_E_INVAL;
	o->map = mr_map_create(n);
	if (!o->map)
		return -IW_E_NOMEM;
	err = mr_map_fill(o->map, iov, n);
	o->len = o->map->total;
	return err;
}

struct iw_mr *
iw_mr_reg_iov(struct iw_pd *pd, const struct iw_iov *iov, uint32_t n, uint64_t iova, uint32_t access, int *err)
{
	struct order o = {.addr = iova, .access = access};
	int e = make_map(iov, n, &o);
	struct iw_mr *mr = e ? NULL : reg(pd, &o, &e);

	if (err)
		*err = e;
	if (!mr)
		mr_map_destroy(o.map);
	return mr;
}

int
iw_mr_dereg(struct iw_mr *mr)
{
	int err = mr_named(mr, MR_PLAIN);

	if (err && mr_named(mr, MR_FAST))
		return err;
	if (mr->kind == MR_PLAIN && __atomic_load_n(&mr->bound, __ATOMIC_ACQUIRE))
		return -IW_E_BUSY;
	return mr_destroy(mr);
}

uint32_t
iw_mr_lkey(const struct iw_mr *mr)
{
	return iw_mr_rkey(mr);
}

uint32_t
iw_mr_rkey(const struct iw_mr *mr)
{
	return mr && mr->kind != MR_FREE ? __atomic_load_n(&mr->announced, __ATOMIC_RELAXED) : 0;
}
