/* SPDX-License-Identifier: BSD-3-Clause */
/* What ends a bandwidth run: behind the last request of each QP a zero-length Read goes out, and not before all of them
 * are back is it over, whatever the requests' own completions say: those of Writes and Sends come when TCP has taken
 * the octets, not when the peer has them.  The calls of the library are this test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "outflow.h"
#include "sink.h"

#define QPS 2
#define POSTED_MAX 256

struct iw_qp {
	struct link *link;
	struct iw_send_wr posted[POSTED_MAX];
	uint32_t n, room;
};

static struct iw_qp qps[QPS];
static struct link links[QPS];
static struct options options;
static struct peer peer;
static struct iw_wc due[64];
static int n_due;

int
iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad)
{
	uint32_t n = 0;

	(void)bad;
	for (const struct iw_send_wr *w = wr; w; w = w->next)
		n++;
	if (n > qp->room)
		return -IW_E_NOMEM;
	qp->room -= n;
	for (; wr; wr = wr->next)
		qp->posted[qp->n++] = *wr;
	return 0;
}

int
iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max)
{
	int n = n_due < max ? n_due : max;

	(void)cq;
	for (int i = 0; i < n; i++)
		wc[i] = due[i];
	n_due = 0;
	return n;
}

uint32_t
iw_mr_lkey(const struct iw_mr *mr)
{
	(void)mr;
	return 1;
}

void *
iw_qp_context(const struct iw_qp *qp)
{
	return qp->link;
}

uint8_t *
peer_out(const struct peer *p, uint32_t qp)
{
	(void)qp;
	return p->mem;
}

uint64_t
peer_offset(const struct peer *p, uint32_t qp)
{
	return (uint64_t)p->size * qp;
}

bool
peer_fail(struct peer *p, const char *what, int err)
{
	(void)what;
	(void)err;
	p->failed = true;
	return false;
}

bool
peer_fail_wc(struct peer *p, const struct iw_wc *wc)
{
	(void)wc;
	return peer_fail(p, "", 0);
}

uint64_t
sink_credit(const struct peer *p, const struct link *l)
{
	(void)p;
	(void)l;
	return UINT64_MAX;
}

static uint64_t now_ns;

uint64_t
iw_engine_now(const struct iw_engine *engine)
{
	(void)engine;
	return now_ns;
}

static int
setup(void **state)
{
	(void)state;
	options = (struct options){.verb = PERF_WRITE, .tx_depth = 16, .cq_mod = 100, .post_list = 1, .qps = QPS};
	peer = (struct peer){.o = &options, .links = links, .qps = QPS, .size = 4096};
	peer.theirs.rkey = 7;
	peer.theirs.in_addr = 0x10000;
	n_due = 0;
	for (uint32_t i = 0; i < QPS; i++) {
		links[i] = (struct link){.peer = &peer, .number = i, .qp = &qps[i]};
		memset(&qps[i], 0, sizeof(qps[i]));
		qps[i].link = &links[i];
		qps[i].room = POSTED_MAX;
	}
	return 0;
}

static void
complete(uint32_t qp, uint64_t wr_id)
{
	due[n_due++] = (struct iw_wc){.wr_id = wr_id, .qp = &qps[qp], .status = IW_WC_SUCCESS};
}

/* The last thing that was posted is the zero-length Read of what the peer offers; its wr_id. */
static uint64_t
last_read(const struct iw_qp *qp)
{
	const struct iw_send_wr *wr = &qp->posted[qp->n - 1];

	assert_int_equal(wr->opcode, IW_WR_RDMA_READ);
	assert_int_equal(wr->num_sge, 0);
	assert_int_equal(wr->flags & IW_SEND_SIGNALED, IW_SEND_SIGNALED);
	assert_int_equal(wr->rkey, 7);
	return wr->wr_id;
}

static void
test_over_when_the_reads_are_back(void **state)
{
	struct outflow f;

	(void)state;
	assert_true(outflow_begin(&f, &peer, 4096, 3));
	assert_true(outflow_turn(&f));
	for (uint32_t q = 0; q < QPS; q++) {
		assert_int_equal(qps[q].n, 4);
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(qps[q].posted[i].opcode, IW_WR_RDMA_WRITE);
		complete(q, qps[q].posted[2].wr_id);
	}
	assert_true(outflow_turn(&f));
	assert_int_equal(f.done, 6);
	assert_false(outflow_is_over(&f)); /* all are complete, and yet */
	complete(1, last_read(&qps[1]));
	assert_true(outflow_turn(&f));
	assert_false(outflow_is_over(&f));
	complete(0, last_read(&qps[0]));
	assert_true(outflow_turn(&f));
	assert_true(outflow_is_over(&f));
	assert_int_equal(f.done, 6);
	assert_int_equal(qps[0].n + qps[1].n, 8);
	outflow_end(&f);
}

