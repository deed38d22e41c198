/* SPDX-License-Identifier: BSD-3-Clause */
/* Spec T22, T23, T16, T5, T6; RFC 6191 §2, RFC 1337, RFC 9293 §3.10.7.4. */
#include "tcp_timewait.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_time.h"

#define MSL (30 * IW_SEC)

static const uint32_t starts[] = {1000, 0xffffff00u, 0xffffffffu, 0};

/* rcv_nxt = start, snd_nxt = start + 5000, window 1000, TS.Recent = start + 70. */
static struct tcp_timewait_state
state_of(uint32_t start, bool has_ts)
{
	return (struct tcp_timewait_state){.snd_nxt = start + 5000,
					   .rcv_nxt = start,
					   .rcv_wnd = 1000,
					   .has_ts = has_ts,
					   .ts_recent = start + 70,
					   .demux = 42,
					   .tag = 0};
}

static struct tcp_timewait_verdict
ask(struct tcp_timewait_state st, struct tcp_seg seg, uint64_t *deadline)
{
	struct tcp_timewait tw;
	struct tcp_timewait_verdict v;
	uint32_t h;

	assert_int_equal(tcp_timewait_init(&tw, 4, MSL), 0);
	h = tcp_timewait_add(&tw, &st, 0);
	assert_true(h != 0);
	v = tcp_timewait_seg(&tw, h, &seg, 10 * IW_SEC);
	assert_non_null(tcp_timewait_at(&tw, h)); /* no segment ends a record */
	if (deadline)
		*deadline = tcp_timewait_deadline(&tw);
	tcp_timewait_fini(&tw);
	return v;
}

/* RFC 6191 §2, all seven rows, each with the neighbours of its border. */
static void
test_T22_syn_table_of_6191(void **state)
{
	static const struct {
		const char *row;
		bool old_ts, new_ts;
		int32_t ts, seq; /* beyond TS.Recent; beyond the peer's FIN */
		enum tcp_timewait_act act;
	} t[] = {
		{"1: timestamp greater, any sequence number", true, true, 1, -500, TCP_TW_SYN},
		{"1: much greater", true, true, 0x7fffffff, 0, TCP_TW_SYN},
		{"2: equal, sequence number greater", true, true, 0, 1, TCP_TW_SYN},
		{"4: equal, sequence number of the FIN", true, true, 0, 0, TCP_TW_DROP},
		{"4: equal, below", true, true, 0, -1, TCP_TW_DROP},
		{"4: timestamp less, sequence number greater", true, true, -1, 1, TCP_TW_DROP},
		{"3: no timestamps any more, greater", true, false, 0, 1, TCP_TW_SYN},
		{"4: no timestamps any more, equal", true, false, 0, 0, TCP_TW_DROP},
		{"5: timestamps are new, any", false, true, -100, -100, TCP_TW_SYN},
		{"6: never timestamps, greater", false, false, 0, 1, TCP_TW_SYN},
		{"7: never timestamps, equal", false, false, 0, 0, TCP_TW_DROP},
		{"7: never timestamps, half the space away", false, false, 0, -0x7fffffff, TCP_TW_DROP},
	};

	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
			struct tcp_timewait_state st = state_of(starts[s], t[i].old_ts);
			struct tcp_seg seg = {.flags = TCP_SYN,
					      .seq = st.rcv_nxt - 1 + (uint32_t)t[i].seq,
					      .has_ts = t[i].new_ts,
					      .tsval = st.ts_recent + (uint32_t)t[i].ts};
			struct tcp_timewait_verdict v = ask(st, seg, NULL);

			if (v.act != t[i].act)
				fail_msg("%s, start %x", t[i].row, starts[s]);
			if (v.act == TCP_TW_SYN)
				assert_int_equal(v.isn_after, st.snd_nxt); /* MAY-2 (1) */
			assert_false(v.restarted);
		}
	}
}

