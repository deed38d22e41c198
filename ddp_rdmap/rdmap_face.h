/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face for those who compose it: MPA framing, DDP placement and RDMAP verbs of one engine.  Reads views
 * and fills mbufs; knows nothing of TCP.  QPs, CQs, PDs and MRs are the public objects of <iwarp/verbs.h>. */
#ifndef RDMAP_H
#define RDMAP_H

#include <iwarp/verbs.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "env.h"
#include "view.h"

struct iw_bell;
struct rdmap; /* one engine's */

struct rdmap_params {
	uint32_t max_qps;
	uint64_t fpdu_timeout_ns; /* an FPDU that was begun must be finished by then; 0: 30 s */
};

struct rdmap *rdmap_create(struct iw_env *env, struct iw_domain *domain, struct iw_engine *engine,
			   const struct rdmap_params *params);
void rdmap_destroy(struct rdmap *rdmap); /* destroys its QPs and CQs too */

/* ---- QP life, driven by cm and engine ---- */

/* What start-up has agreed on. */
struct qp_stream {
	uint32_t conn; /* handle of the connection it borrows, never looked into */
	bool initiator;
	bool crc;
	bool tx_markers, rx_markers; /* the peer wants them, we want them (RFC 5044 §4.3) */
	uint8_t revision;
	bool back_pressure;    /* of this stream, if the QP has not got it anyway */
	uint32_t recv_wait_ms; /* with it; 0: 30 s */
	uint16_t ird, ord;     /* as agreed; <= those of the QP */
	enum qp_rtr { QP_RTR_NONE, QP_RTR_WRITE, QP_RTR_READ, QP_RTR_SEND } rtr;
	/* initiator: the first FPDU to be sent; responder: what is expected (a Send uses a hidden buffer) */
};

/* QPs by handle: 0 is none, stale ones give NULL. */
struct iw_qp *qp_at(const struct rdmap *rdmap, uint32_t handle);
uint32_t qp_handle(const struct iw_qp *qp);
struct iw_engine *qp_engine(const struct iw_qp *qp);
uint32_t qp_conn(const struct iw_qp *qp);       /* 0: none */
bool qp_is_terminating(const struct iw_qp *qp); /* a Terminate is due: it is filled without a grant */
bool qp_is_free(const struct iw_qp *qp);        /* IDLE and never bound: can be given to connect or accept */

/* Reserves a QP for an id whose start-up is under way (bound by nobody else), and lets go of it again. */
int qp_bind(struct iw_qp *qp, uint32_t owner);
void qp_unbind(struct iw_qp *qp);
uint32_t qp_owner(const struct iw_qp *qp); /* CM id; 0: none */

/* IDLE -> RTS.  A responder sends nothing before the first FPDU came in (RFC 5044 §7.1.2 rule 4). */
int qp_start(struct iw_qp *qp, const struct qp_stream *stream, uint64_t now_ns);

/* Graceful close begins: RTS -> CLOSING; no new posts; when SQ, own Reads and owed Read Responses are done, out
 * bit DRAINED (a responder without an FPDU yet: its queue is flushed and DRAINED comes at once). */
void qp_close(struct iw_qp *qp);

/* The stream has ended: everything left is flushed.  err 0: orderly end -> IDLE (dead for new streams);
 * else -> ERROR. */
void qp_stream_end(struct iw_qp *qp, int err);

/* Sends the Terminate of a fault (enum rdmap_fault) that was found elsewhere: by cm in the Reply (M14, M15), after
 * qp_start(). */
void qp_fail(struct iw_qp *qp, int fault);

/* To ERROR, flushed: its user wants that.  The caller has told cm before. */
void qp_set_error(struct iw_qp *qp);

/* What its stream cost so far; idle_ns: since an FPDU came or went, to a millisecond, modulo 52
 * days. */
struct qp_load {
	uint64_t idle_ns;
	uint32_t rx_fpdus;
	uint16_t rx_split, rx_small;
};
struct qp_load qp_load(const struct iw_qp *qp, uint64_t now_ns);

/* A stop in the middle of a message or with own Reads outstanding: peer's FIN is then no graceful close (F7). */
bool qp_is_mid_message(const struct iw_qp *qp);
/* A FIN may follow what was filled so far: no message of ours is half sent. */
bool qp_tx_is_between_messages(const struct iw_qp *qp);

/* Public verbs, see <iwarp/verbs.h> for their contracts. */
struct iw_qp *qp_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err);
/* Flushes and frees, the latter as soon as memory that was sent without a copy is back.  The caller has told cm before.
 */
void qp_destroy(struct iw_qp *qp);
struct iw_cq *cq_create(struct rdmap *rdmap, uint32_t depth, iw_cq_handler handler, void *context);
int cq_destroy(struct iw_cq *cq);
int cq_resize(struct iw_cq *cq, uint32_t depth);
struct iw_srq *srq_create(struct rdmap *rdmap, struct iw_pd *pd, const struct iw_srq_attr *attr, int *err);
int srq_destroy(struct iw_srq *srq);
struct iw_mr *mr_fast_create(struct rdmap *rdmap, struct iw_pd *pd, uint32_t max_iov, int *err);
struct iw_mw *mw_create(struct rdmap *rdmap, struct iw_pd *pd, int *err);

