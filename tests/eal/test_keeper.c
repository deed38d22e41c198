/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and Writes without a copy over a port whose driver keeps frames until it is asked for them: what arrives is
 * what stood there when the request was posted, whatever stands there once it has completed; and all of it comes
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <rte_mempool.h>

#include "ends.h"
#include "keeper.h"
#include "stat_of.h"

#define PAGE 4096
#define PIECE 20000u
#define PIECES (ENDS_AREA / PIECE)
#define LEN ((PIECES * PIECE + PAGE - 1) / PAGE * PAGE)

static struct ends s;
static uint8_t *lent;
static struct iw_mr *mr;
static size_t heap;

static uint8_t
octet_of(uint32_t piece, uint32_t at)
{
	return (uint8_t)(piece * 31 + at * 7 + (at >> 8));
}

static void
begin(void)
{
	int err;

	heap = ends_heap_in_use();
	keeper_begin();
	ends_open_as(&s, &(struct ends_how){.lends = true});
	assert_true(iw_engine_zero_copy(s.end[0].engine));
	ends_connect(&s);
	lent = aligned_alloc(PAGE, LEN);
	for (uint32_t piece = 0; piece < PIECES; piece++)
		for (uint32_t at = 0; at < PIECE; at++)
			lent[piece * PIECE + at] = octet_of(piece, at);
	assert_int_equal(iw_dma_map(lent, LEN), 0);
	mr = iw_mr_reg(s.end[0].pd, lent, LEN, IW_ZERO_COPY, &err);
	assert_non_null(mr);
}

/* Everything that anybody took is back. */
static void
end(void)
{
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_dma_unmap(lent, LEN), 0);
	free(lent);
	ends_close(&s);
	keeper_end();
	assert_int_equal(ends_heap_in_use(), heap);
}

static uint8_t *
place_of(uint32_t piece)
{
	return s.end[1].area + piece * PIECE;
}

static void
post(uint32_t piece, uint8_t opcode)
{
	struct iw_sge sge = {(uintptr_t)lent + piece * PIECE, PIECE, iw_mr_lkey(mr)};
	struct iw_send_wr wr = {.wr_id = piece,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)place_of(piece),
				.rkey = iw_mr_rkey(s.end[1].mr)};

	assert_int_equal(iw_post_send(s.end[0].qp, &wr, NULL), 0);
}

static void
post_recv(uint32_t piece)
{
	struct iw_sge sge = {(uintptr_t)place_of(piece), PIECE, iw_mr_lkey(s.end[1].mr)};
	struct iw_recv_wr wr = {.wr_id = piece, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(iw_post_recv(s.end[1].qp, &wr, NULL), 0);
}

static bool
has_arrived(uint32_t piece)
{
	for (uint32_t at = 0; at < PIECE; at++)
		if (place_of(piece)[at] != octet_of(piece, at))
			return false;
	return true;
}

/* Once a request has completed its memory is its owner's, who has something else to write there. */
static void
reuse_what_completes(uint32_t n)
{
	time_t limit = time(NULL) + 30;
	struct iw_wc wc;

	while (n > 0 && time(NULL) < limit) {
		ends_turns(&s, 1);
		while (iw_cq_poll(s.end[0].cq, &wc, 1) == 1) {
			assert_string_equal(iw_wc_status_name(wc.status), iw_wc_status_name(IW_WC_SUCCESS));
			memset(lent + wc.wr_id * PIECE, 0xee, PIECE);
			n--;
		}
	}
	assert_int_equal(n, 0);
}

/* The first n pieces. */
static void
await_pieces(uint32_t n)
{
	time_t limit = time(NULL) + 30;
	uint32_t there = 0;

	while (there < n && time(NULL) < limit) {
		ends_turns(&s, 1);
		there += has_arrived(there);
	}
	assert_int_equal(there, n);
}

static void
carry(uint8_t opcode, uint32_t lose)
{
	begin();
	keeper.lose = lose;
	for (uint32_t piece = 0; piece < PIECES; piece++) {
		if (opcode == IW_WR_SEND)
			post_recv(piece);
		post(piece, opcode);
	}
	reuse_what_completes(PIECES);
	await_pieces(PIECES);
	assert_true(stat_of(s.end[0].engine, "rdmap.tx_lent") >= PIECES * PIECE / 1500);
	assert_true(keeper.most > 8 && keeper.cleaned > 0);
	assert_int_equal(keeper.lost > 0, lose > 0);
	end();
}

static void
test_write(void **state)
{
	(void)state;
	carry(IW_WR_RDMA_WRITE, 0);
}

static void
test_send(void **state)
{
	(void)state;
	carry(IW_WR_SEND, 0);
}

/* Frames are sent again while the driver still has them. */
static void
test_lossy(void **state)
{
	(void)state;
	carry(IW_WR_RDMA_WRITE, 9);
	carry(IW_WR_SEND, 5);
}

/* A queue that falls silent has few frames: no transmit makes the driver look for them. */
static void
test_silence(void **state)
{
	struct iw_wc wc;

	(void)state;
	begin();
	keeper.deaf = true;
	post(0, IW_WR_RDMA_WRITE);
	await_pieces(1);
	ends_turns(&s, 500);
	assert_true(keeper_keeps() >= PIECE / 1500 && keeper.short_of == 0);
	assert_int_equal(iw_cq_poll(s.end[0].cq, &wc, 1), 0);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_BUSY);
	keeper.deaf = false;
	reuse_what_completes(1);
	assert_int_equal(keeper_keeps(), 0);
	end();
}

/* More frames than descriptors: the port waits for room, and nothing is lost. */
static void
test_no_room(void **state)
{
	(void)state;
	begin();
	keeper.asleep = true;
	for (uint32_t piece = 0; piece < PIECES; piece++)
		post(piece, IW_WR_RDMA_WRITE);
	ends_turns(&s, 500);
	assert_true(keeper_keeps() > 0);
	keeper.asleep = false;
	reuse_what_completes(PIECES);
	await_pieces(PIECES);
	end();
}

/* The engine goes while the driver has frames: with the port's stop they are back. */
static void
test_destroyed(void **state)
{
	(void)state;
	begin();
	keeper.asleep = true;
	post(0, IW_WR_RDMA_WRITE);
	ends_turns(&s, 20);
	assert_true(keeper_keeps() > 1);
	assert_int_equal(iw_engine_destroy(s.end[0].engine), 0);
	s.end[0].engine = NULL;
	assert_true(keeper.at_stop > 1);
	end();
}

/* A driver that lets go when its port is closed only: until then the memory is in use, and its pool is kept. */
static void
test_held_beyond(void **state)
{
	(void)state;
	begin();
	keeper.asleep = keeper.grips = true;
	post(0, IW_WR_RDMA_WRITE);
	ends_turns(&s, 20);
	assert_int_equal(iw_engine_destroy(s.end[0].engine), 0);
	s.end[0].engine = NULL;
	assert_true(keeper_keeps() > 1);
	assert_int_equal(iw_mr_dereg(mr), -IW_E_BUSY);
	keeper_let_go();
	end();
}

/* What DPDK takes once and keeps is taken. */
static int
warm_up(void **state)
{
	(void)state;
	ends_open(&s);
	ends_close(&s);
	return 0;
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),       cmocka_unit_test(test_send),    cmocka_unit_test(test_lossy),
		cmocka_unit_test(test_silence),     cmocka_unit_test(test_no_room), cmocka_unit_test(test_destroyed),
		cmocka_unit_test(test_held_beyond),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, warm_up, NULL);
}
