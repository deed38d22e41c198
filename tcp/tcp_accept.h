/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a segment is let in: the checks of RFC 9293 §3.10.7.4, first to fifth step, with RFC 5961 and PAWS, in
 * exactly that order.  Pure: looks at connection and segment, changes nothing. */
#ifndef TCP_ACCEPT_H
#define TCP_ACCEPT_H

#include "tcp_conn_obj.h"
#include "tcp_hdr.h"

/* X(name, what is done, counter); see enum tcp_accept_do. */
/* clang-format off */
#define TCP_ACCEPT_VERDICTS(X) \
	X(PASS,          TAKE,      rx_segs)            /* process it */ \
	X(ACK_ONLY,      TAKE_ACK,  rx_no_window)       /* window 0: its ACK counts, its text does not */ \
	X(SYN_ACK,       TAKE_SYN,  rx_segs)            /* SYN_RCVD: the SYN-ACK that crossed ours: its ACK counts */ \
	X(SYN_AGAIN,     REPEAT,    rx_dup)             /* SYN_RCVD: the peer has not got our SYN-ACK */ \
	X(RST,           OBEY,      rx_segs)            /* the connection is reset */ \
	X(NO_TS,         DROP,      rx_no_ts) \
	X(PAWS,          ACK,       rx_paws) \
	X(PAWS_EMPTY,    CHALLENGE, rx_paws) \
	X(OUTSIDE,       ACK,       rx_unacceptable) \
	X(OUTSIDE_EMPTY, CHALLENGE, rx_unacceptable) \
	X(RST_OUTSIDE,   DROP,      rx_rst_outside) \
	X(RST_INSIDE,    CHALLENGE, rx_rst_challenged) \
	X(SYN,           CHALLENGE, rx_syn_challenged) \
	X(NO_ACK,        DROP,      rx_no_ack) \
	X(BAD_ACK,       CHALLENGE, rx_bad_ack) \
	X(BAD_ACK_SYN,   REFUSE,    rx_bad_ack)         /* SYN_RCVD: RST */
/* clang-format on */

enum tcp_accept_verdict {
#define TCP_ACCEPT_ENUM(name, act, counter) TCP_ACCEPT_##name,
	TCP_ACCEPT_VERDICTS(TCP_ACCEPT_ENUM)
#undef TCP_ACCEPT_ENUM
};

enum tcp_accept_do {
	TCP_ACCEPT_DO_TAKE,
	TCP_ACCEPT_DO_TAKE_ACK,
	TCP_ACCEPT_DO_TAKE_SYN,
	TCP_ACCEPT_DO_REPEAT,
	TCP_ACCEPT_DO_OBEY,
	TCP_ACCEPT_DO_DROP,
	TCP_ACCEPT_DO_ACK,       /* an ACK at once, whatever the rate: the peer retransmits or probes */
	TCP_ACCEPT_DO_CHALLENGE, /* an ACK within the limit of RFC 5961 §7 */
	TCP_ACCEPT_DO_REFUSE     /* RST <SEQ=SEG.ACK> */
};

/* c is in SYN_RCVD or a later state. */
enum tcp_accept_verdict tcp_accept_check(const struct tcp_conn *c, const struct tcp_seg *seg, uint64_t now_ns);

/* RFC 9293 §3.10.7.4 table 6: some octet of [seq, seq + len) lies in the window; len 0: seq itself does. */
bool tcp_accept_is_inside(uint32_t seq, uint32_t len, uint32_t nxt, uint32_t wnd);

/* At most `limit` (<= 255) in each TCP_CHALLENGE_NS, for each connection alone (CVE-2016-5696): true: one may go. */
#define TCP_CHALLENGES 10 /* unless tcp_params say otherwise */
#define TCP_CHALLENGE_NS (5 * IW_SEC)
bool tcp_accept_challenge(struct tcp_conn *c, uint32_t limit, uint64_t now_ns);

#endif
