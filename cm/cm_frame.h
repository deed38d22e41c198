/* SPDX-License-Identifier: BSD-3-Clause */
/* Start-up frames as mbufs, and out of the stream. */
#ifndef CM_FRAME_H
#define CM_FRAME_H

#include "cm_id.h"

/* An mbuf with a Request or Reply, TCP_HEADROOM in front; from the control pool, or from the data pool when the
 * former's are too small.  NULL: none left (counted). */
struct rte_mbuf *cm_frame_startup(struct cm *cm, const struct mpa_startup *frame);

/* The same with a whole Terminate FPDU, with CRC, for a stream that never began (RFC 6581 §8); with the marker in front
 * of it when the peer wants them. */
struct rte_mbuf *cm_frame_terminate(struct cm *cm, enum rdmap_fault fault, bool markers);

/* Appends it; false: it did not go.  The mbuf is consumed in any case; NULL is a frame that was not made. */
bool cm_frame_send(struct cm *cm, const struct cm_id *id, struct rte_mbuf *m);

/* Reads a start-up frame from what has arrived.  OK: *frame is filled, its private data is in data[MPA_HDR_PD_MAX],
 * *total is its length on the stream, *there is all that has arrived; nothing was consumed. */
enum mpa_hdr_verdict cm_frame_read(struct cm *cm, const struct cm_id *id, bool reply, struct mpa_startup *frame,
				   uint8_t *data, uint32_t *total, uint32_t *there);

#endif
