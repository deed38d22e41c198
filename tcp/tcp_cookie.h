/* SPDX-License-Identifier: BSD-3-Clause */
/* SYN cookies (RFC 4987 §3.6): when no SYN record is left, the state of a half-open connection travels in our ISN
 * and in our timestamp, under a key.  Pure.
 *
 *     ISN    28 bits of keyed hash | 1 bit: parity of the time slot | 3 bits: which MSS
 *     TSval  low 6 bits: ECN | SACK-permitted | window scale (15: none); the rest is our clock, not ahead of it
 *
 * The hash covers 4-tuple, IRS, slot, MSS and options: what comes back is what was sent, or it is refused.  Without
 * timestamps there is neither scale nor SACK.  A cookie is good for one to two minutes. */
#ifndef TCP_COOKIE_H
#define TCP_COOKIE_H

#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "iw_time.h"
#include "tcp_hdr.h"
#include "tcp_tuple.h"

#define TCP_COOKIE_SLOT_NS (64 * IW_SEC)

/* *syn without what a cookie cannot keep: all that our SYN-ACK may agree to. */
struct tcp_seg tcp_cookie_kept(const struct tcp_seg *syn);

/* The ISN that answers *syn.  *tsval: our clock now; out: what the SYN-ACK must carry. */
uint32_t tcp_cookie_make(const struct iw_env *env, const struct tcp_tuple *t, const struct tcp_seg *syn,
			 uint64_t now_ns, uint32_t *tsval);

/* Whether *ack acknowledges a cookie of ours.  *syn: the peer's SYN as far as the cookie has kept it: MSS rounded
 * down, window and TSval those of the ACK. */
bool tcp_cookie_take(const struct iw_env *env, const struct tcp_tuple *t, const struct tcp_seg *ack, uint64_t now_ns,
		     struct tcp_seg *syn);

#endif
