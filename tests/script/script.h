/* SPDX-License-Identifier: BSD-3-Clause */
/* One TCP, driven through its face only, against a peer that is a table: at this time this segment goes in, this one
 * must come out, nothing else may.  The clock is simulated; a table says what the RFC says.
 *
 * Sequence numbers are relative: the peer's SYN is 0 and its first octet 1, ours likewise.  Times are relative to the
 * row before.  Every segment that comes out must be named by a row. */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "iw_time.h"
#include "net_face.h"
#include "start.h"
#include "tcp_face.h"
#include "wire.h"

#define SCRIPT_QUEUE 512
#define SCRIPT_PORT 4420      /* ours, of the listener */
#define SCRIPT_PEER_PORT 3333 /* the peer's */

#define MS IW_MS
#define SEC IW_SEC

enum script_what {
	ROW_IN,     /* the peer sends */
	ROW_OUT,    /* we must send */
	ROW_QUIET,  /* nothing may come out for dt */
	ROW_SKIP,   /* whatever comes out for dt is of no interest */
	ROW_LISTEN, /* on SCRIPT_PORT, backlog n */
	ROW_OPEN,   /* actively, from port len (0: any) */
	ROW_SEND,   /* len octets more, in records of an EMSS; other: whatever the grant */
	ROW_HOLD,   /* the reader stops */
	ROW_READ,   /* it takes len octets; 0: all, and goes on reading */
	ROW_CLOSE,
	ROW_ABORT,
	ROW_RELEASE,
	ROW_STATE,   /* must be n */
	ROW_READY,   /* bits `ready` must have been set since the last such row, bits of `not_ready` not */
	ROW_GOT,     /* so many octets were delivered in all: len */
	ROW_COUNT,   /* connections: n */
	ROW_COUNTER, /* `name` must stand at n */
	ROW_ICMP,    /* error of `type`, `code`, `word` about our segment at seq */
	ROW_CALL     /* fn */
};

enum script_opt { O_MSS = 1, O_WS = 2, O_SACK = 4, O_TS = 8 };
enum script_any { ANY_SEQ = 1, ANY_ACK = 2, ANY_LEN = 4, ANY_FLAGS = 8, ANY_TIME = 16 };

struct script;

struct script_row {
	uint8_t what, flags;
	uint16_t line;
	uint32_t seq, ack, len;
	uint32_t n;              /* IN, OUT: so many segments in a row, 0: one */
	uint64_t dt, tol;        /* tol 0: 1 ms or 2 % of dt, and none of dt 0 */
	uint8_t any;             /* enum script_any */
	uint8_t opt;             /* IN: on SYN, besides what was agreed on; OUT: must be there */
	uint8_t no_opt;          /* IN: not even though agreed on; OUT: must not be there */
	bool burst;              /* IN: no poll behind it */
	bool wnd0;               /* IN: a window of 0; OUT: must be */
	bool other;              /* IN: other octets than these places of the stream have */
	bool bad_cksum, abs_ack; /* IN */
	uint16_t wnd, urp, mss;  /* 0: default; wnd in OUT: compared if not 0 */
	uint8_t ws, ecn, data_offset;
	uint32_t tsval; /* IN: this; 0: the peer's clock */
	int32_t ts_add; /* IN: added to the peer's clock */
	uint32_t tsecr; /* IN: this; 0: the last TSval from us */
	uint32_t sack[WIRE_SACKS][2];
	const char *raw; /* IN: options as they stand */
	uint8_t raw_len;
	uint32_t src;          /* IN: from here; 0: the peer */
	uint16_t sport, dport; /* IN: 0: the peer's, ours */
	uint32_t ready, not_ready;
	const char *name;
	uint8_t type, code;
	uint32_t word;
	void (*fn)(struct script *x);
};

struct script {
	struct iw_env env;
	struct net *net;
	struct tcp *tcp;
	struct tcp_attr attr;
	uint64_t now_ns, mark_ns, start_ns;
	uint32_t conn, listener;
	uint32_t iss, our_iss; /* iss: the peer's */
	uint16_t our_port, peer_port;
	uint16_t wnd;
	bool peer_ts, our_ts; /* seen on its SYN, on ours */
	uint32_t our_tsval;   /* the last from us */
	uint32_t bits;
	uint64_t to_send, sent, got;
	uint32_t record; /* octets of a record; 0: EMSS */
	bool hold, no_adopt, ended;
	uint32_t read_limit;
	uint32_t frames; /* all that came out, ARP too */
	const char *name;
	const struct script_row *row;
	struct wire_seg q[SCRIPT_QUEUE];
	uint64_t at_ns[SCRIPT_QUEUE];
	uint32_t head, tail;
	uint8_t buf[WIRE_FRAME_MAX];
};

/* params NULL: defaults with small tables. */
void script_init(struct script *x, const struct tcp_params *params);
/* Another boot of the host: another secret. */
void script_init_secret(struct script *x, const struct tcp_params *params, uint8_t secret);
void script_fini(struct script *x);
/* The next connection: another peer port, nothing agreed on; old connections stay as they are. */
void script_next_peer(struct script *x, uint16_t port);

