/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of an id from the end of start-up to the end of TCP: what tcp and the QP say of it becomes events. */
#ifndef CM_STREAM_H
#define CM_STREAM_H

#include "cm_id.h"

/* What the QP has to say by itself (it may have failed in octets that came before a FIN). */
void cm_stream_look(struct cm *cm, iw_cm_id handle, uint64_t now_ns);

/* FIN, RST, TIMEOUT, UNREACH and CLOSED of a ready entry, in this order, when the octets before them were read; else
 * they are held back. */
void cm_stream_ends(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns);

/* Bits of the QP's list, RDMAP_OUT_*. */
void cm_stream_out(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns);

#endif
