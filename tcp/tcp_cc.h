/* SPDX-License-Identifier: BSD-3-Clause */
/* Congestion control: how much may be in the network.  Algorithms are tables of functions on one plain struct; they
 * see octets and times, no connection.  All windows in octets. */
#ifndef TCP_CC_H
#define TCP_CC_H

#include <stdbool.h>
#include <stdint.h>

struct tcp_cc;

/* An ACK that advanced SND.UNA or SACKed something. */
struct tcp_cc_ack {
	uint64_t now_ns;
	uint64_t srtt_ns;  /* 0: unknown */
	uint64_t rtt_ns;   /* measured with this ACK; 0: not */
	uint32_t una, nxt; /* SND.UNA after it, SND.NXT */
	uint32_t acked;    /* octets newly acknowledged cumulatively */
	uint32_t flight;   /* FlightSize before this ACK */
	bool cwnd_limited; /* the window was the limit: it may grow (RFC 7661: else it must not) */
	bool exact;        /* acked counts only what has left the network just now (by SACK) */
	bool paced;        /* bursts are spread: slow start needs no limit for an ACK */
	bool ece;          /* it carried ECE */
};

enum tcp_cc_cause { TCP_CC_LOSS, TCP_CC_ECN };

struct tcp_cc_ops {
	const char *name;
	void (*init)(struct tcp_cc *cc);
	/* Every ACK that moves SND.UNA, in every phase, before anything else; NULL: of no interest. */
	void (*on_una)(struct tcp_cc *cc, const struct tcp_cc_ack *ack);
	/* Outside recovery: slow start or avoidance. */
	void (*on_ack)(struct tcp_cc *cc, const struct tcp_cc_ack *ack);
	/* Loss recovery begins, or ECE (once a round trip): sets ssthresh; cwnd while in recovery is PRR's
	 * (tcp_prr.h), after TCP_CC_ECN cwnd = ssthresh. */
	void (*enter_recovery)(struct tcp_cc *cc, enum tcp_cc_cause cause, uint32_t flight, uint64_t now_ns);
	/* The recovery point is acknowledged: cwnd = ssthresh. */
	void (*exit_recovery)(struct tcp_cc *cc, uint64_t now_ns);
	/* RTO. first: of this record (ssthresh changes only then, RFC 5681 §3.1). */
	void (*on_rto)(struct tcp_cc *cc, uint32_t flight, bool first, uint64_t now_ns);
	/* The last reduction was a mistake (Eifel, F-RTO, D-SACK): back to what was before. */
	void (*undo)(struct tcp_cc *cc);
};

/* RFC 9438; windows in segments, times in seconds. */
struct tcp_cc_cubic_state {
	uint64_t
		epoch_ns; /* when this stage of avoidance began, without the time it was not limited by cwnd; 0: none */
	uint64_t seen_ns; /* the last ACK */
	double w_max, k, w_est, cwnd_prior;
	double carry; /* octets of increment below one */
};

/* RFC 9406; only during the first slow start. */
struct tcp_cc_hystart_state {
	uint64_t last_ns, now_ns, base_ns; /* least RTT of last and this round, baseline of CSS; IW_NEVER: none */
	uint32_t window_end;
	uint8_t samples;
	uint8_t css_rounds; /* rounds of conservative slow start begun; 0: standard slow start */
	bool begun;
};

/* RFC 8257 §3.3. */
struct tcp_cc_dctcp_state {
	uint32_t alpha; /* of TCP_CC_DCTCP_ONE */
	uint32_t window_end, acked, marked;
	bool begun;
};

#define TCP_CC_DCTCP_ONE 65536u

struct tcp_cc {
	const struct tcp_cc_ops *ops;
	uint32_t cwnd, ssthresh;
	uint32_t mss;                        /* SMSS */
	uint32_t acc;                        /* octets acknowledged towards the next increment */
	uint32_t prior_cwnd, prior_ssthresh; /* before the last reduction; 0: nothing to undo */
	bool after_rto;                      /* slow start that follows an RTO (RFC 3465 §2.3) */
	union {
		struct tcp_cc_cubic_state cubic;
		struct tcp_cc_dctcp_state dctcp;
	};
	union { /* nothing can be undone before the first reduction, and that ends the first slow start */
		struct tcp_cc_hystart_state hystart;
		struct tcp_cc_cubic_state cubic_prior;
	};
};

extern const struct tcp_cc_ops tcp_cc_newreno; /* RFC 5681, 6582 */
extern const struct tcp_cc_ops tcp_cc_cubic;   /* RFC 9438, with HyStart++ (RFC 9406) */
extern const struct tcp_cc_ops tcp_cc_dctcp;   /* RFC 8257: for data centres only */

/* By enum tcp_cc_kind, which is not TCP_CC_DEFAULT. */
const struct tcp_cc_ops *tcp_cc_ops_of(uint8_t kind);

#define TCP_CC_SSTHRESH_INIT 0x7fffffffu
#define TCP_CC_CWND_MAX 0x3fffffffu

/* mss: SMSS, options not counted.  syn_lost: SYN or SYN-ACK was lost for certain, or sent more than twice: the initial
 * window is one segment (RFC 6928 §2). */
void tcp_cc_init(struct tcp_cc *cc, const struct tcp_cc_ops *ops, uint32_t mss, bool syn_lost);
/* SMSS has changed (path MTU): a smaller one makes cwnd smaller in proportion (RFC 5681 §3.1). */
void tcp_cc_set_mss(struct tcp_cc *cc, uint32_t mss);
/* Nothing was sent for longer than an RTO: cwnd = min(IW, cwnd) (RFC 5681 §4.1). */
void tcp_cc_idle(struct tcp_cc *cc);

/* Initial window: min(10 * MSS, max(2 * MSS, 14600)) (RFC 6928 §2). */
uint32_t tcp_cc_initial_window(uint32_t mss);

/* For the algorithms. */

/* Slow start by octets (RFC 3465): cwnd grows by what was acknowledged; at most by L segments for one ACK: 8, as RFC
 * 9406 §4.3 has it, any number when paced, and 1 after an RTO where it is not known what has left the network just
 * now. */
void tcp_cc_grow_slow_start(struct tcp_cc *cc, const struct tcp_cc_ack *ack);
/* L of slow start, in octets. */
uint32_t tcp_cc_limit(const struct tcp_cc *cc, const struct tcp_cc_ack *ack);
/* cwnd += octets, up to TCP_CC_CWND_MAX. */
void tcp_cc_grow(struct tcp_cc *cc, uint32_t octets);
/* Keeps what undo gives back. */
void tcp_cc_save(struct tcp_cc *cc);
/* cwnd and ssthresh are at least what they were when saved; nothing when nothing is saved. */
void tcp_cc_restore(struct tcp_cc *cc);

/* ---- inline ---- */

static inline bool
tcp_cc_slow_start(const struct tcp_cc *cc)
{
	return cc->cwnd < cc->ssthresh;
}

#endif
