/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_CM_H
#define IWARP_CM_H

#include <iwarp/addr.h>
#include <iwarp/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A connection manager id: a handle with a generation.  0 is none.  A handle whose id was destroyed is
 * recognised (-IW_E_STALE); it is never a crash. */
typedef uint32_t iw_cm_id;

enum iw_cm_state {
	IW_CM_IDLE,
	IW_CM_LISTENING,
	IW_CM_CONN_SENT,
	IW_CM_CONN_RECV,
	IW_CM_ACCEPTED,
	IW_CM_ESTABLISHED,
	IW_CM_CLOSING
};

enum iw_cm_event_type {
	IW_CM_CONNECT_REQUEST, /* a new id asks to be accepted or rejected */
	IW_CM_CONNECT_REPLY,   /* exactly one for each iw_cm_connect that returned 0, before anything else */
	IW_CM_ESTABLISHED_EV,  /* passive side: once, always before DISCONNECT and CLOSE */
	IW_CM_DISCONNECT,      /* the peer began a graceful close */
	IW_CM_CLOSE,           /* exactly one for each established connection; all work was flushed before */
	IW_CM_TIMEWAIT_EXIT    /* on request only; nothing waits for it */
};

/* What an event carries; pointers are valid during the handler only. */
struct iw_cm_event {
	enum iw_cm_event_type type;
	int status;        /* 0 or -IW_E_* */
	iw_cm_id listener; /* CONNECT_REQUEST: where it came in */
	const void *private_data;
	uint16_t private_len;
	uint16_t ird, ord; /* as the peer sent them, 0x3fff: not negotiated; REPLY: as agreed */
	uint8_t revision;  /* MPA revision 1 or 2 */
	bool peer_to_peer;
	bool crc;
	struct iw_addr local, peer;
	struct iw_terminate term; /* CLOSE(-IW_E_PROTO) */
};

/* Called from iw_engine_poll() only, never from inside another call.  May call anything but the poll.  A
 * result other than 0 destroys the event's id (CONNECT_REQUEST: the new one, with a reject). */
typedef int (*iw_cm_handler)(iw_cm_id id, const struct iw_cm_event *event, void *context);

/* Everything that can be chosen about a connection.  Zero is the default of each field. */
struct iw_cm_attr {
	const void *private_data;
	uint16_t private_len; /* <= 508 (revision 2), <= 512 (revision 1; accept: as the event says) */
	uint16_t ird, ord;    /* 0: the QP's; 0x3fff on the wire when no_ird_ord */
	bool no_ird_ord;
	bool no_crc;               /* do not ask for the MPA CRC; used all the same if the peer asks */
	bool no_peer_to_peer;      /* initiator: do not offer peer-to-peer set-up (RFC 6581) */
	bool require_peer_to_peer; /* no retry with revision 1 */
	bool revision_1;           /* initiator: plain RFC 5044 */
	bool markers;              /* ask the peer for MPA markers; its wish for them is always met */
	bool recv_back_pressure;   /* as in struct iw_qp_attr, for a QP that did not ask for it */
	uint32_t recv_wait_ms;
	bool timewait_exit;           /* deliver TIMEWAIT_EXIT */
	uint16_t local_port;          /* connect: 0: chosen at random (RFC 6056) */
	uint32_t connect_timeout_ms;  /* 0: 10 s, from the first SYN to the Reply */
	uint32_t user_timeout_ms;     /* so long the peer may be silent when an answer is due; 0: 100 s */
	uint32_t keepalive_ms;        /* an answer is asked for after so much silence; 0: off */
	uint32_t first_fpdu_delay_us; /* initiator: wait so long behind the Reply (peers that lose a wake-up) */
};

/* Creates an id in IDLE.  0 when the table is full, or there is no handler. */
iw_cm_id iw_cm_create(struct iw_engine *engine, iw_cm_handler handler, void *context);

/* Frees it, from any state, from inside any handler; returns at once and nothing of it is delivered
 * afterwards.  A connection of it is reset, a request rejected; a close under way TCP ends alone.  A listener's
 * requests that its handler was shown live on and may be accepted, others are rejected.  -IW_E_STALE when it is gone
 * already, -IW_E_INVAL: no engine (also below). */
