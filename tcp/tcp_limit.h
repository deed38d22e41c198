/* SPDX-License-Identifier: BSD-3-Clause */
/* How many answers a peer may draw from us without a connection of its own: RST for nobody, ACKs of TIME_WAIT and
 * SYN records (RFC 5961 §7).  Each peer has a budget of its own, so that none can learn from its answers what another
 * one did (CVE-2016-5696): a bucket is chosen by keyed hash of the peer's address, and chosen anew every minute, so
 * that two peers which meet in one part again before either can tell. */
#ifndef TCP_LIMIT_H
#define TCP_LIMIT_H

#include <iwarp/addr.h>
#include <stdbool.h>
#include <stdint.h>

#include "env.h"

#define TCP_LIMIT_BUCKETS 4096u

struct tcp_limit {
	uint64_t step_ns;                    /* between two answers in the long run */
	uint64_t full_ns[TCP_LIMIT_BUCKETS]; /* when the bucket's budget is whole again */
};

/* rate: answers in a second, and in one burst; at least 1. */
void tcp_limit_init(struct tcp_limit *l, uint32_t rate);

/* Whether this peer (of IPv6 its /64) may be given one more answer now; if so, it is taken from its budget. */
bool tcp_limit_allows(struct tcp_limit *l, const struct iw_env *env, const struct iw_addr *peer, uint64_t now_ns);

#endif
