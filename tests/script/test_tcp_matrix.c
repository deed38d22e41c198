/* SPDX-License-Identifier: BSD-3-Clause */
/* Every combination of tcp_matrix_rows.h against the real thing.  test_tcp_matrix [STATE]: one of CL LI SS ... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"
#include "tcp_matrix_rows.h"

#define ROWS (sizeof(matrix_rows) / sizeof(matrix_rows[0]))
#define CASES_PER_TCP 48
#define LEN 100u

static const char *const state_name[STATES] = {"CL", "LI", "SS", "RP", "RA", "ES", "F1", "F2", "CW", "CG", "LA", "TW"};
static const char *const pos_name[POSITIONS] = {"LEFT", "ACROSS", "EDGE", "INSIDE", "RIGHT", "BEYOND"};
static const char *const ack_name[ACKS] = {"OLD", "BELOW", "UNA", "FLIGHT", "NXT", "AHEAD"};
static const char *const ts_name[TIMES] = {"off", "new", "past", "gone"};
static const char *const answer_name[] = {"NOTHING",      "ACK",     "ACK_OR_NOTHING", "RST_AT_ACK",
					  "RST_THEN_SYN", "RST_ACK", "SYN_ACK"};

/* One combination; each field but flags is the number of a bit. */
struct combo {
	uint8_t state, flags, pos, ack, len, ts;
};

/* Absolute numbers before the segment, the segment, and what was seen. */
struct trial {
	uint32_t rcv_nxt, rcv_wnd, snd_una, snd_nxt;
	struct wire_seg in;
	uint32_t conn, timewaits, conns;
	uint64_t got, counted;
	uint32_t after; /* RCV.NXT that the answer shows */
	char why[160];
};

static struct script x;
static uint32_t cases, covered[ROWS][STATES], failed[ROWS];

static bool
row_matches(const struct matrix_row *r, const struct combo *c)
{
	return r->states >> c->state & 1 && (c->flags & r->must) == r->must && !(c->flags & r->not ) &&
	       r->pos >> c->pos & 1 && (r->ack >> c->ack & 1) && r->len >> c->len & 1 && r->ts >> c->ts & 1;
}

static uint32_t
row_of(const struct combo *c)
{
	uint32_t i = 0;

	while (i < ROWS && !row_matches(&matrix_rows[i], c))
		i++;
	if (i == ROWS)
		fail_msg("no row for %s flags 0x%x %s %s len %u ts %s", state_name[c->state], c->flags,
			 pos_name[c->pos], ack_name[c->ack], c->len, ts_name[c->ts]);
	return i;
}

/* ---- reaching a state: tables as well ---- */

#define BOTH_WAYS IN(A, 1, 1, 1000), OUT(A, 1, 1001, 0)
#define FLYING SEND(1000), OUT(A, 1, 1001, 500), OUT(A, 501, 1001, 500)

static void
passively(uint8_t opt)
{
	const struct script_row rows[] = {IN(S, 0, 0, 0, .opt = opt), OUT(S | A, 0, 1, 0)};

	script_play(&x, "SYN_RCVD", rows, 2);
}

static void
actively(void)
{
	PLAY(&x, "SYN_SENT", OPEN, OUT(S, 0, 0, 0));
}

