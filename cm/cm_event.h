/* SPDX-License-Identifier: BSD-3-Clause */
/* Events on their way to the user.  They are bits of the id's state, one for each kind, so that nothing can overflow;
 * what an event carries is read from the id when it is popped. */
#ifndef CM_EVENT_H
#define CM_EVENT_H

#include "cm_id.h"

/* Puts the id in the list of those that have something to tell, if it has. */
void cm_event_queue(struct cm *cm, struct cm_id *id);

/* The tag for the TIME_WAIT record of the id's present connection; tags of earlier ones mean nothing any more. */
uint32_t cm_event_tw_tag(struct cm *cm, struct cm_id *id);
void cm_event_tw_cancel(struct cm *cm, struct cm_id *id);
/* A record with this tag has ended. */
void cm_event_tw_gone(struct cm *cm, uint32_t tag, uint64_t now_ns);

#endif