static void
test_segments(void **state)
{
	static const struct {
		const char *what;
		uint8_t flags;
		int32_t seq; /* from RCV.NXT */
		uint32_t len;
		int32_t ack; /* from SND.NXT */
		enum tcp_timewait_act act;
		bool restarted;
	} t[] = {
		{"T22: RST exactly at RCV.NXT (RFC 1337 F1)", TCP_RST, 0, 0, 0, TCP_TW_DROP, false},
		{"RST+ACK", TCP_RST | TCP_ACK, 0, 0, 0, TCP_TW_DROP, false},
		{"RST+SYN", TCP_RST | TCP_SYN, 5, 0, 0, TCP_TW_DROP, false},
		{"T16: the FIN again", TCP_FIN | TCP_ACK, -1, 0, 0, TCP_TW_ACK, true},
		{"T16: the FIN again with data", TCP_FIN | TCP_ACK, -101, 100, 0, TCP_TW_ACK, true},
		{"an older FIN", TCP_FIN | TCP_ACK, -2, 0, 0, TCP_TW_ACK, false},
		{"a FIN beyond", TCP_FIN | TCP_ACK, 0, 0, 0, TCP_TW_ACK, false},
		{"FIN without ACK", TCP_FIN, -1, 0, 0, TCP_TW_ACK, false},
		{"T23: old duplicate data", TCP_ACK, -500, 100, -200, TCP_TW_ACK, false},
		{"data behind the FIN", TCP_ACK, 0, 100, 0, TCP_TW_ACK, false},
		{"data over the window's left edge", TCP_ACK, -50, 51, 0, TCP_TW_ACK, false},
		{"pure ACK in window: silence", TCP_ACK, 0, 0, 0, TCP_TW_DROP, false},
		{"pure ACK at the window's last number", TCP_ACK, 999, 0, 0, TCP_TW_DROP, false},
		{"pure ACK at the window's edge", TCP_ACK, 1000, 0, 0, TCP_TW_ACK, false},
		{"pure ACK below the window", TCP_ACK, -1, 0, 0, TCP_TW_ACK, false},
		{"ACK of what was never sent", TCP_ACK, 0, 0, 1, TCP_TW_ACK, false},
		{"no ACK bit, in window", TCP_PSH, 0, 0, 0, TCP_TW_DROP, false},
		{"SYN+ACK: challenge ACK (RFC 5961)", TCP_SYN | TCP_ACK, 50, 0, 0, TCP_TW_ACK, false},
		{"SYN+FIN: a SYN", TCP_SYN | TCP_FIN, 50, 0, 0, TCP_TW_SYN, false},
		{"SYN+FIN+ACK", TCP_SYN | TCP_FIN | TCP_ACK, 50, 0, 0, TCP_TW_ACK, false},
	};

	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
			struct tcp_timewait_state st = state_of(starts[s], false);
			struct tcp_seg seg = {.flags = t[i].flags,
					      .seq = st.rcv_nxt + (uint32_t)t[i].seq,
					      .len = t[i].len,
					      .ack = st.snd_nxt + (uint32_t)t[i].ack};
			uint64_t deadline;
			struct tcp_timewait_verdict v = ask(st, seg, &deadline);

			if (v.act != t[i].act || v.restarted != t[i].restarted)
				fail_msg("%s, start %x: %d %d", t[i].what, starts[s], v.act, v.restarted);
			assert_true(deadline == (t[i].restarted ? 70 * IW_SEC : 60 * IW_SEC));
		}
	}
}

static void
test_window_zero(void **state)
{
	struct tcp_timewait_state st = state_of(7, false);
	struct tcp_seg seg = {.flags = TCP_ACK, .seq = 7, .ack = st.snd_nxt};

	(void)state;
	st.rcv_wnd = 0;
	assert_int_equal(ask(st, seg, NULL).act, TCP_TW_DROP);
	seg.seq = 8;
	assert_int_equal(ask(st, seg, NULL).act, TCP_TW_ACK);
	seg.seq = 7;
	seg.len = 1;
	assert_int_equal(ask(st, seg, NULL).act, TCP_TW_ACK);
}

