/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_world.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "crc32c.h"
#include "domains.h"
#include "mbufpool.h"
#include "mpa_hdr.h"
#include "qp_obj.h"

#define GUARD 0x5a
#define SIZE 4096u

static uint8_t *
arena(void)
{
	static uint8_t *p;

	if (!p) {
		p = mmap((void *)FUZZ_BASE, FUZZ_ARENA, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		assert(p == (void *)FUZZ_BASE);
	}
	memset(p, GUARD, FUZZ_ARENA);
	return p;
}

/* Number i stands at 2 * i * SIZE: a guard lies behind each. */
static uint8_t *
place(const struct fuzz_world *w, uint32_t i)
{
	return w->arena + 2 * i * SIZE;
}

static void
reg(struct fuzz_world *w, uint32_t i, struct iw_pd *pd, uint32_t access, bool scope)
{
	uint8_t *p = place(w, i);

	w->mr[i] = scope ? iw_mr_reg_qp(w->qp, p, SIZE, access, NULL) : iw_mr_reg(pd, p, SIZE, access, NULL);
	w->stag[i] = iw_mr_rkey(w->mr[i]);
}

/* Number 2 is a window, number 7 made by a request from two halves, the second one first. */
static void
make_by_requests(struct fuzz_world *w)
{
	uint32_t rights = IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_REMOTE_INVALIDATE;
	struct iw_iov halves[2] = {{place(w, 7) + SIZE / 2, SIZE / 2}, {place(w, 7), SIZE / 2}};
	struct iw_send_wr wr = {.opcode = IW_WR_BIND_MW};

	w->behind = iw_mr_reg(w->pd, place(w, 2), SIZE, IW_MW_BIND | IW_LOCAL_WRITE, NULL);
	w->mw = mw_create(w->rdmap, w->pd, NULL);
	wr.bind = (struct iw_mw_bind){.mw = w->mw,
				      .mr = w->behind,
				      .addr = (uintptr_t)place(w, 2),
				      .length = SIZE,
				      .rkey = iw_rkey_next(iw_mw_rkey(w->mw)),
				      .access = IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE};
	assert(iw_post_send(w->qp, &wr, NULL) == 0);
	w->stag[2] = iw_mw_rkey(w->mw);
	w->mr[7] = mr_fast_create(w->rdmap, w->pd, 2, NULL);
	wr = (struct iw_send_wr){.opcode = IW_WR_FAST_REG};
	wr.reg = (struct iw_fast_reg){.mr = w->mr[7],
				      .iov = halves,
				      .num_iov = 2,
				      .rkey = iw_rkey_next(iw_mr_rkey(w->mr[7])),
				      .iova = (uintptr_t)place(w, 7),
				      .access = rights};
	assert(iw_post_send(w->qp, &wr, NULL) == 0);
	w->stag[7] = iw_mr_rkey(w->mr[7]);
}

static void
make_stags(struct fuzz_world *w)
{
	reg(w, 0, w->pd, IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC, false);
	reg(w, 1, w->pd, IW_REMOTE_READ, false);
	reg(w, 3, w->other, IW_REMOTE_READ | IW_REMOTE_WRITE, false);
	reg(w, 4, w->pd, IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, true);
	reg(w, 5, w->pd, IW_LOCAL_WRITE, false);
	reg(w, 6, w->pd, IW_REMOTE_WRITE, false);
	assert(iw_mr_dereg(w->mr[6]) == 0);
	w->mr[6] = NULL;
}

static int
post_recv(struct fuzz_world *w, const struct iw_recv_wr *wr)
{
	return w->srq ? iw_post_srq_recv(w->srq, wr, NULL) : iw_post_recv(w->qp, wr, NULL);
}

static void
post(struct fuzz_world *w, unsigned how)
{
	struct iw_sge sge = {.addr = FUZZ_BASE + 10 * SIZE, .length = 512, .lkey = w->stag[5]};
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	struct iw_send_wr read = {.sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IW_WR_RDMA_READ,
				  .flags = IW_SEND_SIGNALED,
				  .remote_addr = 1,
				  .rkey = 1};

	for (int i = 0; i < 4 && how & FUZZ_RECVS; i++, sge.addr += 512)
		assert(post_recv(w, &recv) == 0);
	for (int i = 0; i < 2 && how & FUZZ_READS; i++, sge.addr += 512) {
		if (i == 1 && how & FUZZ_ATOMIC) {
			read.opcode = IW_WR_FETCH_ADD;
			sge.length = 8;
		}
		assert(iw_post_send(w->qp, &read, NULL) == 0);
	}
}

void
fuzz_world_open(struct fuzz_world *w, unsigned how)
{
	struct rdmap_params params = {.max_qps = 2};
	struct qp_stream st = {.conn = 7,
			       .revision = 2,
			       .crc = how & FUZZ_CRC,
			       .rx_markers = how & FUZZ_MARKERS,
			       .tx_markers = how & FUZZ_MARKERS,
			       .initiator = how & FUZZ_INITIATOR,
			       .back_pressure = how & FUZZ_WAIT,
			       .ird = 2,
			       .ord = 2};
	struct iw_qp_attr attr = {.sq_depth = 4, .rq_depth = 4, .max_ird = 2, .max_ord = 2, .srq_limit = 2};
	struct iw_srq_attr four = {.depth = 4, .limit = 3};
	int err;

	memset(w, 0, sizeof(*w));
	memset(w->env.secret, 3, sizeof(w->env.secret));
	w->mp = w->env.data_pool = w->env.ctl_pool = mbufpool_create("fuzz", 9216, 0);
	w->now_ns = 1000000000;
	w->arena = arena();
	w->domain = domains_get(w->env.secret);
	w->rdmap = rdmap_create(&w->env, w->domain, NULL, &params);
	w->pd = iw_pd_create(w->domain);
	w->other = iw_pd_create(w->domain);
	w->cq = attr.send_cq = attr.recv_cq = cq_create(w->rdmap, 64, NULL, NULL);
	if (how & FUZZ_SRQ)
		w->srq = attr.srq = srq_create(w->rdmap, w->pd, &four, NULL);
	w->qp = qp_create(w->rdmap, w->pd, &attr, &err);
	make_stags(w);
	assert(qp_start(w->qp, &st, w->now_ns) == 0);
	make_by_requests(w);
	post(w, how);
}

/* What it sends is of no interest, but that it ends. */
static bool
fill_one(struct fuzz_world *w, struct iw_qp *qp)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->mp);
	uint16_t sum;
	bool some = rdmap_tx_fill(qp, m, 1448, &sum, w->now_ns) > 0;

	rte_pktmbuf_free(m);
	return some;
}

