/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call in every state: the grid of the connection manager's promises, and what plays a cell of it against two
 * engines.  The network is the caller's: simulated, or an in-process wire with real polls. */
#ifndef CELLS_H
#define CELLS_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

#define CELLS_AREA (1u << 20) /* memory of each */
#define CELLS_FREE_PORT 4423  /* nobody listens there before */

enum cells_call {
	CELLS_LISTEN,
	CELLS_CONNECT,
	CELLS_ACCEPT,
	CELLS_ACCEPT_BAD, /* with bad arguments */
	CELLS_REJECT,
	CELLS_DISCONNECT,
	CELLS_ABORT, /* disconnect, abruptly */
	CELLS_DESTROY,
	CELLS_RETURN, /* a handler's result is not 0: where there is a handler */
	CELLS_QP_DESTROY,
	CELLS_QP_ERROR,
	CELLS_MIGRATE, /* where there is a second engine for it */
	CELLS_CALLS
};

/* How an id has come to where it is: at rest, or its handler runs for that event. */
enum cells_stage {
	CELLS_IDLE,
	CELLS_LISTENING,
	CELLS_SYN_OUT, /* CONN_SENT: the Request has not left */
	CELLS_REQ_OUT, /* CONN_SENT: it has */
	CELLS_ASKED,   /* CONN_RECV */
	CELLS_LEFT,    /* CONN_RECV, the peer has gone */
	CELLS_ACCEPTED,
	CELLS_UP_A, /* ESTABLISHED, who connected and who accepted */
	CELLS_UP_B,
	CELLS_DRAIN, /* CLOSING: by us, a Read of ours is outstanding */
	CELLS_FIN_OUT,
	CELLS_HALF, /* CLOSING: by the peer, a message of ours is half sent */
	CELLS_TERM, /* CLOSING: we sent a Terminate */
	CELLS_IN_REQUEST,
	CELLS_IN_REPLY,
	CELLS_IN_REFUSAL,
	CELLS_IN_ESTABLISHED,
	CELLS_IN_DISCONNECT,
	CELLS_IN_CLOSE,
	CELLS_IN_TIMEWAIT,
	CELLS_STAGES
};
#define CELLS_AT_REST CELLS_IN_REQUEST

#define CELLS_NO_OTHER CELLS_IDLE

struct cells_net {
	struct iw_engine *engine[3]; /* two that talk; the third, NULL if there is none, is the peer of other ids */
	struct iw_domain *domain[3];
	struct iw_addr (*addr)(uint32_t host, uint16_t port);
	/* Turns until done() is true, or for as long as makes no sense any more; returns done(). */
	bool (*until)(bool (*done)(void));
	void (*settle)(void);                          /* long enough for whatever is to come */
	void (*sleep)(uint32_t host, bool asleep);     /* an engine is not polled, and what comes waits */
	void (*call)(void (*fn)(void), uint32_t host); /* has fn run in the engine, at rest */
	/* From now on what a host sends: "m" a start-up frame, "f" FIN, "r" RST; each once, in order.  NULL: unknown.
	 */
	void (*listen_in)(uint32_t host);
	const char *(*heard)(void);
	int (*migrate)(struct iw_engine *from, iw_cm_id id); /* NULL: cannot */
};

void cells_open(const struct cells_net *net);
/* One cell; false: there is none.  other: the call is made by the handler of such an event (CELLS_IN_*) of another id
 * of the same engine; or CELLS_NO_OTHER. */
bool cells_play(enum cells_stage stage, enum cells_call call, enum cells_stage other);
/* From now on the listener is destroyed right before the call: ids that were shown to the user live on. */
void cells_without_listener(void);
/* Is it an id that came in at one? */
bool cells_has_listener(enum cells_stage stage);
void cells_close(void);

/* "DISCONNECT in ACCEPTED" */
const char *cells_name(enum cells_stage stage, enum cells_call call);

#endif
