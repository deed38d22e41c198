/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP header and options: octets <-> struct tcp_seg.  Sole owner of TCP offsets (RFC 9293 §3.1, §3.2). */
#ifndef TCP_HDR_H
#define TCP_HDR_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "range.h"

#define TCP_HDR_MIN 20
#define TCP_HDR_MAX 60
#define TCP_HDR_TS_LEN 12  /* what the timestamp option costs each segment: NOP NOP TS */
#define TCP_WS_MAX 14      /* RFC 7323 §2.3 */
#define TCP_SACK_MAX 4     /* blocks in one segment (3 beside timestamps) */
#define TCP_HDR_MSS_V4 536 /* of a SYN without the option (RFC 9293 MUST-15) */
#define TCP_HDR_MSS_V6 1220

enum tcp_flag {
	TCP_FIN = 1 << 0,
	TCP_SYN = 1 << 1,
	TCP_RST = 1 << 2,
	TCP_PSH = 1 << 3,
	TCP_ACK = 1 << 4,
	TCP_URG = 1 << 5,
	TCP_ECE = 1 << 6,
	TCP_CWR = 1 << 7
};

/* One segment in host order, as parsed or as to be emitted. */
struct tcp_seg {
	uint32_t seq, ack;
	uint32_t off, len; /* payload: offset from the packet's first octet (parsed only), octets */
	uint32_t tsval, tsecr;
	uint16_t sport, dport;
	uint16_t wnd; /* as on the wire, not scaled */
	uint16_t urp;
	uint16_t mss;
	uint8_t flags; /* enum tcp_flag */
	uint8_t hdr_len;
	uint8_t ws; /* parsed: > 14 is taken for 14 */
	uint8_t n_sack;
	bool has_mss, has_ws, has_ts, sack_perm;
	struct iw_range sack[TCP_SACK_MAX]; /* as they came: not checked against anything */
};

enum tcp_hdr_verdict {
	TCP_HDR_OK,
	TCP_HDR_SHORT,     /* fewer than 20 octets, or the packet ends before l4_len does */
	TCP_HDR_OFFSET,    /* data offset below 5 or beyond the packet */
	TCP_HDR_BAD_OPTION /* an option of illegal length (RFC 9293 MUST-7) */
};

/* Parses the header that begins l4_off octets into the packet; l4_len: header and payload.  The header may lie in
 * several mbuf segments.  MSS, window scale and SACK-permitted are taken from SYN segments only; of an option that
 * comes twice the last one counts.  *seg is filled only with TCP_HDR_OK.  The mbuf is only read. */
enum tcp_hdr_verdict tcp_hdr_parse(const struct rte_mbuf *m, uint32_t l4_off, uint32_t l4_len, struct tcp_seg *seg);

/* Octets of the header that tcp_hdr_push() makes of *seg: 20..60, a multiple of 4.  MSS and window scale count on
 * SYN only.  SACK blocks that do not fit in 60 octets are left out. */
uint32_t tcp_hdr_len(const struct tcp_seg *seg);

/* Puts the header in front of the mbuf's first octet (the payload's), checksum field 0; seg->off and len are not
 * looked at.  Returns its length, 0 when the headroom is too small (nothing done).  Options (RFC 7323 appendix A):
 *     SYN: MSS | SACK-permitted TS | NOP WS     others: NOP NOP TS | NOP NOP SACK */
uint32_t tcp_hdr_push(struct rte_mbuf *m, const struct tcp_seg *seg);

/* A header for many segments: all but the sequence number and the checksum. */
struct tcp_hdr_form {
	uint8_t octets[TCP_HDR_MIN + TCP_HDR_TS_LEN];
	uint8_t len;  /* 0: there is none */
	uint32_t sum; /* of them, in memory order, not folded */
};

/* From the header of hdr_len octets at p; one that has other options than timestamps is no form. */
void tcp_hdr_form_init(struct tcp_hdr_form *form, const uint8_t *p, uint32_t hdr_len);

/* Puts it in front of a segment, checksum field 0; the room is there.  Returns its sum, as tcp_hdr_sum(). */
uint32_t tcp_hdr_push_form(struct rte_mbuf *m, const struct tcp_hdr_form *form, uint32_t seq);

/* Not-complemented 16-bit sum of the header at the mbuf's first octet, in memory order, for adding to the sums of
 * pseudo header and payload. */
uint32_t tcp_hdr_sum(const struct rte_mbuf *m, uint32_t hdr_len);

/* Stores the checksum field, value in memory order (as it comes out of ~rte_raw_cksum sums). */
void tcp_hdr_set_cksum(struct rte_mbuf *m, uint16_t cksum);
/* The same of a header that begins l4_off octets into the first segment. */
void tcp_hdr_set_cksum_at(struct rte_mbuf *m, uint32_t l4_off, uint16_t cksum);

/* ---- inline ---- */

/* SEG.LEN: payload octets, SYN and FIN (RFC 9293 §3.4). */
static inline uint32_t
tcp_hdr_seg_len(const struct tcp_seg *seg)
{
	return seg->len + ((seg->flags & TCP_SYN) != 0) + ((seg->flags & TCP_FIN) != 0);
}

/* The MSS that a SYN tells, with the option or without it. */
static inline uint32_t
tcp_hdr_mss(const struct tcp_seg *syn, bool v4)
{
	if (syn->has_mss)
		return syn->mss;
	return v4 ? TCP_HDR_MSS_V4 : TCP_HDR_MSS_V6;
}

#endif
