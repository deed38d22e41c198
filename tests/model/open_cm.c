/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager's machine itself, with tables that a mutant may write to. */
#define CM_FSM_TABLE static
#include "cm_fsm.c"

#include <string.h>

#include "mutants.h"

static struct saved {
	struct rule rules[sizeof(rules) / sizeof(rules[0])];
	struct effect effects[sizeof(effects) / sizeof(effects[0])];
	uint8_t active[sizeof(active)], passive[sizeof(passive)], stream[sizeof(stream)];
	uint32_t rude, meek;
	bool taken;
} saved;

static void
save(void)
{
	if (saved.taken)
		return;
	memcpy(saved.rules, rules, sizeof(rules));
	memcpy(saved.effects, effects, sizeof(effects));
	memcpy(saved.active, active, sizeof(active));
	memcpy(saved.passive, passive, sizeof(passive));
	memcpy(saved.stream, stream, sizeof(stream));
	saved.rude = rude;
	saved.meek = meek;
	saved.taken = true;
}

void
open_cm_restore(void)
{
	save();
	memcpy(rules, saved.rules, sizeof(rules));
	memcpy(effects, saved.effects, sizeof(effects));
	memcpy(active, saved.active, sizeof(active));
	memcpy(passive, saved.passive, sizeof(passive));
	memcpy(stream, saved.stream, sizeof(stream));
	rude = saved.rude;
	meek = saved.meek;
}

#define DROP(rule, what) rules[RULE_##rule].actions &= ~(uint32_t)CM_A_##what
#define COLUMN(phase, first) (CM_##phase - CM_##first)
#define MUTANT(id, ...)               \
	static void mutant_##id(void) \
	{                             \
		__VA_ARGS__;          \
	}

MUTANT(reply_twice, rules[RULE_rpbad].next = SAME; rules[RULE_rpbad].timer = KEEP;
       rules[RULE_rpbad].actions = CM_A_SAY_REFUSAL)
MUTANT(fin_no_est, DROP(rtrhalf, SAY_EST))
MUTANT(timer_no_est, DROP(rtrtime, SAY_EST))
MUTANT(no_flush, DROP(reset, QP_END))
MUTANT(gone_unseen, passive[CM_EV_FIN][COLUMN(RECV, AWAIT_REQUEST)] = RULE_none)
MUTANT(backlog_leak, DROP(rejnow, LEAVE))
MUTANT(no_deadline, rules[RULE_discnow].timer = CM_T_NONE)
MUTANT(timer_left, rules[RULE_start].timer = KEEP)
MUTANT(destroy_rst, passive[CM_EV_DESTROY][COLUMN(RECV, AWAIT_REQUEST)] = RULE_rqfree)
MUTANT(quit_rst, rules[RULE_rpquit].actions ^= CM_A_ORPHAN | CM_A_ABORT)
MUTANT(qp_kept, DROP(upquit, QP_END))
MUTANT(old_timewait, DROP(connect, CANCEL_TW))
MUTANT(fin_in_read, rules[RULE_openfin] = rules[RULE_openhalf])
MUTANT(told_after_own, DROP(hushnow, HUSH))
MUTANT(later_lost, DROP(disc2, REMEMBER))
MUTANT(later_kept, DROP(idle, FORGET); DROP(done3, FORGET))
MUTANT(both_replies, effects[0].clear = 0)
MUTANT(rude, rude = 0)
MUTANT(meek, meek = 0)
MUTANT(endless, rules[RULE_rpreset].when = CM_ALWAYS)
MUTANT(child_stays, passive[CM_EV_LISTENER_GONE][COLUMN(AWAIT_REQUEST, AWAIT_REQUEST)] = RULE_none)
MUTANT(orphan_stays,
       active[CM_EV_TIMER][CM_ORPHAN] = active[CM_EV_RST][CM_ORPHAN] = active[CM_EV_CLOSED][CM_ORPHAN] = RULE_none)
MUTANT(early_end, active[CM_EV_FIN][CM_AWAIT_DELAY] = RULE_idle)
MUTANT(accept_stays, DROP(accp2p, LEAVE))

const struct mutant open_cm_mutants[] = {
	{"a bad Reply, then a RST: CONNECT_REPLY twice", mutant_reply_twice, "any listener", "CONNECT_REPLY"},
	{"FIN instead of the RTR: no ESTABLISHED", mutant_fin_no_est, "one connection, peer-to-peer", "P"},
	{"the RTR does not come in time: no ESTABLISHED", mutant_timer_no_est, "one connection, peer-to-peer", "P"},
	{"RST: the QP is not let go of before CLOSE", mutant_no_flush, "one connection, peer-to-peer", "P"},
	{"the peer has gone before accept, and nobody looks", mutant_gone_unseen, "any peer against a listener", "P9"},
	{"reject does not give the place in the backlog back", mutant_backlog_leak, "one connection, peer-to-peer",
	 "P5"},
	{"CLOSING has no deadline", mutant_no_deadline, "one connection, peer-to-peer", "P14"},
	{"the connect timer runs on after the Reply", mutant_timer_left, "one connection, peer-to-peer", "P14"},
	{"destroy in CONN_RECV sends RST", mutant_destroy_rst, "one connection, peer-to-peer", "P9"},
	{"disconnect after the Request sends RST", mutant_quit_rst, "one connection, peer-to-peer", "P9"},
	{"disconnect before the handshake keeps the QP", mutant_qp_kept, "one connection, peer-to-peer", "P5"},
	{"TIMEWAIT_EXIT of the last connection in the next one", mutant_old_timewait, "an id is used again",
	 "TIMEWAIT_EXIT"},
	{"FIN with a Read outstanding is graceful", mutant_fin_in_read, "Reads of both", "DISCONNECT"},
	{"DISCONNECT after an own disconnect", mutant_told_after_own, "one connection, peer-to-peer", "P2"},
	{"disconnect in ACCEPTED is forgotten", mutant_later_lost, "no peer-to-peer, work of both", "P9"},
	{"disconnect in ACCEPTED is remembered for ever", mutant_later_kept, "no peer-to-peer, work of both",
	 "an IDLE id"},
	{"given up before CONNECT_REPLY(0) was told: both are told", mutant_both_replies,
	 "one connection, peer-to-peer", "P1"},
	{"RST between Reply and RTR", mutant_rude, "work and QPs taken away", "P11"},
	{"FIN behind half a message", mutant_meek, "no peer-to-peer, work of both", "P11"},
	{"revision 1 is tried again and again", mutant_endless, "second attempt with revision 1", "connect"},
	{"the listener goes, a child before its Request stays", mutant_child_stays, "one connection, peer-to-peer",
	 "P6"},
	{"what was let go after the Request stays for ever", mutant_orphan_stays, "one connection, peer-to-peer", "P4"},
	{"FIN is taken before the octets in front of it", mutant_early_end, "any listener, delay", "P"},
	{"accept leaves the child with its listener", mutant_accept_stays, "one connection, peer-to-peer", "P"},
	{0},
};
