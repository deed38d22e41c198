/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection object (RFC 9293 §3.3.1, TCB): its fields, and what can be read off them. */
#ifndef TCP_CONN_OBJ_H
#define TCP_CONN_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iw_addr.h"
#include "list.h"
#include "net_face.h"
#include "tcp_face.h"
#include "tcp_flight_obj.h"
#include "tcp_fsm.h"
#include "tcp_rcvbuf.h"
#include "tcp_rxq.h"
#include "tcp_tuple.h"
#include "wheel.h"

enum tcp_conn_flag {
	TCP_CONN_TS = 1 << 0,            /* both sides sent the timestamp option */
	TCP_CONN_SACK = 1 << 1,          /* both sides permitted SACK */
	TCP_CONN_ACK_OWED = 1 << 2,      /* something arrived that no ACK has covered (design D24) */
	TCP_CONN_ACK_NOW = 1 << 3,       /* and its ACK leaves with the next emit */
	TCP_CONN_ROOM_WANTED = 1 << 4,   /* the last grant was 0 */
	TCP_CONN_PROBE = 1 << 5,         /* persist fired: one probe at the next emit */
	TCP_CONN_KEEPALIVE = 1 << 6,     /* keepalive fired: one probe at the next emit */
	TCP_CONN_FORCE = 1 << 7,         /* the next retransmission ignores cwnd (first one of a recovery) */
	TCP_CONN_SLOW = 1 << 8,          /* the fast path is closed: see tcp_conn_slow() */
	TCP_CONN_PASSIVE = 1 << 9,       /* came from a listener */
	TCP_CONN_EMBRYO = 1 << 10,       /* and still takes a place in its backlog */
	TCP_CONN_RELEASED = 1 << 11,     /* the owner has let go: its handle is stale */
	TCP_CONN_CLOSE_WANTED = 1 << 12, /* FIN follows as soon as it may */
	TCP_CONN_FIN_SEEN = 1 << 13,     /* the peer's FIN is at fin_seq; perhaps still out of order */
	TCP_CONN_SYN_LOST = 1 << 14,     /* our SYN or SYN-ACK was retransmitted */
	TCP_CONN_SYN_TIMED = 1 << 15,    /* a time-out of the owner's ends the handshake, not a number of SYNs */
	TCP_CONN_WS = 1 << 16,           /* both sides sent the window scale option */
	TCP_CONN_TLP = 1 << 17,          /* a tail loss probe leaves with the next emit */
	TCP_CONN_ECN = 1 << 18,          /* both sides agreed on ECN */
	TCP_CONN_ECN_ASKED = 1 << 19,    /* our last SYN asked for it */
	TCP_CONN_ECN_ECHO = 1 << 20,     /* ACKs carry ECE */
	TCP_CONN_ECN_CWR = 1 << 21,      /* the next new data carries CWR */
	TCP_CONN_CRC_WANTED = 1 << 22    /* the reader has use for the CRC32c of long segments */
};

enum tcp_conn_phase {
	TCP_PHASE_OPEN,     /* no loss known */
	TCP_PHASE_RECOVERY, /* fast recovery (RFC 6675, RFC 6582) until snd_una reaches recover */
	TCP_PHASE_LOSS      /* slow start through an RTO, until snd_una reaches recover */
};

#define TCP_CONN_LINES 5

/* One of a million.  What only some need, or only for a time, stands behind `fl` and `rxq.ooo`. */
struct tcp_conn {
	/* hot, two cache lines: what each segment looks at */
	uint32_t flags; /* enum tcp_conn_flag */
	uint8_t state;  /* enum tcp_state */
	uint8_t phase;  /* enum tcp_conn_phase */
	uint8_t snd_wscale : 4, rcv_wscale : 4;
	uint8_t ready_bits; /* enum tcp_ready_bits */
	uint8_t ack_segs;   /* data segments since the last ACK left */
	uint8_t dupacks;
	uint8_t keepalive_probes;
	uint8_t challenges;        /* challenge ACKs since challenge_ms (RFC 5961 §7) */
	uint32_t snd_una, snd_nxt; /* snd_nxt: also behind octets that were sent as a probe only */
	uint32_t snd_wnd, snd_wl1, snd_wl2;
	uint32_t snd_max_wnd; /* largest window the peer ever advertised */
	uint32_t rcv_adv;     /* right edge that was advertised: never moves left */
	uint32_t last_ack_sent;
	uint32_t ts_recent;
	uint32_t emss;     /* octets of payload in a full segment */
	uint32_t ack_poll; /* poll in which the ACK became owed */
	uint64_t last_rx_ns;
	uint64_t ts_recent_ns; /* when ts_recent was taken (RFC 7323 §5.5: stale after 24 days) */
	struct tcp_rxq rxq;    /* rxq.nxt is RCV.NXT until the FIN */

	/* warm: what each segment that is sent or acknowledged looks at */
	struct tcp_flight *fl; /* NULL: nothing is on its way */
	struct iw_link tx_link, ready_link;
	uint64_t last_tx_ns;
	uint32_t ts_offset;
	uint32_t owner, stream;
	uint32_t rcv_buf;            /* grows up to params.rcv_buf_max */
	struct tcp_flight_kept kept; /* while fl is NULL */
	struct tcp_rcvbuf rcvbuf;
	uint64_t appended;
	struct net_route route; /* route.src: our address and port, route.dst: the peer's */
	uint32_t handle, listener;

