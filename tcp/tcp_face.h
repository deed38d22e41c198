/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face: TCP (RFC 9293) of one engine.  Connections by handle; one byte stream each way; knows nothing
 * of what the octets mean.  Nothing here calls back: what happened stands in the ready list. */
#ifndef TCP_H
#define TCP_H

#include <iwarp/addr.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "env.h"
#include "net_face.h"
#include "view.h"

struct tcp; /* one engine's */

/* What an mbuf given to tcp_tx_append() must have free in front of its data: TCP with options below NET_HEADROOM. */
#define TCP_HEADROOM (NET_HEADROOM + 60)
#define TCP_MSS_MIN 88 /* smaller ones from a peer are taken for this (X7) */

/* Congestion control of an engine's connections. */
enum tcp_cc_kind {
	TCP_CC_DEFAULT, /* CUBIC */
	TCP_CC_CUBIC,   /* RFC 9438, HyStart++ */
	TCP_CC_NEWRENO, /* RFC 5681, RFC 6582 */
	TCP_CC_DCTCP    /* RFC 8257: data centres only, between ends that both have it */
};

struct tcp_params {
	uint32_t max_conns, max_listeners, max_timewait;
	uint64_t rto_min_ns;    /* 0: 200 ms */
	uint32_t rcv_buf;       /* receive window limit of a connection at its start, octets; 0: 1 MiB */
	uint32_t rcv_buf_max;   /* up to which it grows by itself; 0: 16 MiB, or rcv_buf if that was given */
	uint32_t max_ooo_mbufs; /* out-of-order mbufs held in the whole engine; 0: a quarter of the data pool */
	uint64_t msl_ns;        /* 0: 30 s */
	uint32_t max_syn;       /* handshakes that came in and wait for their last ACK; then cookies; 0: by max_conns */
	uint32_t challenge_acks; /* of one connection in 5 s (RFC 5961 §7), at most 255; 0: 10 */
	uint32_t answer_rate;    /* RST and ACK to one peer without a connection, in a second; 0: 200 */
	uint32_t max_flights;    /* connections that have something on its way at a time, at least 2; 0: by the mbufs */
	uint8_t cc;              /* enum tcp_cc_kind */
	bool no_ecn;             /* neither ask for ECN (RFC 3168) nor agree to it */
};

/* Of one connection; zero is the default of each field. */
struct tcp_attr {
	uint64_t syn_timeout_ns;    /* 0: by 7 retries */
	uint64_t user_timeout_ns;   /* of data and of probes; 0: 100 s */
	uint64_t keepalive_ns;      /* 0: off; silence before the first probe (RFC 9293 §3.8.4) */
	uint32_t keepalive_step_ms; /* between probes; 0: a quarter of it, 1 s to 75 s */
	uint8_t keepalive_probes;   /* unanswered ones before the end; 0: 9 */
};

enum tcp_state {
	TCP_CLOSED,
	TCP_LISTEN,
	TCP_SYN_SENT,
	TCP_SYN_RCVD,
	TCP_ESTABLISHED,
	TCP_FIN_WAIT_1,
	TCP_FIN_WAIT_2,
	TCP_CLOSE_WAIT,
	TCP_CLOSING,
	TCP_LAST_ACK,
	TCP_TIME_WAIT
};

struct tcp *tcp_create(struct iw_env *env, struct net *net, const struct tcp_params *params, uint64_t now_ns);
/* Frees everything without a word to peers (call tcp_abort_all() and emit before, to tell them). */
void tcp_destroy(struct tcp *tcp);
void tcp_abort_all(struct tcp *tcp, uint64_t now_ns);

/* ---- opening and closing ---- */

/* Listens; addr->ip all zero: any of our addresses; port 0: one is chosen, and written back.  owner: handed out
 * with each connection that comes in.  -IW_E_ADDRINUSE, -IW_E_ADDRNOTAVAIL, -IW_E_NOMEM. */
int tcp_listen(struct tcp *tcp, struct iw_addr *addr, uint32_t backlog, uint32_t owner, uint32_t *listener);

/* Stops; connections of it that nobody has adopted yet (tcp_adopt) get RST, handshakes when they end. */
void tcp_unlisten(struct tcp *tcp, uint32_t listener, uint64_t now_ns);

/* Opens actively.  local->ip all zero: ours; local->port 0: random (RFC 6056).  A SYN leaves at the next emit.
 * -IW_E_ADDRINUSE (this port leads to this peer already), -IW_E_ADDRNOTAVAIL (every port does; or not our address),
 * -IW_E_HOSTUNREACH, -IW_E_NOMEM. */
int tcp_open(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, const struct tcp_attr *attr,
	     uint32_t owner, uint64_t now_ns, uint32_t *conn);

