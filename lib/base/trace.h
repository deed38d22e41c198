/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened last, for a debugger or a failed test: a fixed ring of small records.  Never prints, never
 * allocates after its creation, costs nothing when there is none (NULL).  One thread. */
#ifndef IW_TRACE_H
#define IW_TRACE_H

#include <stdint.h>

/* Event, and what its two values mean.  State changes are (old, new), by the one setter of each machine. */
#define IW_TRACE_EVENTS(X)                                                                              \
	X(TCP_STATE, "old", "new")       /* object: connection */                                       \
	X(TCP_LOSS, "seq", "cause")      /* what the loss detector declared lost */                     \
	X(TCP_RTO, "snd_una", "rto_us")  /* the retransmission timer fired */                           \
	X(QP_STATE, "old", "new")        /* object: QP number */                                        \
	X(QP_TERMINATE, "error", "sent") /* layer, type, code as in RFC 5040 §4.8; sent or received */ \
	X(CM_STATE, "old", "new")        /* object: id */                                               \
	X(CM_EVENT, "type", "status")    /* delivered to the user */                                    \
	X(DROP, "counter", "length")     /* object: what it was for, 0: nothing known */

#define IW_TRACE_ENUM(name, a, b) IW_TRACE_##name,
enum iw_trace_event { IW_TRACE_EVENTS(IW_TRACE_ENUM) IW_TRACE_EVENT_MAX };

struct iw_trace_record {
	uint64_t now_ns;
	uint32_t object; /* handle */
	uint32_t event;  /* enum iw_trace_event */
	uint32_t a, b;
};

struct iw_trace;

/* Keeps the last n records (rounded up to a power of two, at most 2^20).  NULL when memory is short. */
struct iw_trace *iw_trace_create(uint32_t n);
void iw_trace_destroy(struct iw_trace *trace);

/* Writes a record over the oldest one; nothing when trace is NULL. */
void iw_trace_put(struct iw_trace *trace, uint64_t now_ns, enum iw_trace_event event, uint32_t object, uint32_t a,
		  uint32_t b);

/* Records that are kept, and the i-th of them, the oldest first; NULL when there is none. */
uint32_t iw_trace_count(const struct iw_trace *trace);
const struct iw_trace_record *iw_trace_at(const struct iw_trace *trace, uint32_t i);

/* Name of an event ("TCP_STATE") and of its first (0) or second (1) value; "?" when unknown. */
const char *iw_trace_name(uint32_t event);
const char *iw_trace_value_name(uint32_t event, uint32_t which);

#endif
