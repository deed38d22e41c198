/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's objects: ids, what they need during start-up only, listeners, and struct cm that holds them.  Ids are
 * handles with a generation (design D7): whoever was called looks the id up again, for it may be gone.  Not for other
 * rooms. */
#ifndef CM_ID_H
#define CM_ID_H

#include "cm_face.h"
#include "cm_fsm.h"
#include "counter.h"
#include "list.h"
#include "mpa_hdr.h"
#include "mpa_neg.h"
#include "pool.h"
#include "wheel.h"

/* Ids beyond params.max_ids: for peers that are to be told by a reject that there is no room. */
#define CM_ID_SPARE 64

#define CM_COUNTERS(X)                                                                         \
	X(connects)        /* attempts begun */                                                \
	X(connects_rev1)   /* second attempts with revision 1 */                               \
	X(connects_failed) /* CONNECT_REPLY with an error */                                   \
	X(requests)        /* whole Requests shown to the user */                              \
	X(accepts)                                                                             \
	X(rejects)            /* Replies with R sent */                                        \
	X(established)        /* streams begun, both sides */                                  \
	X(closes)             /* CLOSE raised */                                               \
	X(drop_request_bad)   /* closed: no Request, or octets behind it in the same breath */ \
	X(drop_request_early) /* closed: octets behind the Request before our Reply */         \
	X(drop_request_late)  /* closed: no whole Request in time */                           \
	X(drop_request_gone)  /* the peer gave up before it had sent a whole Request */        \
	X(drop_request_full)  /* rejected: backlog or id table full */                         \
	X(drop_reaped)        /* reset: the oldest without a Request, when ids were short */   \
	X(drop_idle)          /* reset: idle for long, when places were short */               \
	X(drop_slow)          /* reset: its FPDU did not grow, when memory was short */        \
	X(drop_no_id)         /* reset: not even a spare id */                                 \
	X(drop_reply_bad)     /* no Reply, or of no legal form */                              \
	X(drop_reply_unfit)   /* Terminate: no agreement */                                    \
	X(no_mbuf)            /* a frame was not sent for want of an mbuf */                   \
	X(stale_ready)        /* something about a connection that no id has any more */       \
	X(events)             /* delivered */

IW_COUNTERS(cm_counters, CM_COUNTERS);

/* What only start-up needs; freed when it is over and told. */
struct cm_setup {
	iw_cm_id asked; /* responder: the listening id it came in at */
	struct mpa_neg_local local;
	struct mpa_startup request, reply; /* private_data of ours points into own, of the peer's into theirs */
	struct qp_stream stream;           /* as agreed */
	enum rdmap_fault fault;            /* the Terminate that is due */
	uint64_t connect_ns, delay_ns;
	struct tcp_attr tcp;
	bool back_pressure;
	uint32_t recv_wait_ms;
	struct rte_mbuf *frame; /* built beforehand, so that the step that sends it cannot fail for want of one */
	bool once_more;         /* revision 1 may be tried */
	uint8_t own[MPA_HDR_PD_MAX];
	uint8_t theirs[MPA_HDR_PD_MAX];
};

struct cm_id {
	struct cm_state st;
	uint32_t handle;
	uint32_t conn;     /* of tcp; 0: none */
	uint32_t qp;       /* bound; 0: none */
	uint32_t setup;    /* 0: none */
	uint32_t listener; /* child: of its listener while that counts it; listening id: its own */
	uint32_t held_at;  /* octets that were still to be read when they were put back */
	uint32_t rtr_end;  /* initiator: octets that must be acknowledged for the RTR to have arrived; 0: no RTR */
	uint8_t held;      /* ready bits that wait for the octets before them to be read */
	uint8_t kind;      /* enum cm_id_kind */
	bool again : 1;    /* the table wants the event once more */
	bool started : 1;  /* qp_start() was done */
	bool counted : 1;  /* in its listener's backlog */
	bool spare : 1;    /* beyond max_ids */
	bool want_tw : 1;  /* TIMEWAIT_EXIT is wanted */
	struct iw_terminate term;
	struct iw_timer timer;
	struct iw_link event_link; /* cm->events */
	struct iw_link child_link; /* its listener's children */
	struct iw_link half_link;  /* cm->half: awaits a Request, or an orphan; oldest first */
	iw_cm_handler handler;
	void *context;
	struct iw_addr local, peer;
};

_Static_assert(sizeof(struct cm_id) <= 192, "part of the budget of an idle connection");

struct cm_listener {
	uint32_t handle, id, tcp;
	uint32_t backlog;
	uint32_t asking; /* children whose whole Request was neither accepted nor rejected */
	struct iw_list children;
};

/* Which connection of an id a TIME_WAIT record belongs to: the tag given to tcp is slot and generation. */
struct cm_tw {
	uint32_t id;
	uint16_t gen;
	bool armed;
};

struct cm {
	struct iw_env *env;
	struct tcp *tcp;
	struct rdmap *rdmap;
	struct cm_params params; /* defaults filled in */
	struct iw_pool ids, setups, listeners;
	struct cm_tw *tw; /* by slot */
	struct iw_wheel wheel;
	uint64_t now_ns; /* the latest that was passed in */
	struct iw_list events, half;
	uint32_t orphans;  /* among the ids */
	uint32_t reap_pos; /* where the search for idle streams goes on */
	uint32_t telling;  /* id whose event was popped and is not done */
	uint16_t told_len;
	uint8_t told_data[MPA_HDR_PD_MAX]; /* private data of the event being delivered */
	struct cm_counters n;
};

/* By handle; NULL: none, or destroyed. */
struct cm_id *cm_id_at(const struct cm *cm, iw_cm_id handle);
struct cm_setup *cm_id_setup(const struct cm *cm, const struct cm_id *id);
struct cm_listener *cm_id_listener(const struct cm *cm, const struct cm_id *id);
/* The bound QP, or NULL. */
struct iw_qp *cm_id_qp(const struct cm *cm, const struct cm_id *id);

/* USER: made by a call; CHILD: for a connection that came in; ORPHAN: for one that was let go. */
enum cm_id_kind { CM_ID_USER, CM_ID_CHILD, CM_ID_ORPHAN };

/* A new id in IDLE; children and orphans may take spare ones.  NULL: none left; cm_step_make_room() comes before. */
struct cm_id *cm_id_new(struct cm *cm, iw_cm_handler handler, void *context, enum cm_id_kind kind);

/* Gives it what start-up needs; NULL when memory is short. */
struct cm_setup *cm_id_setup_new(struct cm *cm, struct cm_id *id);
void cm_id_setup_free(struct cm *cm, struct cm_id *id);

/* Frees the setup when start-up is over and told. */
void cm_id_trim(struct cm *cm, struct cm_id *id);

/* Puts the id in the list of those that have something to tell, if it has. */
void cm_id_queue(struct cm *cm, struct cm_id *id);

/* Frees the id and all that hangs off it but connection and QP, which must be gone. */
void cm_id_free(struct cm *cm, struct cm_id *id);

#endif
