/* SPDX-License-Identifier: BSD-3-Clause */
/* The same drawn work done twice, with trains and without: both ways fill the same octets, turn for turn, whatever the
 * SGEs are, where memory is cut, how much room each segment has, and what is taken back or ends between two turns.
 *     test_train_drawn [SEED [RUNS]]  repeats a run by its seed */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "qp.h"
#include "rdmap_ctx.h"
#include "rdmap_train.h"
#include "sum.h"

#define SOURCES 4
#define AREA 300000u /* of each source, and of the sink */
#define SINK SOURCES
#define PIECES 200
#define REQUESTS 10u
#define RECEIVES 32u
#define TURN 16u
#define ROUNDS 400u
#define LOG (32u << 20)
#define IOVA(k) (UINT64_C(0xfffff000) + ((uint64_t)(k) << 36)) /* offsets pass 2^32 */

static uint64_t first_seed = 1;
static uint32_t runs = 60;

static uint64_t state_of_draws;
static bool trains; /* of the present run */
static uint32_t begun, rolled;

struct side {
	struct pair_side *s;
	struct iw_mr *mr[SOURCES + 1];
	uint8_t *log;
	uint32_t len;
	struct iw_wc wc[64];
	uint32_t wcs;
};

static struct pair p;
static struct side sides[2];

static uint32_t
draw(uint32_t n)
{
	uint64_t z = (state_of_draws += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) % n);
}

void __real_rdmap_train_begin(struct iw_qp *qp, const struct mpa_tx *b, const struct ddp_hdr *h, uint32_t len);
void __wrap_rdmap_train_begin(struct iw_qp *qp, const struct mpa_tx *b, const struct ddp_hdr *h, uint32_t len);

void
__wrap_rdmap_train_begin(struct iw_qp *qp, const struct mpa_tx *b, const struct ddp_hdr *h, uint32_t len)
{
	if (trains)
		__real_rdmap_train_begin(qp, b, h, len);
	begun += qp->rdmap->train.left > 0;
}

static uint32_t summed; /* pieces */

uint64_t __real_iw_sum(const void *octets, size_t n);
uint64_t __wrap_iw_sum(const void *octets, size_t n);

uint64_t
__wrap_iw_sum(const void *octets, size_t n)
{
	summed++;
	return __real_iw_sum(octets, n);
}

uint32_t __real_iw_crc32c_copy_sum(uint32_t crc, void *dst, const void *src, size_t n, uint64_t *sum);
uint32_t __wrap_iw_crc32c_copy_sum(uint32_t crc, void *dst, const void *src, size_t n, uint64_t *sum);

uint32_t
__wrap_iw_crc32c_copy_sum(uint32_t crc, void *dst, const void *src, size_t n, uint64_t *sum)
{
	summed++;
	return __real_iw_crc32c_copy_sum(crc, dst, src, n, sum);
}

/* ---- memory ---- */

/* AREA octets in pieces of about so many, one behind the other with gaps. */
static struct iw_mr *
scattered(struct pair_side *s, int k, uint32_t about, uint32_t access)
{
	struct iw_iov iov[PIECES];
	uint32_t n = 0, left = AREA, at = (uint32_t)k * (PAIR_ARENA / (SOURCES + 1));
	int err;

	for (; left > 0; n++) {
		uint32_t len = about ? 1 + draw(2 * about) : left;

		len = len > left || n == PIECES - 1 ? left : len;
		iov[n] = (struct iw_iov){.addr = s->arena + at, .length = len};
		at += len + draw(64);
		left -= len;
	}
	return iw_mr_reg_iov(s->pd, iov, n, IOVA(k), access, &err);
}

static void
open_side(struct side *d, struct pair_side *s)
{
	static const uint32_t about[SOURCES + 1] = {0, 3000, 20000, 0, 9000};

	memset(d, 0, sizeof(*d));
	d->s = s;
	d->log = malloc(LOG);
	for (int k = 0; k <= SOURCES; k++) {
		uint32_t access = k == SINK ? IW_LOCAL_WRITE | IW_REMOTE_WRITE : IW_REMOTE_READ;

		d->mr[k] = scattered(s, k, about[k], access | (k == 3 ? IW_ZERO_COPY : 0));
		assert_non_null(d->mr[k]);
	}
}

