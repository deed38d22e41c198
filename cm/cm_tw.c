/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_tw.h"

static struct cm_tw *
tw_of(struct cm *cm, uint32_t slot)
{
	return &cm->tw[(slot & IW_POOL_INDEX_MASK) - 1];
}

uint32_t
cm_tw_tag(struct cm *cm, struct cm_id *id)
{
	struct cm_tw *tw = tw_of(cm, id->handle);

	tw->id = id->handle;
	tw->gen = (tw->gen + 1) & IW_POOL_GEN_MASK;
	tw->armed = true;
	return (uint32_t)tw->gen << IW_POOL_INDEX_BITS | (id->handle & IW_POOL_INDEX_MASK);
}

void
cm_tw_cancel(struct cm *cm, struct cm_id *id)
{
	tw_of(cm, id->handle)->armed = false;
}

struct cm_id *
cm_tw_gone(struct cm *cm, uint32_t tag)
{
	struct cm_tw *tw = tw_of(cm, tag);

	if (!tw->armed || tw->gen != tag >> IW_POOL_INDEX_BITS)
		return NULL;
	tw->armed = false;
	return cm_id_at(cm, tw->id);
}
