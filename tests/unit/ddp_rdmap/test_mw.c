/* SPDX-License-Identifier: BSD-3-Clause */
#include "mw.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "domain.h"
#include "mr.h"
#include "pair.h"
#include "qp_obj.h"

#define OFF 0x1000
#define LEN 4096
#define PAGE 4096
#define MRS_OF_PAGE (PAGE / sizeof(struct iw_mr))
#define ALL (IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_REMOTE_INVALIDATE)

struct world {
	struct pair p;
	struct iw_mr *mr;
	struct iw_mw *mw;
};

static void
set_up(struct world *w, uint32_t access)
{
	int err = -1;

	pair_open(&w->p, &(struct pair_opts){0});
	w->mr = pair_mr(&w->p.b, OFF, LEN, access);
	w->mw = mw_create(w->p.b.rdmap, w->p.b.pd, &err);
	assert_int_equal(err, 0);
}

static int
bind(struct world *w, uint32_t at, uint64_t len, uint32_t access)
{
	struct iw_send_wr wr = {.opcode = IW_WR_BIND_MW,
				.flags = IW_SEND_SIGNALED,
				.bind = {.mw = w->mw,
					 .mr = w->mr,
					 .addr = (uintptr_t)w->p.b.arena + OFF + at,
					 .length = len,
					 .rkey = iw_rkey_next(iw_mw_rkey(w->mw)),
					 .access = access}};

	return iw_post_send(w->p.b.qp, &wr, NULL);
}

static enum mr_verdict
check(const struct world *w, uint32_t at, uint64_t len, uint32_t access)
{
	return mr_check(&w->p.b.qp->user, iw_mw_rkey(w->mw), (uintptr_t)w->p.b.arena + OFF + at, len, access);
}

