/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"

#define GUARD 4096

static uint8_t *
area(const struct traffic_end *a, int which)
{
	return a->memory + (size_t)which * (TRAFFIC_AREA + GUARD) + GUARD;
}

/* A keyed function of place: what is copied to another offset cannot match by chance. */
static uint8_t
pattern(const struct traffic_end *a, uint32_t off)
{
	uint64_t z = ((uint64_t)off << 1 | (a->end == &a->end->pair->end[0])) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint8_t)(z >> 56 ^ z >> 29);
}

static void
end_init(struct traffic_end *a, struct pair_end *end)
{
	static const uint32_t rights[TRAFFIC_AREAS] = {IW_REMOTE_READ, IW_LOCAL_WRITE | IW_REMOTE_WRITE, IW_LOCAL_WRITE,
						       IW_LOCAL_WRITE};

	memset(a, 0, sizeof(*a));
	a->end = end;
	a->memory = oracle_memory((uint64_t)TRAFFIC_AREAS * (TRAFFIC_AREA + GUARD) + GUARD);
	for (int i = 0; i < TRAFFIC_AREAS; i++)
		a->mr[i] = iw_mr_reg(end->pd, area(a, i), TRAFFIC_AREA, rights[i], NULL);
	for (uint32_t i = 0; i < TRAFFIC_AREA; i++)
		area(a, TRAFFIC_SRC)[i] = pattern(a, i);
}

static void
end_fini(struct traffic_end *a)
{
	for (int i = 0; i < TRAFFIC_AREAS; i++)
		assert_int_equal(iw_mr_dereg(a->mr[i]), 0);
}

static void
post_receives(struct traffic_end *a)
{
	for (uint32_t i = 0; i < TRAFFIC_OPS; i++) {
		/* Two pieces, so that placement crosses them. */
		struct iw_sge sge[2] = {{(uintptr_t)area(a, TRAFFIC_RECEIVED) + i * (TRAFFIC_AREA / TRAFFIC_OPS), 1001,
					 iw_mr_lkey(a->mr[TRAFFIC_RECEIVED])},
					{(uintptr_t)area(a, TRAFFIC_RECEIVED) + i * (TRAFFIC_AREA / TRAFFIC_OPS) + 1001,
					 TRAFFIC_AREA / TRAFFIC_OPS - 1001, iw_mr_lkey(a->mr[TRAFFIC_RECEIVED])}};
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
post_one(struct traffic_end *a, struct sim *s)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	int which = (int)sim_below(s, 3), slot = which == 0   ? TRAFFIC_WRITTEN
						 : which == 1 ? TRAFFIC_READ_INTO
							      : TRAFFIC_SRC;
	uint32_t len = draw_length(s, TRAFFIC_AREA / TRAFFIC_OPS);
	uint32_t off = a->at[slot];
	uint8_t *local = which == 1 ? area(a, TRAFFIC_READ_INTO) + off : area(a, TRAFFIC_SRC) + off;
	struct iw_sge sge[3] = {
		{(uintptr_t)local, len / 3, iw_mr_lkey(a->mr[which == 1 ? TRAFFIC_READ_INTO : TRAFFIC_SRC])}};
	struct iw_send_wr wr = {
		.wr_id = a->posted, .sg_list = sge, .num_sge = 3, .opcode = opcodes[which], .flags = IW_SEND_SIGNALED};
	int err;

	sge[1] = (struct iw_sge){sge[0].addr + len / 3, len / 3, sge[0].lkey};
	sge[2] = (struct iw_sge){sge[1].addr + len / 3, len - 2 * (len / 3), sge[0].lkey};
	wr.rkey = iw_mr_rkey(a->peer->mr[which == 0 ? TRAFFIC_WRITTEN : TRAFFIC_SRC]);
	wr.remote_addr = (uintptr_t)area(a->peer, which == 0 ? TRAFFIC_WRITTEN : TRAFFIC_SRC) + off;
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
reap(struct traffic_end *a)
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
is_done(const struct traffic_end *a)
{
	return a->posted == TRAFFIC_OPS && a->completed == TRAFFIC_OPS && a->received == a->expect_received;
}

static void
check_area(const struct traffic_end *a, int which, const struct traffic_end *source, uint32_t len)
{
	const uint8_t *p = area(a, which);

	for (uint32_t i = 0; i < len; i++)
		if (p[i] != pattern(source, i))
			fail_msg("area %d differs at %u of %u", which, i, len);
	for (uint32_t i = len; i < TRAFFIC_AREA + GUARD && which != TRAFFIC_RECEIVED; i++)
		if (p[i] != oracle_secret()[(uintptr_t)(p + i) & 7])
			fail_msg("area %d was written at %u, behind its %u octets", which, i, len);
}

static void
check_received(const struct traffic_end *a)
{
	uint32_t from = 0;

	for (uint32_t i = 0; i < a->received; i++) {
		const uint8_t *p = area(a, TRAFFIC_RECEIVED) + i * (TRAFFIC_AREA / TRAFFIC_OPS);

		for (uint32_t k = 0; k < a->recv_len[i]; k++)
			if (p[k] != pattern(a->peer, from + k))
				fail_msg("receive %u differs at %u", i, k);
		from += a->recv_len[i];
	}
}

void
traffic_exchange(struct traffic *t, uint64_t limit_ns)
{
	struct traffic_end *a = t->end;
	struct sim *s = t->sim;
	uint64_t end = s->now_ns + limit_ns;

	while (!(is_done(&a[0]) && is_done(&a[1])) && s->now_ns < end) {
		for (int i = 0; i < 2; i++) {
			while (a[i].posted < TRAFFIC_OPS && post_one(&a[i], s))
				;
			reap(&a[i]);
		}
		sim_step(s, end);
	}
	assert_true(is_done(&a[0]) && is_done(&a[1]));
}

void
traffic_init(struct traffic *t, struct pair *pair)
{
	t->sim = pair->sim;
	for (int i = 0; i < 2; i++) {
		end_init(&t->end[i], &pair->end[i]);
		t->end[i].peer = &t->end[!i];
		post_receives(&t->end[i]);
	}
}

/* A Write completes when TCP has taken it over: only a close says that all of it has arrived. */
void
traffic_check(const struct traffic *t)
{
	for (int i = 0; i < 2; i++) {
		const struct traffic_end *a = &t->end[i], *peer = &t->end[!i];

		check_area(a, TRAFFIC_WRITTEN, peer, peer->at[TRAFFIC_WRITTEN]);
		check_area(a, TRAFFIC_READ_INTO, peer, a->at[TRAFFIC_READ_INTO]);
		check_received(a);
	}
}

void
traffic_fini(struct traffic *t)
{
	end_fini(&t->end[0]);
	end_fini(&t->end[1]);
}
