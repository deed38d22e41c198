/* SPDX-License-Identifier: BSD-3-Clause */
/* Effects of the table's actions that end a connection. */
#ifndef CM_CLOSE_H
#define CM_CLOSE_H

#include "cm_id.h"

/* FIN behind everything. */
void cm_close_fin(struct cm *cm, struct cm_id *id, uint64_t now_ns);
/* RST; the connection is gone. */
void cm_close_abort(struct cm *cm, struct cm_id *id, uint64_t now_ns);
/* FIN; TCP ends alone.  What has arrived and was not read is dropped, lest TCP answers with RST. */
void cm_close_finish(struct cm *cm, struct cm_id *id, uint64_t now_ns);

/* FIN; the connection gets an id of its own that nobody knows and that reads on until the peer has ended too: a Reply
 * on its way must not meet a RST.  Returns that id, for CM_EV_ORPHANED; NULL: TCP ends alone. */
struct cm_id *cm_close_orphan(struct cm *cm, struct cm_id *id, uint64_t now_ns);
/* Drops whatever has arrived. */
void cm_close_swallow(struct cm *cm, struct cm_id *id, uint64_t now_ns);

#endif
