/* SPDX-License-Identifier: BSD-3-Clause */
#include "mw.h"

#include <iwarp/err.h>

#include "len.h"
#include "rdmap_ctx.h"

#define RIGHTS (IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_REMOTE_INVALIDATE)
#define CHANGES (IW_REMOTE_WRITE | IW_REMOTE_ATOMIC)

struct iw_mw *
mw_create(struct rdmap *rdmap, struct iw_pd *pd, int *err)
{
	struct iw_mr *mr = NULL;
	int e = domain_pd_check(pd);

	if (!e && pd->domain != rdmap->domain)
		e = -IW_E_PD;
	if (!e) {
		mr = mr_create(pd, MR_WINDOW, rdmap);
		e = mr ? 0 : -IW_E_NOMEM;
	}
	if (err)
		*err = e;
	return (struct iw_mw *)mr;
}

int
iw_mw_destroy(struct iw_mw *mw)
{
	int err = mr_named(mw ? &mw->mr : NULL, MR_WINDOW);

	return err ? err : mr_destroy(&mw->mr);
}

uint32_t
iw_mw_rkey(const struct iw_mw *mw)
{
	return iw_mr_rkey(mw ? &mw->mr : NULL);
}

static int
check(const struct iw_qp *qp, const struct iw_mw_bind *bind)
{
	struct iw_mr *mw = bind->mw ? &bind->mw->mr : NULL;
	int err = mr_named(mw, MR_WINDOW);

	if (!err)
		err = mr_named(bind->mr, MR_PLAIN);
	if (err)
		return err;
	if (mw->pd != qp->user.pd || bind->mr->pd != qp->user.pd)
		return -IW_E_PD;
	if (mw->home != qp->rdmap || bind->access & ~(uint32_t)RIGHTS || bind->length == 0 ||
	    iw_len_wraps(bind->addr, bind->length))
		return -IW_E_INVAL;
	return mr_is_next(mw, bind->rkey) ? 0 : -IW_E_INVAL;
}

int
mw_post(struct iw_qp *qp, struct wr_mem *mem, const struct iw_mw_bind *bind)
{
	int err = check(qp, bind);

	if (err)
		return err;
	if (mr_is_posted(&bind->mw->mr))
		return -IW_E_BUSY;
	*mem = (struct wr_mem){.mr = &bind->mw->mr,
			       .parent = bind->mr,
			       .addr = bind->addr,
			       .len = bind->length,
			       .stag = bind->rkey,
			       .parent_stag = bind->mr->stag,
			       .access = bind->access};
	mr_posted(mem->mr, mem->stag, true);
	return 0;
}

/* From here on the registration cannot be taken back, unless that has begun.  Once this turn has seen it valid, whoever
 * takes it out waits for the end of the turn and sees the count (domain_wait()); of one that is out already `bound` may
 * be the free list's by now, and is left alone. */
static bool
hold(const struct iw_qp *qp, const struct wr_mem *mem)
{
	uint32_t needs = IW_MW_BIND | (mem->access & CHANGES ? IW_LOCAL_WRITE : 0);
	const struct iw_mr *parent;

	if (mr_get(&qp->user, mem->parent_stag, mem->addr, mem->len, needs, &parent) != MR_OK ||
	    !mr_is_slot_of(mem->parent, MR_PLAIN, mem->parent_stag))
		return false;
	__atomic_add_fetch(&mem->parent->bound, 1, __ATOMIC_SEQ_CST);
	return true;
}

bool
mw_bind(struct iw_qp *qp, const struct wr_mem *mem)
{
	struct iw_mr *mw = mem->mr;

	if (!mr_is_slot_of(mw, MR_WINDOW, mem->stag))
		return false; /* it was destroyed meanwhile */
	if (mw->valid || !hold(qp, mem)) {
		mr_posted(mw, mem->stag, false);
		return false;
	}
	mw->parent = mem->parent;
	mw->addr = mem->addr;
	mw->len = mem->len;
	mw->access = (uint8_t)mem->access;
	mr_give(mw, qp->user.serial, mem->stag);
	return true;
}
