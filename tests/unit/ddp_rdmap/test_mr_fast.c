/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations made by work requests. */
#include "mr_fast.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "domain.h"
#include "mr.h"
#include "pair.h"
#include "qp_obj.h"

#define PAGE 4096
#define IOVA UINT64_C(0x700000000000)
#define RIGHTS (IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE)

static struct iw_mr *
fast(struct pair_side *s, uint32_t max)
{
	int err = -1;
	struct iw_mr *mr = mr_fast_create(s->rdmap, s->pd, max, &err);

	assert_int_equal(err, 0);
	return mr;
}

static int
post(struct pair_side *s, uint64_t id, struct iw_fast_reg reg)
{
	struct iw_send_wr wr = {.wr_id = id, .opcode = IW_WR_FAST_REG, .flags = IW_SEND_SIGNALED, .reg = reg};

	return iw_post_send(s->qp, &wr, NULL);
}

static int
post_next(struct pair_side *s, struct iw_mr *mr, const struct iw_iov *iov, uint32_t n, uint32_t access)
{
	return post(s, 1, (struct iw_fast_reg){mr, iov, n, iw_rkey_next(iw_mr_rkey(mr)), IOVA, access});
}

static int
invalidate(struct pair_side *s, uint32_t stag)
{
	struct iw_send_wr wr = {.opcode = IW_WR_LOCAL_INV, .invalidate_rkey = stag};

	return iw_post_send(s->qp, &wr, NULL);
}

/* Pages in no order: what the peer writes, reads and sends a whole registration long lands in them piece by piece; its
 * STag is known at the post, so that the Send which tells it can be in the same chain. */
static void
test_scattered(void **state)
{
	struct pair p;
	struct iw_mr *mr, *src;
	struct iw_iov iov[16];
	uint32_t rkey;

	(void)state;
	pair_open(&p, &(struct pair_opts){.view = 900});
	mr = fast(&p.b, 16);
	src = pair_mr(&p.a, 0, 16 * PAGE, IW_LOCAL_WRITE);
	for (int i = 0; i < 16; i++)
		iov[i] = (struct iw_iov){p.b.arena + 0x100000 + PAGE * (i * 7 % 16) + 3, i == 5 ? 100 : PAGE - 3};
	assert_int_equal(post_next(&p.b, mr, iov, 16, RIGHTS), 0);
	rkey = iw_mr_rkey(mr);
	memset(iov, 0, sizeof(iov)); /* the list was copied */
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
	assert_int_equal(
		pair_rdma(&p.a, 1, IW_WR_RDMA_WRITE, p.a.arena, 50000, iw_mr_lkey(src), (void *)(IOVA + 1000), rkey, 0),
		0);
	pair_pump(&p);
	for (uint32_t i = 0, at = 0; i < 16; i++)
		for (uint32_t k = 0; k < (i == 5 ? 100 : PAGE - 3); k++, at++) {
			uint32_t off = 0x100000 + PAGE * (i * 7 % 16) + 3 + k;
			bool written = at >= 1000 && at < 51000;

			assert_int_equal(p.b.arena[off],
					 written ? pair_pattern(&p.a, at - 1000) : pair_pattern(&p.b, off));
		}
	memset(p.a.arena + 0x200000, 0, 50000);
	src = pair_mr(&p.a, 0x200000, 50000, IW_LOCAL_WRITE);
	assert_int_equal(pair_rdma(&p.a, 2, IW_WR_RDMA_READ, p.a.arena + 0x200000, 50000, iw_mr_lkey(src),
				   (void *)(IOVA + 1000), rkey, IW_SEND_SIGNALED),
			 0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_SUCCESS);
	assert_memory_equal(p.a.arena + 0x200000, p.a.arena, 50000);
	pair_close(&p);
}

