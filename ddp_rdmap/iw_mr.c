/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is registered and taken back. */
#include <iwarp/err.h>

#include "len.h"
#include "mr.h"
#include "qp_obj.h"

#define ALL_RIGHTS (IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE)

static int
check_args(const struct iw_pd *pd, const void *addr, uint64_t len, uint32_t access, uint64_t scope)
{
	if (!pd || (!addr && len) || access & ~(uint32_t)ALL_RIGHTS || iw_len_wraps((uintptr_t)addr, len))
		return -IW_E_INVAL;
	/* What several streams share no peer may invalidate (RFC 5040 §8.1.1 item 7). */
	return !scope && access & IW_REMOTE_INVALIDATE ? -IW_E_INVAL : 0;
}

static void
set_stag(struct iw_domain *d, struct iw_mr *mr, uint32_t gen)
{
	do /* 0 is nobody's STag */
		mr->stag = stag_make(&d->perm, mr->slot, gen, (uint8_t)domain_draw(d));
	while (mr->stag == 0);
}

static struct iw_mr *
reg(struct iw_pd *pd, uint64_t scope, void *addr, uint64_t len, uint32_t access, int *err)
{
	int e = check_args(pd, addr, len, access, scope);
	struct iw_mr *mr = e ? NULL : iw_env_alloc(sizeof(*mr));
	uint32_t gen = 0;

	if (!e && !mr)
		e = -IW_E_NOMEM;
	if (!e)
		e = domain_slot_get(pd->domain, &mr->slot, &gen);
	if (err)
		*err = e;
	if (e) {
		iw_env_free(mr);
		return NULL;
	}
	mr->addr = (uintptr_t)addr;
	mr->len = len;
	mr->pd = pd;
	mr->scope = scope;
	mr->access = access;
	mr->valid = 1;
	set_stag(pd->domain, mr, gen);
	domain_pd_use(pd, 1);
	domain_publish(pd->domain, mr->slot, mr);
	return mr;
}

struct iw_mr *
iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err)
{
	return reg(pd, 0, addr, len, access, err);
}

struct iw_mr *
iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err)
{
	return reg(qp ? qp->user.pd : NULL, qp ? qp->user.serial : 1, addr, len, access, err);
}

int
iw_mr_dereg(struct iw_mr *mr)
{
	struct iw_domain *d;

	if (!mr)
		return -IW_E_INVAL;
	d = mr->pd->domain;
	domain_unpublish(d, mr->slot);
	domain_wait(d);
	domain_pd_use(mr->pd, -1);
	domain_slot_put(d, mr->slot);
	iw_env_free(mr);
	return 0;
}

uint32_t
iw_mr_lkey(const struct iw_mr *mr)
{
	return mr->stag;
}

uint32_t
iw_mr_rkey(const struct iw_mr *mr)
{
	return mr->stag;
}
