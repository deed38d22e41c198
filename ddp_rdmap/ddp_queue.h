/* SPDX-License-Identifier: BSD-3-Clause */
/* One untagged queue, receiving: segments of a message in order, messages in order (RFC 5041 §4.3, §5.3). */
#ifndef DDP_QUEUE_H
#define DDP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "ddp_hdr.h"
#include "rdmap_err.h"

/* Segments without payload and without L that one message may have (D17). */
#define DDP_QUEUE_EMPTY_MAX 1024

struct ddp_queue {
	uint32_t msn;   /* of the message that is awaited or under way */
	uint32_t mo;    /* octets of it that were received */
	uint16_t empty; /* segments of it that carried nothing */
	bool open;      /* its first segment has come, its last has not */
	uint8_t opcode; /* of its first segment */
};

static inline void
ddp_queue_init(struct ddp_queue *q)
{
	*q = (struct ddp_queue){.msn = 1};
}

/* Is this segment the one that is due?  D10, D11, D17, D18. */
static inline enum rdmap_fault
ddp_queue_check(const struct ddp_queue *q, const struct ddp_hdr *h)
{
	if (h->msn != q->msn)
		return RDMAP_FAULT_DDP_U_MSN;
	if (h->mo != q->mo)
		return RDMAP_FAULT_DDP_U_MO;
	if (q->open && h->opcode != q->opcode)
		return RDMAP_FAULT_RDMAP_OPCODE_CHANGED;
	return q->empty > DDP_QUEUE_EMPTY_MAX ? RDMAP_FAULT_DDP_LOCAL : RDMAP_FAULT_NONE;
}

/* It was taken, with len octets of payload. */
static inline void
ddp_queue_advance(struct ddp_queue *q, const struct ddp_hdr *h, uint32_t len)
{
	if (h->last) {
		*q = (struct ddp_queue){.msn = q->msn + 1};
		return;
	}
	q->mo += len;
	q->empty += len == 0;
	q->open = true;
	q->opcode = h->opcode;
}

#endif