/* As SGEs: gathered from and scattered to. */
static void
test_as_sge(void **state)
{
	struct pair p;
	struct iw_mr *out, *in;
	struct iw_iov a[2], b[3];

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	out = fast(&p.a, 2);
	in = fast(&p.b, 3);
	a[0] = (struct iw_iov){p.a.arena + 5000, 1001};
	a[1] = (struct iw_iov){p.a.arena, 2000};
	b[0] = (struct iw_iov){p.b.arena + 9000, 1};
	b[1] = (struct iw_iov){p.b.arena + 3000, 2900};
	b[2] = (struct iw_iov){p.b.arena, 100};
	assert_int_equal(post_next(&p.a, out, a, 2, 0), 0);
	assert_int_equal(post_next(&p.b, in, b, 3, IW_LOCAL_WRITE), 0);
	pair_pump(&p);
	assert_int_equal(pair_recv(&p.b, 1, (void *)IOVA, 3001, iw_mr_lkey(in)), 0);
	assert_int_equal(pair_send(&p.a, 1, (void *)IOVA, 3001, iw_mr_lkey(out), 0), 0);
	pair_pump(&p);
	pair_wc(&p.b);
	assert_int_equal(pair_wc(&p.b).byte_len, 3001);
	assert_int_equal(p.b.arena[9000], pair_pattern(&p.a, 5000));
	assert_memory_equal(p.b.arena + 3000, p.a.arena + 5001, 1000);
	assert_memory_equal(p.b.arena + 4000, p.a.arena, 1900);
	assert_memory_equal(p.b.arena, p.a.arena + 1900, 100);
	pair_close(&p);
}

/* The life of one: nothing before its turn, only under its last key, not again before it was invalidated, for its QP
 * only (S2), by the peer's Send too. */
static void
test_life(void **state)
{
	struct pair p;
	struct iw_iov iov;
	struct iw_mr *mr;
	struct mr_user other;
	uint32_t first, second;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	iov = (struct iw_iov){p.b.arena, PAGE};
	mr = fast(&p.b, 4);
	assert_int_equal(mr_check(&p.b.qp->user, iw_mr_rkey(mr), IOVA, 1, 0), MR_STAG);
	assert_int_equal(post_next(&p.b, mr, &iov, 1, RIGHTS), 0);
	first = iw_mr_rkey(mr);
	assert_int_equal(mr_check(&p.b.qp->user, first, IOVA, 1, 0), MR_STAG);
	assert_int_equal(post_next(&p.b, mr, &iov, 1, RIGHTS), -IW_E_BUSY);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).opcode, IW_WC_FAST_REG);
	assert_int_equal(mr_check(&p.b.qp->user, first, IOVA, PAGE, IW_REMOTE_READ | IW_REMOTE_WRITE), MR_OK);
	assert_int_equal(mr_check(&p.b.qp->user, first, IOVA, PAGE, IW_LOCAL_WRITE), MR_ACCESS);
	other = p.b.qp->user;
	other.serial++;
	assert_int_equal(mr_check(&other, first, IOVA, 1, 0), MR_STREAM);

	assert_int_equal(post_next(&p.b, mr, &iov, 1, RIGHTS), 0); /* not invalidated: it fails alone */
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).status, IW_WC_LOC_QP_OP_ERR);
	assert_int_equal(mr_check(&p.b.qp->user, first, IOVA, 1, 0), MR_OK);
	assert_int_equal(iw_qp_state(p.b.qp), IW_QP_RTS);

	assert_int_equal(invalidate(&p.b, first), 0);
	assert_int_equal(post_next(&p.b, mr, &iov, 1, RIGHTS), 0);
	second = iw_mr_rkey(mr);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).status, IW_WC_SUCCESS);
	assert_int_equal(mr_check(&p.b.qp->user, first, IOVA, 1, 0), MR_STAG);
	assert_int_equal(mr_check(&p.b.qp->user, second, IOVA, 1, 0), MR_OK);
	assert_int_equal((first ^ second) >> 8, 0);

	assert_int_equal(pair_recv(&p.b, 5, NULL, 0, 0), 0);
	assert_int_equal(
		iw_post_send(p.a.qp, &(struct iw_send_wr){.opcode = IW_WR_SEND_INV, .invalidate_rkey = second}, NULL),
		0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.b).invalidated_rkey, second);
	assert_int_equal(mr_check(&p.b.qp->user, second, IOVA, 1, 0), MR_STAG);
	pair_close(&p);
}

