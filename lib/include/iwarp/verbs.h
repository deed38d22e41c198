/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_VERBS_H
#define IWARP_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Objects ------------------------------------------------------------------------------------------
 * A domain is what engines share: secrets, STags, protection domains, memory registrations.  An engine is one
 * polling core with a port queue.  A PD and an MR belong to a domain; CQ and QP belong to an engine. */
struct iw_domain;
struct iw_engine;
struct iw_pd;
struct iw_mr;
struct iw_cq;
struct iw_qp;

#define IW_MAX_SGE 16      /* scatter/gather elements of one work request */
#define IW_MAX_INLINE 256  /* octets of IW_SEND_INLINE */
#define IW_MAX_IRD 128     /* inbound and outbound RDMA Reads of one QP */
#define IW_MAX_PRIVATE 512 /* private data of a start-up frame; 508 in MPA revision 2 */

/* ---- Domain, PD, MR ------------------------------------------------------------------------------------ */

/* Creates a domain.  Thread-safe against other domains.  Returns NULL when memory is short. */
struct iw_domain *iw_domain_create(void);

/* Destroys it; every engine, PD and MR of it must be gone (-IW_E_BUSY otherwise). */
int iw_domain_destroy(struct iw_domain *domain);

/* A protection domain.  NULL when memory is short.  destroy: -IW_E_BUSY while MRs or QPs use it. */
struct iw_pd *iw_pd_create(struct iw_domain *domain);
int iw_pd_destroy(struct iw_pd *pd);

enum iw_access {
	IW_LOCAL_READ = 0,            /* always granted to the owner */
	IW_LOCAL_WRITE = 1 << 0,      /* receive into it, Read into it */
	IW_REMOTE_READ = 1 << 1,      /* peers may RDMA Read it */
	IW_REMOTE_WRITE = 1 << 2,     /* peers may RDMA Write it */
	IW_REMOTE_INVALIDATE = 1 << 3 /* the peer may take it back by a Send with Invalidate; iw_mr_reg_qp() only */
};

/* Registers [addr, addr+len) for the streams of pd (RFC 5040 §8.1); usable on every engine of the domain when
 * it returns.  The memory stays the caller's and must outlive the MR.  A length of 0 grants nothing.  Tagged
 * offsets on the wire are the addresses themselves.  Returns NULL and sets *err (when not NULL) to
 * -IW_E_INVAL (range wraps, unknown right) or -IW_E_NOMEM.  Any thread, one at a time for each domain. */
struct iw_mr *iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err);

/* The same for one QP only (RFC 5040 §8.1.1 item 2), which a peer may then be allowed to invalidate.  Invalidated by
 * the peer it grants nothing any more, to nobody, but is still to be deregistered.  The QP must be alive here; the MR
 * may outlive it.  Additional -IW_E_INVAL: no QP. */
struct iw_mr *iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err);

/* Takes the registration back.  When it returns 0 no octet of the range is read or written through it any
 * more: it waits for engines of the domain that another thread is polling at this moment, until that poll has ended
 * (-IW_E_BUSY never).  Call it between polls, not from a handler of another engine. */
int iw_mr_dereg(struct iw_mr *mr);

/* Keys of a registration: the local one for SGEs, the remote one (STag) to be sent to the peer. */
uint32_t iw_mr_lkey(const struct iw_mr *mr);
uint32_t iw_mr_rkey(const struct iw_mr *mr);

/* ---- Completion queues --------------------------------------------------------------------------------- */

enum iw_wc_status {
	IW_WC_SUCCESS,
	IW_WC_LOC_LEN_ERR,    /* the message was longer than the receive */
	IW_WC_LOC_PROT_ERR,   /* an SGE of ours names memory that is not registered for it */
	IW_WC_LOC_QP_OP_ERR,  /* the request cannot be carried out on this QP */
	IW_WC_LOC_ACCESS_ERR, /* a Read's sink does not allow writing */
	IW_WC_REM_ACCESS_ERR, /* the peer refused access (Terminate received) */
	IW_WC_REM_OP_ERR,     /* the peer could not carry it out (Terminate received) */
	IW_WC_WR_FLUSH_ERR,   /* the QP left RTS before this request was done */
	IW_WC_FATAL_ERR,      /* the stream broke while this request was under way */
};

enum iw_wc_opcode {
	IW_WC_SEND,
	IW_WC_RDMA_WRITE,
	IW_WC_RDMA_READ,
	IW_WC_RECV,
};

enum iw_wc_flags {
	IW_WC_WITH_INV = 1 << 0, /* the Send invalidated `invalidated_rkey` */
	IW_WC_SOLICITED = 1 << 1 /* the Send asked for a solicited event */
};

/* One completion.  byte_len is set for successful receives and Reads. */
struct iw_wc {
	uint64_t wr_id;
	struct iw_qp *qp;
	uint32_t byte_len;
	uint32_t invalidated_rkey;
	uint8_t status; /* enum iw_wc_status */
	uint8_t opcode; /* enum iw_wc_opcode */
	uint16_t flags; /* enum iw_wc_flags */
};

/* Fired at most once for each iw_cq_arm(), from iw_engine_poll(), when a completion that fits was added. */
typedef void (*iw_cq_handler)(struct iw_cq *cq, void *context);

