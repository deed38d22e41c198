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
 * polling core with a port queue.  A PD and an MR belong to a domain; CQ, SRQ and QP, memory windows and
 * registrations made by work requests belong to an engine.
 *
 * A pointer to an object that was destroyed is recognised: every call with one returns -IW_E_STALE (calls that
 * return something else say what), as long as its engine or domain exists and the object's place was not given to
 * another one; places are given away again as late as possible.  NULL is -IW_E_INVAL.  Engine and domain themselves are
 * not recognised once they are gone, nor is what belonged to them.
 *
 * Where nothing else is said a call belongs to the engine's thread: from its handlers or between its polls. */
struct iw_domain;
struct iw_engine;
struct iw_pd;
struct iw_mr;
struct iw_mw;
struct iw_cq;
struct iw_srq;
struct iw_qp;

#define IW_MAX_SGE 16        /* scatter/gather elements of one work request */
#define IW_MAX_INLINE 256    /* octets of IW_SEND_INLINE */
#define IW_MAX_IRD 128       /* inbound and outbound RDMA Reads and atomics of one QP */
#define IW_MAX_IOV 65536     /* pieces of memory in one registration */
#define IW_MAX_FAST_IOV 1024 /* the same, of a registration made by a work request */
#define IW_MAX_PRIVATE 512   /* private data of a start-up frame; 508 in MPA revision 2 */

/* ---- Domain, PD, MR ------------------------------------------------------------------------------------ */

/* Creates a domain.  Thread-safe against other domains.  Returns NULL when memory is short. */
struct iw_domain *iw_domain_create(void);

/* Destroys it; every engine, PD, MR and window of it must be gone (-IW_E_BUSY otherwise).  -IW_E_INVAL: no domain. */
int iw_domain_destroy(struct iw_domain *domain);

/* A protection domain.  NULL when memory is short.  Any thread.  destroy: -IW_E_BUSY while MRs, windows, SRQs or QPs
 * use it, -IW_E_INVAL, -IW_E_STALE. */
struct iw_pd *iw_pd_create(struct iw_domain *domain);
int iw_pd_destroy(struct iw_pd *pd);

enum iw_access {
	IW_LOCAL_READ = 0,             /* always granted to the owner */
	IW_LOCAL_WRITE = 1 << 0,       /* receive into it, Read into it */
	IW_REMOTE_READ = 1 << 1,       /* peers may RDMA Read it */
	IW_REMOTE_WRITE = 1 << 2,      /* peers may RDMA Write it */
	IW_REMOTE_INVALIDATE = 1 << 3, /* the peer may take it back by a Send with Invalidate; only of what belongs to
					  one stream: iw_mr_reg_qp(), fast registrations, windows */
	IW_REMOTE_ATOMIC = 1 << 4,     /* peers may do atomics in it */
	IW_MW_BIND = 1 << 5,           /* windows may be bound to it; iw_mr_reg() and iw_mr_reg_iov() only */
	IW_ZERO_COPY = 1 << 6 /* Sends and Writes may leave from it without being copied, see below; likewise */
};

/* IW_ZERO_COPY.  Where a stream has neither CRC nor markers, and the engine was made with `zero_copy` and its port can
 * do it, payload of 1 KiB and more that lies in one piece is not copied: the port reads it by itself, and again when it
 * is lost on the way.  Such a request completes when nobody will read its memory any more: the peer has acknowledged it
 * (or TCP had to copy it, to send it again or in smaller pieces) and the port has let go; so later than others, by a
 * round trip at least, and those behind it with it.  That holds for requests that are flushed, too: they may complete
 * behind CLOSE, and a QP that is destroyed keeps its CQs and PD in use until then.  Everything else is copied, as ever,
 * Read Responses always; IW_ZERO_COPY is no promise.  Who writes to such memory before the completion may send anything
 * to the peer of that stream, or break the stream: never another one.  Ports must know the memory: it is DPDK's own, or
 * iw_dma_map() was called for it. */

/* A piece of memory. */
struct iw_iov {
	void *addr;
	uint64_t length;
};

/* Registers [addr, addr+len) for the streams of pd (RFC 5040 §8.1); usable on every engine of the domain when
 * it returns.  The memory stays the caller's and must outlive the MR.  A length of 0 grants nothing.  Tagged
 * offsets on the wire are the addresses themselves.  Returns NULL and sets *err (when not NULL) to
 * -IW_E_INVAL (range wraps, unknown right, no memory named), -IW_E_STALE (pd), -IW_E_NOMEM or -IW_E_NOTSUP
 * (IW_ZERO_COPY: ports do not know the memory).  Any thread, one at a time for each domain. */