static void
reach_synchronized(uint8_t state)
{
	PLAY(&x, "ESTABLISHED", IN(A, 1, 1, 0), BOTH_WAYS);
	if (state == CW >> 8 || state == 8 || state == 10)
		PLAY(&x, "CLOSE_WAIT", IN(F | A, 1001, 1, 0), OUT(A, 1, 1002, 0));
	if (state == 5 || state == 6 || state == 9)
		PLAY(&x, "in flight", FLYING);
	if (state == 8 || state == 10)
		PLAY(&x, "in flight", SEND(1000), OUT(A, 1, 1002, 500), OUT(A, 501, 1002, 500));
	if (state == 6 || state == 9)
		PLAY(&x, "FIN_WAIT_1", CLOSE, OUT(F | A, 1001, 1001, 0));
	if (state == 7 || state == 11)
		PLAY(&x, "FIN_WAIT_2", CLOSE, OUT(F | A, 1, 1001, 0), IN(A, 1001, 2, 0));
	if (state == 9)
		PLAY(&x, "CLOSING", IN(F | A, 1001, 1, 0), OUT(A, 1002, 1002, 0));
	if (state == 10)
		PLAY(&x, "LAST_ACK", CLOSE, OUT(F | A, 1001, 1002, 0));
	if (state == 11)
		PLAY(&x, "TIME_WAIT", IN(F | A, 1001, 2, 0), OUT(A, 2, 1002, 0));
}

static void
reach(const struct combo *c)
{
	uint8_t opt = O_MSS | (c->ts ? O_TS : 0);

	x.record = 500;
	x.our_port = SCRIPT_PORT;
	if (c->state == 2 || c->state == 4)
		actively();
	if (c->state == 4)
		passively(opt);
	if (c->state == 3 || c->state >= 5)
		passively(opt);
	if (c->state >= 5)
		reach_synchronized(c->state);
	if (c->state == 0)
		x.our_port = 5555;
}

/* ---- the segment ---- */

static uint32_t
position(const struct trial *t, uint8_t pos)
{
	switch (1 << pos) {
	case LEFT:
		return t->rcv_nxt - 200;
	case ACROSS:
		return t->rcv_nxt - 50;
	case EDGE:
		return t->rcv_nxt;
	case INSIDE:
		return t->rcv_nxt + 1000;
	case RIGHT:
		return t->rcv_nxt + t->rcv_wnd - 1;
	default:
		return t->rcv_nxt + t->rcv_wnd;
	}
}

static uint32_t
acknowledgment(const struct trial *t, uint8_t ack)
{
	switch (1 << ack) {
	case OLD:
		return t->snd_una - 65536 - 1;
	case BELOW:
		return t->snd_una - 1;
	case UNA:
		return t->snd_una;
	case FLIGHT:
		return t->snd_nxt - t->snd_una > 500 ? t->snd_una + 500 : t->snd_nxt;
	case NXT:
		return t->snd_nxt;
	default:
		return t->snd_nxt + 1;
	}
}

/* All that the room counts of what comes in, but that it comes. */
static uint64_t
counted(void)
{
	struct iw_counter_list list = tcp_counter_list(x.tcp);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i], "tcp.rx_segs") != 0 && strcmp(list.names[i], "tcp.rx_fast") != 0 &&
		    strncmp(list.names[i], "tcp.tx_", 7) != 0)
			sum += list.values[i];
	return sum;
}

/* It is where the case begins: by the handle, or by the records that have none; timestamps as both SYNs say. */
static bool
is_reached(const struct combo *c, uint32_t halves, uint32_t timewaits)
{
	static const enum tcp_state of[STATES] = {TCP_CLOSED,     TCP_LISTEN,      TCP_SYN_SENT,   TCP_SYN_RCVD,
						  TCP_SYN_RCVD,   TCP_ESTABLISHED, TCP_FIN_WAIT_1, TCP_FIN_WAIT_2,
						  TCP_CLOSE_WAIT, TCP_CLOSING,     TCP_LAST_ACK,   TCP_TIME_WAIT};
	uint16_t state = (uint16_t)(1u << c->state);
	struct tcp_info info = {.state = TCP_CLOSED};

	if (state & (CL | LI | RP) ? x.conn != 0 : !tcp_conn_info(x.tcp, x.conn, &info) || info.state != of[c->state])
		return false;
	if (tcp_syn_count(x.tcp) != halves + (state == RP) || tcp_timewait_count(x.tcp) != timewaits + (state == TW))
		return false;
	return state & (CL | LI | SS) || (x.our_ts && x.peer_ts) == (c->ts != 0);
}

