/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages of several QPs at once, cut out of every kind of registration, both ways, with Reads among them: over
 * bad lines, narrower paths and without mbufs in the middle of turns; memory taken back and streams ended in the middle
 * of messages.  Runs for either family (IW_TEST_FAMILY).
 *     test_trains [SEED [RUNS]]  repeats a run by its seed */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "oracle.h"
#include "sim.h"
#include "stat_of.h"

#define QPS 3
#define OPS 16u
#define LEN 60000u
#define PIECES 80
#define SOURCE (2u << 20)
#define IOVA UINT64_C(0xfff00000) /* offsets pass 2^32 */
#define PORT 4791
#define DEPTH 32
#define UNSAID 1000 /* of requests that nobody hears of */

static uint64_t first_seed = 1;
static uint32_t runs = 4;

enum kind { PLAIN, MAP, LENT, FAST, WINDOW, KINDS }; /* the last two of a QP each; WINDOW for peers only */

struct op {
	uint8_t opcode;
	uint32_t off, len; /* in the source */
};

struct end {
	struct iw_qp *qp;
	iw_cm_id id;
	bool up, closed;
	struct iw_mr *fast;
	struct iw_mw *window;
	uint8_t *sink[3]; /* of the peer's Writes, the own Reads, and receives: OPS of LEN octets each */
	struct iw_mr *sink_mr;
	struct op op[OPS];
	uint32_t posted, done, failed, sends, received;
};

struct host {
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	uint8_t *memory[4]; /* by kind; SOURCE octets with the same contents */
	struct iw_mr *mr[3];
	struct iw_iov fast[PIECES]; /* of memory[FAST] */
	struct end end[QPS];
	iw_cm_id listener;
	uint32_t taken;
};

static struct sim *s;
static struct host host[2];