/* A connection that came in (ready bit UP, passive): the listener's place in the backlog is free again, owner
 * replaces the listener's.  May be called again later to give other attributes (an accept's).  The backlog counts
 * established connections not yet adopted; handshakes take no place in it (RFC 4987 §3.5). */
void tcp_adopt(struct tcp *tcp, uint32_t conn, uint32_t owner, const struct tcp_attr *attr);

/* Who consumes the stream, handed out with each ready entry (0: nobody yet). */
void tcp_set_stream(struct tcp *tcp, uint32_t conn, uint32_t stream);
uint32_t tcp_stream(struct tcp *tcp, uint32_t conn); /* 0: none, or a stale handle */
void tcp_set_owner(struct tcp *tcp, uint32_t conn, uint32_t owner);

/* FIN behind everything appended so far.  A FIN never shares a segment with data appended with
 * TCP_APPEND_NO_FIN, also on retransmission (in fact it always goes alone). */
void tcp_close(struct tcp *tcp, uint32_t conn, uint64_t now_ns);
/* RST now (if the state calls for one), and CLOSED without a ready entry. */
void tcp_abort(struct tcp *tcp, uint32_t conn, uint64_t now_ns);
/* The owner lets go: the handle is stale from here on.  A closing connection finishes alone (bounded in time);
 * one that was neither closed nor aborted gets RST.  Unread data: RST instead of FIN (RFC 9293 SHLD-3). */
void tcp_release(struct tcp *tcp, uint32_t conn, uint64_t now_ns);
/* When this connection leaves a TIME_WAIT record, tcp_timewait_gone() will name `tag` at its end. */
void tcp_want_timewait(struct tcp *tcp, uint32_t conn, uint32_t tag);
bool tcp_timewait_gone(struct tcp *tcp, uint32_t *tag); /* pops one; false: none */

/* ---- what happened ---- */

enum tcp_ready_bits {
	TCP_READY_RX = 1 << 0,      /* in-order octets wait */
	TCP_READY_ROOM = 1 << 1,    /* a grant that was 0 may be more now */
	TCP_READY_UP = 1 << 2,      /* ESTABLISHED reached (listener != 0: passive, to be adopted) */
	TCP_READY_FIN = 1 << 3,     /* the peer's FIN is in order: no octet follows those that wait */
	TCP_READY_RST = 1 << 4,     /* RST; octets that were in order before it can still be read */
	TCP_READY_TIMEOUT = 1 << 5, /* SYN retries, user timeout or keepalive ran out */
	TCP_READY_UNREACH = 1 << 6, /* no neighbour, hard ICMP during the handshake */
	TCP_READY_CLOSED = 1 << 7   /* TCP has ended in an orderly way (also: turned into a TIME_WAIT record) */
};

struct tcp_ready {
	uint32_t conn, owner, stream, listener;
	uint32_t bits;
};

/* Up to max entries from the first one, which stay where they are: for a look ahead.  Returns how many. */
uint32_t tcp_ready_peek(const struct tcp *tcp, struct tcp_ready *ready, uint32_t max);

/* Pops the next entry; false: none.  Bits accumulate until popped. */
bool tcp_ready_next(struct tcp *tcp, struct tcp_ready *ready);
/* Sets RX again, for a reader that stopped early. */
void tcp_ready_again(struct tcp *tcp, uint32_t conn);

/* ---- receive ---- */

#define TCP_RX_BURST 32

/* A checked IP packet. */
struct tcp_rx_in {
	struct rte_mbuf *m; /* tcp's from here on */
	struct net_pkt pkt;
};

/* At most TCP_RX_BURST of them, processed in their order. */
void tcp_rx_burst(struct tcp *tcp, const struct tcp_rx_in *in, uint32_t n, uint64_t now_ns);
/* One. */
void tcp_rx(struct tcp *tcp, struct rte_mbuf *m, const struct net_pkt *pkt, uint64_t now_ns);
void tcp_icmp_err(struct tcp *tcp, const struct net_icmp_err *err, uint64_t now_ns);

/* Several engines share a port: what becomes of segments for which there is neither connection nor listener here. */
enum tcp_strangers {
	TCP_STRANGERS_ANSWER,  /* they are answered here (RST); the only one when the engine is alone */
	TCP_STRANGERS_ARRIVED, /* they came from the port: to their home */
	TCP_STRANGERS_SPREAD,  /* the same, and a listener takes only what is at home here */
	TCP_STRANGERS_HANDED   /* another engine handed them over: on, until all were asked */
};
void tcp_set_strangers(struct tcp *tcp, enum tcp_strangers strangers);

#define TCP_STRAYS 64 /* that wait; more are dropped and counted */

/* A segment that belongs to another engine, if to any: home is where it is looked for first, `to` where next. */
struct tcp_stray {
	struct rte_mbuf *m;
	uint32_t home, to;
};
/* Pops one, the caller's from here on; false: none. */
bool tcp_stray_next(struct tcp *tcp, struct tcp_stray *stray);

