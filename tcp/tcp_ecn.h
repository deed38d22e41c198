/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit congestion notification (RFC 3168; echo and marking as RFC 8257 asks for where DCTCP is in use).
 *
 * Agreed on by SYN (ECE and CWR) and SYN-ACK (ECE); a SYN that has to be sent again asks no more (RFC 3168 §6.1.1.1).
 * Receiver: CE on text is echoed by ECE until CWR comes; with DCTCP ECE says whether the last text was marked.
 * Sender: ECE reduces the window once a round trip, CWR tells so with the next new data. */
#ifndef TCP_ECN_H
#define TCP_ECN_H

#include "tcp_conn_obj.h"
#include "tcp_hdr.h"

enum tcp_ecn_codepoint { TCP_ECN_NOT_ECT, TCP_ECN_ECT_1, TCP_ECN_ECT_0, TCP_ECN_CE };

/* What leaves. */
enum tcp_ecn_kind {
	TCP_ECN_NEW,    /* data for the first time */
	TCP_ECN_AGAIN,  /* a retransmission */
	TCP_ECN_CONTROL /* anything else */
};

/* Flags of our SYN or SYN-ACK: ECE and CWR, ECE, or none. */
uint8_t tcp_ecn_syn_flags(const struct tcp *tcp, struct tcp_conn *c, bool syn_ack, bool again);

/* The peer's SYN or SYN-ACK. */
void tcp_ecn_take_syn(const struct tcp *tcp, struct tcp_conn *c, const struct tcp_seg *seg);

/* Text came with this codepoint and these flags.  true: its ACK leaves at once. */
bool tcp_ecn_rx(const struct tcp *tcp, struct tcp_conn *c, uint8_t codepoint, uint8_t flags);

/* The ECE flag of what leaves now (not on SYN). */
uint8_t tcp_ecn_echo(const struct tcp_conn *c);

/* Codepoint of a SYN or SYN-ACK with these flags. */
uint8_t tcp_ecn_syn_mark(const struct tcp *tcp, uint8_t flags);

/* Codepoint of the IP header; for TCP_ECN_NEW *flags gets CWR when the window was reduced since. */
uint8_t tcp_ecn_mark(const struct tcp *tcp, struct tcp_conn *c, enum tcp_ecn_kind kind, uint8_t *flags);

/* The ACK says ECE and the window has not been reduced in this round trip: reduce it. */
bool tcp_ecn_reacts(const struct tcp_conn *c, const struct tcp_seg *seg);

/* The window was reduced, for whatever reason: CWR goes out, and ECE is no news up to SND.NXT (§6.1.2). */
void tcp_ecn_reduced(struct tcp_conn *c);

#endif