static uint8_t
octet(int h, uint64_t i)
{
	return (uint8_t)((i * 2 + (uint32_t)h) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* ---- memory ---- */

/* SOURCE octets in pieces that stand in reverse order. */
static void
cut(uint8_t *memory, int h, struct iw_iov *iov, int n)
{
	uint32_t at = 0, end = SOURCE;

	for (int i = 0; i < n; i++) {
		uint32_t len = i == n - 1 ? SOURCE - at : 1 + (uint32_t)sim_below(s, 2 * (SOURCE / PIECES) - 1);

		len = len > SOURCE - at - (uint32_t)(n - 1 - i) ? SOURCE - at - (uint32_t)(n - 1 - i) : len;
		end -= len;
		iov[i] = (struct iw_iov){.addr = memory + end, .length = len};
		for (uint32_t k = 0; k < len; k++)
			memory[end + k] = octet(h, at + k);
		at += len;
	}
}

static uint8_t *
straight(int h)
{
	uint8_t *memory = malloc(SOURCE);

	for (uint32_t i = 0; i < SOURCE; i++)
		memory[i] = octet(h, i);
	return memory;
}

static void
make_sources(struct host *d, int h)
{
	struct iw_iov iov[PIECES];

	d->memory[PLAIN] = straight(h);
	d->memory[LENT] = straight(h);
	d->memory[MAP] = malloc(SOURCE);
	d->memory[FAST] = malloc(SOURCE);
	cut(d->memory[MAP], h, iov, PIECES);
	cut(d->memory[FAST], h, d->fast, PIECES);
	d->mr[PLAIN] = iw_mr_reg(d->pd, d->memory[PLAIN], SOURCE, IW_REMOTE_READ | IW_MW_BIND, NULL);
	d->mr[LENT] = iw_mr_reg(d->pd, d->memory[LENT], SOURCE, IW_ZERO_COPY | IW_REMOTE_READ, NULL);
	d->mr[MAP] = iw_mr_reg_iov(d->pd, iov, PIECES, IOVA, IW_REMOTE_READ, NULL);
}

static void
make_end(struct host *d, struct end *e)
{
	struct iw_qp_attr attr = {.send_cq = d->cq,
				  .recv_cq = d->cq,
				  .sq_depth = DEPTH,
				  .rq_depth = DEPTH,
				  .max_ird = 4,
				  .max_ord = 4,
				  .context = e};
	uint8_t *memory = oracle_memory(3 * OPS * LEN);

	e->qp = iw_qp_create(d->engine, d->pd, &attr, NULL);
	e->fast = iw_mr_create_fast(d->engine, d->pd, PIECES, NULL);
	e->window = iw_mw_create(d->engine, d->pd, NULL);
	e->sink_mr = iw_mr_reg(d->pd, memory, 3 * OPS * LEN, IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	for (uint32_t i = 0; i < 3; i++)
		e->sink[i] = memory + i * OPS * LEN;
	for (uint32_t i = 0; i < OPS; i++) {
		struct iw_sge sge = {(uintptr_t)e->sink[2] + i * LEN, LEN, iw_mr_lkey(e->sink_mr)};
		struct iw_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1};

		assert_int_equal(iw_post_recv(e->qp, &wr, NULL), 0);
	}
}

/* Requests that map a QP's own registration and window; they complete before anything else. */
static void
give_out(struct host *d, struct end *e)
{
	struct iw_send_wr wr[2] = {{.next = &wr[1], .wr_id = UNSAID, .opcode = IW_WR_FAST_REG},
				   {.wr_id = UNSAID, .opcode = IW_WR_BIND_MW}};

	wr[0].reg =
		(struct iw_fast_reg){e->fast, d->fast, PIECES, iw_rkey_next(iw_mr_rkey(e->fast)), IOVA, IW_REMOTE_READ};
	wr[1].bind = (struct iw_mw_bind){.mw = e->window,
					 .mr = d->mr[PLAIN],
					 .addr = (uintptr_t)d->memory[PLAIN],
					 .length = SOURCE,
					 .rkey = iw_rkey_next(iw_mw_rkey(e->window)),
					 .access = IW_REMOTE_READ};
	assert_int_equal(iw_post_send(e->qp, wr, NULL), 0);
}

static uint64_t
base_of(const struct host *d, enum kind k)
{
	return k == MAP || k == FAST ? IOVA : (uintptr_t)d->memory[k == LENT ? LENT : PLAIN];
}

static uint32_t
key_of(const struct host *d, const struct end *e, enum kind k)
{
	if (k == WINDOW)
		return iw_mw_rkey(e->window);
	return iw_mr_rkey(k == FAST ? e->fast : d->mr[k]);
}

/* ---- connections ---- */

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct host *d = context;
	struct iw_cm_attr attr = {.no_crc = true};
	struct end *e = NULL;

	if (event->type == IW_CM_CONNECT_REQUEST) {
		e = &d->end[d->taken++];
		e->id = id;
		assert_int_equal(iw_cm_accept(d->engine, id, e->qp, &attr), 0);
		return 0;
	}
	for (int i = 0; i < QPS; i++)
		if (d->end[i].id == id)
			e = &d->end[i];
	assert_non_null(e);
	if (event->type == IW_CM_ESTABLISHED_EV || (event->type == IW_CM_CONNECT_REPLY && event->status == 0))
		e->up = true;
	if (event->type == IW_CM_CLOSE)
		e->closed = true;
	return 0;
}

static void
run_until(bool (*done)(const struct end *e), uint64_t limit_ns)
{
	uint64_t end = s->now_ns + limit_ns;

	for (;;) {
		bool all = true;

		for (int i = 0; i < 2 * QPS; i++)
			all = all && done(&host[i & 1].end[i / 2]);
		if (all)
			return;
		assert_true(s->now_ns < end);
		sim_step(s, end);
	}
}

static bool
is_closed(const struct end *e)
{
	return e->closed;
}

static void
connect_all(bool crc, bool markers)
{
	struct iw_cm_attr attr = {.no_crc = !crc, .markers = markers, .connect_timeout_ms = 60000};
	struct iw_addr to = sim_addr(1, PORT);

	host[1].listener = iw_cm_create(host[1].engine, on_event, &host[1]);
	assert_int_equal(iw_cm_listen(host[1].engine, host[1].listener, &to, QPS), 0);
	for (int i = 0; i < QPS; i++) {
		struct end *e = &host[0].end[i];

		e->id = iw_cm_create(host[0].engine, on_event, &host[0]);
		assert_int_equal(iw_cm_connect(host[0].engine, e->id, &to, e->qp, &attr), 0);
		while (!e->up || !host[1].end[i].up) /* one after the other: they meet in this order */
			sim_step(s, s->now_ns + IW_SEC);
	}
}

static void
world_open(uint64_t seed, const struct engine_params *params, const struct sim_wire *wire, bool crc, bool markers)
{
	s = malloc(sizeof(*s));
	sim_init_params(s, seed, 2, params);
	memset(host, 0, sizeof(host));
	for (int h = 0; h < 2; h++) {
		struct host *d = &host[h];

		d->engine = s->host[h].engine;
		d->pd = iw_pd_create(s->host[h].domain);
		d->cq = iw_cq_create(d->engine, 4096, NULL, NULL);
		make_sources(d, h);
		for (int i = 0; i < QPS; i++)
			make_end(d, &d->end[i]);
	}
	connect_all(crc, markers);
	s->wire = *wire;
	for (int i = 0; i < 2 * QPS; i++)
		give_out(&host[i & 1], &host[i & 1].end[i / 2]);
	sim_run(s, 10 * IW_MS);
}

static void
close_end(struct host *d, struct end *e)
{
	iw_cm_destroy(d->engine, e->id);
	if (e->qp)
		assert_int_equal(iw_qp_destroy(e->qp), 0);
	assert_int_equal(iw_mw_destroy(e->window), 0);
	assert_int_equal(iw_mr_dereg(e->fast), 0);
	assert_int_equal(iw_mr_dereg(e->sink_mr), 0);
}

static void
world_close(void)
{
	iw_cm_destroy(host[1].engine, host[1].listener);
	for (int i = 0; i < 2 * QPS; i++)
		close_end(&host[i & 1], &host[i & 1].end[i / 2]);
	sim_run(s, 400 * IW_SEC); /* memory that is lent comes back, too */
	for (int i = 0; i < 6; i++)
		if (host[i & 1].mr[i / 2])
			assert_int_equal(iw_mr_dereg(host[i & 1].mr[i / 2]), 0);
	for (int h = 0; h < 2; h++) {
		assert_int_equal(iw_cq_destroy(host[h].cq), 0);
		assert_int_equal(iw_pd_destroy(host[h].pd), 0);
		for (int k = 0; k < 4; k++)
			free(host[h].memory[k]);
	}
	sim_fini(s);
	free(s);
}

/* ---- work ---- */

static uint32_t
draw_len(void)
{
	static const uint32_t full[] = {1424, 1428, 8924, 8920, 1};

	if (sim_below(s, 3) == 0)
		return full[sim_below(s, 5)] * (uint32_t)(1 + sim_below(s, 6)) + (uint32_t)sim_below(s, 9);
	return (uint32_t)sim_below(s, LEN + 1);
}

/* len octets of the host's source from off on, in pieces of any length, of any registration. */
static int
draw_sges(const struct host *d, const struct end *e, const struct op *op, struct iw_sge *sge)
{
	int n = 1 + (int)sim_below(s, 4);
	uint32_t done = 0;

	for (int i = 0; i < n; i++) {
		enum kind k = (enum kind)sim_below(s, WINDOW);
		uint32_t left = op->len - done, len = i == n - 1 ? left : (uint32_t)sim_below(s, left + 1);

		sge[i] = (struct iw_sge){base_of(d, k) + op->off + done, len, key_of(d, e, k)};
		done += len;
	}
	return n;
}

static void
post(int h, int i, uint32_t len)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	struct host *d = &host[h], *far = &host[!h];
	struct end *e = &d->end[i], *peer = &far->end[i];
	struct op *op = &e->op[e->posted];
	struct iw_sge sge[4];
	struct iw_send_wr wr = {.wr_id = e->posted, .sg_list = sge, .flags = IW_SEND_SIGNALED};
	uint64_t place = (uint64_t)e->posted * LEN;
	enum kind k = (enum kind)sim_below(s, KINDS);

	*op = (struct op){.opcode = opcodes[sim_below(s, 3)], .off = (uint32_t)sim_below(s, SOURCE - len), .len = len};
	wr.opcode = op->opcode;
	if (op->opcode == IW_WR_RDMA_READ) {
		sge[0] = (struct iw_sge){(uintptr_t)e->sink[1] + place, len, iw_mr_lkey(e->sink_mr)};
		wr.num_sge = 1;
		wr.remote_addr = base_of(far, k) + op->off;
		wr.rkey = key_of(far, peer, k);
	} else {
		wr.num_sge = draw_sges(d, e, op, sge);
		wr.remote_addr = (uintptr_t)peer->sink[0] + place;
		wr.rkey = iw_mr_rkey(peer->sink_mr);
	}
	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	e->posted++;
}

