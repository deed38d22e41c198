/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that crosses threads, for ThreadSanitizer: calls, ids that move, posts and completions of another thread,
 * registrations that come and go, atomics on one word.  Two wires, each with both of its engines in one thread: packets
 * are handed over inside DPDK, which is not compiled for TSan, so they stay in one. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ends.h"

#define PAIRS 2
#define ROUNDS 300
#define SECONDS 60

static struct ends pairs[PAIRS];
static struct iw_domain *shared; /* of both listening ends */
static pthread_t pollers[PAIRS];
static bool over;

static bool
is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static void *
poll_pair(void *pair)
{
	while (!is_over())
		ends_turns(pair, 1);
	return NULL;
}

static void
open_pairs(bool foreign_poster)
{
	over = false;
	shared = iw_domain_create();
	for (int i = 0; i < PAIRS; i++) {
		ends_open_as(&pairs[i], &(struct ends_how){.domain = shared, .foreign_poster = foreign_poster});
		ends_connect(&pairs[i]);
	}
}

static void
start_pollers(void)
{
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(pthread_create(&pollers[i], NULL, poll_pair, &pairs[i]), 0);
}

static void
stop_pollers(void)
{
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < PAIRS; i++)
		pthread_join(pollers[i], NULL);
}

static void
close_pairs(void)
{
	for (int i = 0; i < PAIRS; i++)
		ends_close(&pairs[i]);
	assert_int_equal(iw_domain_destroy(shared), 0);
}

/* Waits until another thread has counted so far. */
static void
await(const int *count, int n)
{
	time_t end = time(NULL) + SECONDS;

	while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < n && time(NULL) < end)
		;
	assert_int_equal(__atomic_load_n(count, __ATOMIC_ACQUIRE), n);
}

/* ---- calls, and what is made of them ---- */

static struct call {
	int value, done; /* value: written here, read there, and the other way round */
} calls[ROUNDS];

static void
run_call(struct iw_engine *engine, void *arg)
{
	struct call *c = arg;

	c->value *= 2;
	__atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
}

static int moves, heard; /* counted by several threads */

static int
no_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	return 0;
}

/* To and fro between the two threads; what it carries is plain memory. */
static void
moved(struct iw_engine *to, iw_cm_id id, void *context)
{
	struct iw_engine *other = pairs[to == pairs[0].end[0].engine].end[0].engine;
	int *mileage = context, n = ++*mileage; /* read no more: it may be there before migrate returns */

	if (n < ROUNDS)
		assert_int_equal(iw_cm_migrate(to, id, other, moved), 0);
	else
		iw_cm_destroy(to, id);
	__atomic_fetch_add(&moves, 1, __ATOMIC_RELEASE);
}

static void
listening(struct iw_engine *engine, iw_cm_id id, int err, void *context)
{
	assert_int_equal(err, 0);
	iw_cm_destroy(engine, id);
	__atomic_fetch_add(&heard, 1, __ATOMIC_RELEASE);
}

static void
test_calls(void **state)
{
	struct iw_engine *engines[2 * PAIRS];
	struct iw_addr any = {.port = 99};
	int mileage = 0;

	(void)state;
	open_pairs(false);
	for (int i = 0; i < 2 * PAIRS; i++)
		engines[i] = pairs[i / 2].end[i % 2].engine;
	assert_int_equal(iw_cm_migrate(engines[0], iw_cm_create(engines[0], no_event, &mileage), engines[2], moved), 0);
	start_pollers();
	for (int i = 0; i < ROUNDS; i++) {
		calls[i].value = i;
		while (iw_engine_call(engines[i % 4], run_call, &calls[i]) != 0)
			; /* full: the other thread is at work */
	}
	assert_int_equal(iw_cm_listen_all(engines, 4, &any, 4, no_event, NULL, listening), 4);
	for (int i = 0; i < ROUNDS; i++) {
		await(&calls[i].done, 1);
		assert_int_equal(calls[i].value, 2 * i);
	}
	await(&moves, ROUNDS);
	await(&heard, 4);
	stop_pollers();
	close_pairs();
}

/* ---- posts and completions ---- */

/* Posts Sends, or the receives for them, and takes completions; all of one end, by one thread. */
struct poster {
	struct end *end;
	bool sends;
	int posted, done, bad;
};

static int
post_one(struct poster *p)
{
	struct end *e = p->end;
	struct iw_sge sge = {(uintptr_t)e->area + (uint32_t)p->posted % 64 * 64, 64, iw_mr_lkey(e->mr)};
	struct iw_send_wr send = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};

	if (!p->sends)
		return iw_post_recv(e->qp, &recv, NULL);
	memset(e->area + (uint32_t)p->posted % 64 * 64, p->posted & 0x7f, 64);
	return iw_post_send(e->qp, &send, NULL);
}

static void
take_completions(struct poster *p)
{
	struct iw_wc wc;

	while (iw_cq_poll(p->end->cq, &wc, 1) == 1) {
		const uint8_t *octets = p->end->area + (uint32_t)p->done % 64 * 64;

		p->bad += wc.status != IW_WC_SUCCESS;
		p->bad += !p->sends && (octets[0] != (p->done & 0x7f) || octets[63] != octets[0]);
		p->done++;
	}
}

static void *
post_and_take(void *arg)
{
	struct poster *p = arg;
	time_t end = time(NULL) + SECONDS;

	while (p->done < ROUNDS && p->bad == 0 && time(NULL) < end) {
		if (p->posted < ROUNDS && p->posted - p->done < 32 && post_one(p) == 0)
			p->posted++;
		take_completions(p);
	}
	return NULL;
}