/* As the segments that came out during reach() say. */
static void
look_before(struct trial *t, const struct combo *c)
{
	static const uint32_t una[STATES] = {0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 1, 2};
	static const uint32_t nxt[STATES] = {0, 0, 1, 1, 1, 1001, 1002, 2, 1001, 1002, 1002, 2};
	static const uint32_t rcv[STATES] = {0, 0, 0, 1, 1, 1001, 1001, 1001, 1002, 1002, 1002, 1002};
	const struct wire_seg *last = &x.q[(x.tail - 1) % SCRIPT_QUEUE];

	t->snd_una = x.our_iss + una[c->state];
	t->snd_nxt = x.our_iss + nxt[c->state];
	t->rcv_nxt = x.iss + rcv[c->state];
	t->rcv_wnd = c->state >= 3 ? last->ack + last->wnd - t->rcv_nxt : 30000;
	t->timewaits = tcp_timewait_count(x.tcp);
	t->conns = tcp_conn_count(x.tcp);
	t->got = x.got;
	t->conn = x.conn;
	t->counted = counted();
	x.bits = 0;
}

static void
inject(struct trial *t, const struct combo *c)
{
	static uint8_t text[LEN];
	struct wire_seg *s = &t->in;

	*s = (struct wire_seg){.src = WIRE_PEER,
			       .dst = WIRE_US,
			       .sport = x.peer_port,
			       .dport = x.our_port,
			       .seq = position(t, c->pos),
			       .flags = c->flags,
			       .wnd = 65535,
			       .urp = c->flags & U ? 7 : 0,
			       .len = c->len ? LEN : 0,
			       .data = text};
	if (c->flags & A)
		s->ack = acknowledgment(t, c->ack);
	for (uint32_t i = 0; i < LEN; i++) {
		uint32_t first = c->state == 2 ? s->seq + 1 : x.iss + 1; /* of the peer's stream */

		text[i] = script_octet((uint32_t)(s->seq + !!(c->flags & S) + i - first));
	}
	if (c->flags & S)
		wire_opt_mss(s, 1460);
	if (c->ts == 1 || c->ts == 2)
		wire_opt_ts(s, start_tick() + (c->ts == 1 ? 2000 : 500), c->flags & A ? x.our_tsval : 0);
	script_frame(&x, wire_build(x.env.data_pool, s));
	script_settle(&x);
}

/* ---- what came of it ---- */

static bool
wrong(struct trial *t, const char *what, uint32_t is, uint32_t want)
{
	snprintf(t->why, sizeof(t->why), "%s is %u, must be %u", what, is, want);
	return false;
}

static uint32_t
seg_len(const struct wire_seg *s)
{
	return s->len + !!(s->flags & S) + !!(s->flags & F);
}

static bool
answer_is(struct trial *t, uint8_t flags, uint32_t seq, uint32_t ack)
{
	const struct wire_seg *s = &x.q[x.head % SCRIPT_QUEUE];

	if (x.tail - x.head != 1)
		return wrong(t, "number of answers", x.tail - x.head, 1);
	if (s->flags != flags)
		return wrong(t, "flags of the answer", s->flags, flags);
	if (s->seq != seq)
		return wrong(t, "relative SEQ of the answer", s->seq - x.our_iss, seq - x.our_iss);
	if (flags & A && s->ack != ack)
		return wrong(t, "relative ACK of the answer", s->ack - x.iss, ack - x.iss);
	return s->len == 0 || wrong(t, "length of the answer", s->len, 0);
}

/* A SYN,ACK of a new connection may have any ISS; the next one after TIME_WAIT lies above the old numbers. */
static bool
answer_syn_ack(struct trial *t, const struct combo *c)
{
	const struct wire_seg *s = &x.q[x.head % SCRIPT_QUEUE];

	if (x.head != x.tail && c->state == 11 && !s->has_ts && (int32_t)(s->seq - t->snd_nxt) <= 0)
		return wrong(t, "the new ISS above the old SND.NXT", 0, 1);
	return answer_is(t, S | A, c->state == 2 ? t->snd_una : x.our_iss, t->in.seq + 1);
}

