/* SPDX-License-Identifier: BSD-3-Clause */
/* Two QPs back to back: every verb, size and cut, octet for octet. */
#include "rdmap_face.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"

static const uint32_t sizes[] = {0,    1,    2,    3,    4,    5,    63,   64,    127,   128,    1400,
				 1424, 1425, 1428, 1429, 1442, 1443, 4096, 65535, 65536, 100001, 1u << 20};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

#define LOCAL 0x1000 /* where things lie in an arena */
#define REMOTE 0x200000

static void
check_copied(const struct pair_side *from, uint32_t from_off, const struct pair_side *to, uint32_t to_off, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		if (to->arena[to_off + i] != pair_pattern(from, from_off + i))
			fail_msg("octet %u of %u", i, len);
	assert_true(pair_untouched(to, to_off - 64, 64));
	assert_true(pair_untouched(to, to_off + len, 64));
}

static void
restore(struct pair_side *s, uint32_t off, uint32_t len)
{
	for (uint32_t i = off; i < off + len; i++)
		s->arena[i] = pair_pattern(s, i);
}

static void
one_send(struct pair *p, uint32_t len)
{
	struct iw_mr *from = pair_mr(&p->a, LOCAL, len, 0), *to = pair_mr(&p->b, REMOTE, len, IW_LOCAL_WRITE);
	struct iw_wc wc;

	assert_int_equal(pair_recv(&p->b, 5, p->b.arena + REMOTE, len, iw_mr_lkey(to)), 0);
	assert_int_equal(pair_send(&p->a, 6, p->a.arena + LOCAL, len, iw_mr_lkey(from), IW_SEND_SIGNALED), 0);
	pair_pump(p);
	wc = pair_wc(&p->a);
	assert_int_equal(wc.wr_id, 6);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_SEND);
	wc = pair_wc(&p->b);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_RECV);
	assert_int_equal(wc.byte_len, len);
	assert_int_equal(wc.flags, 0);
	check_copied(&p->a, LOCAL, &p->b, REMOTE, len);
	restore(&p->b, REMOTE, len);
	assert_int_equal(iw_mr_dereg(from), 0);
	assert_int_equal(iw_mr_dereg(to), 0);
}

static void
one_write(struct pair *p, uint32_t len)
{
	struct iw_mr *from = pair_mr(&p->a, LOCAL, len, 0), *to = pair_mr(&p->b, REMOTE, len, IW_REMOTE_WRITE);
	struct iw_wc wc;

	assert_int_equal(pair_rdma(&p->a, 7, IW_WR_RDMA_WRITE, p->a.arena + LOCAL, len, iw_mr_lkey(from),
				   p->b.arena + REMOTE, iw_mr_rkey(to), IW_SEND_SIGNALED),
			 0);
	pair_pump(p);
	wc = pair_wc(&p->a);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_RDMA_WRITE);
	assert_true(pair_no_wc(&p->b));
	check_copied(&p->a, LOCAL, &p->b, REMOTE, len);
	restore(&p->b, REMOTE, len);
	assert_int_equal(iw_mr_dereg(from), 0);
	assert_int_equal(iw_mr_dereg(to), 0);
}

static void
one_read(struct pair *p, uint32_t len)
{
	struct iw_mr *to = pair_mr(&p->a, LOCAL, len, IW_LOCAL_WRITE),
		     *from = pair_mr(&p->b, REMOTE, len, IW_REMOTE_READ);
	struct iw_wc wc;

	assert_int_equal(pair_rdma(&p->a, 8, IW_WR_RDMA_READ, p->a.arena + LOCAL, len, iw_mr_lkey(to),
				   p->b.arena + REMOTE, iw_mr_rkey(from), IW_SEND_SIGNALED),
			 0);
	pair_pump(p);
	wc = pair_wc(&p->a);
	assert_int_equal(wc.wr_id, 8);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.opcode, IW_WC_RDMA_READ);
	assert_int_equal(wc.byte_len, len);
	assert_true(pair_no_wc(&p->b));
	check_copied(&p->b, REMOTE, &p->a, LOCAL, len);
	restore(&p->a, LOCAL, len);
	assert_int_equal(iw_mr_dereg(from), 0);
	assert_int_equal(iw_mr_dereg(to), 0);
}

static void
all_sizes(const struct pair_opts *o)
{
	struct pair p;

	pair_open(&p, o);
	for (uint32_t i = 0; i < N_SIZES; i++) {
		one_send(&p, sizes[i]);
		one_write(&p, sizes[i]);
		one_read(&p, sizes[i]);
	}
	assert_int_equal(iw_qp_state(p.a.qp), IW_QP_RTS);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);
	pair_close(&p);
}

static void
test_sizes(void **state)
{
	(void)state;
	all_sizes(&(struct pair_opts){.room = 1448});
	all_sizes(&(struct pair_opts){.room = 1448, .no_crc = true});
	all_sizes(&(struct pair_opts){.room = 8948, .view = 1448});
	all_sizes(&(struct pair_opts){.room = 64000, .view = 536, .step = 40000});
}

/* X7: a peer with tiny segments still gets FPDUs of the least MULPDU. */
static void
test_small_room(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &(struct pair_opts){.room = 40});
	for (uint32_t i = 0; i < 14; i++) {
		one_send(&p, sizes[i]);
		one_write(&p, sizes[i]);
		one_read(&p, sizes[i]);
	}
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_small_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
