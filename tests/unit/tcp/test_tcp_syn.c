/* SPDX-License-Identifier: BSD-3-Clause */
/* SYN records (RFC 4987 §3.5; RFC 9293 §3.10.7.4 for SYN_RCVD; spec T2, T24). */
#include "tcp_syn.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "iw_addr.h"
#include "iw_time.h"

#define WND 65535u
#define TICK (1u << 24)

static const struct iw_env env = {.secret = {5}};
static const uint32_t starts[] = {1000, 0xfffffffeu, 0xffffffffu, 0};

static struct tcp_tuple
tuple(uint32_t n)
{
	struct iw_addr l = iw_addr_from_v4(0x0a000001u, 4420),
		       r = iw_addr_from_v4(0x0a000002u + (n >> 16), (uint16_t)n);

	return tcp_tuple_of(&l, &r);
}

static struct tcp_seg
syn_of(uint32_t irs)
{
	return (struct tcp_seg){.flags = TCP_SYN | TCP_ECE | TCP_CWR,
				.seq = irs,
				.wnd = 1234,
				.has_mss = true,
				.mss = 1400,
				.has_ws = true,
				.ws = 14,
				.has_ts = true,
				.tsval = irs + 70,
				.sack_perm = true};
}

/* What was put in comes out again. */
static void
test_seg(void **state)
{
	struct tcp_syn s;

	assert_int_equal(tcp_syn_init(&s, &env, 4), 0);
	for (uint32_t i = 0; i < 32; i++) {
		struct tcp_tuple t = tuple(1);
		struct tcp_seg in = syn_of(i), out;
		struct tcp_syn_rec *rec;

		in.has_ws = i & 1;
		in.ws = in.has_ws ? in.ws : 0;
		in.has_ts = i & 2;
		in.sack_perm = i & 4;
		in.has_mss = i & 8;
		in.flags = i & 16 ? in.flags : TCP_SYN;
		rec = tcp_syn_add(&s, &t, &in, 99, IW_SEC);
		out = tcp_syn_seg(rec);
		assert_int_equal(out.seq, in.seq);
		assert_int_equal(out.flags, in.flags);
		assert_int_equal(out.wnd, 1234);
		assert_int_equal(out.has_ws, in.has_ws);
		assert_int_equal(out.ws, in.ws);
		assert_int_equal(out.has_ts, in.has_ts);
		assert_int_equal(out.sack_perm, in.sack_perm);
		assert_int_equal(out.has_mss, in.has_mss);
		assert_int_equal(out.mss, 1400);
		assert_int_equal(out.tsval, in.tsval);
		assert_int_equal(out.sport, 1);
		assert_int_equal(out.dport, 4420);
		tcp_syn_del(&s, rec);
	}
	tcp_syn_fini(&s);
}

/* Full sets refuse, nothing is thrown out, everything is found, memory stays what it was. */
static void
test_T24_bounded(void **state)
{
	struct tcp_syn s;
	uint32_t taken = 0, found = 0;

	assert_int_equal(tcp_syn_init(&s, &env, 0), -IW_E_INVAL);
	assert_int_equal(tcp_syn_init(&s, &env, TCP_SYN_MAX + 1), -IW_E_INVAL);
	iw_env_alloc_fuse = 1;
	assert_int_equal(tcp_syn_init(&s, &env, 100), -IW_E_NOMEM);
	assert_int_equal(tcp_syn_init(&s, &env, 100), 0);
	assert_int_equal(s.sets * TCP_SYN_WAYS, 128);
	for (uint32_t i = 0; i < 100000; i++) {
		struct tcp_tuple t = tuple(i);
		struct tcp_seg syn = syn_of(i);

		taken += tcp_syn_add(&s, &t, &syn, i, IW_SEC) != NULL;
	}
	assert_int_equal(taken, 128);
	assert_int_equal(s.used, 128);
	for (uint32_t i = 0; i < 100000; i++) {
		struct tcp_tuple t = tuple(i);
		struct tcp_syn_rec *rec = tcp_syn_find(&s, &t);

		if (!rec)
			continue;
		assert_int_equal(rec->irs, i);
		found++;
		tcp_syn_del(&s, rec);
		assert_null(tcp_syn_find(&s, &t));
	}
	assert_int_equal(found, 128);
	assert_true(tcp_syn_deadline(&s) == IW_NEVER);
	tcp_syn_fini(&s);
}

