/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection object (RFC 9293 §3.3.1, TCB): its fields, and what can be read off them. */
#ifndef TCP_CONN_OBJ_H
#define TCP_CONN_OBJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iw_addr.h"
#include "list.h"
#include "net.h"
#include "tcp.h"
#include "tcp_cc.h"
#include "tcp_fsm.h"
#include "tcp_pace.h"
#include "tcp_prr.h"
#include "tcp_rack.h"
#include "tcp_rcvbuf.h"
#include "tcp_rtt.h"
#include "tcp_rxq.h"
#include "tcp_sack.h"
#include "tcp_tlp.h"
#include "tcp_tuple.h"
#include "tcp_txq.h"
#include "tcp_undo.h"
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
	TCP_CONN_WS = 1 << 16,           /* both sides sent the window scale option */
	TCP_CONN_TLP = 1 << 17,          /* a tail loss probe leaves with the next emit */
	TCP_CONN_ECN = 1 << 18,          /* both sides agreed on ECN */
	TCP_CONN_ECN_ASKED = 1 << 19,    /* our last SYN asked for it */
	TCP_CONN_ECN_ECHO = 1 << 20,     /* ACKs carry ECE */
	TCP_CONN_ECN_CWR = 1 << 21       /* the next new data carries CWR */
};

/* What bounds a wait; see tcp_timer.h. */
enum tcp_conn_timer {
	TCP_TIMER_LOSS, /* before the RTO, which it may put off */
	TCP_TIMER_RTO,
	TCP_TIMER_PERSIST,
	TCP_TIMER_USER,
	TCP_TIMER_KEEPALIVE,
	TCP_TIMER_LINGER,
	TCP_TIMER_PMTU,
	TCP_TIMER_PACE,
	TCP_TIMERS
};

enum tcp_conn_phase {
	TCP_PHASE_OPEN,     /* no loss known */
	TCP_PHASE_RECOVERY, /* fast recovery (RFC 6675, RFC 6582) until snd_una reaches recover */
	TCP_PHASE_LOSS      /* slow start through an RTO, until snd_una reaches recover */
};

struct tcp_conn {
	/* hot, two cache lines: what each segment looks at */
	uint32_t flags; /* enum tcp_conn_flag */
	uint8_t state;  /* enum tcp_state */
	uint8_t phase;  /* enum tcp_conn_phase */
	uint8_t snd_wscale, rcv_wscale;
	uint8_t ack_segs; /* data segments since the last ACK left */
	uint8_t dupacks;
	uint8_t keepalive_probes;
	uint32_t snd_una, snd_nxt; /* snd_nxt: also behind octets that were sent as a probe only */
	uint32_t snd_wnd, snd_wl1, snd_wl2;
	uint32_t snd_max_wnd; /* largest window the peer ever advertised */
	uint32_t rcv_adv;     /* right edge that was advertised: never moves left */
	uint32_t last_ack_sent;
	uint32_t ts_recent;
	uint32_t emss; /* octets of payload in a full segment */
	uint64_t last_rx_ns;
	uint64_t ts_recent_ns; /* when ts_recent was taken (RFC 7323 §5.5: stale after 24 days) */
	struct tcp_rxq rxq;    /* rxq.nxt is RCV.NXT until the FIN */

	/* warm: what each segment that is sent or acknowledged looks at */
	struct iw_link tx_link, ready_link;
	uint32_t ready_bits;
	uint32_t ts_offset;
	uint64_t last_tx_ns;
	uint32_t ack_poll; /* poll in which the ACK became owed */
	struct tcp_txq txq;
	struct tcp_cc cc;
	struct tcp_rtt rtt;
	uint64_t emss_recip;        /* 2^40 / emss, rounded up: segments without a division */
	uint64_t at_ns[TCP_TIMERS]; /* deadlines; IW_NEVER: off */
	struct iw_timer timer;      /* armed at or before the least of them */

	/* loss recovery */
	struct tcp_sack sack;
	struct tcp_prr prr;
	struct tcp_rack rack;
	struct tcp_tlp tlp;
	struct tcp_undo undo;
	struct tcp_pace pace;
	struct tcp_rcvbuf rcvbuf;
	uint32_t ecn_end;     /* ECE is no news up to here */
	uint32_t recover;     /* RFC 6582, RFC 6675: recovery ends here */
	uint32_t dup_octets;  /* without SACK: octets that duplicate ACKs tell to have left the network */
	uint32_t limited_end; /* cwnd was the limit for what was sent before this */

	/* cold */
	uint8_t persist_backoff;
	uint8_t challenges; /* challenge ACKs since challenge_ns (RFC 5961 §7) */
	uint64_t challenge_ns;
	uint32_t handle, owner, stream, listener, tag;
	uint32_t iss, irs;
	uint32_t fin_seq; /* of the peer's FIN, TCP_CONN_FIN_SEEN */
	uint32_t demux;   /* ref; 0: not in the table */
	uint16_t peer_mss;
	uint16_t mtu_pending; /* claimed by ICMP, believed when mtu_pending_seq times out; 0: none */
	uint32_t mtu_pending_seq;
	uint64_t mtu_since;  /* octets that were acknowledged when route.mtu was set */
	uint8_t mtu_retries; /* how often a larger one was tried again */
	uint32_t rcv_buf;    /* grows up to params.rcv_buf_max */
	uint64_t user_timeout_ns, syn_timeout_ns, keepalive_ns;
	uint32_t keepalive_step_ms;
	uint8_t keepalive_limit; /* probes */
	uint64_t appended, retransmits;
	uint16_t rx_ooo, rx_dup, rx_outside, rx_dupacks; /* slow ways that it was made to go (S16) */
	struct iw_link embryo_link;                      /* in its listener's list */
	struct iw_addr local;
	struct net_route route; /* route.dst: the peer, with its port */
};
_Static_assert(offsetof(struct tcp_conn, tx_link) <= 128, "hot part: two cache lines (design §4)");

/* ---- inline ---- */

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

/* What pacing goes by. */
static inline struct tcp_pace_rate
tcp_conn_rate(const struct tcp_conn *c)
{
	return (struct tcp_pace_rate){
		.srtt_ns = c->rtt.srtt_ns, .cwnd = c->cc.cwnd, .mss = c->emss, .slow_start = tcp_cc_slow_start(&c->cc)};
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
		     c->txq.sacked_recs == 0 && !tcp_rxq_has_ooo(&c->rxq) && c->at_ns[TCP_TIMER_PERSIST] == IW_NEVER &&
		     !tcp_conn_has(c, TCP_CONN_FIN_SEEN | TCP_CONN_RELEASED);

	if (plain)
		tcp_conn_clear(c, TCP_CONN_SLOW);
	else
		tcp_conn_set(c, TCP_CONN_SLOW);
}

#endif