#define TCP_PEEK_VIEWS 192 /* enough for one FPDU of 64 KiB (design D13) */
/* So many octets, or all there are, come in so many pieces, however short their segments were: an FPDU of an ULPDU of
 * 65535 octets with its markers, and some. */
#define TCP_PEEK_OCTETS 66560u

/* Up to max pieces of the in-order stream; stays readable after FIN and RST, until release.  Returns pieces. */
uint32_t tcp_rx_peek(struct tcp *tcp, uint32_t conn, struct iw_view *views, uint32_t max);
/* The reader has, or has no, use for it that the CRCs of FPDUs in long segments are looked at (struct iw_view, sealed):
 * they are where the checksum is not the port's work anyway.  A hint. */
void tcp_rx_want_crc(struct tcp *tcp, uint32_t conn, bool want);
uint32_t tcp_rx_pending(struct tcp *tcp, uint32_t conn); /* octets */
/* Octets came in since this was asked last, and few of the mbufs that may hold such are left: somebody should go. */
bool tcp_rx_is_short(struct tcp *tcp);
/* Takes octets off the front; frees mbufs; opens the window. */
void tcp_rx_consume(struct tcp *tcp, uint32_t conn, uint32_t octets, uint64_t now_ns);

/* ---- transmit: pull (design D2, D21) ---- */

struct tcp_grant {
	uint32_t segments; /* how many may be appended now; 0: ROOM follows */
	uint32_t emss;     /* octets of payload that fit one segment */
};

/* What congestion window, peer window and queue limits allow. */
struct tcp_grant tcp_tx_grant(struct tcp *tcp, uint32_t conn);

/* Takes over an mbuf (single segment, headroom >= TCP_HEADROOM) as the next octets of the stream: one record,
 * one segment (cut by copy where it must be).  Its bytes are immutable from here on.  Allowed without a grant for
 * start-up frames, Terminate and the like; -IW_E_NOTCONN (freed) when the stream cannot send any more, or
 * -IW_E_NOMEM (freed). */
int tcp_tx_append(struct tcp *tcp, uint32_t conn, struct rte_mbuf *m);
/* What it would return now, if nothing comes between. */
int tcp_tx_may_append(struct tcp *tcp, uint32_t conn);
/* The same for n of them, one behind the other, when whoever filled them has summed the octets of each in passing
 * (iw_sum_fold(); where the port makes the checksums anything: net_l4_cksum_offloaded()).  Each may be a chain of up to
 * 8 mbufs, with the headroom in front of the first: what lies in memory of others is read until all of it is
 * acknowledged, and no more when it had to be copied (cut up, or sent again while a driver still has it).  What comes
 * behind the first one that found no place is freed. */
int tcp_tx_append_summed(struct tcp *tcp, uint32_t conn, struct rte_mbuf **m, const uint16_t *sum, uint32_t n);

/* Stamps what may go now into net's queue, at most max frames: retransmissions first, new records, then ACKs.
 * Call once a poll, at its end; returns frames made. */
uint32_t tcp_tx_emit(struct tcp *tcp, uint32_t max, uint64_t now_ns);

/* ---- time ---- */
void tcp_tick(struct tcp *tcp, uint64_t now_ns);
/* tcp_ready_next() has something. */
bool tcp_is_ready(const struct tcp *tcp);
/* Nothing but time and what comes in can make something to do. */
bool tcp_is_idle(const struct tcp *tcp);
uint64_t tcp_deadline(const struct tcp *tcp);

/* ---- looking ---- */
struct tcp_info {
	struct iw_addr local, peer;
	enum tcp_state state;
	uint32_t emss;
	uint32_t cwnd, ssthresh, snd_wnd, in_flight, queued; /* octets; queued: appended, not acknowledged */
	uint64_t srtt_ns, rto_ns;
	uint64_t appended; /* octets appended since the connection was opened */
	uint64_t retransmits;
	uint16_t rx_ooo, rx_dup, rx_outside,
		rx_dupacks; /* segments: out of order, nothing new, beyond the window, ACKs */
	bool passive;
};
/* false: the handle is stale. */
bool tcp_conn_info(struct tcp *tcp, uint32_t conn, struct tcp_info *info);

struct iw_counter_list tcp_counter_list(const struct tcp *tcp);
/* Connections, listeners, TIME_WAIT records in existence (for leak checks). */
uint32_t tcp_conn_count(const struct tcp *tcp);
uint32_t tcp_conn_room(const struct tcp *tcp); /* connections that can still be made */
uint32_t tcp_timewait_count(const struct tcp *tcp);
uint32_t tcp_syn_count(const struct tcp *tcp); /* half open ones that came in */

#endif