/* 1, 2, 4, 8, 16 s apart, given up 32 s later; whatever the clock's start. */
static void
test_times(void **state)
{
	static const uint64_t begin[] = {0, IW_SEC, 65535ull * TICK, 65500ull * TICK - 1, 1ull << 50};

	for (uint32_t k = 0; k < 5; k++) {
		struct tcp_tuple t = tuple(1);
		struct tcp_seg syn = syn_of(9);
		uint64_t now = begin[k], gap = IW_SEC;
		struct tcp_syn_rec *rec;
		struct tcp_syn s;

		assert_int_equal(tcp_syn_init(&s, &env, 4), 0);
		rec = tcp_syn_add(&s, &t, &syn, 1, now);
		for (uint32_t i = 0; i <= TCP_SYN_ACK_RETRIES; i++, gap *= 2) {
			uint64_t at = tcp_syn_deadline(&s);

			assert_true(at >= now + gap && at <= now + gap + TICK);
			assert_null(tcp_syn_due(&s, at - 1));
			assert_ptr_equal(tcp_syn_due(&s, at), rec);
			assert_int_equal(tcp_syn_again(&s, rec, at), i < TCP_SYN_ACK_RETRIES);
			now = at;
		}
		assert_ptr_equal(tcp_syn_due(&s, now), rec); /* the caller's to delete */
		tcp_syn_del(&s, rec);
		assert_null(tcp_syn_due(&s, now));
		tcp_syn_fini(&s);
	}
}

/* Many at once, some deleted from the middle: each is due once in each round, first come first. */
static void
test_order(void **state)
{
	struct tcp_syn s;
	uint32_t seen = 0;
	struct tcp_syn_rec *rec;

	assert_int_equal(tcp_syn_init(&s, &env, 4096), 0);
	for (uint32_t i = 1; i <= 300; i++) {
		struct tcp_tuple t = tuple(i);
		struct tcp_seg syn = syn_of(i);

		assert_non_null(tcp_syn_add(&s, &t, &syn, i, i * 100 * IW_MS));
	}
	for (uint32_t i = 3; i <= 300; i += 3) {
		struct tcp_tuple t = tuple(i);

		tcp_syn_del(&s, tcp_syn_find(&s, &t));
	}
	for (uint64_t now = IW_SEC; now <= 31 * IW_SEC + 100 * IW_MS; now += 50 * IW_MS)
		while ((rec = tcp_syn_due(&s, now)) != NULL) {
			if (tcp_syn_retries(rec) == 0) {
				assert_true(rec->irs > seen);
				assert_int_not_equal(rec->irs % 3, 0);
				seen = rec->irs;
			}
			if (!tcp_syn_again(&s, rec, now))
				tcp_syn_del(&s, rec);
		}
	assert_int_equal(seen, 299);
	tcp_syn_fini(&s);
}