static bool
answer_rst_then_syn(struct trial *t)
{
	const struct wire_seg *s;

	if (x.tail - x.head != 2)
		return wrong(t, "number of answers", x.tail - x.head, 2);
	s = script_peek(&x, 1);
	if ((s->flags & (S | A)) != S || s->seq != t->snd_una)
		return wrong(t, "flags of the second answer", s->flags, S);
	x.tail--;
	return answer_is(t, R, t->in.ack, 0);
}

static bool
answer_good(struct trial *t, const struct combo *c, const struct matrix_row *r)
{
	switch ((enum answer)r->answer) {
	case NOTHING:
		return x.head == x.tail || wrong(t, "number of answers", x.tail - x.head, 0);
	case ACK:
		return answer_is(t, A, t->snd_nxt, t->after);
	case ACK_OR_NOTHING:
		return x.head == x.tail || answer_is(t, A, t->snd_nxt, t->after);
	case RST_AT_ACK:
		return answer_is(t, R, t->in.ack, 0);
	case RST_THEN_SYN:
		return answer_rst_then_syn(t);
	case RST_ACK:
		return answer_is(t, R | A, 0, t->in.seq + seg_len(&t->in));
	case SYN_ACK:
		return answer_syn_ack(t, c);
	}
	return false;
}

/* RCV.NXT and octets delivered, as the row says. */
static bool
take_good(struct trial *t, const struct combo *c, const struct matrix_row *r)
{
	uint32_t text = c->len ? (1 << c->pos == ACROSS ? LEN / 2 : LEN) : 0;
	uint32_t base = r->take & MAY_TAKE ? t->in.seq + 1 : t->rcv_nxt;
	uint64_t got = x.got - t->got;

	if (r->take & MAY_TAKE) {
		text = (uint32_t)got;
		if (got && got != t->in.len)
			return wrong(t, "octets delivered", (uint32_t)got, t->in.len);
	} else if (got != (r->take & TAKE ? text : 0)) {
		return wrong(t, "octets delivered", (uint32_t)got, r->take & TAKE ? text : 0);
	}
	t->after = base + (r->take & (TAKE | MAY_TAKE) ? text : 0);
	if (r->take & FIN && (r->take & TAKE || x.bits & TCP_READY_FIN))
		t->after++;
	return true;
}

static bool
answered_by_up(const struct trial *t, const struct combo *c)
{
	struct wire_seg s = {.src = WIRE_PEER,
			     .dst = WIRE_US,
			     .sport = x.peer_port,
			     .dport = x.our_port,
			     .flags = A,
			     .wnd = 65535,
			     .seq = t->rcv_nxt,
			     .ack = x.our_iss + 1};

	if (c->state == 1 || c->state == 11)
		s.seq = t->in.flags & S ? t->in.seq + 1 : s.seq;
	if (x.our_ts && c->ts != 3)
		wire_opt_ts(&s, start_tick() + 2001, x.our_tsval);
	x.bits = 0;
	script_frame(&x, wire_build(x.env.data_pool, &s));
	script_settle(&x);
	return x.bits & TCP_READY_UP;
}

static uint16_t
state_of_handle(const struct trial *t, uint32_t conn)
{
	static const uint16_t of[] = {
		[TCP_CLOSED] = CL,      [TCP_LISTEN] = LI,     [TCP_SYN_SENT] = SS,   [TCP_SYN_RCVD] = RA,
		[TCP_ESTABLISHED] = ES, [TCP_FIN_WAIT_1] = F1, [TCP_FIN_WAIT_2] = F2, [TCP_CLOSE_WAIT] = CW,
		[TCP_CLOSING] = CG,     [TCP_LAST_ACK] = LA,   [TCP_TIME_WAIT] = TW};
	struct tcp_info info;

	if (tcp_conn_info(x.tcp, conn, &info) && info.state != TCP_CLOSED)
		return of[info.state];
	return tcp_timewait_count(x.tcp) > t->timewaits ? TW : CL;
}

