/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts and what lies between them, small enough to enumerate: the real machines (cm_fsm, qp_fsm, tcp_fsm) with
 * everything around them made abstract.  A segment is an item, a stream a short queue of items, time is "a timer may
 * fire now".  A world is plain octets without pointers: it is hashed, compared and kept as it is. */
#ifndef WORLD_H
#define WORLD_H

#include <iwarp/err.h>
#include <stdbool.h>
#include <stdint.h>

#include "cm_fsm.h"
#include "qp_fsm.h"
#include "tcp_fsm.h"

#define HOSTS 2
#define IDS 4 /* of a host: 0 listens (host 1), 1 and 2 are the user's or children, 3 is for an orphan */
#define LISTENER 0
#define ORPHAN 3
#define CONNS 2
#define CHANNEL 8

/* What travels.  From REQ2 on they are octets of the stream. */
enum item {
	I_NONE,
	I_SYN,
	I_SYNACK,
	I_ACK,    /* of the SYN-ACK */
	I_FINACK, /* of a FIN */
	I_RTRACK, /* of the RTR */
	I_FIN,
	I_RST,
	I_REQ2, /* Request, revision 2, peer-to-peer if the scenario has it */
	I_REQ1, /* Request, revision 1 */
	I_REP,  /* Reply without and with an RTR to come */
	I_REP_P2P,
	I_REJ,
	I_UNFIT, /* a Reply of good form that does not agree */
	I_RTR,   /* the first FPDU, of no octets */
	I_MORE,  /* FPDU of a Send, not its last */
	I_LAST,
	I_READ, /* Read Request and its only Response */
	I_RESP,
	I_TERM,
	I_BAD, /* no start-up frame, no FPDU */
	ITEMS
};

enum ep_flag {
	EP_STREAM = 1 << 0,   /* octets go to the QP */
	EP_PART = 1 << 1,     /* the first item that was not received is half there */
	EP_REQUEST = 1 << 2,  /* sent: */
	EP_REPLY = 1 << 3,    /* with or without R */
	EP_RTR = 1 << 4,      /* or any FPDU of an initiator */
	EP_MID = 1 << 5,      /* a message is half in the stream */
	EP_TERM = 1 << 6,     /* a Terminate */
	EP_GOT_TERM = 1 << 7, /* read: */
	EP_GOT_FPDU = 1 << 8,
	EP_GOT_REPLY = 1 << 9,
	EP_RTR_ACKED = 1 << 10,
	EP_RELEASED = 1 << 11,
	EP_P2P = 1 << 12 /* an RTR is to be sent */
};

/* One end of a connection. */
struct ep {
	uint8_t tcp;   /* enum tcp_state */
	uint8_t owner; /* id + 1; 0: nobody */
	uint8_t held;  /* TCP_READY_*: what ended the stream, not fed yet */
	uint8_t got;   /* items at the head of its queue that TCP has, and nobody has read */
	uint16_t flags;
	uint8_t n; /* items on their way to it, with those that it got */
	uint8_t q[CHANNEL];
	uint8_t tag; /* id + 1 to be told of the end of TIME_WAIT */
};

struct conn {
	struct ep ep[HOSTS];
	uint8_t used;
	uint8_t accepted; /* accept returned 0; 2: with an RTR to come */
};

enum qp_flag {
	Q_BOUND = 1 << 0,
	Q_INITIATOR = 1 << 1,
	Q_RTR_DUE = 1 << 2,
	Q_HEARD = 1 << 3,  /* the first FPDU has come */
	Q_OPEN = 1 << 4,   /* a Send of the peer is half there */
	Q_ASKED = 1 << 5,  /* a Read of ours is outstanding */
	Q_ANSWER = 1 << 6, /* a Read of the peer's is to be answered */
	Q_P2P = 1 << 7
};
enum work { W_NONE, W_SEND, W_SEND_HALF, W_READ, W_READ_SENT };

struct qp {
	struct qp_fsm fsm;
	uint8_t flags;
	uint8_t work; /* the send queue's only request */
	uint8_t recv; /* the receive queue's only one */
	uint8_t out;  /* actions QP_OUT_* that the CM has not seen, >> 3 */
};

enum id_kind { K_NONE, K_USER, K_CHILD, K_ORPHAN };
enum id_flag {
	ID_SETUP = 1 << 0,
	ID_P2P = 1 << 1,
	ID_ONCE_MORE = 1 << 2,
	ID_RTR_DUE = 1 << 3,
	ID_STARTED = 1 << 4,
	ID_COUNTED = 1 << 5,
	ID_ON_LIST = 1 << 6, /* its listener's */
	ID_AGAIN = 1 << 7
};
/* What the user has seen or done of it. */
enum seen {
	S_OWED = 1 << 0,     /* a connect returned 0, no CONNECT_REPLY yet */
	S_ACCEPTED = 1 << 1, /* an accept returned 0, no ESTABLISHED yet */
	S_UP = 1 << 2,       /* no CLOSE yet */
	S_TOLD = 1 << 3,     /* DISCONNECT */
	S_QUIT = 1 << 4,     /* an own disconnect */
	S_SHOWN = 1 << 5,    /* CONNECT_REQUEST: the user knows it */
	S_LATER = 1 << 6     /* an own disconnect before ESTABLISHED */
};

