/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the receive window may become: dynamic right-sizing.  When the reader takes more than half of the buffer
 * within a round trip, the buffer is what limits the sender, and grows to twice what was taken.  It never shrinks (RFC
 * 9293 SHLD-14); what all connections grew by together is bounded. */
#ifndef TCP_RCVBUF_H
#define TCP_RCVBUF_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_RCVBUF_QUICK_ACKS 16 /* segments acknowledged at once at the start and after a pause */

/* Of one connection. */
struct tcp_rcvbuf {
	uint64_t since_ns; /* when this measurement began; 0: none */
	uint64_t data_ns;  /* when text came last; 0: never */
	uint32_t taken;    /* octets read since */
	uint8_t quick;     /* segments still to be acknowledged at once */
};

void tcp_rcvbuf_init(struct tcp_rcvbuf *b);

/* The reader took octets; the buffer is `size` and may become `limit`.  srtt_ns: 0: unknown.  Returns the new size. */
uint32_t tcp_rcvbuf_taken(struct tcp_rcvbuf *b, uint32_t octets, uint32_t size, uint32_t limit, uint64_t srtt_ns,
			  uint64_t now_ns);

/* Text came in order.  idle_ns: a pause after which the sender starts slowly again.  true: acknowledge at once, the
 * sender may be counting ACKs (RFC 5681 §3.1). */
bool tcp_rcvbuf_quick(struct tcp_rcvbuf *b, uint64_t idle_ns, uint64_t now_ns);

#endif