/* ---- work ---- */

static uint32_t
draw_len(uint32_t max)
{
	static const uint32_t at[] = {1424, 1428, 8924, 1000};
	uint32_t len;

	switch (draw(4)) {
	case 0:
		return draw(5);
	case 1:
		len = at[draw(4)] * (1 + draw(20)) + draw(9) - 4;
		break;
	default:
		len = draw(60000);
	}
	return len < max ? len : max;
}

/* A list of pieces of one registration each; returns their sum.  Now and then one reaches behind its registration: the
 * request fails there. */
static uint32_t
draw_sges(const struct side *d, bool sink, struct iw_sge *sge, int n)
{
	uint32_t total = 0, beyond = draw(40) ? 0 : 20000;

	for (int i = 0; i < n; i++) {
		int k = sink ? SINK : (int)draw(SOURCES);
		uint32_t len = draw_len(AREA / (uint32_t)n), off = draw(AREA - len + 1) + beyond;

		sge[i] = (struct iw_sge){.addr = IOVA(k) + off, .length = len, .lkey = iw_mr_lkey(d->mr[k])};
		total += len;
	}
	return total;
}

static void
post(struct side *d, const struct side *peer)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_WRITE_IMM, IW_WR_SEND, IW_WR_RDMA_READ};
	struct iw_sge sge[IW_MAX_SGE];
	struct iw_send_wr wr = {.opcode = opcodes[draw(4)], .sg_list = sge, .flags = IW_SEND_SIGNALED};
	bool read = wr.opcode == IW_WR_RDMA_READ;
	int k = read ? (int)draw(SOURCES) : SINK;
	uint32_t total;

	wr.num_sge = 1 + (int)draw(5);
	total = draw_sges(d, read, sge, wr.num_sge);
	wr.rkey = iw_mr_rkey(peer->mr[k]);
	wr.remote_addr = IOVA(k) + draw(AREA - total + 1);
	assert_int_equal(iw_post_send(d->s->qp, &wr, NULL), 0);
}

static void
post_receives(struct side *d)
{
	for (uint32_t i = 0; i < RECEIVES; i++) {
		struct iw_sge sge = {.addr = IOVA(SINK), .length = AREA, .lkey = iw_mr_lkey(d->mr[SINK])};
		struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_int_equal(iw_post_recv(d->s->qp, &wr, NULL), 0);
	}
}

/* What comes between two turns, now and then; the peer learns of the end of a stream as from TCP. */
static void
befall(struct side *d, struct side *peer)
{
	int k = (int)draw(SOURCES);

	switch (draw(120)) {
	case 0:
		if (d->mr[k])
			assert_int_equal(iw_mr_dereg(d->mr[k]), 0);
		d->mr[k] = NULL;
		break;
	case 1:
		if (draw(3) > 0)
			break;
		qp_set_error(d->s->qp);
		qp_stream_end(peer->s->qp, -IW_E_CONNRESET);
		break;
	case 2:
		if (draw(2))
			qp_close(d->s->qp);
		break;
	default:
		break;
	}
}

/* ---- a run ---- */

static uint32_t
fill(struct side *d, uint32_t room)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p.mp);
	bool sums = draw(2);
	uint16_t sum = 0;
	uint32_t n;

	rolled += rdmap_train_has(d->s->qp, room);
	summed = 0;
	n = rdmap_tx_fill(d->s->qp, m, room, sums ? &sum : NULL, p.now_ns);
	assert_true(sums || summed == 0); /* the NIC makes it */
	assert_true(n <= room && n == m->pkt_len && d->len + n <= LOG);
	memcpy(d->log + d->len, rte_pktmbuf_mtod(m, void *), n);
	assert_true(n == 0 || !sums || sum == iw_sum_fold(iw_sum_scalar(d->log + d->len, n)));
	d->len += n;
	rte_pktmbuf_free(m);
	return n;
}