struct iw_mr *iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err);

/* The same for n pieces of memory (a page list is one of equal pieces) that follow each other from the tagged offset
 * `iova` on, which is also what SGEs name.  The list is copied.  -IW_E_INVAL also: n is 0 or above IW_MAX_IOV, a piece
 * is empty or wraps, iova + the sum wraps. */
struct iw_mr *iw_mr_reg_iov(struct iw_pd *pd, const struct iw_iov *iov, uint32_t n, uint64_t iova, uint32_t access,
			    int *err);

/* The same as iw_mr_reg() for one QP only (RFC 5040 §8.1.1 item 2), which a peer may then be allowed to invalidate.
 * Invalidated it grants nothing any more, to nobody, but is still to be deregistered.  The QP must be alive here; the
 * MR may outlive it.  -IW_E_INVAL also: no QP, IW_MW_BIND.  The engine's thread. */
struct iw_mr *iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err);

/* A registration that grants nothing until a work request (IW_WR_FAST_REG) maps up to max_iov pieces of memory to it.
 * It belongs to the engine.  NULL and *err: -IW_E_INVAL (max_iov is 0 or above IW_MAX_FAST_IOV), -IW_E_STALE,
 * -IW_E_PD (pd of another domain), -IW_E_NOMEM. */
struct iw_mr *iw_mr_create_fast(struct iw_engine *engine, struct iw_pd *pd, uint32_t max_iov, int *err);

/* Takes a registration of any kind back.  When it returns 0 no octet of the memory is read or written through it any
 * more: it waits for engines of the domain that another thread is polling at this moment, until that poll has ended.
 * Call it between polls, not from a handler of another engine.  -IW_E_BUSY: windows are bound to it, or memory of it
 * is being sent without a copy; -IW_E_INVAL, -IW_E_STALE.  Any thread, one at a time for each domain. */
int iw_mr_dereg(struct iw_mr *mr);

/* A look for a mistake of ours, not of a peer's (RFC 5042 §6.3.6): how many pieces of memory are open to peers by two
 * registrations or windows of different PDs or QPs at a time, one of which lets them write: what one peer writes
 * another may read or spoil.  Takes time and memory as there are registrations.  -IW_E_INVAL, -IW_E_NOMEM.  Between the
 * polls of all engines of the domain. */
int iw_mr_aliases(struct iw_domain *domain);

/* Keys of a registration: the local one for SGEs, the remote one (STag) to be sent to the peer.  0 when mr is NULL or
 * stale.  Of a fast registration: as of the last IW_WR_FAST_REG that was posted. */
uint32_t iw_mr_lkey(const struct iw_mr *mr);
uint32_t iw_mr_rkey(const struct iw_mr *mr);

/* The same STag with the next key octet: what IW_WR_FAST_REG and IW_WR_BIND_MW want to be told. */
static inline uint32_t
iw_rkey_next(uint32_t rkey)
{
	return (rkey & 0xffffff00u) | ((rkey + 1) & 0xffu);
}

/* A memory window of type 2: an STag for a part of a registration, given out (IW_WR_BIND_MW) and taken back
 * (IW_WR_LOCAL_INV, or the peer's Send with Invalidate) by work requests, for one QP at a time.  It belongs to the
 * engine.  NULL and *err: -IW_E_INVAL, -IW_E_STALE, -IW_E_PD (pd of another domain), -IW_E_NOMEM. */
struct iw_mw *iw_mw_create(struct iw_engine *engine, struct iw_pd *pd, int *err);
int iw_mw_destroy(struct iw_mw *mw); /* bound or not; as iw_mr_dereg().  -IW_E_INVAL, -IW_E_STALE */
/* Its STag, as of the last IW_WR_BIND_MW that was posted; 0 when mw is NULL or stale. */
uint32_t iw_mw_rkey(const struct iw_mw *mw);

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
	IW_WC_MW_BIND_ERR,    /* the window cannot be bound so */
};

enum iw_wc_opcode {
	IW_WC_SEND,
	IW_WC_RDMA_WRITE, /* also with immediate data */
	IW_WC_RDMA_READ,  /* also with local invalidate */
	IW_WC_RECV,
	IW_WC_IMM,
	IW_WC_FETCH_ADD,
	IW_WC_CMP_SWAP,
	IW_WC_LOCAL_INV,
	IW_WC_FAST_REG,
	IW_WC_BIND_MW,
};