struct id {
	struct cm_state st;
	uint8_t kind, conn; /* conn + 1; 0: none */
	uint8_t flags, seen;
	uint8_t tw; /* connection + 1 whose record it wants to hear of */
	struct qp qp;
};

struct world {
	struct id id[HOSTS][IDS];
	struct conn conn[CONNS];
	uint8_t telling[HOSTS]; /* id + 1 whose handler runs; GONE: it was destroyed meanwhile */
	uint8_t asking;         /* of the listener */
	uint8_t others;         /* of them: whom we do not look at */
	uint8_t connects[HOSTS], posts[HOSTS], kills, restarts, cut, bad, troubles;
};
#define GONE 0xff

/* What happens as often as the scenario has troubles only, where it is too large otherwise. */
enum calm {
	CALM_TIME = 1 << 0,     /* deadlines, but those of what was let go */
	CALM_WIRE = 1 << 1,     /* a RST out of turn, TCP giving up */
	CALM_USER = 1 << 2,     /* abrupt disconnect, destroy by a handler's result */
	CALM_HANDLERS = 1 << 3, /* calls from inside handlers */
	CALM_B = 1 << 4,        /* calls of host B but its answers to Requests */
	CALM = (1 << 5) - 1
};

/* What may happen.  Numbers are how often at most. */
struct scenario {
	const char *name;
	bool p2p, delay, revision_1, once_more, timewait;
	bool two;       /* ids of host A: two, otherwise one */
	bool same_port; /* who connects again does so from the same port, while the peer is in TIME_WAIT */
	bool deep;      /* large: not in every run */
	bool crowd;     /* any number of other connections beside it */
	uint8_t calm;   /* enum calm: what is a trouble */
	uint8_t troubles;
	bool listens, split, lazy, fails, timeouts, unlistens;
	bool hostile[HOSTS]; /* its TCP is sound, its octets are anything */
	uint8_t connects[HOSTS], sends[HOSTS], reads[HOSTS];
	uint8_t kills, restarts, cuts, junk;
	uint8_t backlog;
	uint32_t states; /* pinned */
};

/* Beside the world, of the move being tried. */
struct run {
	const struct scenario *sc;
	const char *broken; /* the promise that does not hold */
	uint32_t met, fail; /* what could fail, what does */
	uint32_t depth;
	bool lazy; /* octets stay unread */
};
extern struct run run;

enum failure { FAIL_MBUF = 1 << 0, FAIL_ID = 1 << 1 };

/* True: what is about to be done fails. */
bool world_fails(enum failure what);
void world_check(bool holds, const char *promise);
void world_init(struct world *w, const struct scenario *sc);
/* After each move: promises that hold in every state. */
void world_invariants(const struct world *w);
/* Nothing moves but users: is all well? */
void world_at_rest(const struct world *w);

/* ---- wire.c: TCP ---- */
bool wire_is_data(enum item it);
void wire_tcp(struct world *w, uint8_t c, uint8_t host, enum tcp_event ev);
bool wire_may_send(const struct world *w, uint8_t c, uint8_t host);
void wire_send(struct world *w, uint8_t c, uint8_t host, enum item it);
void wire_release(struct world *w, uint8_t c, uint8_t host);
void wire_swallow(struct world *w, uint8_t c, uint8_t host);
enum item wire_read(struct world *w, uint8_t c, uint8_t host);
bool wire_pending(const struct world *w, uint8_t c, uint8_t host);
bool wire_receive(struct world *w, uint8_t c, uint8_t host, bool half);
bool wire_rst_first(struct world *w, uint8_t c, uint8_t host); /* overtakes what is on its way */
bool wire_rst_lost(struct world *w, uint8_t c, uint8_t host);
bool wire_probe(struct world *w, uint8_t c, uint8_t host);
uint8_t wire_new(struct world *w);                 /* CONNS: none is left */
uint8_t wire_again(struct world *w, uint8_t host); /* whose peer is in TIME_WAIT; CONNS: none */
void wire_timewait_end(struct world *w, uint8_t c, uint8_t host);
void wire_tidy(struct world *w);

/* ---- stream.c: the QP, and what is read ---- */
void stream_qp(struct world *w, uint8_t h, uint8_t i, enum qp_fsm_event ev);
void stream_serve(struct world *w, uint8_t c, uint8_t h);
bool stream_force(struct world *w, uint8_t c, uint8_t h); /* RST and the like do not wait for posts */
bool stream_outs(struct world *w, uint8_t h, uint8_t i);
bool stream_fill(struct world *w, uint8_t h, uint8_t i);
void stream_empty(struct world *w, uint8_t h, uint8_t i);

/* ---- effects.c: as cm_step.c ---- */
int effects_step(struct world *w, uint8_t h, uint8_t i, enum cm_event ev);
void effects_facts(const struct world *w, uint8_t h, uint8_t i, struct cm_state *st);
void effects_arrive(struct world *w, uint8_t c, uint8_t h);
void effects_trim(struct id *id);

/* ---- user.c: calls and handlers ---- */
bool user_may_call(const struct world *w, uint8_t h, uint8_t i, enum cm_event call);
bool user_call(struct world *w, uint8_t h, uint8_t i, enum cm_event call);
bool user_deliver(struct world *w, uint8_t h, uint8_t i);
bool user_returns(struct world *w, uint8_t h, bool destroy);
bool user_post(struct world *w, uint8_t h, uint8_t i, bool read);

#endif