/* Of each queue in order, and behind what failed nothing succeeds. */
static void
reap(struct host *d)
{
	struct iw_wc wc;

	while (iw_cq_poll(d->cq, &wc, 1) == 1) {
		struct end *e = wc.qp ? iw_qp_context(wc.qp) : NULL;

		if (!e)
			continue;
		if (wc.opcode == IW_WC_RECV) {
			e->received += wc.status == IW_WC_SUCCESS;
			continue;
		}
		assert_int_equal(wc.wr_id, e->done + e->failed);
		if (wc.status == IW_WC_SUCCESS) {
			assert_int_equal(e->failed, 0);
			e->done++;
		} else {
			e->failed++;
		}
	}
}

static void
check_octets(const uint8_t *p, int h, const struct op *op)
{
	for (uint32_t i = 0; i < op->len; i++)
		if (p[i] != octet(h, op->off + i))
			fail_msg("opcode %u: octet %u of %u differs", op->opcode, i, op->len);
}

/* All that an end has sent, and what it has read. */
static void
check_end(int h, int i)
{
	const struct end *e = &host[h].end[i], *peer = &host[!h].end[i];
	uint32_t sends = 0;

	for (uint32_t k = 0; k < e->done; k++) {
		const struct op *op = &e->op[k];

		if (op->opcode == IW_WR_RDMA_READ)
			check_octets(e->sink[1] + k * LEN, !h, op);
		else if (op->opcode == IW_WR_RDMA_WRITE)
			check_octets(peer->sink[0] + k * LEN, h, op);
		else
			check_octets(peer->sink[2] + sends++ * LEN, h, op);
	}
	assert_int_equal(peer->received, sends);
}