enum iw_wc_flags {
	IW_WC_WITH_INV = 1 << 0,  /* the Send invalidated `invalidated_rkey` */
	IW_WC_SOLICITED = 1 << 1, /* the peer asked for a solicited event */
	IW_WC_WITH_IMM = 1 << 2   /* Immediate Data: the receive was used up, its memory was not touched */
};

/* One completion.  wr_id, qp, status and opcode are always set, byte_len for successful receives, Reads and atomics. qp
 * may have been destroyed meanwhile: iw_qp_context() is NULL then. */
struct iw_wc {
	uint64_t wr_id;
	struct iw_qp *qp;
	union {
		uint64_t imm_data;         /* IW_WC_WITH_IMM */
		uint32_t invalidated_rkey; /* IW_WC_WITH_INV */
	};
	uint32_t byte_len;
	uint8_t status; /* enum iw_wc_status */
	uint8_t opcode; /* enum iw_wc_opcode */
	uint16_t flags; /* enum iw_wc_flags */
};

/* Fired at most once for each iw_cq_arm(), from iw_engine_poll(), when a completion that fits was added. */
typedef void (*iw_cq_handler)(struct iw_cq *cq, void *context);

/* A queue of `depth` completions (rounded up to a power of two, at most 2^24).  NULL when memory is short or depth is
 * 0.  Every QP that uses it reserves room for all that it can complete, and every SRQ of such a QP once for itself
 * (RFC 5042 §6.4.3.2), so it cannot overflow: iw_qp_create() is refused instead.  It takes as much as the depths of
 * these queues, as they were rounded up, and what still waits in it. */
struct iw_cq *iw_cq_create(struct iw_engine *engine, uint32_t depth, iw_cq_handler handler, void *context);
int iw_cq_destroy(struct iw_cq *cq); /* -IW_E_BUSY while QPs use it, -IW_E_INVAL, -IW_E_STALE */

/* Gives it another depth, rounded up as above; completions that wait stay.  -IW_E_BUSY: what its QPs have reserved, or
 * what waits, would not fit; -IW_E_INVAL (depth), -IW_E_STALE, -IW_E_NOMEM: it stays as it is.  Nobody may poll or arm
 * it meanwhile. */
int iw_cq_resize(struct iw_cq *cq, uint32_t depth);

/* Besides the handler: 1 is added to this eventfd (a write of eight octets, no waiting) when the CQ fires.  The fd
 * stays the caller's and must stay open until another one (-1: none) is set or the CQ is destroyed.  -IW_E_INVAL,
 * -IW_E_STALE; -IW_E_NOTSUP: the engine cannot. */
int iw_cq_set_eventfd(struct iw_cq *cq, int fd);

/* Takes up to max completions; returns their number.  One thread for each CQ.  -IW_E_INVAL, -IW_E_STALE. */
int iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max);

/* Asks for one call of the handler at the next completion (or the next solicited or failed one).  When completions are
 * already waiting it fires in the next poll.  The thread that polls the CQ.  -IW_E_INVAL, -IW_E_STALE. */
int iw_cq_arm(struct iw_cq *cq, bool solicited_only);

/* ---- Shared receive queues ------------------------------------------------------------------------------- */

struct iw_srq_attr {
	uint32_t depth;      /* requests; rounded up to a power of two; 0: 1024 */
	uint32_t limit;      /* see iw_srq_set_limit(); at most the depth, rounded up */
	bool foreign_poster; /* posts come from another thread than the engine's (one thread) */
	void *context;
};

/* A queue of receives for several QPs of one engine and PD, first come first served.  NULL and *err: -IW_E_INVAL,
 * -IW_E_STALE, -IW_E_PD (pd of another domain), -IW_E_NOMEM. */
struct iw_srq *iw_srq_create(struct iw_engine *engine, struct iw_pd *pd, const struct iw_srq_attr *attr, int *err);
/* -IW_E_BUSY while QPs use it; what is still posted is forgotten without a completion.  -IW_E_INVAL, -IW_E_STALE. */
int iw_srq_destroy(struct iw_srq *srq);

/* Asks for one IW_ASYNC_SRQ_LIMIT when fewer than `limit` receives are posted (at once if that is so now); 0: none.
 * -IW_E_INVAL (above the depth), -IW_E_STALE. */
int iw_srq_set_limit(struct iw_srq *srq, uint32_t limit);
void *iw_srq_context(const struct iw_srq *srq); /* NULL when stale */

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
	struct iw_srq *srq;              /* receives come from there, rq_depth is not used */
	uint32_t srq_limit;              /* receives of the SRQ that this stream may have: under way, or completed and
					    not polled; one more is as if none was posted (RFC 5042 §6.4.3.1); 0: any */
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