static void
test_T5_T6_timestamps(void **state)
{
	(void)state;
	for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		struct tcp_timewait_state st = state_of(starts[s], true);
		struct tcp_seg fin = {.flags = TCP_FIN | TCP_ACK,
				      .seq = st.rcv_nxt - 1,
				      .ack = st.snd_nxt,
				      .has_ts = true,
				      .tsval = st.ts_recent + 5};
		struct tcp_seg syn = {
			.flags = TCP_SYN, .seq = st.rcv_nxt - 1, .has_ts = true, .tsval = st.ts_recent + 5};
		struct tcp_timewait tw;
		uint32_t h;

		assert_int_equal(tcp_timewait_init(&tw, 1, MSL), 0);
		h = tcp_timewait_add(&tw, &st, 0);
		fin.tsval = st.ts_recent - 1; /* PAWS: answered, but it restarts nothing */
		assert_int_equal(tcp_timewait_seg(&tw, h, &fin, 1).act, TCP_TW_ACK);
		assert_true(tcp_timewait_deadline(&tw) == 2 * MSL);
		fin.has_ts = false; /* RFC 7323 §3.2 */
		assert_int_equal(tcp_timewait_seg(&tw, h, &fin, 1).act, TCP_TW_DROP);
		assert_true(tcp_timewait_deadline(&tw) == 2 * MSL);
		assert_int_equal(tcp_timewait_at(&tw, h)->ts_recent, st.ts_recent);
		/* A newer TSval becomes TS.Recent, and rules the next SYN. */
		fin.has_ts = true;
		fin.tsval = st.ts_recent + 5;
		assert_true(tcp_timewait_seg(&tw, h, &fin, 1).restarted);
		assert_int_equal(tcp_timewait_at(&tw, h)->ts_recent, st.ts_recent + 5);
		assert_int_equal(tcp_timewait_seg(&tw, h, &syn, 2).act, TCP_TW_DROP);
		syn.tsval++;
		assert_int_equal(tcp_timewait_seg(&tw, h, &syn, 2).act, TCP_TW_SYN);
		/* The same TSval again passes PAWS. */
		assert_true(tcp_timewait_seg(&tw, h, &fin, 2).restarted);
		/* An ACK at RCV.NXT sets it too; but a segment beyond Last.ACK.sent does not. */
		fin.flags = TCP_ACK;
		fin.seq = st.rcv_nxt;
		fin.tsval = st.ts_recent + 6;
		assert_int_equal(tcp_timewait_seg(&tw, h, &fin, 3).act, TCP_TW_DROP);
		assert_int_equal(tcp_timewait_at(&tw, h)->ts_recent, st.ts_recent + 6);
		fin.seq = st.rcv_nxt + 1;
		fin.tsval += 100;
		tcp_timewait_seg(&tw, h, &fin, 3);
		assert_int_equal(tcp_timewait_at(&tw, h)->ts_recent, st.ts_recent + 6);
		/* Nor does one that lies before the window, who can send it knows no sequence number: the peer's next
		 * SYN would be older. */
		fin.seq = st.rcv_nxt - 1;
		assert_int_equal(tcp_timewait_seg(&tw, h, &fin, 3).act, TCP_TW_ACK);
		fin.len = 500;
		fin.seq = st.rcv_nxt - 501;
		assert_int_equal(tcp_timewait_seg(&tw, h, &fin, 3).act, TCP_TW_ACK);
		assert_int_equal(tcp_timewait_at(&tw, h)->ts_recent, st.ts_recent + 6);
		tcp_timewait_fini(&tw);
	}
}

static void
test_expiry_in_order_and_restart(void **state)
{
	struct tcp_timewait tw;
	struct tcp_timewait_state st = state_of(1000, false);
	struct tcp_seg fin = {.flags = TCP_FIN | TCP_ACK, .seq = 999, .ack = st.snd_nxt};
	uint32_t h[3], demux;

	(void)state;
	assert_int_equal(tcp_timewait_init(&tw, 3, MSL), 0);
	assert_true(tcp_timewait_deadline(&tw) == IW_NEVER);
	assert_false(tcp_timewait_evict(&tw, &demux));
	for (uint32_t i = 0; i < 3; i++) {
		st.demux = 100 + i;
		h[i] = tcp_timewait_add(&tw, &st, i * IW_SEC);
	}
	assert_int_equal(tcp_timewait_add(&tw, &st, 3 * IW_SEC), 0);
	assert_true(tcp_timewait_seg(&tw, h[0], &fin, 3 * IW_SEC).restarted); /* now the last one */
	assert_false(tcp_timewait_expire(&tw, 61 * IW_SEC - 1, &demux));
	assert_true(tcp_timewait_expire(&tw, 61 * IW_SEC, &demux));
	assert_int_equal(demux, 101);
	assert_null(tcp_timewait_at(&tw, h[1]));
	assert_false(tcp_timewait_expire(&tw, 61 * IW_SEC, &demux));
	assert_true(tcp_timewait_evict(&tw, &demux)); /* the oldest */
	assert_int_equal(demux, 102);
	assert_true(tcp_timewait_deadline(&tw) == 63 * IW_SEC);
	assert_int_equal(tcp_timewait_hand_over(&tw, h[0]), 100);
	assert_null(tcp_timewait_at(&tw, h[0]));
	assert_int_equal(tcp_timewait_used(&tw), 0);
	assert_true(tcp_timewait_deadline(&tw) == IW_NEVER);
	tcp_timewait_fini(&tw);
}