static bool
has_sent(const struct end *e)
{
	return e->done + e->failed == OPS;
}

struct trouble {
	bool dry, narrow;
};

static void
work(const struct trouble *trouble, uint64_t limit_ns)
{
	uint64_t end = s->now_ns + limit_ns, steps = 0;
	bool all = false;

	for (int i = 0; i < 2 * QPS * (int)OPS; i++)
		post(i & 1, i / 2 % QPS, draw_len());
	while (!all && s->now_ns < end) {
		if (trouble->dry && sim_below(s, 3) == 0)
			mbufpool_set_fuse(s->host[sim_below(s, 2)].data_pool, 1 + (uint32_t)sim_below(s, 20));
		if (trouble->narrow && ++steps == 40) {
			s->host[1].cut = true;
			sim_run(s, 10 * IW_SEC);
			s->host[1].cut = false;
		}
		sim_step(s, end);
		all = true;
		for (int i = 0; i < 2 * QPS; i++) {
			reap(&host[i & 1]);
			all = all && has_sent(&host[i & 1].end[i / 2]);
		}
	}
	assert_true(all);
	mbufpool_set_fuse(s->host[0].data_pool, 0);
	mbufpool_set_fuse(s->host[1].data_pool, 0);
}

static void
one_run(uint64_t seed, const struct engine_params *params, const struct sim_wire *wire, const struct trouble *trouble)
{
	world_open(seed, params, wire, seed & 1, seed % 5 == 0);
	work(trouble, 600 * IW_SEC);
	if (trouble->narrow)
		assert_true(stat_of(host[0].engine, "tcp.tx_splits") + stat_of(host[1].engine, "tcp.tx_splits") > 0);
	for (int i = 0; i < QPS; i++)
		assert_int_equal(iw_cm_disconnect(host[0].engine, host[0].end[i].id, false), 0);
	run_until(is_closed, 300 * IW_SEC);
	for (int i = 0; i < 2 * QPS; i++) {
		reap(&host[i & 1]);
		assert_int_equal(host[i & 1].end[i / 2].failed, 0);
	}
	for (int i = 0; i < 2 * QPS; i++)
		check_end(i & 1, i / 2);
	world_close();
}