/* 0, -IW_E_INVAL or -IW_E_STALE: what is wrong with an object that a user names. */
int rdmap_qp_named(const struct iw_qp *qp);
int rdmap_cq_named(const struct iw_cq *cq);
int rdmap_srq_named(const struct iw_srq *srq);

/* Pops a CQ that was armed and fired; NULL: none. */
struct iw_cq *cq_notify_next(struct rdmap *rdmap);
void cq_notify(struct iw_cq *cq);  /* calls its handler: for the engine's delivery only */
int cq_fd(const struct iw_cq *cq); /* the eventfd that is to be written when it fires; -1: none */
void cq_set_fd(struct iw_cq *cq, int fd);
struct iw_engine *cq_engine(const struct iw_cq *cq);

/* The next asynchronous event for the user; false: none. */
bool rdmap_async_next(struct rdmap *rdmap, struct iw_async_event *event);

/* ---- receive ---- */

enum mpa_rx_stop {
	MPA_RX_NEED,   /* more octets: nothing to do before `need` octets are in the views */
	MPA_RX_BUDGET, /* FPDU budget used up: call again */
	MPA_RX_DEAD    /* the stream has failed or ended: everything was dropped, and is to be consumed */
};

struct mpa_rx_result {
	uint32_t consumed; /* octets, whole FPDUs only; DEAD: all there were */
	uint32_t need;     /* octets from the new front for the next FPDU to be complete; UINT32_MAX: a receive must be
			      posted first (recv_back_pressure): RX_RESUME follows */
	enum mpa_rx_stop stop;
	uint32_t fpdus;
	uint32_t sealable; /* of these, long ones that had a CRC and began where tcp looks for one */
};

#define MPA_RX_VIEWS 192 /* that one call takes */

/* Takes whole FPDUs off the front of the stream: markers, CRC, DDP, RDMAP, placement, completions (design D5). */
struct mpa_rx_result mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget,
			    uint64_t now_ns);

/* Of the QPs with an unfinished FPDU the one that has not grown for longest, for still_ns at least; it is not named
 * again before it has (X3).  NULL: none. */
struct iw_qp *mpa_rx_slowest(struct rdmap *rdmap, uint64_t still_ns, uint64_t now_ns);

/* ---- transmit ---- */

/* The next QP that has something to send and is not blocked, taken off the run list; NULL: none. */
struct iw_qp *rdmap_run_next(struct rdmap *rdmap);
/* Puts it (back) at the end: it has more to send, or has room again.  Nothing if it has nothing to send. */
void rdmap_run_add(struct iw_qp *qp);

/* Fills the mbuf's data area behind its headroom with whole FPDUs, at most `room` octets, and sets its data and packet
 * length; returns them, 0: nothing to send now (QP off the list until something changes).  The mbuf is empty, of one
 * segment, with at least 140 octets of room; where memory of the user is sent without a copy, it comes back as the
 * first of a chain.  room is the EMSS; below 140 it counts as 140, so that the least MULPDU with a marker fits (tcp
 * cuts the record then).  Work requests whose last octet was filled complete (design D6). sum: of what was filled, for
 * the Internet checksum (iw_sum_fold()); NULL: not wanted. */
uint32_t rdmap_tx_fill(struct iw_qp *qp, struct rte_mbuf *m, uint32_t room, uint16_t *sum, uint64_t now_ns);

/* ---- what happened ---- */

enum rdmap_out_bits {
	RDMAP_OUT_TERM_SENT = 1 << 0,  /* a Terminate was filled: FIN goes behind it */
	RDMAP_OUT_TERM_RECV = 1 << 1,  /* a Terminate came */
	RDMAP_OUT_FATAL = 1 << 2,      /* the stream failed and no Terminate goes: RST */
	RDMAP_OUT_DRAINED = 1 << 3,    /* after qp_close(): FIN may go */
	RDMAP_OUT_FIRST_FPDU = 1 << 4, /* first valid FPDU of the peer */
	RDMAP_OUT_RX_RESUME = 1 << 5   /* call mpa_rx again */
};

struct rdmap_out {
	struct iw_qp *qp;
	uint32_t bits;
};
bool rdmap_out_next(struct rdmap *rdmap, struct rdmap_out *out);

/* Posts that came from other threads (doorbells): moves their QPs to the run list. */
void rdmap_doorbells(struct rdmap *rdmap);
/* Nothing but time and what comes in can make something to do. */
bool rdmap_is_idle(const struct rdmap *rdmap);
/* Who posts from another thread rings this bell, before any does. */
void rdmap_set_bell(struct rdmap *rdmap, const struct iw_bell *bell);

/* ---- time: the nudge for peers that lose a wake-up at start-up, unfinished FPDU ---- */
void rdmap_tick(struct rdmap *rdmap, uint64_t now_ns);
uint64_t rdmap_deadline(const struct rdmap *rdmap);
/* Requests are done but for memory that was sent without a copy and has not come back: drivers should be asked for what
 * they have finished with. */
bool rdmap_lends(const struct rdmap *rdmap);
/* The last words of a turn: this engine holds no pointer into the MR table (design D16). */
void rdmap_quiescent(struct rdmap *rdmap);

struct iw_counter_list rdmap_counter_list(const struct rdmap *rdmap);
uint32_t rdmap_qp_count(const struct rdmap *rdmap);
uint32_t rdmap_cq_count(const struct rdmap *rdmap);

#endif
