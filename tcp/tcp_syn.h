/* SPDX-License-Identifier: BSD-3-Clause */
/* Half-open connections that came in: records of 64 octets instead of connections (RFC 4987 §3.5).  A table of sets
 * chosen by keyed hash; a set that is full takes no more, nothing is thrown out for a newcomer: SYN cookies serve it.
 * A record stands for SYN_RCVD: it repeats its SYN-ACK after 1, 2, 4, 8 and 16 s and is given up after 63 s; what
 * arrives for it is judged here, acted on in tcp_listen.c. */
#ifndef TCP_SYN_H
#define TCP_SYN_H

#include <stdbool.h>
#include <stdint.h>

#include "env.h"
#include "tcp_hdr.h"
#include "tcp_tuple.h"

#define TCP_SYN_ACK_RETRIES 5
#define TCP_SYN_WAYS 4 /* records in one set */
#define TCP_SYN_MAX (1u << 20)

struct tcp_syn_rec {
	struct tcp_tuple tuple; /* local_port 0: free */
	uint32_t irs, iss;
	uint32_t ts_recent;
	uint32_t next, prev; /* in the list of its retries: place in the table + 1; 0: none */
	uint16_t wnd, mss;   /* as in the peer's SYN */
	uint16_t due;        /* ticks, see tcp_syn.c */
	uint16_t bits;
};
_Static_assert(sizeof(struct tcp_syn_rec) <= 64, "budget of design §4");

struct tcp_syn_list {
	uint32_t first, last; /* place + 1; 0: empty */
};

struct tcp_syn {
	const struct iw_env *env;
	struct tcp_syn_rec *recs;
	uint32_t sets, used;
	uint64_t now_ns; /* the latest that was passed in */
	/* All that were sent equally often wait equally long: in each list the first is due first. */
	struct tcp_syn_list wait[TCP_SYN_ACK_RETRIES + 1];
};

/* At least max records (1..TCP_SYN_MAX).  0, -IW_E_INVAL, -IW_E_NOMEM. */
int tcp_syn_init(struct tcp_syn *s, const struct iw_env *env, uint32_t max);
void tcp_syn_fini(struct tcp_syn *s);

/* NULL: none. */
struct tcp_syn_rec *tcp_syn_find(const struct tcp_syn *s, const struct tcp_tuple *t);

/* A record for *syn, whose SYN-ACK leaves now with iss.  NULL: its set is full.  There is none for t yet. */
struct tcp_syn_rec *tcp_syn_add(struct tcp_syn *s, const struct tcp_tuple *t, const struct tcp_seg *syn, uint32_t iss,
				uint64_t now_ns);
void tcp_syn_del(struct tcp_syn *s, struct tcp_syn_rec *rec);

/* The next one that is due; NULL: none.  It stays where it is: tcp_syn_again() or tcp_syn_del() it. */
struct tcp_syn_rec *tcp_syn_due(struct tcp_syn *s, uint64_t now_ns);
/* Its SYN-ACK leaves once more; false: it has left often enough, the caller deletes the record. */
bool tcp_syn_again(struct tcp_syn *s, struct tcp_syn_rec *rec, uint64_t now_ns);
uint64_t tcp_syn_deadline(const struct tcp_syn *s); /* IW_NEVER: none */

/* The peer's SYN, as tcp_hdr_parse() gave it. */
struct tcp_seg tcp_syn_seg(const struct tcp_syn_rec *rec);
/* When its SYN-ACK left, to a tick of the ISN's clock, which tells it: nothing has to be remembered.  0: not known, or
 * it left more than once (Karn). */
uint64_t tcp_syn_sent_ns(const struct tcp_syn *s, const struct tcp_syn_rec *rec, uint64_t now_ns);
/* Its ISN does not tell the time. */
void tcp_syn_set_untimed(struct tcp_syn_rec *rec);
/* How often its SYN-ACK left again because nothing came back. */
uint32_t tcp_syn_retries(const struct tcp_syn_rec *rec);

enum tcp_syn_verdict {
	TCP_SYN_TAKE,      /* the handshake is complete: a connection, which takes the segment */
	TCP_SYN_REPEAT,    /* the peer's SYN again: the SYN-ACK again */
	TCP_SYN_END,       /* RST exactly at RCV.NXT: the record goes, nobody is told */
	TCP_SYN_CHALLENGE, /* an ACK, within limits */
	TCP_SYN_REFUSE,    /* a bad ACK: RST, the record stays */
	TCP_SYN_DROP
};

/* RFC 9293 §3.10.7.4 for SYN_RCVD from a passive open, with RFC 5961 and PAWS.  wnd: what was advertised.  Missing
 * timestamps are tolerated.  A repeated SYN brings its timestamp. */
enum tcp_syn_verdict tcp_syn_check(struct tcp_syn_rec *rec, const struct tcp_seg *seg, uint32_t wnd);

#endif