/* Each is to find what the one before it on its QP left. */
static void
test_compare_and_swap(void **state)
{
	struct outflow f;

	(void)state;
	options.verb = PERF_ATOMIC;
	options.cmp_swap = true;
	options.post_list = 2;
	assert_true(outflow_begin(&f, &peer, 8, 3));
	assert_true(outflow_turn(&f));
	for (uint32_t q = 0; q < QPS; q++)
		for (uint32_t i = 0; i < 3; i++) {
			const struct iw_atomic *a = &qps[q].posted[i].atomic;

			assert_int_equal(qps[q].posted[i].opcode, IW_WR_CMP_SWAP);
			assert_true(a->compare == i && a->data == i + 1);
			assert_true(a->compare_mask == UINT64_MAX && a->mask == UINT64_MAX);
		}
	outflow_end(&f);
	options.cmp_swap = false;
	assert_true(outflow_begin(&f, &peer, 8, 1));
	setup(NULL);
	options.verb = PERF_ATOMIC;
	assert_true(outflow_turn(&f));
	assert_true(qps[0].posted[0].opcode == IW_WR_FETCH_ADD && qps[0].posted[0].atomic.data == 1);
	assert_true(qps[0].posted[0].atomic.mask == 0);
	outflow_end(&f);
}

/* A run by time: stopped with requests under way, the Read goes behind them; no request follows it. */
static void
test_stopped(void **state)
{
	struct outflow f;
	uint32_t posted;

	(void)state;
	assert_true(outflow_begin(&f, &peer, 4096, UINT64_MAX));
	assert_true(outflow_turn(&f));
	assert_int_equal(qps[0].n, options.tx_depth);
	outflow_stop(&f);
	assert_true(outflow_turn(&f));
	posted = qps[0].n;
	for (uint32_t q = 0; q < QPS; q++)
		complete(q, last_read(&qps[q]));
	assert_true(outflow_turn(&f));
	assert_true(outflow_is_over(&f));
	assert_int_equal(f.done, QPS * options.tx_depth);
	assert_int_equal(qps[0].n, posted);
	outflow_end(&f);
}

/* A full send queue: the Read is tried again, and it is not over without it. */
static void
test_no_room_for_the_read(void **state)
{
	struct outflow f;

	(void)state;
	qps[0].room = 3;
	assert_true(outflow_begin(&f, &peer, 4096, 3));
	assert_true(outflow_turn(&f));
	assert_int_equal(qps[0].n, 3);
	complete(0, qps[0].posted[2].wr_id);
	complete(1, last_read(&qps[1]));
	assert_true(outflow_turn(&f));
	assert_false(outflow_is_over(&f));
	qps[0].room = 1;
	assert_true(outflow_turn(&f));
	complete(0, last_read(&qps[0]));
	assert_true(outflow_turn(&f));
	assert_true(outflow_is_over(&f));
	outflow_end(&f);
}

/* A rate limit: the burst at once, then as time goes, whatever the unit; the last Read waits for nobody. */
static void
test_rate_limit(void **state)
{
	static const struct {
		char units;
		double rate;
		uint32_t in_10_ms;
	} rows[] = {{'p', 1050, 10}, {'M', 5, 12}, {'g', 0.04, 12}, {0, 0.04, 12}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outflow f;

		setup(NULL);
		options.rate_limit = rows[i].rate;
		options.rate_units = rows[i].units;
		options.burst = 3;
		options.tx_depth = 64;
		now_ns = 1000000;
		assert_true(outflow_begin(&f, &peer, 4096, 30));
		assert_true(outflow_turn(&f));
		assert_true(outflow_turn(&f));
		assert_int_equal(f.posted, 3);
		now_ns += 10000000;
		assert_true(outflow_turn(&f));
		assert_int_equal(f.posted, 3 + rows[i].in_10_ms);
		now_ns += 1000000000;
		assert_true(outflow_turn(&f));
		assert_int_equal(f.posted, 60);
		for (uint32_t q = 0; q < QPS; q++)
			complete(q, last_read(&qps[q]));
		assert_true(outflow_turn(&f));
		assert_true(outflow_is_over(&f));
		outflow_end(&f);
	}
}

/* A request that failed ends the run with an error. */
static void
test_failed_request(void **state)
{
	struct outflow f;

	(void)state;
	assert_true(outflow_begin(&f, &peer, 4096, 3));
	assert_true(outflow_turn(&f));
	complete(0, 3);
	due[0].status = IW_WC_REM_ACCESS_ERR;
	assert_false(outflow_turn(&f));
	assert_true(peer.failed);
	assert_false(outflow_is_over(&f));
	outflow_end(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_over_when_the_reads_are_back, setup),
		cmocka_unit_test_setup(test_stopped, setup),
		cmocka_unit_test_setup(test_compare_and_swap, setup),
		cmocka_unit_test_setup(test_no_room_for_the_read, setup),
		cmocka_unit_test_setup(test_failed_request, setup),
		cmocka_unit_test_setup(test_rate_limit, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
