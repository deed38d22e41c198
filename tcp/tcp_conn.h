/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection object and its state.  tcp_conn_set_state() is the only writer of `state`; tcp_conn_event()
 * is the only caller of the table in tcp_fsm.def.  An object is freed at one place only, tcp_conn_settle(), which each
 * entry into the room calls last: in between no pointer goes stale. */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "tcp_conn_obj.h"

/* A new connection in CLOSED for this 4-tuple, entered in the demux table.  timewait: the record (handle) of the
 * previous incarnation, which ends with this; 0: none.  NULL and *err when the 4-tuple
 * is taken (-IW_E_ADDRINUSE), a table is full (-IW_E_NOMEM) or nothing leads to the peer (-IW_E_HOSTUNREACH). */
struct tcp_conn *tcp_conn_create(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote,
				 uint32_t timewait, uint64_t now_ns, int *err);
/* A SYN-ACK that left before there was a connection. */
struct tcp_syn_ack {
	const struct tcp_seg *syn; /* what it answered */
	uint32_t iss;
	uint64_t sent_ns; /* 0: not known, or it left more than once */
};
/* From CLOSED to SYN_RCVD as if it had been there then: what follows is the handshake's last ACK.  false: no record
 * for the SYN; nothing for the caller to do but free it. */
bool tcp_conn_resume(struct tcp *tcp, struct tcp_conn *c, const struct tcp_syn_ack *sent, uint64_t now_ns);
/* Frees it and all that it holds, whatever its state; says nothing to the peer. */
void tcp_conn_free(struct tcp *tcp, struct tcp_conn *c);

/* The timeouts that the owner chose; NULL: defaults. */
void tcp_conn_set_attr(struct tcp *tcp, struct tcp_conn *c, const struct tcp_attr *attr);

/* By handle; NULL: stale.  _user: also NULL when its owner has released it. */
struct tcp_conn *tcp_conn_at(const struct tcp *tcp, uint32_t handle);
struct tcp_conn *tcp_conn_user(const struct tcp *tcp, uint32_t handle);

/* The sole writer of c->state: asserts that the table knows the move, keeps the fast path in step, and takes an
 * ended connection (CLOSED, TIME_WAIT) out of every list but ready. */
void tcp_conn_set_state(struct tcp *tcp, struct tcp_conn *c, enum tcp_state next);

/* One step of the table and its actions.  The object stays until tcp_conn_settle(). */
void tcp_conn_event(struct tcp *tcp, struct tcp_conn *c, enum tcp_event event, uint64_t now_ns);

/* Frees it if it has ended and nobody will ask for it any more; true: it is gone. */
bool tcp_conn_settle(struct tcp *tcp, struct tcp_conn *c);

/* Tells the owner (enum tcp_ready_bits); nothing for one that was released. */
void tcp_conn_ready(struct tcp *tcp, struct tcp_conn *c, uint32_t bits);

/* An ACK is owed: at once, or with what goes by the end of the next poll (design D24). */
void tcp_conn_ack(struct tcp *tcp, struct tcp_conn *c, bool now);

/* A FIN that found no record is tried again; false: still none. */
bool tcp_conn_retry_fin(struct tcp *tcp, struct tcp_conn *c);

/* The next emit looks at it. */
void tcp_conn_kick(struct tcp *tcp, struct tcp_conn *c);

/* The peer's SYN, with or without ACK: IRS, options, windows, EMSS. */
void tcp_conn_take_syn(struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns);

/* EMSS from what the peer takes and what the path carries (layer 3). */
void tcp_conn_set_mtu(struct tcp_conn *c, uint32_t mtu);

/* The place in the listener's backlog becomes free. */
void tcp_conn_leave_backlog(struct tcp *tcp, struct tcp_conn *c);

#endif