int iw_cm_destroy(struct iw_engine *engine, iw_cm_id id);

/* Starts to listen; addr->ip all zero: every address of the engine; port 0: one is chosen.
 * -IW_E_INVAL (state, backlog below 1), -IW_E_STALE, -IW_E_ADDRINUSE, -IW_E_ADDRNOTAVAIL, -IW_E_NOMEM. */
int iw_cm_listen(struct iw_engine *engine, iw_cm_id id, const struct iw_addr *addr, int backlog);

/* Connects; exactly one CONNECT_REPLY follows when it returns 0.  qp must be IDLE and have had no stream; it moves to
 * RTS before CONNECT_REPLY(0).  An id may be used again when it is IDLE: from inside the handler of CLOSE or of a
 * CONNECT_REPLY with an error on.  -IW_E_INVAL (arguments, states, a QP of another engine), -IW_E_STALE (id, qp),
 * -IW_E_TOOBIG (private data), -IW_E_ADDRINUSE (local_port leads to this peer already; or somebody else has our
 * address), -IW_E_ADDRNOTAVAIL (every other port leads there, too), -IW_E_HOSTUNREACH (no address of ours for this
 * peer, or it is none of a host), -IW_E_NOMEM. */
int iw_cm_connect(struct iw_engine *engine, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp,
		  const struct iw_cm_attr *attr);

/* Answers a CONNECT_REQUEST.  Both: -IW_E_INVAL (state or arguments, a QP of another engine; the id stays),
 * -IW_E_STALE (id, qp; likewise), -IW_E_TOOBIG (private data; likewise), -IW_E_NOMEM (likewise), -IW_E_CONNRESET (the
 * peer has gone; the id is IDLE).  The QP is in RTS when it returns 0, but sends nothing before the peer's first FPDU
 * (RFC 5044 §7.1.2). */
int iw_cm_accept(struct iw_engine *engine, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr);
int iw_cm_reject(struct iw_engine *engine, iw_cm_id id, const void *private_data, uint16_t private_len);

/* Ends a connection: gracefully (the send queue drains, then FIN) or at once (RST).  CLOSE follows; an attempt that was
 * not answered is given up, CONNECT_REPLY tells of it.  Accepted and not yet established: when
 * ESTABLISHED was told.  0 also where there is nothing to be ended: IDLE, a request that was not answered (that is for
 * iw_cm_reject()), an end under way.  -IW_E_INVAL (it listens), -IW_E_STALE. */
int iw_cm_disconnect(struct iw_engine *engine, iw_cm_id id, bool abrupt);

/* IDLE when there is no such id; the others -IW_E_STALE then.  local, peer: may be NULL. */
enum iw_cm_state iw_cm_state(struct iw_engine *engine, iw_cm_id id);
int iw_cm_set_context(struct iw_engine *engine, iw_cm_id id, void *context);
int iw_cm_addrs(struct iw_engine *engine, iw_cm_id id, struct iw_addr *local, struct iw_addr *peer);

/* What a stream cost so far, for whoever has to find the one that keeps a host busy and brings nothing (RFC 5042
 * §6.4.2, §6.4.4), and may then end it.  A count of 16 bits that has reached 65,535
 * stays there. */
struct iw_cm_load {
	uint32_t idle_ms;           /* since an FPDU came or went, or the stream began */
	uint32_t rx_fpdus;          /* of these: */
	uint16_t rx_small_fpdus;    /* shorter than 64 octets: also segments of nothing */
	uint16_t rx_split_fpdus;    /* that did not lie in one packet, or with markers */
	uint16_t rx_out_of_order;   /* TCP segments out of order */
	uint16_t rx_duplicates;     /* with nothing new */
	uint16_t rx_outside_window; /* beyond the window: also zero-window probes */
	uint16_t rx_duplicate_acks;
	uint64_t retransmits; /* of ours */
};
/* -IW_E_INVAL, -IW_E_STALE; -IW_E_NOTCONN: no stream, or not yet. */
int iw_cm_load(struct iw_engine *engine, iw_cm_id id, struct iw_cm_load *load);

const char *iw_cm_event_name(int type);
const char *iw_cm_state_name(int state);

#ifdef __cplusplus
}
#endif
#endif
