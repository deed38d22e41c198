/* SPDX-License-Identifier: BSD-3-Clause */
/* The call table, cell by cell, and what each entry means.  Included by cells.c only. */
#ifndef CELLS_GRID_H
#define CELLS_GRID_H

#include <iwarp/err.h>

#include "cells.h"

#define STALE (-1) /* the state of what is gone */
#define SAME (-2)
#define ANY "*"

/* clang-format off */
/*                            LISTEN    CONNECT    ACCEPT    BAD     REJECT    DISCONNECT  ABORT       DESTROY    RETURN 1   QP DESTROY  QP ERROR    MIGRATE */
static const char *const grid[CELLS_STAGES][CELLS_CALLS] = {
	[CELLS_IDLE]       = {"listen", "connect", "inval",  "inval","inval",  "nothing",  "nothing",  "gone",    "-",       "-",        "-",        "moved"},
	[CELLS_LISTENING]  = {"inval",  "inval",   "inval",  "inval","inval",  "inval",    "inval",    "gone",    "-",       "-",        "-",        "inval"},
	[CELLS_SYN_OUT]    = {"inval",  "inval",   "inval",  "inval","inval",  "quit RST", "quit RST", "gone RST","-",       "quit RST", "quit RST", "inval"},
	[CELLS_REQ_OUT]    = {"inval",  "inval",   "inval",  "inval","inval",  "quit FIN", "quit FIN", "gone FIN","-",       "quit FIN", "quit FIN", "inval"},
	[CELLS_ASKED]      = {"inval",  "inval",   "accept", "inval","reject", "nothing",  "nothing",  "turn off","-",       "-",        "-",        "inval"},
	[CELLS_LEFT]       = {"inval",  "inval",   "left",   "left", "left",   "nothing",  "nothing",  "gone",    "-",       "-",        "-",        "inval"},
	[CELLS_ACCEPTED]   = {"inval",  "inval",   "inval",  "inval","inval",  "later",    "later RST","early RST","-",      "lost early","lost early","inval"},
	[CELLS_UP_A]       = {"inval",  "inval",   "inval",  "inval","inval",  "close",    "abort",    "kill",    "-",       "lost",     "lost",     "inval"},
	[CELLS_UP_B]       = {"inval",  "inval",   "inval",  "inval","inval",  "close",    "abort",    "kill",    "-",       "lost",     "lost",     "inval"},
	[CELLS_DRAIN]      = {"inval",  "inval",   "inval",  "inval","inval",  "nothing",  "abort",    "let go",  "-",       "lost",     "lost",     "inval"},
	[CELLS_FIN_OUT]    = {"inval",  "inval",   "inval",  "inval","inval",  "nothing",  "abort FIN","alone",   "-",       "lost FIN", "lost FIN", "inval"},
	[CELLS_HALF]       = {"inval",  "inval",   "inval",  "inval","inval",  "nothing",  "abort",    "kill",    "-",       "lost",     "lost",     "inval"},
	[CELLS_TERM]       = {"inval",  "inval",   "inval",  "inval","inval",  "nothing",  "abort TRM","term",    "-",       "abort TRM","abort TRM","inval"},
	/* Inside its own handler. */
	[CELLS_IN_REQUEST]     = {"inval", "inval",   "accept", "inval","reject", "nothing",  "nothing", "turn off", "turn off", "-",       "-",       "inval"},
	[CELLS_IN_REPLY]       = {"inval", "inval",   "inval",  "inval","inval",  "close up", "abort up","kill up",  "kill up",  "lost up", "lost up", "inval"},
	[CELLS_IN_REFUSAL]     = {"listen","connect", "inval",  "inval","inval",  "nothing",  "nothing", "gone",     "gone",     "-",       "-",       "moved"},
	[CELLS_IN_ESTABLISHED] = {"inval", "inval",   "inval",  "inval","inval",  "close",    "abort",   "kill",     "kill",     "lost",    "lost",    "inval"},
	[CELLS_IN_DISCONNECT]  = {"inval", "inval",   "inval",  "inval","inval",  "nothing",  "abort",   "end",      "end",      "lost",    "lost",    "inval"},
	[CELLS_IN_CLOSE]       = {"listen","connect", "inval",  "inval","inval",  "nothing",  "nothing", "gone",     "gone",     "-",       "-",       "moved"},
	[CELLS_IN_TIMEWAIT]    = {"listen","connect", "inval",  "inval","inval",  "nothing",  "nothing", "gone",     "gone",     "-",       "-",       "moved"},
};