/* A QP in state IDLE.  It serves one stream and is destroyed then, but after a CONNECT_REPLY that is an error it is as
 * it was, with its receives, and may be used again.  Returns NULL and sets *err: -IW_E_INVAL (also: CQs or SRQ of
 * another engine), -IW_E_NOMEM (also: a CQ has no room left for what this QP can complete), -IW_E_PD (pd of another
 * domain, SRQ of another pd), -IW_E_STALE. */
struct iw_qp *iw_qp_create(struct iw_engine *engine, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err);

/* Destroys it from any state and from inside any handler.  Work requests not yet completed complete as
 * flushed (IW_ZERO_COPY: when their memory is free); their completions stay readable.  A stream that uses it is reset
 * and its id gets CLOSE.  -IW_E_INVAL, -IW_E_STALE. */
int iw_qp_destroy(struct iw_qp *qp);

/* Moves it to ERROR: everything posted is flushed, a stream that uses it is reset.  -IW_E_INVAL, -IW_E_STALE. */
int iw_qp_set_error(struct iw_qp *qp);

enum iw_qp_state iw_qp_state(const struct iw_qp *qp); /* IW_QP_ERROR when NULL or stale; any thread */
void *iw_qp_context(const struct iw_qp *qp);          /* NULL when NULL or stale */
/* The Terminate that ended it, if any. */
void iw_qp_terminate_info(const struct iw_qp *qp, struct iw_terminate *term);

/* What can be asked about a QP. */
struct iw_qp_info {
	enum iw_qp_state state;
	bool initiator, crc;          /* of its stream, if it has or had one */
	uint16_t ird, ord;            /* agreed; before that: the QP's own */
	uint16_t reads_in, reads_out; /* Reads and atomics: owed to the peer, awaited from it */
	uint32_t sq_depth, rq_depth;  /* requests; rq: 0 with an SRQ */
	uint32_t sq_used, rq_used;    /* posted and not completed */
	uint32_t srq_used;            /* receives of the SRQ that this stream has */
	struct iw_srq *srq;
	struct iw_terminate term;
};
int iw_qp_query(const struct iw_qp *qp, struct iw_qp_info *info); /* -IW_E_INVAL, -IW_E_STALE */

/* ---- Asynchronous events --------------------------------------------------------------------------------- */

enum iw_async_type {
	IW_ASYNC_QP_FATAL,     /* the stream failed here; term tells what the peer is told, if anything */
	IW_ASYNC_QP_TERMINATE, /* the peer ended the stream by the Terminate in term */
	IW_ASYNC_SRQ_LIMIT     /* fewer receives are posted than iw_srq_set_limit() said */
};

struct iw_async_event {
	enum iw_async_type type;
	struct iw_qp *qp;   /* QP events */
	struct iw_srq *srq; /* IW_ASYNC_SRQ_LIMIT */
	struct iw_terminate term;
};

/* Called from iw_engine_poll() only; may call anything but the poll.  What failed is told before the CLOSE of that
 * stream.  An object has one event of each type waiting at most, so nothing is lost and memory is bounded; an object
 * that is destroyed takes its events along. */
typedef void (*iw_async_handler)(struct iw_engine *engine, const struct iw_async_event *event, void *context);

/* Who hears of them; NULL: nobody, events pass unheard.  -IW_E_INVAL: no engine. */
int iw_engine_set_async(struct iw_engine *engine, iw_async_handler handler, void *context);

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
	IW_WR_RDMA_READ,      /* sg_list is the sink; needs IW_LOCAL_WRITE */
	IW_WR_RDMA_READ_INV,  /* and then invalidates `invalidate_rkey` here, as IW_WR_LOCAL_INV */
	IW_WR_IMM,            /* Immediate Data (RFC 7306 §6): `imm_data`, no SGE; uses up a receive of the peer */
	IW_WR_RDMA_WRITE_IMM, /* a Write and, behind it, Immediate Data */
	IW_WR_FETCH_ADD,      /* RFC 7306 §5: `atomic`; one SGE of eight octets gets what was there before, in the byte
				 order of this host */
	IW_WR_CMP_SWAP,
	IW_WR_LOCAL_INV, /* takes back what `invalidate_rkey` grants: iw_mr_reg_qp(), fast registration or window of
			    this QP; no SGE, nothing goes out */
	IW_WR_FAST_REG,  /* maps memory to a registration: `reg`; likewise */
	IW_WR_BIND_MW,   /* binds a window to a part of a registration: `bind`; likewise */
};

