/* SPDX-License-Identifier: BSD-3-Clause */
/* Every cell of the state machine against a second table, written from RFC 9293 §3.10 and Figure 5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tcp_fsm.h"

/* One letter an action, as a reader of the RFC would note them:
 * s SYN, y SYN-ACK, a ACK, f FIN, r RST, x flush, l linger, w TIME_WAIT record, d deferred close;
 * told to the owner: U up, F fin, R reset, T timeout, N unreachable, C closed. */
static const char letters[] = "syafrxlwdUFRTNC";

struct want {
	const char *next, *actions;
};

#define STAY             \
	{                \
		NULL, "" \
	}

/* Columns: enum tcp_event.  passive open, active open, SYN, SYN-ACK, our SYN acked, our FIN acked, FIN, RST,
 * CLOSE, ABORT, timeout, unreachable */
/* clang-format off */
static const struct want want[TCP_STATES][TCP_EVENTS] = {
	[TCP_CLOSED] = {{"LISTEN", ""}, {"SYN_SENT", "s"}, STAY, STAY, STAY, STAY, STAY, STAY, STAY, STAY, STAY, STAY},
	[TCP_LISTEN] = {STAY, STAY, {"SYN_RCVD", "y"}, STAY, STAY, STAY, STAY, STAY, {"CLOSED", ""}, {"CLOSED", ""},
	                STAY, STAY},
	[TCP_SYN_SENT] = {STAY, STAY, {"SYN_RCVD", "y"}, {"ESTABLISHED", "aU"}, STAY, STAY, STAY, {"CLOSED", "xR"},
	                  {"CLOSED", "xC"}, {"CLOSED", "x"}, {"CLOSED", "xT"}, {"CLOSED", "xN"}},
	[TCP_SYN_RCVD] = {STAY, STAY, {"SYN_RCVD", "y"}, STAY, {"ESTABLISHED", "U"}, STAY, {"CLOSE_WAIT", "aF"},
	                  {"CLOSED", "xR"}, {"SYN_RCVD", "d"}, {"CLOSED", "xr"}, {"CLOSED", "xT"}, {"CLOSED", "xN"}},
	[TCP_ESTABLISHED] = {STAY, STAY, STAY, STAY, STAY, STAY, {"CLOSE_WAIT", "aF"}, {"CLOSED", "xR"},
	                     {"FIN_WAIT_1", "f"}, {"CLOSED", "xr"}, {"CLOSED", "xrT"}, STAY},
	[TCP_FIN_WAIT_1] = {STAY, STAY, STAY, STAY, STAY, {"FIN_WAIT_2", "l"}, {"CLOSING", "aF"}, {"CLOSED", "xR"},
	                    STAY, {"CLOSED", "xr"}, {"CLOSED", "xrT"}, STAY},
	[TCP_FIN_WAIT_2] = {STAY, STAY, STAY, STAY, STAY, STAY, {"TIME_WAIT", "aFwC"}, {"CLOSED", "xR"}, STAY,
	                    {"CLOSED", "xr"}, {"CLOSED", "xrT"}, STAY},
	[TCP_CLOSE_WAIT] = {STAY, STAY, STAY, STAY, STAY, STAY, STAY, {"CLOSED", "xR"}, {"LAST_ACK", "f"},
	                    {"CLOSED", "xr"}, {"CLOSED", "xrT"}, STAY},
	[TCP_CLOSING] = {STAY, STAY, STAY, STAY, STAY, {"TIME_WAIT", "wC"}, STAY, {"CLOSED", "xC"}, STAY, {"CLOSED", "x"},
	                 {"CLOSED", "xT"}, STAY},
	[TCP_LAST_ACK] = {STAY, STAY, STAY, STAY, STAY, {"CLOSED", "xC"}, STAY, {"CLOSED", "xC"}, STAY, {"CLOSED", "x"},
	                  {"CLOSED", "xT"}, STAY},
	[TCP_TIME_WAIT] = {STAY, STAY, STAY, STAY, STAY, STAY, STAY, STAY, STAY, {"CLOSED", ""}, {"CLOSED", ""}, STAY},
};
/* clang-format on */

static uint32_t
bits_of(const char *actions)
{
	uint32_t bits = 0;

	for (; *actions; actions++)
		bits |= 1u << (strchr(letters, *actions) - letters);
	return bits;
}

static void
test_every_cell(void **state)
{
	for (uint32_t s = 0; s < TCP_STATES; s++)
		for (uint32_t e = 0; e < TCP_EVENTS; e++) {
			struct tcp_step step = tcp_fsm_step((enum tcp_state)s, (enum tcp_event)e);
			const struct want *w = &want[s][e];
			const char *next = w->next ? w->next : tcp_fsm_state_name((enum tcp_state)s);

			assert_string_equal(tcp_fsm_state_name(step.next), next);
			assert_int_equal(step.actions, bits_of(w->actions));
		}
}

/* Every state but CLOSED has a way out by events alone, and every one can be reached from CLOSED. */
static void
test_all_reachable_and_none_a_trap(void **state)
{
	bool reached[TCP_STATES] = {[TCP_CLOSED] = true};

	for (uint32_t round = 0; round < TCP_STATES; round++)
		for (uint32_t s = 0; s < TCP_STATES; s++)
			for (uint32_t e = 0; reached[s] && e < TCP_EVENTS; e++)
				reached[tcp_fsm_step((enum tcp_state)s, (enum tcp_event)e).next] = true;
	for (uint32_t s = 0; s < TCP_STATES; s++) {
		assert_true(reached[s]);
		if (s != TCP_CLOSED)
			assert_int_equal(tcp_fsm_step((enum tcp_state)s, TCP_EV_ABORT).next, TCP_CLOSED);
	}
}

static void
test_may_move(void **state)
{
	assert_true(tcp_fsm_may_move(TCP_FIN_WAIT_1, TCP_CLOSING));
	assert_true(tcp_fsm_may_move(TCP_SYN_RCVD, TCP_CLOSE_WAIT));
	assert_true(tcp_fsm_may_move(TCP_LAST_ACK, TCP_CLOSED));
	assert_false(tcp_fsm_may_move(TCP_ESTABLISHED, TCP_TIME_WAIT));
	assert_false(tcp_fsm_may_move(TCP_CLOSE_WAIT, TCP_FIN_WAIT_1));
	assert_false(tcp_fsm_may_move(TCP_CLOSED, TCP_ESTABLISHED));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cell),
		cmocka_unit_test(test_all_reachable_and_none_a_trap),
		cmocka_unit_test(test_may_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
