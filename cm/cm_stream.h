/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of an id from the end of start-up to the end of TCP: effects of the table's actions, and what tcp and the
 * QP say of it. */
#ifndef CM_STREAM_H
#define CM_STREAM_H

#include "cm_id.h"

/* START: QP to RTS with what was agreed on, the octets that follow go to it; an initiator's RTR is handed to TCP.
 * false: the QP did not start. */
bool cm_stream_start(struct cm *cm, struct cm_id *id, uint64_t now_ns);

/* What the QP has to say by itself (it may have failed in octets that came before a FIN). */
void cm_stream_look(struct cm *cm, iw_cm_id handle, uint64_t now_ns);

/* FIN, RST, TIMEOUT, UNREACH and CLOSED of a ready entry, in this order, when the octets before them were read; else
 * they are held back. */
void cm_stream_ends(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns);

/* Bits of the QP's list, RDMAP_OUT_*. */
void cm_stream_out(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns);

#endif
