/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the table meets the world: gathers the facts, takes one step, does what the step asks for. */
#ifndef CM_STEP_H
#define CM_STEP_H

#include "cm_id.h"

/* Feeds an event to an id.  Returns what the table says of a call.  The id may be gone afterwards: look it up again. */
int cm_step_event(struct cm *cm, struct cm_id *id, enum cm_event ev, uint64_t now_ns);

/* What the call would return, facts included; nothing changes. */
int cm_step_would(struct cm *cm, struct cm_id *id, enum cm_event ev);

/* When ids are short, the oldest connections that nobody knows of go: those that have not sent their Request (M19), and
 * orphans. */
void cm_step_make_room(struct cm *cm, uint64_t now_ns);

#endif