static struct engine_params
params_of(uint64_t i)
{
	static const uint16_t mtus[] = {1500, 9000, 1281, 1500};
	bool offloads = i & 2, tso = (i & 6) == 6;

	return (struct engine_params){
		.nif = {.mtu = mtus[i % 4], .tx_ip_cksum = offloads, .tx_tcp_cksum = offloads, .tx_tso = tso ? 64 : 0},
		.max_conns = 64};
}

static void
many_runs(const struct sim_wire *wire, const struct trouble *trouble)
{
	for (uint64_t seed = first_seed; seed < first_seed + runs; seed++) {
		struct engine_params params = params_of(seed);

		if (trouble->narrow)
			params.nif.mtu = 9000;
		if (trouble->dry) /* the test's NIC would take its mbufs there, too */
			params.nif.tx_tso = params.nif.tx_ip_cksum = params.nif.tx_tcp_cksum = 0;
		one_run(seed, &params, wire, trouble);
	}
}

static void
test_lines(void **state)
{
	static const struct sim_wire wires[] = {
		{.delay_ns = 10 * IW_US},
		{.delay_ns = 100 * IW_US, .loss = 0.03},
		{.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.02, .dup = 0.05}};

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		many_runs(&wires[i], &(struct trouble){.dry = false});
}

/* No mbuf in the middle of a turn, wherever that is. */
static void
test_dry(void **state)
{
	(void)state;
	many_runs(&(struct sim_wire){.delay_ns = 50 * IW_US}, &(struct trouble){.dry = true});
	many_runs(&(struct sim_wire){.delay_ns = 50 * IW_US, .loss = 0.02}, &(struct trouble){.dry = true});
}

/* Segments become smaller in the middle of messages; what is under way is cut up. */
static void
test_narrow(void **state)
{
	(void)state;
	many_runs(&(struct sim_wire){.delay_ns = 200 * IW_US}, &(struct trouble){.narrow = true});
}

/* ---- in the middle ---- */

#define SPOILED 0xa5
#define IN_A_ROW 16     /* spoiled octets that nobody has by chance */
#define LONG (15 * LEN) /* of one message */

/* What was taken back is spoiled, and nobody may send it. */
static void
tap(struct sim *sim, const struct rte_mbuf *m)
{
	(void)sim;
	for (; m; m = m->next) {
		const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->data_len; i++) {
			n = p[i] == SPOILED ? n + 1 : 0;
			assert_true(n < IN_A_ROW);
		}
	}
}

static void
invalidate(struct end *e, uint32_t stag)
{
	struct iw_send_wr wr = {.wr_id = UNSAID, .opcode = IW_WR_LOCAL_INV, .invalidate_rkey = stag};

	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	sim_step(s, s->now_ns); /* its turn */
}

