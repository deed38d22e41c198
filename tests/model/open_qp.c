/* SPDX-License-Identifier: BSD-3-Clause */
/* The QP's machine itself, with a table that a mutant may write to. */
#define QP_FSM_TABLE static
#include "qp_fsm.c"

#include <string.h>

#include "mutants.h"

static struct cell saved[QP_FSM_STATES][QP_FSM_EVENTS];
static bool taken;

void
open_qp_restore(void)
{
	if (!taken)
		memcpy(saved, cells, sizeof(cells));
	taken = true;
	memcpy(cells, saved, sizeof(cells));
}

static void
responder_first(void)
{
	cells[QP_FSM_IDLE][QP_EV_START_RESPONDER].next = QP_FSM_RTS;
}

static void
no_flush(void)
{
	cells[QP_FSM_RTS][QP_EV_END_ERR].actions = 0;
}

static void
terminate_answered(void)
{
	cells[QP_FSM_RTS][QP_EV_TERM_RECV] = cells[QP_FSM_RTS][QP_EV_FAULT];
}

static void
no_drain(void)
{
	cells[QP_FSM_RTS][QP_EV_CLOSE] = (struct cell){.listed = 1, .next = QP_FSM_DRAINED, .actions = QP_OUT_DRAINED};
}

static void
never_drained(void)
{
	cells[QP_FSM_DRAINING][QP_EV_EMPTY].actions = 0;
}

const struct mutant open_qp_mutants[] = {
	{"the responder sends first", responder_first, "no peer-to-peer, work of both", "P11"},
	{"RST: the queues are not flushed", no_flush, "one connection, peer-to-peer", "P10"},
	{"a Terminate is answered by one", terminate_answered, "any peer against a listener", "P11"},
	{"FIN before the send queue has drained", no_drain, "work and QPs taken away", "P11"},
	{"the end of draining is not told", never_drained, "one connection, peer-to-peer", "Close"},
	{0},
};