/* A queue of `depth` completions (rounded up to a power of two).  NULL when memory is short or depth is 0.
 * Every QP that uses it reserves room for all that it can complete (RFC 5042 §6.4.3.2), so it cannot overflow:
 * iw_qp_create() is refused instead. */
struct iw_cq *iw_cq_create(struct iw_engine *engine, uint32_t depth, iw_cq_handler handler, void *context);
int iw_cq_destroy(struct iw_cq *cq); /* -IW_E_BUSY while QPs use it */

/* Takes up to max completions; returns their number.  One thread for each CQ. */
int iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max);

/* Asks for one call of the handler at the next completion (or the next solicited or failed one).  When
 * completions are already waiting it fires in the next poll. */
int iw_cq_arm(struct iw_cq *cq, bool solicited_only);

/* ---- Queue pairs --------------------------------------------------------------------------------------- */

enum iw_qp_state { IW_QP_IDLE, IW_QP_RTS, IW_QP_CLOSING, IW_QP_TERMINATE, IW_QP_ERROR };

struct iw_qp_attr {
	struct iw_cq *send_cq, *recv_cq; /* may be the same */
	uint32_t sq_depth, rq_depth;     /* requests; rounded up to powers of two; 0: 128 */
	uint16_t max_ird, max_ord;       /* <= IW_MAX_IRD; 0: 16 */
	bool sq_sig_all;                 /* every request completes with a wc, signalled or not */
	bool foreign_poster;             /* posts come from another thread than the engine's (one thread) */
	bool recv_back_pressure;         /* a Send that finds no receive posted waits in TCP until there is one; else it
					    ends the stream (RFC 5041 §7.2) */
	uint32_t recv_wait_ms;           /* recv_back_pressure: for how long, before it does; 0: 30 s */
	void *context;
};

/* A decoded Terminate (RFC 5040 §4.8). */
struct iw_terminate {
	bool valid;
	bool sent;            /* by us, else received */
	bool nibbles_swapped; /* Linux' siw swaps the halves of octet 0 */
	bool malformed;       /* received, and not of the form that the RFC gives it */
	uint8_t layer, etype, code;
};

/* A QP in state IDLE.  Returns NULL and sets *err: -IW_E_INVAL, -IW_E_NOMEM (also: a CQ has no room left for
 * what this QP can complete), -IW_E_PD. */
struct iw_qp *iw_qp_create(struct iw_engine *engine, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err);

/* Destroys it from any state and from inside any handler.  Work requests not yet completed complete as
 * flushed; their completions stay readable.  A stream that uses it is reset and its id gets CLOSE. */
int iw_qp_destroy(struct iw_qp *qp);

/* Moves it to ERROR: everything posted is flushed, a stream that uses it is reset. */
int iw_qp_set_error(struct iw_qp *qp);

enum iw_qp_state iw_qp_state(const struct iw_qp *qp);
void *iw_qp_context(const struct iw_qp *qp);
/* The Terminate that ended it, if any. */
void iw_qp_terminate_info(const struct iw_qp *qp, struct iw_terminate *term);

/* ---- Work requests ------------------------------------------------------------------------------------- */

struct iw_sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

enum iw_wr_opcode {
	IW_WR_SEND,
	IW_WR_SEND_INV, /* invalidates `invalidate_rkey` at the peer */
	IW_WR_RDMA_WRITE,
	IW_WR_RDMA_READ, /* sg_list is the sink; needs IW_LOCAL_WRITE */
};

enum iw_send_flags {
	IW_SEND_SIGNALED = 1 << 0,
	IW_SEND_SOLICITED = 1 << 1, /* Send kinds */
	IW_SEND_INLINE = 1 << 2,    /* data is taken at the post; lkeys are not looked at; <= IW_MAX_INLINE */
	IW_SEND_FENCE = 1 << 3,     /* starts after every earlier Read of this QP has completed */
};

/* A send request; chained by next.  The chain and its SGE lists are copied at the post; the data (unless
 * inline) must stay until the completion. */
struct iw_send_wr {
	const struct iw_send_wr *next;
	uint64_t wr_id;
	const struct iw_sge *sg_list;
	int num_sge;
	uint8_t opcode; /* enum iw_wr_opcode */
	uint8_t flags;  /* enum iw_send_flags */
	uint32_t invalidate_rkey;
	uint64_t remote_addr;
	uint32_t rkey;
};

struct iw_recv_wr {
	const struct iw_recv_wr *next;
	uint64_t wr_id;
	const struct iw_sge *sg_list;
	int num_sge;
};

/* Posts the chain in order.  Returns 0, or an error with *bad set to the first request that was not posted:
 * -IW_E_NOTCONN (QP is not in RTS), -IW_E_NOMEM (queue full), -IW_E_INVAL (opcode, flags, SGEs), -IW_E_TOOBIG
 * (inline or more than 4 GiB - 1).  A request that was posted completes exactly once, in posting order.
 * A Send, or Write completes when its data was taken over by TCP (the buffer may be reused); a Read when its
 * data is in place.  The QP's posting thread only. */
int iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad);

/* As above for receives; allowed in IDLE and RTS. */
int iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);

/* Exhaustive names for printing. */
const char *iw_wc_status_name(int status);
const char *iw_qp_state_name(int state);

#ifdef __cplusplus
}
#endif
#endif
