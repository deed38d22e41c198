/* SPDX-License-Identifier: BSD-3-Clause */
/* What SACK blocks tell about transmit records: validation (RFC 2018, RFC 2883 D-SACK) and marking.  The scoreboard is
 * the records' flags; what is lost is judged by tcp_rack; the work of one ACK is bounded (CVE-2019-11477 ff.). */
#ifndef TCP_SACK_H
#define TCP_SACK_H

#include <stdbool.h>
#include <stdint.h>

#include "range.h"
#include "tcp_hdr.h"
#include "tcp_txq.h"

#define TCP_SACK_STEPS 2048 /* records looked at for one ACK; what is beyond is left to later ACKs */

/* Of one connection. */
struct tcp_sack {
	struct iw_range seen[TCP_SACK_MAX]; /* blocks of the last ACK, as far as they were dealt with */
	uint8_t n_seen;
};

struct tcp_sack_result {
	uint8_t bad;    /* blocks that were ignored: empty, reversed, not inside (SND.UNA, SND.NXT] */
	bool dsack;     /* the first block reports octets that the peer had got before */
	bool cut_short; /* TCP_SACK_STEPS were used up */
	struct iw_range dsack_block;
};

/* At the start, and whenever tcp_txq_mark_all_lost() forgot what was SACKed. */
void tcp_sack_init(struct tcp_sack *s);

/* Blocks of an ACK of `ack`; call after tcp_txq_ack().  Marks records that one block wholly covers and adds to *delta.
 * The first block may be a D-SACK (RFC 2883 §4, §5): at or below `ack`, which is an octet ahead of the records while a
 * probe's has been taken, or inside the second one. */
struct tcp_sack_result tcp_sack_rx(struct tcp_sack *s, struct tcp_txq *q, uint32_t ack, const struct iw_range *blocks,
				   uint32_t n, struct tcp_txq_delta *delta);

#endif
