/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections in TIME_WAIT: small records that point at nothing (design D8) and decide alone about what still
 * arrives (RFC 9293 §3.10.7.4, RFC 6191, RFC 1337).  The 4-tuple stands in the demux entry that the record names.
 * All wait equally long, so the list in order of arrival is the list in order of expiry. */
#ifndef TCP_TIMEWAIT_H
#define TCP_TIMEWAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "list.h"
#include "pool.h"
#include "tcp_hdr.h"

/* What a connection leaves behind. */
struct tcp_timewait_state {
	uint32_t snd_nxt, rcv_nxt; /* behind both FINs */
	uint32_t rcv_wnd;          /* octets, as last advertised: acceptability of segments */
	uint32_t ts_recent;        /* has_ts: latest TSval of the peer (RFC 7323) */
	uint32_t ts_offset;        /* of our timestamp clock */
	uint32_t demux;            /* ref of the entry that leads here */
	uint32_t tag;              /* who wants to be told of the end; 0: nobody */
	uint8_t rcv_wscale;        /* shift for the window that our ACKs advertise */
	bool has_ts;
};

struct tcp_timewait_rec {
	struct iw_link link;
	uint64_t expires_ns; /* 0: ended, its tag waits to be fetched */
	struct tcp_timewait_state st;
};
_Static_assert(sizeof(struct tcp_timewait_rec) <= 64, "budget of design §4");

struct tcp_timewait {
	struct iw_pool pool;          /* twice max: those that ended may wait to be told */
	struct iw_list waiting, gone; /* oldest first */
	uint32_t used, max;           /* waiting */
	uint64_t period_ns;           /* 2 MSL */
};

/* At most max records (1..IW_POOL_MAX / 2) for 2 * msl_ns each.  0, -IW_E_INVAL, -IW_E_NOMEM. */
int tcp_timewait_init(struct tcp_timewait *tw, uint32_t max, uint64_t msl_ns);
void tcp_timewait_fini(struct tcp_timewait *tw);

/* A new record, its handle; 0 when all are used: then tcp_timewait_evict() first. */
uint32_t tcp_timewait_add(struct tcp_timewait *tw, const struct tcp_timewait_state *st, uint64_t now_ns);

/* Ends the oldest record (it is full, or shutting down); false: there is none.  *demux: the entry to
 * delete. */
bool tcp_timewait_evict(struct tcp_timewait *tw, uint32_t *demux);
/* Ends one record whose time is over; false: none is.  *demux as above. */
bool tcp_timewait_expire(struct tcp_timewait *tw, uint64_t now_ns, uint32_t *demux);
/* Ends this one, which exists: its 4-tuple belongs to a new connection.  Returns the demux entry, now the caller's. */
uint32_t tcp_timewait_hand_over(struct tcp_timewait *tw, uint32_t handle);

/* When the next one expires; IW_NEVER: none. */
uint64_t tcp_timewait_deadline(const struct tcp_timewait *tw);

/* The tags of records that ended, each once, in that order; false: no more.  (tcp_timewait_gone() is the room's.)
 * Fetch in each poll:
 * unfetched ones take places, in the end tcp_timewait_add() finds none. */
bool tcp_timewait_pop(struct tcp_timewait *tw, uint32_t *tag);

/* NULL: the handle is stale. */
const struct tcp_timewait_state *tcp_timewait_at(const struct tcp_timewait *tw, uint32_t handle);

enum tcp_timewait_act {
	TCP_TW_DROP, /* say nothing */
	TCP_TW_ACK,  /* answer <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK> from the state, within the limit for its peer */
	TCP_TW_SYN   /* a new incarnation may begin if a listener wants it.  The record stays as it is until the new
			handshake is complete: the SYN may be an old duplicate after all (RFC 9293 MAY-2 (2)) */
};

struct tcp_timewait_verdict {
	enum tcp_timewait_act act;
	uint32_t isn_after; /* TCP_TW_SYN: our ISN must lie above this (RFC 9293 MAY-2 (1)) */
	bool restarted;     /* the 2 MSL began anew: the peer's FIN came again */
};

/* A segment for a record: SYN by the seven rows of RFC 6191 §2, RST ignored (RFC 1337 F1), PAWS, acceptability, FIN
 * again (RFC 9293 §3.10.7.4).  The handle is valid.  Takes the peer's newer TSval over. */
struct tcp_timewait_verdict tcp_timewait_seg(struct tcp_timewait *tw, uint32_t handle, const struct tcp_seg *seg,
					     uint64_t now_ns);

/* ---- inline ---- */

/* Records that wait. */
static inline uint32_t
tcp_timewait_used(const struct tcp_timewait *tw)
{
	return tw->used;
}

#endif
