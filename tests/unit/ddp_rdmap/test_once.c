/* SPDX-License-Identifier: BSD-3-Clause */
/* X9: each kind of message between two QPs while every header is overwritten as soon as it was parsed.  The rows of the
 * error tables run the same way (test_rows.c, "rows once"). */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "once.h"
#include "pair.h"

static struct iw_mr *a_mr, *b_mr;

static void
post(struct pair *p, uint8_t opcode, uint64_t id)
{
	struct iw_sge sge = {.addr = (uintptr_t)p->a.arena + 64, .length = 8, .lkey = iw_mr_lkey(a_mr)};
	struct iw_send_wr wr = {.wr_id = id,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.sg_list = &sge,
				.num_sge = opcode != IW_WR_IMM,
				.remote_addr = (uintptr_t)p->b.arena + 128,
				.rkey = iw_mr_rkey(b_mr)};

	if (opcode == IW_WR_IMM || opcode == IW_WR_RDMA_WRITE_IMM)
		wr.imm_data = 0x1122334455667788;
	if (opcode == IW_WR_FETCH_ADD)
		wr.atomic = (struct iw_atomic){.data = 5};
	if (opcode == IW_WR_CMP_SWAP)
		wr.atomic = (struct iw_atomic){.data = 5, .mask = UINT64_MAX, .compare = 1, .compare_mask = 1};
	assert_int_equal(iw_post_send(p->a.qp, &wr, NULL), 0);
}

/* What has gone from a's word to b's, or from there to here. */
static void
check(struct pair *p, uint8_t opcode)
{
	uint8_t *here = p->a.arena + 64, *there = p->b.arena + 128;

	switch (opcode) {
	case IW_WR_RDMA_WRITE:
	case IW_WR_RDMA_WRITE_IMM:
	case IW_WR_RDMA_READ:
		assert_memory_equal(here, there, 8);
		break;
	case IW_WR_FETCH_ADD:
		assert_int_equal(*(uint64_t *)here + 5, *(uint64_t *)there);
		break;
	case IW_WR_CMP_SWAP:
		assert_true(*(uint64_t *)there == (*(uint64_t *)here & 1 ? 5 : *(uint64_t *)here));
		break;
	default:
		break;
	}
}

static void
test_X9(void **state)
{
	static const uint8_t ops[] = {IW_WR_SEND,           IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_IMM,
				      IW_WR_RDMA_WRITE_IMM, IW_WR_FETCH_ADD,  IW_WR_CMP_SWAP};
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.arena = 8192});
	a_mr = pair_mr(&p.a, 0, 4096, IW_LOCAL_WRITE);
	b_mr = pair_mr(&p.b, 0, 4096, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC);
	for (uint32_t i = 0; i < sizeof(ops); i++) {
		bool takes = ops[i] == IW_WR_SEND || ops[i] == IW_WR_IMM || ops[i] == IW_WR_RDMA_WRITE_IMM;
		uint32_t before = once_overwritten();

		if (takes)
			assert_int_equal(pair_recv(&p.b, i, p.b.arena, 64, iw_mr_lkey(b_mr)), 0);
		post(&p, ops[i], i);
		pair_pump(&p);
		assert_true(once_overwritten() > before);
		assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
		if (takes)
			assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
		check(&p, ops[i]);
	}
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	assert_int_equal(iw_mr_dereg(a_mr), 0);
	assert_int_equal(iw_mr_dereg(b_mr), 0);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_X9)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