static void
test_foreign_posts(void **state)
{
	struct poster posters[2] = {{.end = &pairs[0].end[0], .sends = true}, {.end = &pairs[0].end[1]}};
	pthread_t threads[2];

	(void)state;
	open_pairs(true);
	start_pollers();
	assert_int_equal(pthread_create(&threads[1], NULL, post_and_take, &posters[1]), 0);
	assert_int_equal(pthread_create(&threads[0], NULL, post_and_take, &posters[0]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	stop_pollers();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(posters[i].bad, 0);
		assert_int_equal(posters[i].done, ROUNDS);
	}
	close_pairs();
}

/* ---- registrations ---- */

static uint8_t target[65536];

/* Forty messages as long as it: the peer's Writes into it, its own Writes out of it, or the answers to the peer's Reads
 * of it. */
static void
post_messages(struct iw_mr *mr, uint8_t opcode, bool own)
{
	struct end *e = &pairs[0].end[own], *peer = &pairs[0].end[!own];
	struct iw_sge sge = {(uintptr_t)(own ? target : e->area), sizeof(target), iw_mr_lkey(own ? mr : e->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.remote_addr = (uintptr_t)(own ? peer->area : target),
				.rkey = iw_mr_rkey(own ? peer->mr : mr)};

	for (int i = 0; i < 40; i++)
		assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
}

/* What the other thread writes or reads through a registration is not touched any more when that was taken back, in the
 * middle of whatever. */
static void
deregister_while(uint8_t opcode, bool own)
{
	struct iw_mr *mr, *other;

	open_pairs(false);
	mr = iw_mr_reg(pairs[0].end[1].pd, target, sizeof(target), IW_LOCAL_WRITE | IW_REMOTE_WRITE | IW_REMOTE_READ,
		       NULL);
	assert_non_null(mr);
	post_messages(mr, opcode, own);
	start_pollers();
	for (int i = 0; i < ROUNDS; i++) {
		other = iw_mr_reg(pairs[1].end[1].pd, pairs, 1024, IW_REMOTE_READ, NULL);
		assert_non_null(other);
		assert_int_equal(iw_mr_dereg(other), 0);
	}
	assert_int_equal(iw_mr_dereg(mr), 0);
	memset(target, 0, sizeof(target)); /* a race if anybody still is there */
	stop_pollers();
	close_pairs();
}

static void
test_deregister_while_used(void **state)
{
	(void)state;
	deregister_while(IW_WR_RDMA_WRITE, false);
	for (int i = 0; i < 4; i++) {
		deregister_while(IW_WR_RDMA_WRITE, true);
		deregister_while(IW_WR_RDMA_READ, false);
	}
}

/* ---- atomics ---- */

static uint64_t word;

struct adder {
	int pair, done, bad;
	struct iw_mr *mr;
};

/* Polls its pair and adds by its connection, one at a time: the first pair by FetchAdd, the second by CmpSwap of what
 * it has seen last, until nobody else was faster (RFC 7306 §5.3: both are atomic against every stream of the device).
 */
static void *
add_over_the_wire(void *arg)
{
	struct adder *a = arg;
	struct end *e = &pairs[a->pair].end[0];
	struct iw_sge sge = {(uintptr_t)e->area, 8, iw_mr_lkey(e->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = a->pair ? IW_WR_CMP_SWAP : IW_WR_FETCH_ADD,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)&word,
				.rkey = iw_mr_rkey(a->mr)};
	time_t end = time(NULL) + SECONDS;
	uint64_t *old = (uint64_t *)e->area, seen = 0;
	struct iw_wc wc;

	while (a->done < ROUNDS && a->bad == 0 && time(NULL) < end) {
		wr.atomic = a->pair ? (struct iw_atomic){seen + 3, UINT64_MAX, seen, UINT64_MAX}
				    : (struct iw_atomic){.data = 3};
		a->bad += iw_post_send(e->qp, &wr, NULL) != 0;
		while (iw_cq_poll(e->cq, &wc, 1) == 0 && time(NULL) < end)
			ends_turns(&pairs[a->pair], 1);
		a->bad += wc.status != IW_WC_SUCCESS;
		a->done += !a->pair || *old == seen;
		seen = *old == seen && a->pair ? seen + 3 : *old;
	}
	return NULL;
}

static void
test_atomics(void **state)
{
	struct adder adders[PAIRS];
	pthread_t threads[PAIRS];

	(void)state;
	word = 0;
	open_pairs(false);
	for (int i = 0; i < PAIRS; i++) {
		adders[i] = (struct adder){.pair = i};
		adders[i].mr =
			iw_mr_reg(pairs[i].end[1].pd, &word, sizeof(word), IW_LOCAL_WRITE | IW_REMOTE_ATOMIC, NULL);
		assert_non_null(adders[i].mr);
		assert_int_equal(pthread_create(&threads[i], NULL, add_over_the_wire, &adders[i]), 0);
	}
	for (int i = 0; i < ROUNDS; i++)
		__atomic_fetch_add(&word, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(adders[i].bad, 0);
		assert_int_equal(adders[i].done, ROUNDS);
		assert_int_equal(iw_mr_dereg(adders[i].mr), 0);
	}
	assert_int_equal(word, ROUNDS + PAIRS * ROUNDS * 3);
	close_pairs();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_foreign_posts),
		cmocka_unit_test(test_deregister_while_used),
		cmocka_unit_test(test_atomics),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