void script_play(struct script *x, const char *name, const struct script_row *rows, uint32_t n);

/* Everything that can happen now happens. */
void script_settle(struct script *x);
/* Time passes until something comes out or until then. */
void script_advance(struct script *x, uint64_t until_ns);
enum tcp_state script_state(struct script *x);
uint64_t script_counter(struct script *x, const char *name);
/* The octet at a place of either stream. */
uint8_t script_octet(uint64_t place);
/* A frame from the peer, without a poll. */
void script_frame(struct script *x, struct rte_mbuf *m);
/* Ends the test unless ok, naming the row. */
void script_check(struct script *x, bool ok, const char *what, uint64_t is);
/* A segment as ROW_IN would make it. */
void script_in(struct script *x, const struct script_row *r);
/* The n-th segment that came out and no row has named; fails when there is none. */
const struct wire_seg *script_peek(struct script *x, uint32_t n);

/* ---- rows ---- */
#define ROW(w, ...)                                        \
	{                                                  \
		.what = (w), .line = __LINE__, __VA_ARGS__ \
	}
#define IN(f, s, a, l, ...) ROW(ROW_IN, .flags = (f), .seq = (s), .ack = (a), .len = (l), __VA_ARGS__)
#define OUT(f, s, a, l, ...) ROW(ROW_OUT, .flags = (f), .seq = (s), .ack = (a), .len = (l), __VA_ARGS__)
#define QUIET(t) ROW(ROW_QUIET, .dt = (t))
#define SKIP(t) ROW(ROW_SKIP, .dt = (t))
#define LISTEN ROW(ROW_LISTEN, .n = 8)
#define OPEN ROW(ROW_OPEN, .len = 2222)
#define SEND(l) ROW(ROW_SEND, .len = (l))
/* The same without asking for a grant: more than may go waits in TCP. */
#define PUSH(l) ROW(ROW_SEND, .len = (l), .other = true)
#define HOLD ROW(ROW_HOLD, .n = 0)
#define READ(l) ROW(ROW_READ, .len = (l))
#define CLOSE ROW(ROW_CLOSE, .n = 0)
#define ABORT ROW(ROW_ABORT, .n = 0)
#define RELEASE ROW(ROW_RELEASE, .n = 0)
#define STATE(s) ROW(ROW_STATE, .n = TCP_##s)
#define READY(b) ROW(ROW_READY, .ready = (b))
#define NOT_READY(b) ROW(ROW_READY, .not_ready = (b))
#define GOT(l) ROW(ROW_GOT, .len = (l))
#define COUNT(c) ROW(ROW_COUNT, .n = (c))
#define COUNTER(nm, c) ROW(ROW_COUNTER, .name = (nm), .n = (c))
#define ICMP(t, c, w, s) ROW(ROW_ICMP, .type = (t), .code = (c), .word = (w), .seq = (s))
#define CALL(f) ROW(ROW_CALL, .fn = (f))

/* ESTABLISHED: the peer opens to our listener, or we open; options of the peer's SYN; the round trip of it. */
#define PASSIVE_RTT(o, rtt) \
	LISTEN, IN(S, 0, 0, 0, .opt = (o)), OUT(S | A, 0, 1, 0), IN(A, 1, 1, 0, .dt = (rtt)), STATE(ESTABLISHED)
#define PASSIVE(o) PASSIVE_RTT(o, 0)
/* A passive opener may not know the round trip of the handshake (a record does not keep the time); we do. */
#define ACTIVE_RTT(o, rtt) \
	OPEN, OUT(S, 0, 0, 0), IN(S | A, 0, 1, 0, .opt = (o), .dt = (rtt)), OUT(A, 1, 1, 0), STATE(ESTABLISHED)
#define ACTIVE(o) ACTIVE_RTT(o, 0)

#define PLAY(x, nm, ...)                                                         \
	do {                                                                     \
		static const struct script_row rows_[] = {__VA_ARGS__};          \
		script_play((x), (nm), rows_, sizeof(rows_) / sizeof(rows_[0])); \
	} while (0)

/* A whole script as a test; p: struct tcp_params or NULL. */
#define SCRIPT_WITH(test, p, ...)             \
	static void test(void **state)        \
	{                                     \
		static struct script x;       \
		(void)state;                  \
		script_init(&x, p);           \
		PLAY(&x, #test, __VA_ARGS__); \
		script_fini(&x);              \
	}                                     \
	_Static_assert(1, "takes the semicolon")
#define SCRIPT(test, ...) SCRIPT_WITH(test, NULL, __VA_ARGS__)

/* Tests that show nothing where all 4-tuples begin alike: not where the numbers wrap. */
#define RUN_PLAIN(tests) (start_wraps() ? 0 : cmocka_run_group_tests(tests, NULL, NULL))

/* The receive buffer is so small that a test can fill it. */
#define SMALL 16384
extern const struct tcp_params script_small;

#endif
