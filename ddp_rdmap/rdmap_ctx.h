/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this room share of one engine. */
#ifndef RDMAP_CTX_H
#define RDMAP_CTX_H

#include "counter.h"
#include "door.h"
#include "env.h"
#include "list.h"
#include "mpa_tx.h"
#include "pool.h"
#include "rdmap_err.h"
#include "rdmap_face.h"
#include "ring.h"
#include "wheel.h"

#define RDMAP_COUNTERS(X)                                                             \
	X(rx_fpdus)                                                                   \
	X(rx_octets)         /* ULPDUs */                                             \
	X(rx_slow_fpdus)     /* in more than one view */                              \
	X(rx_empty_segments) /* neither payload nor L (D17) */                        \
	X(rx_waits)          /* back-pressure: a Send found no receive */             \
	X(rx_terminates)                                                              \
	X(rx_stalled) /* an FPDU was not finished in time */                          \
	X(tx_fpdus)                                                                   \
	X(tx_octets)       /* with headers and CRC */                                 \
	X(tx_lent)         /* FPDUs whose payload was not copied: IW_ZERO_COPY */     \
	X(tx_lent_crc)     /* of such memory, copied: CRC or markers */               \
	X(tx_lent_no_port) /* the port, or the engine, does not do it */              \
	X(tx_lent_no_mbuf) /* mbufs are short, or it lies in several registrations */ \
	X(tx_terminates)                                                              \
	X(tx_nudges)                                                                  \
	X(reads_answered)                                                             \
	X(flushed) /* work requests */                                                \
	X(atomics_answered)                                                           \
	X(local_ops)    /* work requests that were carried out here */                \
	X(srq_empty)    /* an SRQ had no receive for a message */                     \
	X(local_errors) /* work requests whose SGEs did not hold what they said */

IW_COUNTERS(rdmap_counted, RDMAP_COUNTERS);

/* What the next segments of a long message have in common (rdmap_train.h): of the QP whose turn it is. */
struct rdmap_train {
	struct iw_qp *qp;
	const uint8_t *src;        /* the next octet; granted to the end of the turn */
	uint32_t left;             /* segments; 0: there is no train */
	uint32_t room, len;        /* of each segment, and octets of its payload */
	uint32_t done;             /* octets of those that have left */
	uint8_t hdr_len;           /* of DDP */
	uint8_t head[MPA_TX_HEAD]; /* of the segment before the train */
};

struct rdmap {
	struct iw_env *env;
	struct iw_domain *domain;
	struct iw_engine *engine;
	uint32_t reader; /* of the domain's table */
	uint64_t fpdu_timeout_ns;
	struct iw_list run, out, notify, async_srqs;
	struct iw_list lenders; /* SQs that wait for memory of the user to come back (rdmap_loan.h) */
	uint64_t look_at_ns;    /* whether it has */
	struct iw_list partial; /* QPs with an unfinished FPDU; the one that has not grown for longest is the first */
	struct door_stack doors;
	struct iw_pool qps, cqs, srqs;
	struct iw_ring async_ring; /* of QPs that have an event for the user, each once at most */
	uint32_t *async_qps;       /* handles */
	struct iw_wheel wheel;
	struct rdmap_train train;
	struct {
		struct rdmap_counted n;
		uint64_t fault[RDMAP_FAULT_MAX]; /* found in what peers sent, and local ones */
	} count;
};

#endif
