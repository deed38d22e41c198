/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls that make what work requests map and bind. */
#include "engine_face.h"

struct iw_mr *
iw_mr_create_fast(struct iw_engine *engine, struct iw_pd *pd, uint32_t max_iov, int *err)
{
	if (!engine && err)
		*err = -IW_E_INVAL;
	return engine ? mr_fast_create(engine->rdmap, pd, max_iov, err) : NULL;
}

struct iw_mw *
iw_mw_create(struct iw_engine *engine, struct iw_pd *pd, int *err)
{
	if (!engine && err)
		*err = -IW_E_INVAL;
	return engine ? mw_create(engine->rdmap, pd, err) : NULL;
}
