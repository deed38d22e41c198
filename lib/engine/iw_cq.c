/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls about CQs that need the engine. */
#include "engine.h"

struct iw_cq *
iw_cq_create(struct iw_engine *engine, uint32_t depth, iw_cq_handler handler, void *context)
{
	return engine && depth ? cq_create(engine->rdmap, depth, handler, context) : NULL;
}

int
iw_cq_destroy(struct iw_cq *cq)
{
	return cq ? cq_destroy(cq) : -IW_E_INVAL;
}
