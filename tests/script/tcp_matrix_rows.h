/* SPDX-License-Identifier: BSD-3-Clause */
/* What one segment does to a connection: every state x every combination of the six control bits x where it lies x
 * what it acknowledges x text or none x timestamps.  The first row that matches holds; every combination has one, and
 * every row holds for something in each of its states.  Written from RFC 9293 §3.10.7 (as "9293 n": its n-th check),
 * 5961, 7323, 1337 and 6191. */
#ifndef TCP_MATRIX_ROWS_H
#define TCP_MATRIX_ROWS_H

#include "wire.h"

/* States.  SYN_RCVD twice: opened passively, actively.  From ES on 1000 octets from the peer were received; in ES, F1,
 * CW, CG and LA 1000 of ours are in flight. */
enum {
	CL = 1 << 0,
	LI = 1 << 1,
	SS = 1 << 2,
	RP = 1 << 3,
	RA = 1 << 4,
	ES = 1 << 5,
	F1 = 1 << 6,
	F2 = 1 << 7,
	CW = 1 << 8,
	CG = 1 << 9,
	LA = 1 << 10,
	TW = 1 << 11,
	STATES = 12
};
#define SR (RP | RA)
#define LIVE (ES | F1 | F2 | CW | CG | LA)
#define SYNC (LIVE | TW)

/* Where SEG.SEQ lies; text is 100 octets. */
enum {
	LEFT = 1 << 0,   /* RCV.NXT - 200 */
	ACROSS = 1 << 1, /* RCV.NXT - 50: text lies half before, half behind the left edge */
	EDGE = 1 << 2,   /* RCV.NXT */
	INSIDE = 1 << 3, /* RCV.NXT + 1000 */
	RIGHT = 1 << 4,  /* RCV.NXT + RCV.WND - 1 */
	BEYOND = 1 << 5, /* RCV.NXT + RCV.WND */
	POSITIONS = 6
};

/* SEG.ACK. */
enum {
	OLD = 1 << 0,    /* SND.UNA - 65536 - 1: below SND.UNA - MAX.SND.WND */
	BELOW = 1 << 1,  /* SND.UNA - 1 */
	UNA = 1 << 2,    /* SND.UNA */
	FLIGHT = 1 << 3, /* between SND.UNA and SND.NXT, if there is something; else SND.NXT */
	NXT = 1 << 4,    /* SND.NXT */
	AHEAD = 1 << 5,  /* SND.NXT + 1 */
	ACKS = 6
};

enum { EMPTY = 1 << 0, TEXT = 1 << 1, LENGTHS = 2 };

/* Timestamps: not agreed on; agreed on and newer, older than TS.Recent, missing. */
enum { T_OFF = 1 << 0, T_NEW = 1 << 1, T_PAST = 1 << 2, T_GONE = 1 << 3, TIMES = 4 };

enum answer {
	NOTHING,
	ACK,            /* <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK> */
	ACK_OR_NOTHING, /* the RFC leaves it open */
	RST_AT_ACK,     /* <SEQ=SEG.ACK><CTL=RST> */
	RST_THEN_SYN,   /* as above, and <SEQ=ISS><CTL=SYN> again: what was in its way is gone (9293 §3.5.1) */
	RST_ACK,        /* <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK> */
	SYN_ACK         /* <SEQ=ISS><ACK=SEG.SEQ+1><CTL=SYN,ACK> */
};

/* What is taken of the segment at the left edge: octets from RCV.NXT on, FIN. */
enum { TAKE = 1, FIN = 2, MAY_TAKE = 4 };

#define SAME 0 /* next state */
#define ANY 0xff

struct matrix_row {
	const char *rfc;
	uint16_t states;
	uint8_t must, not ; /* flags */
	uint8_t pos, ack, len, ts;
	uint16_t next; /* one of two with MAY_TAKE and FIN */
	uint8_t answer, take;
};

