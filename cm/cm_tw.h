/* SPDX-License-Identifier: BSD-3-Clause */
/* Which connection of an id a TIME_WAIT record belongs to.  The record is tcp's and points at nothing (design D8): it
 * holds a tag, of slot and generation. */
#ifndef CM_TW_H
#define CM_TW_H

#include "cm_id.h"

/* The tag for the record of the id's present connection; tags of earlier ones mean nothing any more. */
uint32_t cm_tw_tag(struct cm *cm, struct cm_id *id);

/* No record of the id's concerns it any more. */
void cm_tw_cancel(struct cm *cm, struct cm_id *id);

/* A record with this tag has ended: the id that waits for it, or NULL. */
struct cm_id *cm_tw_gone(struct cm *cm, uint32_t tag);

#endif