	/* cold */
	struct iw_timer timer;                          /* armed at or before the least of all deadlines */
	uint64_t at_ns[TCP_TIMERS - TCP_FLIGHT_TIMERS]; /* deadlines; IW_NEVER: off */
	struct iw_link wait_link; /* in its listener's list, or tcp->flights.starved, or tcp->unheard */
	uint32_t retransmits;
	uint32_t tag;
	uint32_t iss, irs;
	uint32_t fin_seq; /* of the peer's FIN, TCP_CONN_FIN_SEEN */
	uint32_t demux;   /* ref; 0: not in the table */
	uint32_t user_timeout_ms, keepalive_ms, keepalive_step_ms;
	uint32_t challenge_ms;
	uint16_t peer_mss;
	uint8_t mtu_retries;     /* how often a larger one was tried again */
	uint8_t keepalive_limit; /* probes */
	uint16_t rx_ooo, rx_dup, rx_outside,
		rx_dupacks; /* slow ways that it was made to go (S16); stop at their ends */
};
_Static_assert(offsetof(struct tcp_conn, tx_link) <= 136, "hot part: two cache lines (design §4)");
_Static_assert(offsetof(struct tcp_conn, timer) <= TCP_CONN_LINES * 64, "what a segment in order looks at");
_Static_assert(sizeof(struct tcp_conn) <= 448, "part of the budget of an idle connection");

/* ---- inline ---- */

/* Our address and port. */
static inline const struct iw_addr *
tcp_conn_local(const struct tcp_conn *c)
{
	return &c->route.src;
}

/* The peer's address and port. */
static inline const struct iw_addr *
tcp_conn_remote(const struct tcp_conn *c)
{
	return &c->route.dst;
}

static inline bool
tcp_conn_has(const struct tcp_conn *c, uint32_t flags)
{
	return (c->flags & flags) != 0;
}

static inline void
tcp_conn_set(struct tcp_conn *c, uint32_t flags)
{
	c->flags |= flags;
}

static inline void
tcp_conn_clear(struct tcp_conn *c, uint32_t flags)
{
	c->flags &= ~flags;
}

/* The peer's FIN was taken. */
static inline bool
tcp_conn_got_fin(const struct tcp_conn *c)
{
	return c->state >= TCP_CLOSE_WAIT;
}

/* RCV.NXT: behind the octets in order, and behind the FIN. */
static inline uint32_t
tcp_conn_rcv_nxt(const struct tcp_conn *c)
{
	return c->rxq.nxt + tcp_conn_got_fin(c);
}

/* SYN and SYN-ACK are over, and it has not ended. */
static inline bool
tcp_conn_synchronized(const struct tcp_conn *c)
{
	return c->state >= TCP_ESTABLISHED && c->state <= TCP_LAST_ACK;
}

/* Data may still be appended. */
static inline bool
tcp_conn_may_send(const struct tcp_conn *c)
{
	return c->state == TCP_ESTABLISHED || c->state == TCP_CLOSE_WAIT;
}

/* RCV.WND: what was advertised and not used. */
static inline uint32_t
tcp_conn_rcv_wnd(const struct tcp_conn *c)
{
	int32_t wnd = (int32_t)(c->rcv_adv - tcp_conn_rcv_nxt(c));

	return wnd > 0 ? (uint32_t)wnd : 0;
}

/* Deadline; IW_NEVER: off. */
static inline uint64_t
tcp_conn_deadline(const struct tcp_conn *c, enum tcp_conn_timer which)
{
	if (which >= TCP_FLIGHT_TIMERS)
		return c->at_ns[which - TCP_FLIGHT_TIMERS];
	return c->fl ? c->fl->at_ns[which] : IW_NEVER;
}

/* Everything appended is acknowledged. */
static inline bool
tcp_conn_all_acked(const struct tcp_conn *c)
{
	return !c->fl || tcp_txq_empty(&c->fl->txq);
}

/* Octets appended and not acknowledged. */
static inline uint32_t
tcp_conn_queued(const struct tcp_conn *c)
{
	return c->fl ? c->fl->txq.end - c->fl->txq.una : 0;
}

/* Smoothed round-trip time; 0: unknown. */
static inline uint64_t
tcp_conn_srtt(const struct tcp_conn *c)
{
	return c->fl ? c->fl->rtt.srtt_ns : (uint64_t)c->kept.srtt * TCP_FLIGHT_RTT_NS;
}

/* What pacing goes by. */
static inline struct tcp_pace_rate
tcp_conn_rate(const struct tcp_conn *c)
{
	return (struct tcp_pace_rate){.srtt_ns = c->fl->rtt.srtt_ns,
				      .cwnd = c->fl->cc.cwnd,
				      .mss = c->emss,
				      .slow_start = tcp_cc_slow_start(&c->fl->cc)};
}

/* IP and TCP header without options. */
static inline uint32_t
tcp_conn_header_octets(const struct tcp_conn *c)
{
	return iw_addr_is_v4(tcp_conn_remote(c)) ? 40 : 60;
}

/* Opens or closes the fast path: it is for ESTABLISHED with nothing out of the ordinary going on. */
static inline void
tcp_conn_slow(struct tcp_conn *c)
{
	bool plain = c->state == TCP_ESTABLISHED && c->phase == TCP_PHASE_OPEN && c->dupacks == 0 &&
		     (!c->fl || c->fl->txq.sacked_recs == 0) && !tcp_rxq_has_ooo(&c->rxq) &&
		     tcp_conn_deadline(c, TCP_TIMER_PERSIST) == IW_NEVER &&
		     !tcp_conn_has(c, TCP_CONN_FIN_SEEN | TCP_CONN_RELEASED);

	if (plain)
		tcp_conn_clear(c, TCP_CONN_SLOW);
	else
		tcp_conn_set(c, TCP_CONN_SLOW);
}

#endif