/* One turn; false: there is nothing to do. */
static bool
turn(struct side *d, struct side *peer)
{
	static const uint32_t rooms[] = {1448, 1448, 8948, 1445, 1460, 576};
	uint32_t room = rooms[draw(6)], from = d->len;
	struct rdmap_out out;
	struct iw_qp *qp;

	rdmap_doorbells(d->s->rdmap);
	qp = rdmap_run_next(d->s->rdmap);
	if (!qp)
		return false;
	for (uint32_t n = 0; n < TURN && fill(d, room) > 0; n++)
		room = draw(24) ? room : rooms[draw(6)];
	rdmap_run_add(qp);
	if (draw(4))
		rdmap_quiescent(d->s->rdmap);
	pair_inject(&p, peer->s, d->log + from, d->len - from);
	while (rdmap_out_next(d->s->rdmap, &out))
		;
	return true;
}

static void
reap(struct side *d)
{
	d->wcs += (uint32_t)iw_cq_poll(d->s->cq, d->wc + d->wcs, 64 - (int)d->wcs);
	for (uint32_t i = 0; i < d->wcs; i++)
		d->wc[i].qp = NULL;
}

static void
one_run(uint64_t seed, bool with)
{
	struct pair_opts opts = {.ird = 4, .ord = 4, .attr = {.sq_depth = 16, .rq_depth = RECEIVES}};
	uint32_t moved = 1, calm;

	state_of_draws = seed;
	trains = with;
	opts.no_crc = draw(3) == 0;
	opts.markers = draw(8) == 0;
	calm = draw(2);
	pair_open(&p, &opts);
	open_side(&sides[0], &p.a);
	open_side(&sides[1], &p.b);
	for (int i = 0; i < 2; i++)
		post_receives(&sides[i]);
	for (uint32_t i = 0; i < 2 * REQUESTS; i++)
		post(&sides[i & 1], &sides[!(i & 1)]);
	for (uint32_t i = 0; i < ROUNDS && moved; i++) {
		moved = turn(&sides[0], &sides[1]);
		moved += turn(&sides[1], &sides[0]);
		for (int k = 0; k < 2 && !calm; k++)
			befall(&sides[k], &sides[!k]);
	}
	assert_int_equal(moved, 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sides[i].s->rdmap->count.n.tx_octets, sides[i].len);
		reap(&sides[i]);
	}
}

struct result {
	uint8_t *log[2], *arena[2];
	uint32_t len[2], wcs[2];
	struct iw_wc wc[2][64];
	struct pair p;
};

static void
keep(struct result *r)
{
	for (int i = 0; i < 2; i++) {
		r->log[i] = sides[i].log;
		r->len[i] = sides[i].len;
		r->wcs[i] = sides[i].wcs;
		memcpy(r->wc[i], sides[i].wc, sizeof(r->wc[i]));
		r->arena[i] = malloc(PAIR_ARENA);
		memcpy(r->arena[i], sides[i].s->arena, PAIR_ARENA);
	}
	pair_close(&p);
}

static void
compare(const struct result *a, const struct result *b, uint64_t seed)
{
	for (int i = 0; i < 2; i++) {
		if (a->len[i] != b->len[i] || memcmp(a->log[i], b->log[i], a->len[i]) != 0)
			fail_msg("seed %llu: side %d fills something else", (unsigned long long)seed, i);
		if (memcmp(a->arena[i], b->arena[i], PAIR_ARENA) != 0)
			fail_msg("seed %llu: side %d holds something else", (unsigned long long)seed, i);
		if (a->wcs[i] != b->wcs[i] || memcmp(a->wc[i], b->wc[i], sizeof(a->wc[i])) != 0)
			fail_msg("seed %llu: side %d is told something else", (unsigned long long)seed, i);
	}
}

static void
test_as_without(void **state)
{
	static struct result r[2];

	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + runs; seed++) {
		for (int with = 0; with < 2; with++) {
			one_run(seed, with);
			keep(&r[with]);
		}
		compare(&r[0], &r[1], seed);
		for (int i = 0; i < 4; i++) {
			free(r[i / 2].log[i % 2]);
			free(r[i / 2].arena[i % 2]);
		}
	}
	assert_true(runs < 8 || (begun >= runs && rolled >= 4 * runs));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_without)};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