static void
take_map(struct host *d)
{
	assert_int_equal(iw_mr_dereg(d->mr[MAP]), 0);
	d->mr[MAP] = NULL;
}

static void
take_lent(struct host *d)
{
	assert_int_equal(iw_mr_dereg(d->mr[LENT]), 0);
	d->mr[LENT] = NULL;
}

static void
take_fast(struct host *d)
{
	assert_int_equal(iw_mr_dereg(d->end[0].fast), 0);
	d->end[0].fast = iw_mr_create_fast(d->engine, d->pd, 1, NULL);
}

static void
invalidate_fast(struct host *d)
{
	invalidate(&d->end[0], iw_mr_rkey(d->end[0].fast));
}

static void
invalidate_window(struct host *d)
{
	invalidate(&d->end[0], iw_mw_rkey(d->end[0].window));
}

static void
take_window(struct host *d)
{
	assert_int_equal(iw_mw_destroy(d->end[0].window), 0);
	d->end[0].window = iw_mw_create(d->engine, d->pd, NULL);
}

/* Each time under another key, and at last under the first one again: other memory with the same contents. */
static void
move_fast(struct host *d)
{
	uint32_t first = iw_mr_rkey(d->end[0].fast), stag = first;
	struct iw_iov iov = {.addr = d->memory[PLAIN], .length = SOURCE};
	struct iw_send_wr wr = {.wr_id = UNSAID, .opcode = IW_WR_FAST_REG};

	s->host[0].cut = s->host[1].cut = true; /* without ACKs nothing is filled meanwhile */
	sim_run(s, 20 * IW_MS);
	for (int i = 0; i < 2; i++) {
		invalidate(&d->end[0], stag);
		stag = i ? first : iw_rkey_next(stag);
		wr.reg = (struct iw_fast_reg){d->end[0].fast, &iov, 1, stag, IOVA, IW_REMOTE_READ};
		assert_int_equal(iw_post_send(d->end[0].qp, &wr, NULL), 0);
		sim_run(s, IW_MS);
	}
	s->host[0].cut = s->host[1].cut = false;
}

/* Host 1 takes memory back, in the middle of a message of QP 0: its own, or the answer to a Read. */
static void
taken_back(uint8_t opcode, enum kind k, void (*take)(struct host *d), bool goes_on, uint32_t steps)
{
	struct host *d = &host[1];
	bool read = opcode == IW_WR_RDMA_READ;
	struct end *e = &host[!read].end[0], *peer = &host[read].end[0];
	struct iw_sge sge = {base_of(d, k), LONG, key_of(d, &d->end[0], k)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode, .flags = IW_SEND_SIGNALED};
	uint64_t sent;

	wr.remote_addr = read ? sge.addr : (uintptr_t)peer->sink[0];
	wr.rkey = read ? sge.lkey : iw_mr_rkey(peer->sink_mr);
	if (read)
		sge = (struct iw_sge){(uintptr_t)e->sink[1], LONG, iw_mr_lkey(e->sink_mr)};
	assert_int_equal(iw_post_send(e->qp, &wr, NULL), 0);
	for (uint32_t i = 0; i < steps; i++)
		sim_step(s, s->now_ns + IW_MS);
	sent = stat_of(d->engine, "rdmap.tx_octets");
	assert_true(sent > 0 && sent < LONG);
	take(d);
	memset(d->memory[k == WINDOW ? PLAIN : k], SPOILED, k == WINDOW && goes_on ? 0 : SOURCE);
	if (!goes_on) {
		for (uint64_t end = s->now_ns + 100 * IW_SEC; !e->closed || !peer->closed;) {
			assert_true(s->now_ns < end);
			sim_step(s, end);
		}
		reap(&host[!read]);
		assert_int_equal(e->failed, 1);
		return;
	}
	sim_run(s, 10 * IW_SEC);
	reap(&host[!read]);
	assert_int_equal(e->done, 1);
	check_octets(e->sink[1], 1, &(struct op){.len = LONG});
}