/* Flushed, or deregistered before its turn: it comes free, and touches nothing that has its place. */
static void
test_never_had_its_turn(void **state)
{
	struct pair p;
	struct iw_iov iov;
	struct iw_mr *mr, *gone;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	iov = (struct iw_iov){p.a.arena, PAGE};
	gone = fast(&p.a, 1);
	assert_int_equal(post_next(&p.a, gone, &iov, 1, RIGHTS), 0);
	assert_int_equal(iw_mr_dereg(gone), 0);
	pair_pump(&p);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_LOC_QP_OP_ERR);
	mr = fast(&p.a, 1);
	assert_int_equal(post_next(&p.a, mr, &iov, 1, RIGHTS), 0);
	qp_set_error(p.a.qp);
	assert_int_equal(pair_wc(&p.a).status, IW_WC_WR_FLUSH_ERR);
	assert_false(mr_is_posted(mr));
	assert_int_equal(mr_check(&p.a.qp->user, iw_mr_rkey(mr), IOVA, 1, 0), MR_STAG);
	pair_close(&p);
}

static void
test_bad_requests(void **state)
{
	struct pair p;
	struct iw_iov iov[3];
	struct iw_mr *mr, *plain, *alien, *gone;
	struct iw_pd *pd;
	int err;

	(void)state;
	pair_open(&p, &(struct pair_opts){0});
	for (int i = 0; i < 3; i++)
		iov[i] = (struct iw_iov){p.a.arena, PAGE};
	mr = fast(&p.a, 2);
	plain = pair_mr(&p.a, 0, PAGE, 0);
	pd = iw_pd_create(p.a.domain);
	alien = mr_fast_create(p.a.rdmap, pd, 1, &err);
	gone = fast(&p.a, 1);
	assert_int_equal(iw_mr_dereg(gone), 0);
	assert_int_equal(post(&p.a, 1, (struct iw_fast_reg){NULL, iov, 1, 1, 0, 0}), -IW_E_INVAL);
	assert_int_equal(post_next(&p.a, plain, iov, 1, 0), -IW_E_INVAL);
	assert_int_equal(post_next(&p.a, alien, iov, 1, 0), -IW_E_PD);
	assert_int_equal(post_next(&p.a, gone, iov, 1, 0), -IW_E_STALE);
	assert_int_equal(post_next(&p.a, mr, iov, 3, 0), -IW_E_TOOBIG);
	assert_int_equal(post_next(&p.a, mr, iov, 0, 0), -IW_E_INVAL);
	assert_int_equal(post_next(&p.a, mr, iov, 1, IW_MW_BIND), -IW_E_INVAL);
	assert_int_equal(post(&p.a, 1, (struct iw_fast_reg){mr, iov, 1, iw_mr_rkey(mr), 0, 0}), -IW_E_INVAL);
	assert_int_equal(post(&p.a, 1, (struct iw_fast_reg){mr, iov, 1, iw_mr_rkey(mr) ^ 256, 0, 0}), -IW_E_INVAL);
	assert_int_equal(
		post(&p.a, 1, (struct iw_fast_reg){mr, iov, 1, iw_rkey_next(iw_mr_rkey(mr)), UINT64_MAX - 10, 0}),
		-IW_E_INVAL);
	assert_int_equal(post_next(&p.a, mr, iov, 1, 0), 0); /* none of them has left a trace */
	assert_null(mr_fast_create(p.a.rdmap, p.a.pd, 0, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(mr_fast_create(p.a.rdmap, p.a.pd, IW_MAX_FAST_IOV + 1, &err));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(mr_fast_create(p.a.rdmap, p.b.pd, 1, &err));
	assert_int_equal(err, -IW_E_PD);
	for (uint32_t fuse = 1; fuse <= 2; fuse++) {
		iw_env_alloc_fuse = fuse;
		assert_null(mr_fast_create(p.a.rdmap, p.a.pd, 1, &err));
		assert_int_equal(err, -IW_E_NOMEM);
	}
	iw_env_alloc_fuse = 0;
	assert_int_equal(iw_mr_dereg(alien), 0);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_null(mr_fast_create(p.a.rdmap, pd, 1, &err));
	assert_int_equal(err, -IW_E_STALE);
	pair_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scattered),    cmocka_unit_test(test_as_sge),
		cmocka_unit_test(test_life),         cmocka_unit_test(test_never_had_its_turn),
		cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
