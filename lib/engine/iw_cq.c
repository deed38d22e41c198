/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls about CQs that need the engine. */
#include "engine_face.h"

struct iw_cq *
iw_cq_create(struct iw_engine *engine, uint32_t depth, iw_cq_handler handler, void *context)
{
	return engine && depth ? cq_create(engine->rdmap, depth, handler, context) : NULL;
}

int
iw_cq_destroy(struct iw_cq *cq)
{
	int err = rdmap_cq_named(cq);

	return err ? err : cq_destroy(cq);
}

int
iw_cq_resize(struct iw_cq *cq, uint32_t depth)
{
	int err = rdmap_cq_named(cq);

	return err ? err : cq_resize(cq, depth);
}

int
iw_cq_set_eventfd(struct iw_cq *cq, int fd)
{
	int err = rdmap_cq_named(cq);

	if (err)
		return err;
	if (fd < -1)
		return -IW_E_INVAL;
	if (fd >= 0 && !cq_engine(cq)->notify)
		return -IW_E_NOTSUP;
	cq_set_fd(cq, fd);
	return 0;
}