static void
test_taken_back(void **state)
{
	static const struct {
		uint8_t opcode, kind;
		void (*take)(struct host *d);
		bool goes_on;
	} rows[] = {
		{IW_WR_RDMA_WRITE, MAP, take_map, false},        {IW_WR_RDMA_WRITE, FAST, take_fast, false},
		{IW_WR_RDMA_WRITE, LENT, take_lent, false},      {IW_WR_RDMA_READ, MAP, take_map, false},
		{IW_WR_RDMA_READ, LENT, take_lent, false},       {IW_WR_RDMA_READ, FAST, take_fast, false},
		{IW_WR_RDMA_READ, FAST, invalidate_fast, false}, {IW_WR_RDMA_READ, WINDOW, invalidate_window, false},
		{IW_WR_RDMA_READ, WINDOW, take_window, false},   {IW_WR_RDMA_READ, FAST, move_fast, true},
	};
	struct engine_params params = params_of(0);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint64_t n = 0; n < runs; n++) {
			world_open(first_seed + n, &params, &(struct sim_wire){.delay_ns = 100 * IW_US}, true, false);
			s->tap = tap;
			taken_back(rows[i].opcode, (enum kind)rows[i].kind, rows[i].take, rows[i].goes_on,
				   6 + (uint32_t)sim_below(s, 20));
			world_close();
		}
}

enum ending { SET_ERROR, DESTROY, ABORT, CLOSE, SILENCE, ENGINE, ENDINGS };

static void
end_it(enum ending how, int h)
{
	struct host *d = &host[h];
	struct end *e = &d->end[0];

	if (how == SET_ERROR)
		assert_int_equal(iw_qp_set_error(e->qp), 0);
	if (how == DESTROY) {
		assert_int_equal(iw_qp_destroy(e->qp), 0);
		e->qp = NULL;
	}
	if (how == ABORT || how == CLOSE)
		assert_int_equal(iw_cm_disconnect(d->engine, e->id, how == ABORT), 0);
	if (how == SILENCE)
		s->host[h].cut = true;
	if (how == ENGINE)
		engine_abort(d->engine);
}

/* QP 0, or all of them, end at any moment: the others do not notice. */
static void
ended(uint64_t seed, enum ending how)
{
	struct engine_params params = params_of(seed);
	bool all = how == SILENCE || how == ENGINE;
	uint64_t limit;

	world_open(seed, &params, &(struct sim_wire){.delay_ns = 50 * IW_US, .loss = 0.01}, seed & 1, false);
	for (int i = 0; i < 2 * QPS * (int)OPS; i++)
		post(i & 1, i / 2 % QPS, draw_len());
	for (uint64_t i = sim_below(s, 60); i > 0; i--)
		sim_step(s, s->now_ns + IW_MS);
	end_it(how, (int)sim_below(s, 2));
	limit = s->now_ns + 600 * IW_SEC;
	for (bool done = false; !done && s->now_ns < limit;) {
		sim_step(s, limit);
		done = true;
		for (int i = 0; i < 2 * QPS; i++) {
			struct end *e = &host[i & 1].end[i / 2];

			reap(&host[i & 1]);
			done = done && (!e->qp || has_sent(e) || how == ENGINE);
		}
		done = done && (how != ENGINE || s->now_ns > limit - 400 * IW_SEC);
	}
	for (int i = 2; i < 2 * QPS && !all; i++)
		assert_int_equal(host[i & 1].end[i / 2].done, OPS);
	world_close();
}

static void
test_ended(void **state)
{
	(void)state;
	for (uint64_t seed = first_seed; seed < first_seed + runs; seed++)
		for (enum ending how = 0; how < ENDINGS; how++)
			ended(seed, how);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),      cmocka_unit_test(test_dry),   cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_taken_back), cmocka_unit_test(test_ended),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 10);
	if (argc > 1)
		runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
