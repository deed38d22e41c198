/* SPDX-License-Identifier: BSD-3-Clause */
/* Two stacks on a seeded wire: every transfer arrives byte-exact, every run ends, nothing is left over.
 *     test_transfer [SEED [RUNS]]  repeats a run by its seed */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "pair.h"

#define AREA (1u << 20)
#define GUARD 4096
#define OPS 48

static uint64_t first_seed = 1;
static uint32_t runs = 6;

enum { SRC, WRITTEN, READ_INTO, RECEIVED, AREAS };

/* What one end does: OPS operations on consecutive slices; what the other end's memory must then hold. */
struct actor {
	struct pair_end *end;
	struct actor *peer;
	uint8_t *memory; /* AREAS areas with guards between them */
	struct iw_mr *mr[AREAS];
	uint32_t at[AREAS];
	uint32_t posted, completed, sends, received, expect_received;
	uint32_t recv_len[OPS];
};

static uint8_t *
area(const struct actor *a, int which)
{
	return a->memory + (size_t)which * (AREA + GUARD) + GUARD;
}

/* A keyed function of place: what is copied to another offset cannot match by chance. */
static uint8_t
pattern(const struct actor *a, uint32_t off)
{
	uint64_t z = ((uint64_t)off << 1 | (a->end == &a->end->pair->end[0])) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint8_t)(z >> 56 ^ z >> 29);
}

static void
actor_init(struct actor *a, struct pair_end *end)
{
	static const uint32_t rights[AREAS] = {IW_REMOTE_READ, IW_LOCAL_WRITE | IW_REMOTE_WRITE, IW_LOCAL_WRITE,
					       IW_LOCAL_WRITE};

	memset(a, 0, sizeof(*a));
	a->end = end;
	a->memory = malloc((size_t)AREAS * (AREA + GUARD) + GUARD);
	memset(a->memory, 0xee, (size_t)AREAS * (AREA + GUARD) + GUARD);
	for (uint32_t i = 0; i < AREA; i++)
		area(a, SRC)[i] = pattern(a, i);
	for (int i = 0; i < AREAS; i++)
		a->mr[i] = iw_mr_reg(end->pd, area(a, i), AREA, rights[i], NULL);
}

static void
actor_fini(struct actor *a)
{
	for (int i = 0; i < AREAS; i++)
		assert_int_equal(iw_mr_dereg(a->mr[i]), 0);
	free(a->memory);
}

static void
post_receives(struct actor *a)
{
	for (uint32_t i = 0; i < OPS; i++) {
		/* Two pieces, so that placement crosses them. */
		struct iw_sge sge[2] = {
			{(uintptr_t)area(a, RECEIVED) + i * (AREA / OPS), 1001, iw_mr_lkey(a->mr[RECEIVED])},
			{(uintptr_t)area(a, RECEIVED) + i * (AREA / OPS) + 1001, AREA / OPS - 1001,
			 iw_mr_lkey(a->mr[RECEIVED])}};
		struct iw_recv_wr wr = {.wr_id = 1000 + i, .sg_list = sge, .num_sge = 2};

		assert_int_equal(iw_post_recv(a->end->qp, &wr, NULL), 0);
	}
}

static uint32_t
draw_length(struct sim *s, uint32_t max)
{
	static const uint32_t edges[] = {0, 1, 3, 4, 64, 1408, 1442, 1448, 8192};
	uint64_t kind = sim_below(s, 3);

	if (kind == 0)
		return edges[sim_below(s, sizeof(edges) / sizeof(edges[0]))];
	return (uint32_t)sim_below(s, (kind == 1 ? 2000 : max) + 1);
}

static bool
post_one(struct actor *a, struct sim *s)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	int which = (int)sim_below(s, 3), slot = which == 0 ? WRITTEN : which == 1 ? READ_INTO : SRC;
	uint32_t len = draw_length(s, AREA / OPS);
	uint32_t off = a->at[slot];
	uint8_t *local = which == 1 ? area(a, READ_INTO) + off : area(a, SRC) + off;
	struct iw_sge sge[3] = {{(uintptr_t)local, len / 3, iw_mr_lkey(a->mr[which == 1 ? READ_INTO : SRC])}};
	struct iw_send_wr wr = {
		.wr_id = a->posted, .sg_list = sge, .num_sge = 3, .opcode = opcodes[which], .flags = IW_SEND_SIGNALED};
	int err;

	sge[1] = (struct iw_sge){sge[0].addr + len / 3, len / 3, sge[0].lkey};
	sge[2] = (struct iw_sge){sge[1].addr + len / 3, len - 2 * (len / 3), sge[0].lkey};
	wr.rkey = iw_mr_rkey(a->peer->mr[which == 0 ? WRITTEN : SRC]);
	wr.remote_addr = (uintptr_t)area(a->peer, which == 0 ? WRITTEN : SRC) + off;
	err = iw_post_send(a->end->qp, &wr, NULL);
	if (err == -IW_E_NOMEM)
		return false;
	assert_int_equal(err, 0);
	a->posted++;
	a->at[slot] += len;
	if (which == 2) {
		a->peer->recv_len[a->peer->expect_received++] = len;
		a->sends++;
	}
	return true;
}

