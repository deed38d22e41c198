/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr_fast.h"

#include <iwarp/err.h>

#include "len.h"
#include "rdmap_ctx.h"

#define RIGHTS (IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_REMOTE_INVALIDATE)

static struct mr_map *
two_maps(uint32_t max_iov)
{
	struct mr_map *map = mr_map_create(max_iov);

	if (!map)
		return NULL;
	map->spare = mr_map_create(max_iov);
	if (map->spare)
		return map;
	mr_map_destroy(map);
	return NULL;
}

struct iw_mr *
mr_fast_create(struct rdmap *rdmap, struct iw_pd *pd, uint32_t max_iov, int *err)
{
	struct mr_map *map = NULL;
	struct iw_mr *mr = NULL;
	int e = domain_pd_check(pd);

	if (!e && (max_iov == 0 || max_iov > IW_MAX_FAST_IOV))
		e = -IW_E_INVAL;
	if (!e && pd->domain != rdmap->domain)
		e = -IW_E_PD;
	if (!e) {
		map = two_maps(max_iov);
		mr = map ? mr_create(pd, MR_FAST, rdmap) : NULL;
		e = mr ? 0 : -IW_E_NOMEM;
	}
	if (err)
		*err = e;
	if (mr)
		mr->map = map;
	else
		mr_map_destroy(map);
	return mr;
}

static int
check(const struct iw_qp *qp, const struct iw_fast_reg *reg)
{
	int err = mr_named(reg->mr, MR_FAST);

	if (err)
		return err;
	if (reg->mr->pd != qp->user.pd)
		return -IW_E_PD;
	if (reg->mr->home != qp->rdmap || reg->access & ~(uint32_t)RIGHTS)
		return -IW_E_INVAL;
	return mr_is_next(reg->mr, reg->rkey) ? 0 : -IW_E_INVAL;
}

int
mr_fast_post(struct iw_qp *qp, struct wr_mem *mem, const struct iw_fast_reg *reg)
{
	int err = check(qp, reg);
	struct mr_map *spare;

	if (err)
		return err;
	if (mr_is_posted(reg->mr))
		return -IW_E_BUSY;
	spare = reg->mr->map->spare;
	err = mr_map_fill(spare, reg->iov, reg->num_iov);
	if (!err && iw_len_wraps(reg->iova, spare->total))
		err = -IW_E_INVAL;
	if (err)
		return err;
	*mem = (struct wr_mem){.mr = reg->mr, .addr = reg->iova, .stag = reg->rkey, .access = reg->access};
	mr_posted(reg->mr, reg->rkey, true);
	return 0;
}

static void
swap_maps(struct iw_mr *mr)
{
	struct mr_map *now = mr->map->spare;

	now->spare = mr->map;
	mr->map->spare = NULL;
	mr->map = now;
}

bool
mr_fast_take(struct iw_qp *qp, const struct wr_mem *mem)
{
	struct iw_mr *mr = mem->mr;

	if (!mr_is_slot_of(mr, MR_FAST, mem->stag))
		return false; /* it was deregistered meanwhile */
	if (mr->valid) {
		mr_posted(mr, mem->stag, false);
		return false;
	}
	swap_maps(mr);
	mr->addr = mem->addr;
	mr->len = mr->map->total;
	mr->access = (uint8_t)mem->access;
	mr_give(mr, qp->user.serial, mem->stag);
	return true;
}
