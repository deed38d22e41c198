/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection needs only while something of it is on its way: transmit records, congestion control, loss
 * recovery, round-trip times and their deadlines.  A connection that sends takes one from a pool; when everything is
 * acknowledged it keeps it, "at rest", until the pool is used up and another connection needs one.  Then what was
 * learned about the path stays behind in struct tcp_flight_kept, some twenty octets of the connection.
 *
 * When none is to be had, data waits: the grant is 0, the connection stands in a list in the order of asking, and is
 * told (TCP_READY_ROOM) when one can be had.  A part of the pool is kept back for what must get out whatever others
 * send: SYN, FIN, Terminate and the frames of a start-up. */
#ifndef TCP_FLIGHT_OBJ_H
#define TCP_FLIGHT_OBJ_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "pool.h"
#include "tcp_cc.h"
#include "tcp_pace.h"
#include "tcp_prr.h"
#include "tcp_rack.h"
#include "tcp_rtt.h"
#include "tcp_sack.h"
#include "tcp_tlp.h"
#include "tcp_txq.h"
#include "tcp_undo.h"

#define TCP_FLIGHT_LEAST 4096u   /* in the pool, when there are so many connections and nobody says otherwise */
#define TCP_FLIGHT_LOOK_NS IW_MS /* how often those who starve look again */

struct tcp_conn;

/* What bounds a wait; see tcp_timer.h.  The first ones only while something is on its way. */
enum tcp_conn_timer {
	TCP_TIMER_LOSS, /* before the RTO, which it may put off */
	TCP_TIMER_RTO,
	TCP_TIMER_PERSIST,
	TCP_TIMER_USER,
	TCP_TIMER_PACE,
	TCP_FLIGHT_TIMERS,
	TCP_TIMER_KEEPALIVE = TCP_FLIGHT_TIMERS,
	TCP_TIMER_LINGER,
	TCP_TIMER_PMTU,
	TCP_TIMERS
};

struct tcp_flight {
	struct tcp_conn *conn;
	struct tcp_txq txq;
	struct tcp_cc cc;
	struct tcp_rtt rtt;
	uint64_t at_ns[TCP_FLIGHT_TIMERS]; /* deadlines; IW_NEVER: off */
	uint64_t emss_recip;               /* 2^40 / emss, rounded up: segments without a division */
	uint64_t mtu_since;                /* octets that were acknowledged when route.mtu was set */
	uint32_t ecn_end;                  /* ECE is no news up to here */
	uint32_t recover;                  /* RFC 6582, RFC 6675: recovery ends here */
	uint32_t dup_octets;               /* without SACK: octets that duplicate ACKs tell to have left the network */
	uint32_t limited_end;              /* cwnd was the limit for what was sent before this */
	uint32_t mtu_pending_seq;
	uint16_t mtu_pending; /* claimed by ICMP, believed when mtu_pending_seq times out; 0: none */
	uint8_t persist_backoff;
	struct tcp_sack sack;
	struct tcp_prr prr;
	struct tcp_rack rack;
	struct tcp_tlp tlp;
	struct tcp_undo undo;
	struct tcp_pace pace;
	struct iw_link rest; /* in tcp->flights.rest: was at rest at some time since it was taken */
};

/* What stays with the connection.  All zero: it never sent anything. */
struct tcp_flight_kept {
	uint32_t cwnd, ssthresh;
	uint32_t srtt, rttvar; /* in units of TCP_FLIGHT_RTT_NS; srtt 0: no sample */
	uint32_t rto;          /* likewise, as it stands doubled */
	uint8_t rto_doubled;   /* how often: struct tcp_rtt, kept */
	uint8_t reo_wnd_mult, reo_wnd_persist;
	bool reordering_seen : 1, dsack_seen : 1, mtu_proven : 1;
};

#define TCP_PMTU_PROVEN 4u   /* segments that have got through: the MTU is proven */
#define TCP_FLIGHT_RTT_NS 16 /* TCP_RTO_MAX_NS in 32 bits */

/* Of one engine. */
struct tcp_flights {
	struct iw_pool pool;
	struct iw_list rest;    /* who may be at rest, longest ago first */
	struct iw_list starved; /* connections whose grant was 0 for want of one, in the order of asking */
	uint32_t reserve;       /* of the pool: not for data */
};

#endif