enum iw_send_flags {
	IW_SEND_SIGNALED = 1 << 0,    /* a wc also when it went well: who fails or is flushed always has one.  Without,
					 its place in the queue is free again all the same */
	IW_SEND_SOLICITED = 1 << 1,   /* Send kinds, Immediate Data */
	IW_SEND_INLINE = 1 << 2,      /* data is taken at the post; lkeys are not looked at; <= IW_MAX_INLINE */
	IW_SEND_FENCE = 1 << 3,       /* starts after every earlier Read and atomic of this QP has completed */
	IW_SEND_LOCAL_FENCE = 1 << 4, /* starts after every earlier request of this QP has completed */
};

/* FETCH_ADD adds `data` in fields: a bit of `mask` is the uppermost of a field, carries out of it are dropped; mask 0:
 * one field of 64 bits.  CMP_SWAP: where the old value equals `compare` in the bits of `compare_mask`, the bits of
 * `mask` are taken from `data`. */
struct iw_atomic {
	uint64_t data, mask;
	uint64_t compare, compare_mask; /* CMP_SWAP */
};

/* Maps up to the max_iov pieces of a registration made by iw_mr_create_fast(), as iw_mr_reg_iov() does, for the stream
 * of the QP that it is posted to.  rkey: the STag that it will have, iw_mr_rkey() with another key octet.  What the
 * registration granted before must have been invalidated.  The list is copied at the post. */
struct iw_fast_reg {
	struct iw_mr *mr;
	const struct iw_iov *iov;
	uint32_t num_iov;
	uint32_t rkey;
	uint64_t iova;
	uint32_t access; /* enum iw_access, but IW_MW_BIND */
};

/* Binds a window to [addr, addr+length) of mr, which must grant IW_MW_BIND and belong to the same PD; not to nothing.
 * rkey: the STag that it will have, iw_mw_rkey() with another key octet.  A window that is bound must be invalidated
 * first. */
struct iw_mw_bind {
	struct iw_mw *mw;
	struct iw_mr *mr;
	uint64_t addr, length;
	uint32_t rkey;
	uint32_t access; /* remote rights of enum iw_access; REMOTE_WRITE and ATOMIC need mr's IW_LOCAL_WRITE */
};

/* A send request; chained by next.  The chain and its lists are copied at the post; the data (unless
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
	union {
		uint64_t imm_data;
		struct iw_atomic atomic;
		struct iw_fast_reg reg;
		struct iw_mw_bind bind;
	};
};

struct iw_recv_wr {
	const struct iw_recv_wr *next;
	uint64_t wr_id;
	const struct iw_sge *sg_list;
	int num_sge;
};

/* Posts the chain in order.  Returns 0, or an error with *bad set to the first request that was not posted:
 * -IW_E_NOTCONN (QP is not in RTS), -IW_E_NOMEM (queue full), -IW_E_INVAL (opcode, flags, SGEs, a list; a Read or
 * atomic with an ORD of 0), -IW_E_TOOBIG (inline or more than 4 GiB - 1, more pieces than the registration takes),
 * -IW_E_STALE (QP, registration, window), -IW_E_PD (of another PD), -IW_E_BUSY (that registration is in a request
 * already). A request that was posted completes exactly once, in posting order.  A Send, Write or Immediate Data
 * completes when its data was taken over by TCP (the buffer may be reused; IW_ZERO_COPY: when it may be); a Read or
 * atomic when its data is in place. One that names memory that is not registered for it fails when its turn comes, and
 * the stream with it (RFC 5040 §7.1); a LOCAL_INV, FAST_REG or BIND_MW that cannot be carried out fails alone, with
 * IW_WC_LOC_QP_OP_ERR or IW_WC_MW_BIND_ERR, and so does a READ_INV whose STag is not valid.  The QP's posting thread
 * only. */
int iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad);

/* As above for receives; allowed in IDLE and RTS.  -IW_E_INVAL also: the QP takes its receives from an SRQ. */
int iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);

/* The same for an SRQ: its posting thread.  -IW_E_NOMEM: as many receives as the SRQ is deep are posted, under way or
 * completed and not polled. */
int iw_post_srq_recv(struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);

/* Exhaustive names for printing. */
const char *iw_wc_status_name(int status);
const char *iw_wc_opcode_name(int opcode);
const char *iw_qp_state_name(int state);
const char *iw_async_name(int type);

#ifdef __cplusplus
}
#endif
#endif
