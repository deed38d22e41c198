/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls about SRQs that need the engine. */
#include "engine_face.h"

struct iw_srq *
iw_srq_create(struct iw_engine *engine, struct iw_pd *pd, const struct iw_srq_attr *attr, int *err)
{
	if (!engine && err)
		*err = -IW_E_INVAL;
	return engine ? srq_create(engine->rdmap, pd, attr, err) : NULL;
}

int
iw_srq_destroy(struct iw_srq *srq)
{
	int err = rdmap_srq_named(srq);

	return err ? err : srq_destroy(srq);
}