/* The state after it, by what the face shows; RP has no handle: it comes up when it is told to. */
static uint16_t
state_after(struct trial *t, const struct combo *c)
{
	if (c->state == 0)
		return tcp_conn_count(x.tcp) > t->conns ? ES : CL;
	if (c->state == 1)
		return answered_by_up(t, c) ? RP : LI;
	if (c->state == 3 && !x.conn)
		return answered_by_up(t, c) ? RP : LI;
	if (c->state == 11) {
		if (tcp_timewait_count(x.tcp) == t->timewaits && !(t->in.flags & S))
			return TW;
		if (answered_by_up(t, c))
			return RP;
		return tcp_timewait_count(x.tcp) == t->timewaits ? TW : CL;
	}
	return state_of_handle(t, x.conn);
}

static bool
state_good(struct trial *t, const struct combo *c, const struct matrix_row *r)
{
	uint16_t next = r->next == SAME ? (uint16_t)(1u << c->state) : r->next, is = state_after(t, c);

	if (next == (ES | CW))
		next = x.bits & TCP_READY_FIN ? CW : ES;
	if (is & next)
		return true;
	snprintf(t->why, sizeof(t->why), "state is %s, must be %s", state_name[__builtin_ctz(is)],
		 state_name[__builtin_ctz(next)]);
	return false;
}

/* What leaves no trace but an ACK's has been dropped, and that has a name. */
static bool
name_good(struct trial *t, const struct combo *c)
{
	bool is_ack = c->flags & A && !(c->flags & (S | R | F)) && t->in.len == 0;

	return is_ack || x.head != x.tail || x.got != t->got || x.bits || counted() > t->counted ||
	       wrong(t, "counters of the drop", 0, 1);
}

static void
report(const struct combo *c, uint32_t row, const struct trial *t)
{
	char flags[7], *p = flags;

	for (int i = 0; i < 6; i++)
		if (c->flags >> i & 1)
			*p++ = "FSRPAU"[i];
	*p = 0;
	printf("row %u (%s, %s): %s <%s> %s ack %s len %u ts %s: %s\n", row, matrix_rows[row].rfc,
	       answer_name[matrix_rows[row].answer], state_name[c->state], flags, pos_name[c->pos], ack_name[c->ack],
	       t->in.len, ts_name[c->ts], t->why);
}

/* Every other time where the numbers wrap; over IPv6 the times between. */
static void
restart(void)
{
	static const struct tcp_params params = {
		.max_conns = 128, .max_listeners = 2, .max_timewait = 64, .max_ooo_mbufs = 1000, .answer_rate = 100000};

	if (cases)
		script_fini(&x);
	setenv("IW_TEST_START", (cases / CASES_PER_TCP + wire_is_v6()) % 2 ? "wrap" : "plain", 1);
	script_init(&x, &params);
	x.name = "matrix";
	PLAY(&x, "LISTEN", ROW(ROW_LISTEN, .n = 100));
}

static void
try_combo(const struct combo *c)
{
	const struct matrix_row *r;
	struct trial t = {0};
	uint32_t row = row_of(c), halves, timewaits;

	if (cases % CASES_PER_TCP == 0)
		restart();
	script_next_peer(&x, (uint16_t)(10000 + cases++ % 20000));
	if (start_wraps())
		x.iss = 0u - 1000; /* the left edge of most states is behind the wrap */
	r = &matrix_rows[row];
	halves = tcp_syn_count(x.tcp);
	timewaits = tcp_timewait_count(x.tcp);
	reach(c);
	if (!is_reached(c, halves, timewaits))
		fail_msg("%s is not reached", state_name[c->state]);
	look_before(&t, c);
	inject(&t, c);
	covered[row][c->state]++;
	if (!name_good(&t, c) || !take_good(&t, c, r) || !answer_good(&t, c, r) || !state_good(&t, c, r))
		if (failed[row]++ < 2)
			report(c, row, &t);
	x.head = x.tail;
	if (x.conn) {
		tcp_abort(x.tcp, x.conn, x.now_ns);
		tcp_release(x.tcp, x.conn, x.now_ns);
		script_settle(&x);
	}
}

