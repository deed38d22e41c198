/* SPDX-License-Identifier: BSD-3-Clause */
/* Was a loss recovery a mistake?  Three witnesses: an ACK that echoes a timestamp older than the first retransmission
 * (Eifel, RFC 3522), a D-SACK for each retransmission (RFC 2883, RFC 3708), and after a timeout an ACK for what was
 * sent before it and never again (F-RTO with SACK, RFC 5682 §3).  Decides only; tcp_loss gives windows and records
 * back. */
#ifndef TCP_UNDO_H
#define TCP_UNDO_H

#include <stdbool.h>
#include <stdint.h>

#include "range.h"

/* Where F-RTO stands (RFC 5682 §3.1). */
enum tcp_frto {
	TCP_FRTO_OFF,
	TCP_FRTO_REXMIT, /* step 2: the ACK of the retransmission is awaited */
	TCP_FRTO_NEW     /* step 3: new data goes, nothing is sent again until the next ACK */
};

#define TCP_FRTO_SEGMENTS 2 /* new ones in step 2b */

/* Of one connection. */
struct tcp_undo {
	uint32_t from, to;   /* SND.UNA and SND.NXT when recovery began */
	uint32_t unanswered; /* retransmissions that no D-SACK has reported */
	uint32_t rexmit_ts;  /* RetransmitTS of RFC 3522 */
	uint8_t frto;        /* enum tcp_frto */
	uint8_t frto_left;   /* new segments that may still go in TCP_FRTO_NEW */
	bool open;           /* the verdict is not yet given */
	bool sent;           /* something was sent again since */
	bool has_ts;         /* rexmit_ts is set, and no acceptable ACK came since */
	bool dsack_seen;     /* some time in this connection's life */
};

/* What one ACK tells. */
struct tcp_undo_ack {
	uint32_t una, fack; /* SND.UNA and highest octet acknowledged in any way, after it */
	uint32_t tsecr;
	uint32_t delivered; /* octets newly acknowledged or SACKed */
	uint32_t emss;
	bool has_ts, advanced, duplicate;
	bool dsack, new_data; /* new_data: something never sent waits, and the window lets it go */
	struct iw_range dsack_block;
};

/* Recovery begins; in_flight: retransmissions of before that are still on their way; rto: by a timeout. */
void tcp_undo_begin(struct tcp_undo *u, uint32_t una, uint32_t nxt, uint32_t in_flight, bool rto);

/* A further timeout in the same recovery.  F-RTO starts again when it is for the same segment, else all is settled. */
void tcp_undo_rto_again(struct tcp_undo *u, uint32_t una);

/* A record was sent again in this recovery, with this TSval.  oldest: it is the one at SND.UNA, and this is its first
 * retransmission; only then does an echo tell (RFC 3522 §3.2). */
void tcp_undo_rexmit(struct tcp_undo *u, bool oldest, bool has_ts, uint32_t tsval);

/* One ACK; true: it was a mistake (once). */
bool tcp_undo_ack(struct tcp_undo *u, const struct tcp_undo_ack *a);

#endif