static void
test_tags_are_told_once_in_order(void **state)
{
	struct tcp_timewait tw;
	struct tcp_timewait_state st = state_of(1000, false);
	uint32_t demux, tag, h;

	(void)state;
	assert_int_equal(tcp_timewait_init(&tw, 2, MSL), 0);
	assert_false(tcp_timewait_pop(&tw, &tag));
	st.tag = 71;
	tcp_timewait_add(&tw, &st, 0);
	st.tag = 0;
	tcp_timewait_add(&tw, &st, 0);
	assert_true(tcp_timewait_evict(&tw, &demux));
	st.tag = 72;
	h = tcp_timewait_add(&tw, &st, 1);
	assert_true(tcp_timewait_expire(&tw, 2 * MSL, &demux)); /* the one without a tag */
	assert_int_equal(tcp_timewait_hand_over(&tw, h), st.demux);
	assert_null(tcp_timewait_at(&tw, h)); /* ended, though not told yet */
	assert_int_equal(tcp_timewait_used(&tw), 0);
	assert_true(tcp_timewait_pop(&tw, &tag) && tag == 71);
	assert_true(tcp_timewait_pop(&tw, &tag) && tag == 72);
	assert_false(tcp_timewait_pop(&tw, &tag));
	tcp_timewait_fini(&tw);
}

/* Nobody fetches tags: memory stays bounded, nothing is lost of what was taken in. */
static void
test_unfetched_tags_are_bounded(void **state)
{
	struct tcp_timewait tw;
	struct tcp_timewait_state st = state_of(1000, false);
	uint32_t demux, tag, added = 0, told = 0;

	(void)state;
	assert_int_equal(tcp_timewait_init(&tw, 2, MSL), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		st.tag = i;
		if (tcp_timewait_used(&tw) == 2)
			assert_true(tcp_timewait_evict(&tw, &demux));
		added += tcp_timewait_add(&tw, &st, i) != 0;
	}
	while (tcp_timewait_evict(&tw, &demux))
		;
	while (tcp_timewait_pop(&tw, &tag))
		assert_int_equal(tag, ++told);
	assert_int_equal(told, added);
	assert_int_equal(added, 4);
	tcp_timewait_fini(&tw);
}

static void
test_creation(void **state)
{
	struct tcp_timewait tw;

	(void)state;
	assert_int_equal(tcp_timewait_init(&tw, 0, MSL), -IW_E_INVAL);
	assert_int_equal(tcp_timewait_init(&tw, IW_POOL_MAX / 2 + 1, MSL), -IW_E_INVAL);
	assert_int_equal(tcp_timewait_init(&tw, 1, IW_NEVER / 2 + 1), -IW_E_INVAL);
	assert_int_equal(tcp_timewait_init(&tw, 1, 0), -IW_E_INVAL);
	assert_true(sizeof(struct tcp_timewait_rec) <= 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_T22_syn_table_of_6191),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_window_zero),
		cmocka_unit_test(test_T5_T6_timestamps),
		cmocka_unit_test(test_expiry_in_order_and_restart),
		cmocka_unit_test(test_tags_are_told_once_in_order),
		cmocka_unit_test(test_unfetched_tags_are_bounded),
		cmocka_unit_test(test_creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