/* What a stage is, and how it goes on when nothing is done. */
static const struct {
	const char *name;
	enum iw_cm_state state;
	uint32_t host;
	const char *own, *peer; /* events still to come, of the id and of its peer */
} stages[CELLS_STAGES] = {
	[CELLS_IDLE]      = {"IDLE",                     IW_CM_IDLE,        0, "",              ""},
	[CELLS_LISTENING] = {"LISTENING",                IW_CM_LISTENING,   0, "",              ""},
	[CELLS_SYN_OUT]   = {"CONN_SENT, SYN sent",      IW_CM_CONN_SENT,   0, "REPLY(0)",      "REQUEST ESTABLISHED"},
	[CELLS_REQ_OUT]   = {"CONN_SENT, Request sent",  IW_CM_CONN_SENT,   0, "",              ""},
	[CELLS_ASKED]     = {"CONN_RECV",                IW_CM_CONN_RECV,   1, "",              ""},
	[CELLS_LEFT]      = {"CONN_RECV, peer gone",     IW_CM_CONN_RECV,   1, "",              ""},
	[CELLS_ACCEPTED]  = {"ACCEPTED",                 IW_CM_ACCEPTED,    1, "ESTABLISHED",   "REPLY(0)"},
	[CELLS_UP_A]      = {"ESTABLISHED, connected",   IW_CM_ESTABLISHED, 0, "",              ""},
	[CELLS_UP_B]      = {"ESTABLISHED, accepted",    IW_CM_ESTABLISHED, 1, "",              ""},
	[CELLS_DRAIN]     = {"CLOSING, Read to finish",  IW_CM_CLOSING,     0, "CLOSE(0)",      "DISCONNECT CLOSE(0)"},
	[CELLS_FIN_OUT]   = {"CLOSING, FIN sent",        IW_CM_CLOSING,     0, "CLOSE(0)",      "DISCONNECT CLOSE(0)"},
	[CELLS_HALF]      = {"CLOSING, by the peer",     IW_CM_CLOSING,     0, "CLOSE(0)",      "CLOSE(0)"},
	[CELLS_TERM]      = {"CLOSING, Terminate sent",  IW_CM_CLOSING,     1, "CLOSE(PROTO)",  "CLOSE(PROTO)"},
	[CELLS_IN_REQUEST]     = {"CONNECT_REQUEST",      IW_CM_CONN_RECV,   1, "",             ""},
	[CELLS_IN_REPLY]       = {"CONNECT_REPLY(0)",     IW_CM_ESTABLISHED, 0, "",             "ESTABLISHED"},
	[CELLS_IN_REFUSAL]     = {"CONNECT_REPLY(error)", IW_CM_IDLE,        0, "",             ""},
	[CELLS_IN_ESTABLISHED] = {"ESTABLISHED",          IW_CM_ESTABLISHED, 1, "",             ""},
	[CELLS_IN_DISCONNECT]  = {"DISCONNECT",           IW_CM_CLOSING,     1, "CLOSE(0)",     "CLOSE(0)"},
	[CELLS_IN_CLOSE]       = {"CLOSE",                IW_CM_IDLE,        1, "",             ""},
	[CELLS_IN_TIMEWAIT]    = {"TIMEWAIT_EXIT",        IW_CM_IDLE,        0, "",             ""},
};