static void
reap(struct actor *a)
{
	struct iw_wc wc[16];
	int n = iw_cq_poll(a->end->cq, wc, 16);

	for (int i = 0; i < n; i++) {
		assert_int_equal(wc[i].status, IW_WC_SUCCESS);
		if (wc[i].opcode == IW_WC_RECV) {
			assert_int_equal(wc[i].wr_id, 1000 + a->received);
			assert_int_equal(wc[i].byte_len, a->recv_len[a->received]);
			a->received++;
		} else {
			assert_int_equal(wc[i].wr_id, a->completed);
			a->completed++;
		}
	}
}

static bool
is_done(const struct actor *a)
{
	return a->posted == OPS && a->completed == OPS && a->received == a->expect_received;
}

static void
check_area(const struct actor *a, int which, const struct actor *source, uint32_t len)
{
	const uint8_t *p = area(a, which);

	for (uint32_t i = 0; i < len; i++)
		if (p[i] != pattern(source, i))
			fail_msg("area %d differs at %u of %u", which, i, len);
	for (uint32_t i = len; i < AREA + GUARD && which != RECEIVED; i++)
		if (p[i] != 0xee)
			fail_msg("area %d was written at %u, behind its %u octets", which, i, len);
}

static void
check_received(const struct actor *a)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < a->received; i++) {
		const uint8_t *p = area(a, RECEIVED) + i * (AREA / OPS);

		for (uint32_t k = 0; k < a->recv_len[i]; k++)
			if (p[k] != pattern(a->peer, from + k))
				fail_msg("receive %u differs at %u", i, k);
		from += a->recv_len[i];
	}
}

static void
exchange(struct sim *s, struct actor a[2])
{
	uint64_t end = s->now_ns + 600 * IW_SEC;

	while (!(is_done(&a[0]) && is_done(&a[1])) && s->now_ns < end) {
		for (int i = 0; i < 2; i++) {
			while (a[i].posted < OPS && post_one(&a[i], s))
				;
			reap(&a[i]);
		}
		sim_step(s, end);
	}
	assert_true(is_done(&a[0]) && is_done(&a[1]));
}

static void
one_run(uint64_t seed, const struct sim_wire *wire, uint16_t mtu, bool no_crc, uint32_t burst)
{
	struct iw_qp_attr attr = {.sq_depth = 16, .rq_depth = 64, .max_ird = 4, .max_ord = 4};
	struct sim *s = malloc(sizeof(*s));
	struct actor a[2];
	struct pair p;
	char history[256];

	sim_init(s, seed, 2, mtu);
	s->wire = *wire;
	s->burst = burst;
	pair_init(&p, s, &attr);
	p.end[0].attr.no_crc = p.end[1].attr.no_crc = no_crc;
	/* At 10 % loss the default of 10 s may well be too short for SYN and Request. */
	p.end[0].attr.connect_timeout_ms = 60000;
	for (int i = 0; i < 2; i++) {
		actor_init(&a[i], &p.end[i]);
		a[i].peer = &a[!i];
		post_receives(&a[i]);
	}
	assert_true(pair_connect(&p, 60 * IW_SEC));
	exchange(s, a);
	assert_true(pair_disconnect(&p, 300 * IW_SEC));
	assert_string_equal(pair_history(&p, 0, history, sizeof(history)), "REPLY CLOSE");
	assert_string_equal(pair_history(&p, 1, history, sizeof(history)), "REQUEST ESTABLISHED DISCONNECT CLOSE");
	/* A Write completes when TCP has taken it over: only a close says that all of it has arrived. */
	for (int i = 0; i < 2; i++) {
		check_area(&a[i], WRITTEN, &a[!i], a[!i].at[WRITTEN]);
		check_area(&a[i], READ_INTO, &a[!i], a[i].at[READ_INTO]);
		check_received(&a[i]);
		actor_fini(&a[i]);
	}
	pair_fini(&p);
	sim_run(s, 400 * IW_SEC);
	sim_fini(s);
	free(s);
}

static void
many_runs(const struct sim_wire *wire, bool no_crc)
{
	for (uint32_t i = 0; i < runs; i++) {
		static const uint16_t mtus[] = {1500, 9000, 576};

		print_message("seed %llu\n", (unsigned long long)(first_seed + i));
		one_run(first_seed + i, wire, mtus[i % 3], no_crc, i & 1 ? 1 : 32);
	}
}

static void
test_clean(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 10 * IW_US}, false);
}

static void
test_no_crc(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 10 * IW_US}, true);
}

static void
test_loss_1(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 100 * IW_US, .loss = 0.01}, false);
}

static void
test_loss_10(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 100 * IW_US, .loss = 0.1}, false);
}

static void
test_reorder_and_duplicate(void **state)
{
	many_runs(&(struct sim_wire){.delay_ns = 50 * IW_US, .jitter_ns = 100 * IW_US, .dup = 0.05}, false);
}

static void
test_everything_at_once(void **state)
{
	many_runs(
		&(struct sim_wire){
			.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.03, .dup = 0.03, .corrupt = 0.01},
		false);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_no_crc),
		cmocka_unit_test(test_loss_1),
		cmocka_unit_test(test_loss_10),
		cmocka_unit_test(test_reorder_and_duplicate),
		cmocka_unit_test(test_everything_at_once),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
