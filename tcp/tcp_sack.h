/* SPDX-License-Identifier: BSD-3-Clause */
/* What SACK blocks tell about transmit records: validation (RFC 2018, RFC 2883 D-SACK), marking, and the loss rules
 * of RFC 6675.  The scoreboard is the records' flags; the work of one ACK is bounded (CVE-2019-11477 ff.). */
#ifndef TCP_SACK_H
#define TCP_SACK_H

#include <stdbool.h>
#include <stdint.h>

#include "range.h"
#include "tcp_hdr.h"
#include "tcp_txq.h"

#define TCP_SACK_STEPS 2048 /* records looked at for one ACK; what is beyond is left to later ACKs */
#define TCP_DUP_THRESH 3    /* RFC 6675 §2 */

/* Of one connection. */
struct tcp_sack {
	struct iw_range seen[TCP_SACK_MAX]; /* blocks of the last ACK, wholly dealt with */
	uint8_t n_seen;
};

struct tcp_sack_result {
	uint8_t bad;    /* blocks that were ignored: empty, reversed, beyond what was sent */
	bool dsack;     /* the first block reports octets that the peer had got before */
	bool cut_short; /* TCP_SACK_STEPS were used up */
	struct iw_range dsack_block;
};

void tcp_sack_init(struct tcp_sack *s);

/* Blocks of an ACK; call after tcp_txq_ack() with that segment's ACK.  Marks records that a block wholly covers and
 * adds to *delta.  ack: that ACK number (a first
 * block at or below it is a D-SACK, RFC 2883 §4). */
struct tcp_sack_result tcp_sack_rx(struct tcp_sack *s, struct tcp_txq *q, const struct iw_range *blocks, uint32_t n,
				   uint32_t ack, struct tcp_txq_delta *delta);

/* IsLost(seq) of RFC 6675 §4 for a record that is not SACKed: DupThresh SACKed islands or more than
 * (DupThresh - 1) * SMSS SACKed octets above it. */
bool tcp_sack_is_lost(const struct tcp_txq *q, const struct tcp_txq_rec *rec, uint32_t smss);

/* Marks every record lost for which IsLost holds; returns octets newly lost. */
uint32_t tcp_sack_mark_lost(struct tcp_txq *q, uint32_t smss);

/* NextSeg() of RFC 6675 §4, rules 1 to 3: a lost record; one never sent; in recovery one that is not SACKed, not
 * yet retransmitted and below a SACKed one.  NULL: nothing qualifies.  Whether windows
 * allow it is the caller's question. */
struct tcp_txq_rec *tcp_sack_next_seg(const struct tcp_txq *q);

#endif