/* Several segments in a turn, as the engine does it. */
static void
fill(struct fuzz_world *w)
{
	struct iw_qp *qp;

	rdmap_doorbells(w->rdmap);
	for (int i = 0; i < 64 && (qp = rdmap_run_next(w->rdmap)); i++) {
		for (int n = 0; n < 16 && fill_one(w, qp); n++)
			;
		rdmap_run_add(qp);
	}
	rdmap_quiescent(w->rdmap);
}

void
fuzz_world_feed(struct fuzz_world *w, const uint8_t *octets, uint32_t len, uint32_t cut)
{
	struct iw_view views[MPA_RX_VIEWS];
	struct mpa_rx_result r;

	/* As TCP does it: what waits is packed until it goes into one call. */
	if (cut && cut * MPA_RX_VIEWS < len)
		cut = len / MPA_RX_VIEWS + 1;
	fill(w);
	do {
		uint32_t n = 0, off = 0;

		while (off < len && n < MPA_RX_VIEWS) {
			uint32_t part = cut && cut < len - off ? cut : len - off;

			part = part < 9000 ? part : 9000;
			views[n] = (struct iw_view){.m = rte_pktmbuf_alloc(w->mp), .len = part};
			memcpy(rte_pktmbuf_append(views[n++].m, (uint16_t)part), octets + off, part);
			off += part;
		}
		r = mpa_rx(w->qp, views, n, 8, w->now_ns);
		for (uint32_t i = 0; i < n; i++)
			rte_pktmbuf_free(views[i].m);
		assert(r.consumed <= off);
		octets += r.consumed;
		len -= r.consumed;
		fill(w);
		w->now_ns += 1000000000;
		rdmap_tick(w->rdmap, w->now_ns);
	} while (r.consumed > 0 && len > 0);
}

/* Guards, what is read-only, of another PD or was taken back: each octet is that before it. */
static void
check_memory(const struct fuzz_world *w)
{
	static const bool written[FUZZ_STAGS] = {true, false, true, false, true, true, false, true};

	for (uint32_t i = 0; i < FUZZ_ARENA / SIZE; i++) {
		const uint8_t *p = w->arena + i * SIZE;

		assert((i % 2 == 0 && written[i / 2]) || (p[0] == GUARD && memcmp(p, p + 1, SIZE - 1) == 0));
	}
}

void
fuzz_world_close(struct fuzz_world *w)
{
	struct rdmap_out out;
	struct iw_wc wc;
	int done = 0;

	fill(w);
	check_memory(w);
	while (rdmap_out_next(w->rdmap, &out))
		assert(out.qp == w->qp);
	qp_destroy(w->qp);
	while (iw_cq_poll(w->cq, &wc, 1) == 1)
		done++;
	assert(done <= 8);
	assert(iw_mw_destroy(w->mw) == 0 && iw_mr_dereg(w->behind) == 0);
	for (int i = 0; i < FUZZ_STAGS; i++)
		if (w->mr[i])
			assert(iw_mr_dereg(w->mr[i]) == 0);
	rdmap_destroy(w->rdmap);
	assert(iw_pd_destroy(w->pd) == 0 && iw_pd_destroy(w->other) == 0);
	domains_put(w->domain);
	mbufpool_destroy(w->mp);
}

uint32_t
fuzz_fpdu(uint8_t *out, const uint8_t *ulpdu, uint32_t len)
{
	uint32_t n = fpdu_hdr_crc_off(len);

	fpdu_hdr_length_emit(out, (uint16_t)len);
	memmove(out + 2, ulpdu, len);
	memset(out + 2 + len, 0, n - 2 - len);
	fpdu_hdr_crc_emit(out + n, iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, out, n)));
	return n + 4;
}