/* RFC 5040 §8.1.1: a window grants its own range and rights to its own stream, whatever the registration does. */
static void
test_grants(void **state)
{
	struct world w;
	struct mr_user other;

	(void)state;
	set_up(&w, IW_MW_BIND | IW_LOCAL_WRITE);
	assert_int_equal(check(&w, 0, 1, 0), MR_STAG);
	assert_int_equal(bind(&w, 100, 200, IW_REMOTE_READ | IW_REMOTE_WRITE), 0);
	pair_pump(&w.p);
	assert_int_equal(pair_wc(&w.p.b).opcode, IW_WC_BIND_MW);
	assert_int_equal(check(&w, 100, 200, IW_REMOTE_READ | IW_REMOTE_WRITE), MR_OK);
	assert_int_equal(check(&w, 99, 1, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(check(&w, 100, 201, IW_REMOTE_READ), MR_BOUNDS);
	assert_int_equal(check(&w, 100, 8, IW_REMOTE_ATOMIC), MR_ACCESS);
	other = w.p.b.qp->user;
	other.serial++;
	assert_int_equal(mr_check(&other, iw_mw_rkey(w.mw), (uintptr_t)w.p.b.arena + OFF + 100, 1, 0), MR_STREAM);
	pair_close(&w.p);
}

/* Written through, invalidated by the peer, bound elsewhere under another key, written again; the key before is dead.
 */
static void
test_round(void **state)
{
	struct world w;
	struct iw_mr *src;
	struct iw_send_wr inv = {.opcode = IW_WR_SEND_INV};
	uint32_t first;

	(void)state;
	set_up(&w, IW_MW_BIND | IW_LOCAL_WRITE);
	src = pair_mr(&w.p.a, 0, LEN, 0);
	assert_int_equal(bind(&w, 0, 64, ALL), 0);
	pair_pump(&w.p);
	first = iw_mw_rkey(w.mw);
	assert_int_equal(
		pair_rdma(&w.p.a, 1, IW_WR_RDMA_WRITE, w.p.a.arena, 64, iw_mr_lkey(src), w.p.b.arena + OFF, first, 0),
		0);
	assert_int_equal(pair_recv(&w.p.b, 1, NULL, 0, 0), 0);
	inv.invalidate_rkey = first;
	assert_int_equal(iw_post_send(w.p.a.qp, &inv, NULL), 0);
	pair_pump(&w.p);
	assert_memory_equal(w.p.b.arena + OFF, w.p.a.arena, 64);
	assert_int_equal(w.mr->bound, 0);
	assert_int_equal(bind(&w, 64, 64, ALL), 0);
	pair_pump(&w.p);
	assert_int_equal(w.mr->bound, 1);
	assert_int_equal(pair_wc(&w.p.b).status, IW_WC_SUCCESS);
	assert_int_equal(pair_wc(&w.p.b).invalidated_rkey, first);
	assert_int_equal(pair_wc(&w.p.b).status, IW_WC_SUCCESS);
	assert_int_equal(pair_rdma(&w.p.a, 2, IW_WR_RDMA_WRITE, w.p.a.arena, 64, iw_mr_lkey(src),
				   w.p.b.arena + OFF + 64, iw_mw_rkey(w.mw), 0),
			 0);
	pair_pump(&w.p);
	assert_memory_equal(w.p.b.arena + OFF + 64, w.p.a.arena, 64);
	assert_int_equal(pair_rdma(&w.p.a, 3, IW_WR_RDMA_WRITE, w.p.a.arena, 64, iw_mr_lkey(src),
				   w.p.b.arena + OFF + 64, first, 0),
			 0);
	pair_pump(&w.p);
	assert_int_equal(iw_qp_state(w.p.b.qp), IW_QP_TERMINATE);
	pair_close(&w.p);
}

/* A registration with windows stays; it goes when they have gone. */
static void
test_holds_its_registration(void **state)
{
	struct world w;

	(void)state;
	set_up(&w, IW_MW_BIND);
	assert_int_equal(bind(&w, 0, LEN, IW_REMOTE_READ), 0);
	pair_pump(&w.p);
	assert_int_equal(iw_mr_dereg(w.mr), -IW_E_BUSY);
	assert_int_equal(check(&w, 0, LEN, IW_REMOTE_READ), MR_OK);
	assert_int_equal(iw_mw_destroy(w.mw), 0);
	assert_int_equal(iw_mw_destroy(w.mw), -IW_E_STALE);
	assert_int_equal(iw_mw_rkey(w.mw), 0);
	assert_int_equal(iw_mr_dereg(w.mr), 0);
	pair_close(&w.p);
}

/* A registration that another thread is taking out: its object may be in the free list by now, so a bind that comes too
 * late writes nothing there. */
static void
test_late_bind_writes_nothing(void **state)
{
	struct iw_mr *mr[3 * MRS_OF_PAGE];
	struct world w;
	void *page;

	(void)state;
	set_up(&w, IW_MW_BIND);
	for (size_t i = 0; i < 3 * MRS_OF_PAGE; i++)
		mr[i] = pair_mr(&w.p.b, OFF, LEN, IW_MW_BIND);
	w.mr = mr[3 * MRS_OF_PAGE / 2]; /* on its page are these alone */
	page = (void *)((uintptr_t)w.mr & ~(uintptr_t)(PAGE - 1));
	assert_int_equal(bind(&w, 0, 8, IW_REMOTE_READ), 0);
	domain_unpublish(w.mr);
	assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
	pair_pump(&w.p);
	assert_int_equal(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(pair_wc(&w.p.b).status, IW_WC_MW_BIND_ERR);
	domain_publish(w.mr);
	pair_close(&w.p);
}

/* What cannot be bound fails alone, and leaves nothing behind. */
static void
test_fails_alone(void **state)
{
	static const struct {
		uint32_t mr_access, at, access;
		uint64_t len;
		int twice, dereg;
	} rows[] = {
		{IW_LOCAL_WRITE, 0, IW_REMOTE_READ, 8, 0, 0},             /* no right to bind */
		{IW_MW_BIND, 0, IW_REMOTE_WRITE, 8, 0, 0},                /* no local write */
		{IW_MW_BIND, 0, IW_REMOTE_ATOMIC, 8, 0, 0},               /* the same */
		{IW_MW_BIND, 1, IW_REMOTE_READ, LEN, 0, 0},               /* beyond */
		{IW_MW_BIND, 0, IW_REMOTE_READ, UINT64_C(1) << 40, 0, 0}, /* far beyond */
		{IW_MW_BIND, 0, IW_REMOTE_READ, 8, 1, 0},                 /* bound already */
		{IW_MW_BIND, 0, IW_REMOTE_READ, 8, 0, 1},                 /* registration gone since the post */
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		set_up(&w, rows[i].mr_access);
		if (rows[i].twice) {
			assert_int_equal(bind(&w, 0, 8, IW_REMOTE_READ), 0);
			pair_pump(&w.p);
			pair_wc(&w.p.b);
		}
		assert_int_equal(bind(&w, rows[i].at, rows[i].len, rows[i].access), 0);
		if (rows[i].dereg)
			assert_int_equal(iw_mr_dereg(w.mr), 0);
		pair_pump(&w.p);
		assert_int_equal(pair_wc(&w.p.b).status, IW_WC_MW_BIND_ERR);
		assert_int_equal(iw_qp_state(w.p.b.qp), IW_QP_RTS);
		if (!rows[i].dereg)
			assert_int_equal(w.mr->bound, rows[i].twice);
		assert_false(mr_is_posted(&w.mw->mr));
		pair_close(&w.p);
	}
}

/* A window on scattered memory; and one whose post was flushed. */
static void
test_scattered_and_flushed(void **state)
{
	struct world w;
	struct iw_iov iov[2];
	struct iw_mr *src;
	struct iw_send_wr wr = {.opcode = IW_WR_BIND_MW};

	(void)state;
	set_up(&w, IW_MW_BIND);
	src = pair_mr(&w.p.a, 0, LEN, 0);
	iov[0] = (struct iw_iov){w.p.b.arena + 0x9000, 100};
	iov[1] = (struct iw_iov){w.p.b.arena + 0x5000, 100};
	wr.bind = (struct iw_mw_bind){.mw = w.mw,
				      .mr = iw_mr_reg_iov(w.p.b.pd, iov, 2, 1 << 20, IW_MW_BIND | IW_LOCAL_WRITE, NULL),
				      .addr = (1 << 20) + 90,
				      .length = 20,
				      .rkey = iw_rkey_next(iw_mw_rkey(w.mw)),
				      .access = ALL};
	assert_int_equal(iw_post_send(w.p.b.qp, &wr, NULL), 0);
	pair_pump(&w.p);
	assert_int_equal(pair_rdma(&w.p.a, 1, IW_WR_RDMA_WRITE, w.p.a.arena, 20, iw_mr_lkey(src),
				   (void *)(uintptr_t)wr.bind.addr, wr.bind.rkey, 0),
			 0);
	pair_pump(&w.p);
	assert_memory_equal(w.p.b.arena + 0x9000 + 90, w.p.a.arena, 10);
	assert_memory_equal(w.p.b.arena + 0x5000, w.p.a.arena + 10, 10);
	assert_true(pair_untouched(&w.p.b, 0x5000 + 10, 90));
	assert_int_equal(iw_mw_destroy(w.mw), 0);
	w.mw = mw_create(w.p.b.rdmap, w.p.b.pd, NULL);
	assert_int_equal(bind(&w, 0, 8, IW_REMOTE_READ), 0);
	assert_int_equal(bind(&w, 0, 8, IW_REMOTE_READ), -IW_E_BUSY);
	qp_set_error(w.p.b.qp);
	assert_int_equal(pair_wc(&w.p.b).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(w.mr->bound, 0);
	pair_close(&w.p);
}

static void
test_bad_requests(void **state)
{
	struct world w;
	struct iw_pd *pd;
	struct iw_mw *mw, *gone;
	struct iw_mr *mr;
	int err;

	(void)state;
	set_up(&w, IW_MW_BIND);
	mw = w.mw;
	mr = w.mr;
	assert_int_equal(bind(&w, 0, 0, IW_REMOTE_READ), -IW_E_INVAL);
	assert_int_equal(bind(&w, 0, UINT64_MAX, IW_REMOTE_READ), -IW_E_INVAL);
	assert_int_equal(bind(&w, 0, 8, IW_LOCAL_WRITE), -IW_E_INVAL);
	w.mr = NULL;
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_INVAL);
	w.mr = mr;
	w.mw = NULL;
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_INVAL);
	gone = mw_create(w.p.b.rdmap, w.p.b.pd, &err);
	assert_int_equal(iw_mw_destroy(gone), 0);
	w.mw = gone;
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_STALE);
	pd = iw_pd_create(w.p.b.domain);
	w.mw = mw_create(w.p.b.rdmap, pd, &err);
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_PD);
	assert_int_equal(iw_mw_destroy(w.mw), 0);
	w.mw = mw;
	w.mr = iw_mr_reg(pd, w.p.b.arena, 8, IW_MW_BIND, &err);
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_PD);
	assert_int_equal(iw_mr_dereg(w.mr), 0);
	assert_int_equal(bind(&w, 0, 8, 0), -IW_E_STALE);
	assert_null(mw_create(w.p.b.rdmap, w.p.a.pd, &err));
	assert_int_equal(err, -IW_E_PD);
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_null(mw_create(w.p.b.rdmap, pd, &err));
	assert_int_equal(err, -IW_E_STALE);
	assert_int_equal(iw_mw_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_mw_rkey(NULL), 0);
	pair_close(&w.p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grants),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_holds_its_registration),
		cmocka_unit_test(test_late_bind_writes_nothing),
		cmocka_unit_test(test_fails_alone),
		cmocka_unit_test(test_scattered_and_flushed),
		cmocka_unit_test(test_bad_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
