/* SPDX-License-Identifier: BSD-3-Clause */
/* The longest message there is: 4 GiB - 1 octets by Send, Write and Read (RFC 5040 §4.4, RFC 5041 §5.2: 32-bit message
 * offset and size), out of and into one piece of 64 KiB that is registered 65,536 times in a row; and one octet more.
 */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "rdmap_train.h"

#define PIECE 65536u
#define LONGEST UINT32_MAX
#define IOVA 0x7000
#define ROOM 16000
#define TURN 16

static struct pair p;
static struct iw_mr *src, *dst;
static struct rte_mbuf *m;
static uint64_t rolled; /* segments that left in trains */

static struct iw_mr *
reg(struct pair_side *s, uint32_t access)
{
	struct iw_iov *iov = malloc(IW_MAX_IOV * sizeof(*iov));
	struct iw_mr *mr;
	int err;

	for (uint32_t i = 0; i < IW_MAX_IOV; i++)
		iov[i] = (struct iw_iov){.addr = s->arena, .length = PIECE};
	mr = iw_mr_reg_iov(s->pd, iov, IW_MAX_IOV, IOVA, access, &err);
	assert_int_equal(err, 0);
	free(iov);
	return mr;
}

static void
open_pair(void)
{
	pair_open(&p, &(struct pair_opts){.no_crc = true, .arena = PIECE});
	m = rte_pktmbuf_alloc(p.mp);
	src = reg(&p.a, IW_LOCAL_WRITE | IW_REMOTE_READ);
	dst = reg(&p.b, IW_LOCAL_WRITE | IW_REMOTE_WRITE);
}

static void
close_pair(void)
{
	assert_int_equal(iw_mr_dereg(src), 0);
	assert_int_equal(iw_mr_dereg(dst), 0);
	rte_pktmbuf_free(m);
	pair_close(&p);
}

/* One FPDU, through the mbuf; its octets. */
static uint32_t
move_one(struct iw_qp *qp, struct pair_side *to)
{
	struct iw_view view = {.m = m, .off = 0};
	struct mpa_rx_result r;

	rte_pktmbuf_reset(m);
	rolled += rdmap_train_has(qp, ROOM);
	view.len = rdmap_tx_fill(qp, m, ROOM, NULL, p.now_ns);
	if (view.len == 0)
		return 0;
	r = mpa_rx(to->qp, &view, 1, UINT32_MAX, p.now_ns);
	assert_int_equal(r.consumed, view.len);
	return view.len;
}

/* In turns of a few; returns the octets. */
static uint64_t
move(struct pair_side *from, struct pair_side *to)
{
	uint64_t octets = 0;
	struct iw_qp *qp;

	rolled = 0;
	while ((qp = rdmap_run_next(from->rdmap))) {
		uint32_t part = 1;

		for (uint32_t n = 0; n < TURN && part > 0; n++) {
			part = move_one(qp, to);
			octets += part;
		}
		rdmap_run_add(qp);
	}
	rdmap_quiescent(from->rdmap);
	rdmap_quiescent(to->rdmap);
	assert_true(octets < LONGEST || rolled > LONGEST / ROOM / 4); /* all ways of filling one take part */
	return octets;
}

static int
post(struct pair_side *s, uint8_t opcode, uint32_t more, struct iw_mr *local, struct iw_mr *remote)
{
	struct iw_sge sge[2] = {{.addr = IOVA, .length = LONGEST, .lkey = iw_mr_lkey(local)},
				{.addr = IOVA, .length = more, .lkey = iw_mr_lkey(local)}};
	struct iw_send_wr wr = {.sg_list = sge,
				.num_sge = more ? 2 : 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = IOVA,
				.rkey = iw_mr_rkey(remote)};

	return iw_post_send(s->qp, &wr, NULL);
}

static int
post_recv(struct pair_side *s, uint32_t more, struct iw_mr *local)
{
	struct iw_sge sge[2] = {{.addr = IOVA, .length = LONGEST, .lkey = iw_mr_lkey(local)},
				{.addr = IOVA, .length = more, .lkey = iw_mr_lkey(local)}};
	struct iw_recv_wr wr = {.sg_list = sge, .num_sge = more ? 2 : 1};

	return iw_post_recv(s->qp, &wr, NULL);
}

/* All octets but the last one of the last round are where they belong: FPDUs do not end where pieces do. */
static void
check_memory(void)
{
	assert_memory_equal(p.a.arena, p.b.arena, PIECE);
	memset(p.b.arena, 0, PIECE);
}

static void
test_send(void **state)
{
	struct iw_wc wc;

	(void)state;
	open_pair();
	assert_int_equal(post_recv(&p.b, 0, dst), 0);
	assert_int_equal(post(&p.a, IW_WR_SEND, 0, src, dst), 0);
	assert_true(move(&p.a, &p.b) > LONGEST);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	wc = pair_wc(&p.b);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.byte_len, LONGEST);
	check_memory();
	close_pair();
}

static void
test_write(void **state)
{
	(void)state;
	open_pair();
	assert_int_equal(post(&p.a, IW_WR_RDMA_WRITE, 0, src, dst), 0);
	assert_true(move(&p.a, &p.b) > LONGEST);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	check_memory();
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	close_pair();
}

/* By the responder; it may send once it has heard something. */
static void
test_read(void **state)
{
	struct iw_wc wc;

	(void)state;
	open_pair();
	assert_int_equal(pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, NULL, 0, 0, NULL, 0, 0), 0);
	move(&p.a, &p.b);
	assert_int_equal(post(&p.b, IW_WR_RDMA_READ, 0, dst, src), 0);
	assert_int_equal(move(&p.b, &p.a), 52);
	assert_true(move(&p.a, &p.b) > LONGEST);
	wc = pair_wc(&p.b);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.byte_len, LONGEST);
	check_memory();
	close_pair();
}

static void
test_one_more(void **state)
{
	static const uint8_t ops[] = {IW_WR_SEND,           IW_WR_SEND_INV,  IW_WR_RDMA_WRITE,
				      IW_WR_RDMA_WRITE_IMM, IW_WR_RDMA_READ, IW_WR_RDMA_READ_INV};

	(void)state;
	open_pair();
	for (uint32_t i = 0; i < sizeof(ops); i++)
		assert_int_equal(post(&p.a, ops[i], 1, src, dst), -IW_E_TOOBIG);
	assert_int_equal(post_recv(&p.a, 1, src), -IW_E_TOOBIG);
	assert_true(pair_no_wc(&p.a));
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	close_pair();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_more),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
