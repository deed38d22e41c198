/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet buffers come from and go to the caches of their pools (design D13), also where one lcore takes them and
 * another one gives them back: the rings behind the caches are touched once for many.  One thread is both lcores in
 * turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_lcore.h>

#include "ends.h"

#define WRITES 400
#define DEPTH 4
#define SIZE 65536
#define LEAST_AT_ONCE 16 /* mbufs for each time that a ring is touched */

static uint64_t touched, moved;
static uint32_t pools;
static int real_ops; /* of the pools, before: 1 + index; 0: not known */

static int
counted_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
	touched++;
	moved += n;
	return rte_mempool_get_ops(real_ops - 1)->enqueue(mp, objs, n);
}

static int
counted_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
	touched++;
	moved += n;
	return rte_mempool_get_ops(real_ops - 1)->dequeue(mp, objs, n);
}

static unsigned
counted_count(const struct rte_mempool *mp)
{
	return rte_mempool_get_ops(real_ops - 1)->get_count(mp);
}

static int
no_alloc(struct rte_mempool *mp)
{
	(void)mp;
	return -ENOTSUP;
}

static const struct rte_mempool_ops counted = {.name = "test_counted",
					       .alloc = no_alloc,
					       .enqueue = counted_enqueue,
					       .dequeue = counted_dequeue,
					       .get_count = counted_count};

static void
poll_as(struct ends *s, int which)
{
	RTE_PER_LCORE(_lcore_id) = (unsigned)which;
	assert_true(iw_engine_poll(s->end[which].engine) >= 0);
	RTE_PER_LCORE(_lcore_id) = 0;
}

static void
write_one(struct ends *s)
{
	struct end *from = &s->end[0], *to = &s->end[1];
	struct iw_sge sge = {(uintptr_t)from->area, SIZE, iw_mr_lkey(from->mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = IW_WR_RDMA_WRITE,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)to->area,
				.rkey = iw_mr_rkey(to->mr)};

	assert_int_equal(iw_post_send(from->qp, &wr, NULL), 0);
}

static void
carry(struct ends *s, uint32_t n)
{
	uint32_t posted = 0, done = 0;
	struct iw_wc wc[DEPTH];

	for (uint64_t turns = 0; done < n && turns < UINT32_MAX; turns++) {
		while (posted < n && posted - done < DEPTH) {
			write_one(s);
			posted++;
		}
		poll_as(s, 0);
		poll_as(s, 1);
		for (int k = iw_cq_poll(s->end[0].cq, wc, DEPTH); k > 0; k--, done++)
			assert_int_equal(wc[k - 1].status, IW_WC_SUCCESS);
	}
	assert_int_equal(done, n);
}

/* The pools of the engines: those that have caches. */
static void
set_ops(struct rte_mempool *mp, void *ops)
{
	if (mp->cache_size == 0)
		return;
	real_ops = real_ops ? real_ops : mp->ops_index + 1;
	mp->ops_index = ops ? *(const int *)ops : real_ops - 1;
	pools++;
}

static void
test_rings_are_touched_rarely(void **state)
{
	static struct ends s;
	int ops = rte_mempool_register_ops(&counted);

	assert_true(ops >= 0);
	ends_open_as(&s, &(struct ends_how){.own_pools = true});
	memset(s.end[0].area, 0x5a, SIZE);
	ends_connect(&s);
	carry(&s, 8);
	rte_mempool_walk(set_ops, &ops);
	assert_int_equal(pools, 4); /* two of each engine */
	carry(&s, WRITES);
	rte_mempool_walk(set_ops, NULL);
	print_message("rings touched %llu times for %llu mbufs\n", (unsigned long long)touched,
		      (unsigned long long)moved);
	assert_true(moved > WRITES); /* what is taken here is given back there, so it must go through the rings */
	assert_true(moved >= LEAST_AT_ONCE * touched);
	assert_memory_equal(s.end[0].area, s.end[1].area, SIZE);
	ends_close(&s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rings_are_touched_rarely)};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