/* clang-format off */
static const struct matrix_row matrix_rows[] = {
	/* no connection */
	{"9293 §3.10.7.1: a RST is discarded",               CL, R, 0, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"9293 §3.10.7.1: ACK bit on",                       CL, A, 0, ANY, ANY, ANY, ANY, SAME, RST_AT_ACK, 0},
	{"9293 §3.10.7.1: ACK bit off",                      CL, 0, R | A, ANY, ANY, ANY, ANY, SAME, RST_ACK, 0},
	{"9293 §3.10.7.2 first: RST",                        LI, R, 0, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"9293 §3.10.7.2 second: ACK",                       LI, A, 0, ANY, ANY, ANY, ANY, SAME, RST_AT_ACK, 0},
	{"9293 §3.10.7.2 third: SYN",                        LI, S, 0, ANY, ANY, ANY, ANY, RP, SYN_ACK, 0},
	{"9293 §3.10.7.2 fourth: other",                     LI, 0, S | R | A, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},

	/* SYN_SENT */
	{"9293 §3.10.7.3 first: bad ACK with RST",           SS, A | R, 0, ANY, OLD | BELOW | UNA | AHEAD, ANY, ANY, SAME, NOTHING, 0},
	{"9293 §3.10.7.3 first: bad ACK",                    SS, A, 0, ANY, OLD | BELOW | UNA | AHEAD, ANY, ANY, SAME, RST_THEN_SYN, 0},
	{"9293 §3.10.7.3 second: RST, our SYN acknowledged", SS, A | R, 0, ANY, FLIGHT | NXT, ANY, ANY, CL, NOTHING, 0},
	{"9293 §3.10.7.3 second: RST without ACK",           SS, R, A, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"9293 §3.10.7.3 fourth: SYN,ACK with FIN",          SS, S | A | F, 0, ANY, FLIGHT | NXT, ANY, ANY, ES | CW, ACK, MAY_TAKE | FIN},
	{"9293 §3.10.7.3 fourth: SYN,ACK",                   SS, S | A, F, ANY, FLIGHT | NXT, ANY, ANY, ES, ACK, MAY_TAKE},
	{"9293 §3.10.7.3 fourth: SYN (MUST-10)",             SS, S, A, ANY, ANY, ANY, ANY, RA, SYN_ACK, 0},
	{"9293 §3.10.7.3 fifth: neither SYN nor RST",        SS, 0, S | R, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},

	/* TIME_WAIT: what is different there */
	{"1337 §3 F1: RST is ignored",                       TW, R, 0, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"6191 §2: timestamp greater",                       TW, S, A, ANY, ANY, ANY, T_NEW, RP, SYN_ACK, 0},
	{"6191 §2: timestamp less",                          TW, S, A, ANY, ANY, ANY, T_PAST, SAME, NOTHING, 0},
	{"6191 §2: sequence number greater",                 TW, S, A, EDGE | INSIDE | RIGHT | BEYOND, ANY, ANY, T_OFF | T_GONE, RP, SYN_ACK, 0},
	{"6191 §2: otherwise",                               TW, S, A, LEFT | ACROSS, ANY, ANY, T_OFF | T_GONE, SAME, NOTHING, 0},

	/* timestamps come before the sequence number */
	{"5961 §4.2: SYN, whatever else (a MUST before 7323's SHOULD)", SYNC, S, R, ANY, ANY, ANY, T_GONE, SAME, ACK, 0},
	{"7323 §3.2: timestamp missing",                     SYNC, 0, R | S, ANY, ANY, ANY, T_GONE, SAME, NOTHING, 0},
	{"7323 §5.3 R1: PAWS",                               SR | SYNC, 0, R, ANY, ANY, ANY, T_PAST, SAME, ACK, 0},

	/* first and second: sequence number, RST */
	{"5961 §3.2 1): RST outside the window",             SR | LIVE, R, 0, LEFT | ACROSS | BEYOND, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"9293 first: not acceptable",                       SR | SYNC, 0, R, LEFT | BEYOND, ANY, ANY, ANY, SAME, ACK, 0},
	{"9293 first: not acceptable, no text behind the edge", SR | SYNC, 0, R, ACROSS, ANY, EMPTY, ANY, SAME, ACK, 0},
	{"9293 second: RST at RCV.NXT, passive open",        RP, R, 0, EDGE, ANY, ANY, ANY, LI, NOTHING, 0},
	{"5961 §3.2 2): RST at RCV.NXT",                     RA | LIVE, R, 0, EDGE, ANY, ANY, ANY, CL, NOTHING, 0},
	{"5961 §3.2 3): RST elsewhere in the window",        SR | LIVE, R, 0, INSIDE | RIGHT, ANY, ANY, ANY, SAME, ACK, 0},

	/* fourth: SYN */
	/* 9293 would go back to LISTEN from a passive open: a handshake that anybody may end who hits the window.  With
	 * the challenge a peer that did start anew ends it by its RST, and nobody else. */
	{"5961 §4.2: SYN",                                   SR | SYNC, S, R, ANY, ANY, ANY, ANY, SAME, ACK, 0},

	/* fifth: ACK */
	{"9293 fifth: ACK bit off",                          SR | SYNC, 0, R | S | A, ANY, ANY, ANY, ANY, SAME, NOTHING, 0},
	{"9293 fifth, SYN_RCVD: not acceptable",             SR, A, 0, ANY, OLD | BELOW | UNA | AHEAD, ANY, ANY, SAME, RST_AT_ACK, 0},
	{"5961 §5.2 is a MAY: nothing can be injected here", TW, A, F, ANY, OLD, EMPTY, ANY, SAME, ACK_OR_NOTHING, 0},
	{"5961 §5.2: ACK out of range",                      SYNC, A, 0, ANY, OLD | AHEAD, ANY, ANY, SAME, ACK, 0},

	/* SYN_RCVD, our SYN acknowledged */
	{"9293 fifth and eighth: FIN in order",              SR, F, 0, EDGE | ACROSS, ANY, ANY, ANY, CW, ACK, TAKE | FIN},
	{"9293 fifth and seventh: text in order",            SR, A, F, EDGE | ACROSS, ANY, TEXT, ANY, ES, ACK, TAKE},
	{"9293 fifth: nothing but an ACK",                   SR, A, F, EDGE, ANY, EMPTY, ANY, ES, NOTHING, 0},
	{"9293 SHLD-31, 5681 §3.2: text out of order",       SR, A, 0, INSIDE | RIGHT, ANY, TEXT, ANY, ES, ACK, 0},
	{"9293 SHLD-31, 5681 §3.2: FIN out of order",        SR, A | F, 0, INSIDE | RIGHT, ANY, EMPTY, ANY, ES, ACK, 0},
	{"9293 seventh, MAY-13",                             SR, A, F, INSIDE | RIGHT, ANY, EMPTY, ANY, ES, ACK_OR_NOTHING, 0},

	/* our FIN acknowledged */
	{"9293 fifth, LAST_ACK: our FIN acknowledged",       LA, A, 0, ANY, NXT, ANY, ANY, CL, NOTHING, 0},
	{"9293 fifth, CLOSING: our FIN acknowledged",        CG, A, F, EDGE, NXT, EMPTY, ANY, TW, NOTHING, 0},
	{"9293 fifth, CLOSING; text and FIN are ignored",    CG, A, 0, ANY, NXT, ANY, ANY, TW, ACK_OR_NOTHING, 0},

	/* FIN in order */
	{"9293 eighth, FIN_WAIT_1: ours acknowledged too",   F1, A | F, 0, EDGE | ACROSS, NXT, ANY, ANY, TW, ACK, TAKE | FIN},
	{"9293 eighth, FIN_WAIT_1",                          F1, A | F, 0, EDGE | ACROSS, BELOW | UNA | FLIGHT, ANY, ANY, CG, ACK, TAKE | FIN},
	{"9293 eighth, FIN_WAIT_2",                          F2, A | F, 0, EDGE | ACROSS, ANY, ANY, ANY, TW, ACK, TAKE | FIN},
	{"9293 eighth, ESTABLISHED",                         ES, A | F, 0, EDGE | ACROSS, ANY, ANY, ANY, CW, ACK, TAKE | FIN},

	/* FIN_WAIT_1, our FIN acknowledged */
	{"9293 fifth, FIN_WAIT_1; seventh: text",            F1, A, F, EDGE | ACROSS, NXT, TEXT, ANY, F2, ACK, TAKE},
	{"9293 fifth, FIN_WAIT_1",                           F1, A, F, EDGE, NXT, EMPTY, ANY, F2, NOTHING, 0},
	{"9293 fifth, FIN_WAIT_1; text out of order",        F1, A, 0, INSIDE | RIGHT, NXT, TEXT, ANY, F2, ACK, 0},
	{"9293 fifth, FIN_WAIT_1; FIN out of order",         F1, A | F, 0, INSIDE | RIGHT, NXT, EMPTY, ANY, F2, ACK, 0},
	{"9293 fifth, FIN_WAIT_1; MAY-13",                   F1, A, F, INSIDE | RIGHT, NXT, EMPTY, ANY, F2, ACK_OR_NOTHING, 0},

	/* text */
	{"9293 seventh: text in order",                      ES | F1 | F2, A, F, EDGE | ACROSS, ANY, TEXT, ANY, SAME, ACK, TAKE},
	{"9293 fifth: nothing but an ACK",                   ES | F1 | F2, A, F, EDGE, ANY, EMPTY, ANY, SAME, NOTHING, 0},
	{"9293 SHLD-31, 5681 §3.2: text out of order",       ES | F1 | F2, A, 0, INSIDE | RIGHT, ANY, TEXT, ANY, SAME, ACK, 0},
	{"9293 SHLD-31, 5681 §3.2: FIN out of order",        ES | F1 | F2, A | F, 0, INSIDE | RIGHT, ANY, EMPTY, ANY, SAME, ACK, 0},
	{"9293 seventh, MAY-13",                             ES | F1 | F2, A, F, INSIDE | RIGHT, ANY, EMPTY, ANY, SAME, ACK_OR_NOTHING, 0},

	/* behind the peer's FIN */
	{"9293 fifth: nothing but an ACK",                   CW | CG | LA | TW, A, F, EDGE, ANY, EMPTY, ANY, SAME, NOTHING, 0},
	{"9293 seventh, MAY-13",                             CW | CG | LA | TW, A, F, INSIDE | RIGHT, ANY, EMPTY, ANY, SAME, ACK_OR_NOTHING, 0},
	{"9293 seventh: text is ignored",                    CW | CG | LA | TW, A, 0, ANY, ANY, TEXT, ANY, SAME, ACK_OR_NOTHING, 0},
	{"9293 eighth: another FIN",                         CW | CG | LA | TW, A | F, 0, ANY, ANY, EMPTY, ANY, SAME, ACK_OR_NOTHING, 0},
};
/* clang-format on */

#endif