/* then: the state when the call has returned.  own, peer: NULL: as if nothing had been done.  wire: ANY. */
static const struct {
	const char *entry;
	int ret, then;
	const char *own, *wire, *peer;
} entries[] = {
	{"inval",      -IW_E_INVAL,     SAME,             NULL, ANY, NULL},
	{"nothing",    0,               SAME,             NULL, ANY, NULL},
	{"gone",       0,               STALE,            "", "", ""},
	{"moved",      0,               STALE,            "", "", ""},
	{"listen",     0,               IW_CM_LISTENING,  "", "", ""},
	{"connect",    0,               IW_CM_CONN_SENT,  "REPLY(0)", "m", "REQUEST ESTABLISHED"},
	/* The attempt is given up: RST before the Request has left, then FIN. */
	{"quit RST",   0,               IW_CM_CONN_SENT,  "REPLY(CONNABORTED)", "r", ""},
	{"gone RST",   0,               STALE,            "", "r", ""},
	{"quit FIN",   0,               IW_CM_CONN_SENT,  "REPLY(CONNABORTED)", "f", ""},
	{"gone FIN",   0,               STALE,            "", "f", ""},
	/* The answer to a request. */
	{"accept",     0,               IW_CM_ACCEPTED,   "ESTABLISHED", "m", "REPLY(0)"},
	{"reject",     0,               IW_CM_IDLE,       "", "mf", "REPLY(CONNREFUSED no)"},
	{"turn off",   0,               STALE,            "", "mf", "REPLY(CONNREFUSED)"},
	{"left",       -IW_E_CONNRESET, IW_CM_IDLE,       "", "", ""},
	/* ACCEPTED: ESTABLISHED always comes first. */
	{"later",      0,               IW_CM_ACCEPTED,   "ESTABLISHED CLOSE(0)", "f", "REPLY(0) DISCONNECT CLOSE(0)"},
	{"later RST",  0,               IW_CM_ACCEPTED,   "ESTABLISHED CLOSE(CONNABORTED)", "r", "REPLY(0) CLOSE(CONNRESET)"},
	{"lost early", 0,               IW_CM_ACCEPTED,   "ESTABLISHED CLOSE(CONNABORTED)", "r", "REPLY(0) CLOSE(CONNRESET)"},
	{"early RST",  0,               STALE,            "", "r", "REPLY(0) CLOSE(CONNRESET)"},
	/* ESTABLISHED and its end. */
	{"close",      0,               IW_CM_CLOSING,    "CLOSE(0)", "f", "DISCONNECT CLOSE(0)"},
	{"abort",      0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "r", "CLOSE(CONNRESET)"},
	{"lost",       0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "r", "CLOSE(CONNRESET)"},
	{"kill",       0,               STALE,            "", "r", "CLOSE(CONNRESET)"},
	/* FIN; then what nobody awaits any more is answered by RST (RFC 9293 §3.6.1, SHLD-3). */
	{"let go",     0,               STALE,            "", "fr", "DISCONNECT CLOSE(0)"},
	{"end",        0,               STALE,            "", "f", "CLOSE(0)"},
	{"alone",      0,               STALE,            "", "", "DISCONNECT CLOSE(0)"},
	{"abort FIN",  0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "r", "DISCONNECT CLOSE(CONNRESET)"},
	{"lost FIN",   0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "r", "DISCONNECT CLOSE(CONNRESET)"},
	{"abort TRM",  0,               IW_CM_CLOSING,    "CLOSE(PROTO)", "r", "CLOSE(PROTO)"},
	{"term",       0,               STALE,            "", "", "CLOSE(PROTO)"},
	/* Between Reply and RTR an initiator never resets: the RTR, then FIN. */
	{"close up",   0,               IW_CM_CLOSING,    "CLOSE(0)", "f", "ESTABLISHED DISCONNECT CLOSE(0)"},
	{"abort up",   0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "f", "ESTABLISHED DISCONNECT CLOSE(0)"},
	{"lost up",    0,               IW_CM_CLOSING,    "CLOSE(CONNABORTED)", "f", "ESTABLISHED DISCONNECT CLOSE(0)"},
	{"kill up",    0,               STALE,            "", "f", "ESTABLISHED DISCONNECT CLOSE(0)"},
};

static const char *const calls[CELLS_CALLS] = {
	"listen", "connect", "accept", "accept with bad arguments", "reject", "disconnect", "abrupt disconnect", "destroy",
	"result 1", "QP destroyed", "QP set to ERROR", "migrate",
};
/* clang-format on */

#endif