/* What cannot be told apart in a state is tried once. */
static bool
is_idle(const struct combo *c)
{
	if (!(c->flags & A) && c->ack)
		return true;
	if (c->state < 2 && (c->ack % 3 || c->pos % 3 || c->ts))
		return true;
	return c->state == 2 && (c->pos % 3 || c->ts > 1);
}

static uint32_t
try_state(uint8_t state)
{
	uint32_t bad = 0;

	for (uint32_t flags = 0; flags < 64; flags++)
		for (uint32_t k = 0; k < POSITIONS * ACKS * LENGTHS * TIMES; k++) {
			struct combo c = {.state = state,
					  .flags = (uint8_t)flags,
					  .pos = (uint8_t)(k % POSITIONS),
					  .ack = (uint8_t)(k / POSITIONS % ACKS),
					  .len = (uint8_t)(k / POSITIONS / ACKS % LENGTHS),
					  .ts = (uint8_t)(k / POSITIONS / ACKS / LENGTHS)};

			if (!is_idle(&c))
				try_combo(&c);
		}
	for (uint32_t i = 0; i < ROWS; i++) {
		if (!(matrix_rows[i].states >> state & 1))
			continue;
		if (failed[i])
			printf("row %u failed %u of %u\n", i, failed[i], covered[i][state]);
		if (!covered[i][state])
			printf("row %u is dead in %s: %s\n", i, state_name[state], matrix_rows[i].rfc);
		bad += failed[i] + !covered[i][state];
		failed[i] = 0;
	}
	return bad;
}

static const char *wanted;

static void
test_matrix(void **state)
{
	(void)state;
	cases = 0;
	for (uint8_t i = 0; i < STATES; i++)
		if (!wanted || strcmp(wanted, state_name[i]) == 0)
			assert_int_equal(try_state(i), 0);
	assert_true(cases > 0);
	script_fini(&x);
}

/* Numbers that are the same in a state are the same case, and have the same row. */
static bool
is_alike(uint8_t state, uint8_t a, uint8_t b)
{
	uint8_t both = (uint8_t)(1 << a | 1 << b);
	uint16_t in = (uint16_t)(1u << state);

	if (in & (F2 | TW)) /* nothing in flight */
		return !(both & ~(UNA | FLIGHT | NXT));
	return in & (SS | SR) && !(both & ~(FLIGHT | NXT));
}

static void
test_one_row_each(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < STATES * 64u * POSITIONS * ACKS * LENGTHS * TIMES; k++) {
		struct combo c = {.state = (uint8_t)(k % STATES),
				  .flags = (uint8_t)(k / STATES % 64),
				  .pos = (uint8_t)(k / STATES / 64 % POSITIONS),
				  .ack = (uint8_t)(k / STATES / 64 / POSITIONS % ACKS),
				  .len = (uint8_t)(k / STATES / 64 / POSITIONS / ACKS % LENGTHS),
				  .ts = (uint8_t)(k / STATES / 64 / POSITIONS / ACKS / LENGTHS)};
		uint32_t row = row_of(&c);

		for (uint8_t ack = 0; ack < ACKS; ack++) {
			struct combo other = c;

			other.ack = ack;
			if (is_alike(c.state, c.ack, ack) && row_of(&other) != row)
				fail_msg("rows %u and %u for one segment", row, row_of(&other));
		}
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_row_each),
		cmocka_unit_test(test_matrix),
	};

	wanted = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