/* SYN_RCVD from a passive open, step by step (RFC 9293 §3.10.7.4, RFC 5961, RFC 7323 §5.3). */
static void
test_T1_T2_T5_check(void **state)
{
	static const struct {
		const char *what;
		uint8_t flags;
		int32_t seq, ack; /* from RCV.NXT; from ISS + 1 */
		uint32_t len;
		int32_t ts; /* from TS.Recent; 99: none */
		enum tcp_syn_verdict want;
	} rows[] = {
		{"the last ACK", TCP_ACK, 0, 0, 0, 0, TCP_SYN_TAKE},
		{"with data and FIN", TCP_ACK | TCP_FIN, 0, 0, 100, 1, TCP_SYN_TAKE},
		{"lost, data behind it comes first", TCP_ACK, 1000, 0, 100, 1, TCP_SYN_TAKE},
		{"without the timestamp that was agreed on", TCP_ACK, 0, 0, 0, 99, TCP_SYN_TAKE},
		{"T5: an old timestamp", TCP_ACK, 0, 0, 0, -1, TCP_SYN_CHALLENGE},
		{"acknowledges nothing", TCP_ACK, 0, -1, 0, 0, TCP_SYN_REFUSE},
		{"acknowledges what was not sent", TCP_ACK, 0, 1, 0, 0, TCP_SYN_REFUSE},
		{"no ACK", TCP_PSH, 0, 0, 10, 0, TCP_SYN_DROP},
		{"FIN without ACK", TCP_FIN, 0, 0, 0, 0, TCP_SYN_DROP},
		{"left of the window", TCP_ACK, -1, 0, 0, 0, TCP_SYN_CHALLENGE},
		{"last number of the window", TCP_ACK, WND - 1, 0, 0, 0, TCP_SYN_TAKE},
		{"right of the window", TCP_ACK, WND, 0, 0, 0, TCP_SYN_CHALLENGE},
		{"reaches into the window", TCP_ACK, -5, 0, 6, 0, TCP_SYN_TAKE},
		{"T1: RST at RCV.NXT", TCP_RST, 0, 0, 0, 99, TCP_SYN_END},
		{"T1: RST at RCV.NXT, old timestamp", TCP_RST, 0, 0, 0, -1, TCP_SYN_END},
		{"T1: RST in the window", TCP_RST, 1, 0, 0, 99, TCP_SYN_CHALLENGE},
		{"T1: RST at its last number", TCP_RST | TCP_ACK, WND - 1, 0, 0, 99, TCP_SYN_CHALLENGE},
		{"T1: RST right of it", TCP_RST, WND, 0, 0, 99, TCP_SYN_DROP},
		{"T1: RST left of it", TCP_RST, -1, 0, 0, 99, TCP_SYN_DROP},
		{"T2: the SYN again", TCP_SYN, -1, 0, 0, 5, TCP_SYN_REPEAT},
		{"T2: another SYN in the window", TCP_SYN, 10, 0, 0, 5, TCP_SYN_CHALLENGE},
		{"T2: another SYN outside", TCP_SYN, -100, 0, 0, 5, TCP_SYN_CHALLENGE},
		{"SYN with ACK", TCP_SYN | TCP_ACK, -1, 0, 0, 0, TCP_SYN_CHALLENGE},
		{"SYN with FIN", TCP_SYN | TCP_FIN, -1, 0, 0, 0, TCP_SYN_REPEAT},
	};
	struct tcp_syn s;

	assert_int_equal(tcp_syn_init(&s, &env, 4), 0);
	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			uint32_t irs = starts[k], iss = ~starts[k];
			struct tcp_tuple t = tuple(1);
			struct tcp_seg syn = syn_of(irs);
			struct tcp_syn_rec *rec = tcp_syn_add(&s, &t, &syn, iss, IW_SEC);
			struct tcp_seg seg = {.flags = rows[i].flags,
					      .seq = irs + 1 + (uint32_t)rows[i].seq,
					      .ack = iss + 1 + (uint32_t)rows[i].ack,
					      .len = rows[i].len,
					      .has_ts = rows[i].ts != 99,
					      .tsval = syn.tsval + (uint32_t)rows[i].ts};

			if (tcp_syn_check(rec, &seg, WND) != rows[i].want)
				fail_msg("%s, start %x", rows[i].what, starts[k]);
			/* Only the SYN again brings its timestamp. */
			assert_int_equal(rec->ts_recent, rows[i].want == TCP_SYN_REPEAT ? seg.tsval : syn.tsval);
			tcp_syn_del(&s, rec);
		}
	tcp_syn_fini(&s);
}

/* Which handshakes share a set is known to nobody who has not the secret. */
static uint64_t
places(const struct iw_env *e)
{
	struct tcp_seg syn = syn_of(1);
	struct tcp_syn s;
	uint64_t sum = 0;

	assert_int_equal(tcp_syn_init(&s, e, 4096), 0);
	for (uint32_t i = 1; i < 64; i++) {
		struct tcp_tuple t = tuple(i);

		sum += i * (uint64_t)(tcp_syn_add(&s, &t, &syn, 99, IW_SEC) - s.recs);
	}
	tcp_syn_fini(&s);
	return sum;
}

static void
test_T24_sets_are_keyed(void **state)
{
	static const struct iw_env other = {.secret = {[16] = 6}};

	(void)state;
	assert_true(places(&env) == places(&env));
	assert_true(places(&env) != places(&other));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seg),
		cmocka_unit_test(test_T24_bounded),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_T1_T2_T5_check),
		cmocka_unit_test(test_T24_sets_are_keyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
