/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines in one thread, for counting instructions (guard.py runs it under callgrind, which counts inside the calls
 * named there only).
 *
 *   guard SCENARIO MESSAGES
 *
 * Frames are handed from one engine to the other as they are, as the in-process wire does; the clock is simulated, so
 * that the same build does the same every time.  Without arguments: the scenarios, a line each with their message
 * size, and the compiler. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain.h"
#include "engine_face.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"

#define FRAMES 64u
#define DEPTH 64u
#define SIGNAL 16u
#define PORT 4420u
#define OWN 0xc0000201u /* 192.0.2.1, .2 */
#define MESSAGE 65536u
#define TURN_NS (2 * IW_US)
#define TURNS_MAX 50000000u
#define STOCK 2048u

struct scenario {
	const char *name;
	enum iw_wr_opcode opcode;
	uint32_t size;
	uint16_t mtu;
	bool idle;      /* turns in which nothing comes and nothing goes, of a connected engine: each is a message */
	bool alternate; /* the next message goes when the one before has come, and the other way */
	enum { CRC, NO_CRC, ZERO_COPY } payload; /* without a copy: without a CRC, too */
};

static const struct scenario scenarios[] = {
	{"write_64", IW_WR_RDMA_WRITE, 64, 9000, false, false, CRC},
	{"send_64", IW_WR_SEND, 64, 9000, false, false, CRC},
	{"read_64", IW_WR_RDMA_READ, 64, 9000, false, false, CRC},
	{"write_64k_mtu_9000", IW_WR_RDMA_WRITE, MESSAGE, 9000, false, false, CRC},
	{"write_64k_mtu_1500", IW_WR_RDMA_WRITE, MESSAGE, 1500, false, false, CRC},
	{"read_64k_mtu_9000", IW_WR_RDMA_READ, MESSAGE, 9000, false, false, CRC},
	{"send_64k_mtu_9000", IW_WR_SEND, MESSAGE, 9000, false, false, CRC},
	{"ping_8", IW_WR_SEND, 8, 9000, false, true, CRC},
	{"idle_turn", IW_WR_RDMA_WRITE, 1, 9000, true, false, CRC},
	{"write_64k_mtu_9000_no_crc", IW_WR_RDMA_WRITE, MESSAGE, 9000, false, false, NO_CRC},
	{"write_64k_mtu_9000_zero_copy", IW_WR_RDMA_WRITE, MESSAGE, 9000, false, false, ZERO_COPY},
	{"write_64k_mtu_1500_no_crc", IW_WR_RDMA_WRITE, MESSAGE, 1500, false, false, NO_CRC},
	{"write_64k_mtu_1500_zero_copy", IW_WR_RDMA_WRITE, MESSAGE, 1500, false, false, ZERO_COPY},
};
#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

struct end {
	struct iw_domain *domain;
	struct iw_engine *engine;
	struct rte_mempool *data_pool, *ctl_pool;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_mr *mr;
	uint8_t *memory;
	iw_cm_id id;
	bool up, closed;
	uint64_t sent, done, received;
	struct rte_mbuf *frame[FRAMES]; /* under way to this end */
	uint32_t frames;
	struct rte_mempool *loan_pool;
	struct rte_mbuf *stock[STOCK]; /* for what a NIC reads together, taken before anything is counted */
	uint32_t taken;
};

static struct end ends[2];
static uint64_t now_ns = 1000 * IW_SEC;
static struct iw_cm_attr attr;

static void
die(const char *what)
{
	fprintf(stderr, "guard: %s\n", what);
	exit(1);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct end *e = context;

	if (event->type == IW_CM_CONNECT_REQUEST) {
		e->id = id;
		if (iw_cm_accept(e->engine, id, e->qp, &attr))
			die("accept");
	} else if (event->type == IW_CM_CLOSE) {
		e->closed = true;
	} else if (event->status == 0) {
		e->up = true;
	} else {
		die(iw_err_name(event->status));
	}
	return 0;
}

static void
create(int i, const struct scenario *s)
{
	struct engine_params params = {.nif = {.mac = {2, 0, 0, 0, 0, (uint8_t)(i + 1)}, .prefix_len = 24},
				       .max_conns = 64};
	struct iw_qp_attr depth = {.sq_depth = DEPTH, .rq_depth = DEPTH};
	struct iw_env env = {.secret = {1, 2, (uint8_t)i}};
	struct end *e = &ends[i];

	params.nif.mtu = s->mtu;
	params.nif.addr = iw_addr_from_v4(OWN + (uint32_t)i, 0);
	env.data_pool = e->data_pool = mbufpool_create("data", 9216, 0);
	env.ctl_pool = e->ctl_pool = mbufpool_create("ctl", 1024, 0);
	env.loan_pool = e->loan_pool = mbufpool_create("loan", 0, 0);
	for (uint32_t k = 0; s->payload == ZERO_COPY && k < STOCK; k++)
		e->stock[k] = rte_pktmbuf_alloc(e->data_pool);
	e->domain = domain_create(env.secret);
	e->engine = engine_create(e->domain, &env, &params, now_ns);
	e->pd = iw_pd_create(e->domain);
	e->memory = aligned_alloc(4096, 2 * MESSAGE);
	e->cq = iw_cq_create(e->engine, 4 * DEPTH, NULL, NULL);
	depth.send_cq = depth.recv_cq = e->cq;
	e->qp = iw_qp_create(e->engine, e->pd, &depth, NULL);
	if (!e->memory || !e->qp)
		die("no memory");
	memset(e->memory, i + 1, 2 * MESSAGE);
	e->mr = iw_mr_reg(
		e->pd, e->memory, 2 * MESSAGE,
		IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE | (s->payload == ZERO_COPY ? IW_ZERO_COPY : 0), NULL);
}

/* A NIC reads a frame of several segments together, and puts it into one of the receiver's.  Not counted: no engine
 * does it. */
static void
read_together(struct end *to, struct rte_mbuf **frame)
{
	struct rte_mbuf *m = *frame, *one;

	if (m->nb_segs == 1)
		return;
	if (to->taken == STOCK)
		die("too many frames");
	one = to->stock[to->taken++];
	for (const struct rte_mbuf *seg = m; seg; seg = seg->next)
		memcpy(rte_pktmbuf_append(one, seg->data_len), rte_pktmbuf_mtod(seg, void *), seg->data_len);
	rte_pktmbuf_free(m);
	*frame = one;
}

static void
turn(struct end *e, struct end *other)
{
	struct rte_mbuf *in[FRAMES];
	uint32_t n = e->frames;

	memcpy(in, e->frame, n * sizeof(in[0]));
	e->frames = 0;
	engine_rx(e->engine, in, n, now_ns, NULL, NULL);
	engine_tick(e->engine, now_ns);
	engine_deliver(e->engine);
	n = other->frames;
	other->frames += engine_tx(e->engine, other->frame + n, FRAMES - n, now_ns);
	for (; n < other->frames; n++)
		read_together(other, &other->frame[n]);
	now_ns += TURN_NS;
}

static void
turn_both(void)
{
	turn(&ends[0], &ends[1]);
	turn(&ends[1], &ends[0]);
}

static void
connect_ends(void)
{
	struct iw_addr to = iw_addr_from_v4(OWN + 1, PORT);
	iw_cm_id listener = iw_cm_create(ends[1].engine, on_event, &ends[1]);

	if (iw_cm_listen(ends[1].engine, listener, &to, 8))
		die("listen");
	ends[0].id = iw_cm_create(ends[0].engine, on_event, &ends[0]);
	if (iw_cm_connect(ends[0].engine, ends[0].id, &to, ends[0].qp, &attr))
		die("connect");
	for (uint32_t i = 0; i < 1000000 && !(ends[0].up && ends[1].up); i++)
		turn_both();
	if (!ends[0].up || !ends[1].up)
		die("not connected");
}

static void
post_recv(struct end *e)
{
	struct iw_sge sge = {(uintptr_t)e->memory + MESSAGE, MESSAGE, iw_mr_lkey(e->mr)};
	struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

	if (iw_post_recv(e->qp, &wr, NULL))
		die("post_recv");
}

static void
post(struct end *e, const struct end *other, const struct scenario *s, uint64_t last)
{
	struct iw_sge sge = {(uintptr_t)e->memory, s->size, iw_mr_lkey(e->mr)};
	struct iw_send_wr wr = {.wr_id = ++e->sent,
				.sg_list = &sge,
				.num_sge = 1,
				.opcode = (uint8_t)s->opcode,
				.remote_addr = (uintptr_t)other->memory + MESSAGE,
				.rkey = iw_mr_rkey(other->mr)};

	if (e->sent % SIGNAL == 0 || e->sent == last)
		wr.flags = IW_SEND_SIGNALED;
	if (iw_post_send(e->qp, &wr, NULL))
		die("post_send");
}

static void
reap(struct end *e)
{
	struct iw_wc wc[16];
	int n;

	while ((n = iw_cq_poll(e->cq, wc, 16)) > 0)
		for (int i = 0; i < n; i++) {
			if (wc[i].status)
				die(iw_wc_status_name(wc[i].status));
			if (wc[i].opcode != IW_WC_RECV) {
				e->done = wc[i].wr_id;
				continue;
			}
			e->received++;
			post_recv(e);
		}
}

/* All messages from end 0, as many under way as fit. */
static void
stream(const struct scenario *s, uint64_t n)
{
	struct end *a = &ends[0], *b = &ends[1];
	uint32_t turns = 0;

	while (a->done < n || (s->opcode == IW_WR_SEND && b->received < n)) {
		/* Half the receives: those taken but not reaped yet are not there. */
		while (a->sent < n && a->sent - a->done < DEPTH / 2 &&
		       (s->opcode != IW_WR_SEND || a->sent - b->received < DEPTH / 2))
			post(a, b, s, n);
		turn_both();
		reap(a);
		reap(b);
		if (++turns > TURNS_MAX)
			die("it does not end");
	}
}

static void
alternate(const struct scenario *s, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct end *from = &ends[i % 2], *to = &ends[(i + 1) % 2];
		uint64_t before = to->received;

		post(from, to, s, 0);
		for (uint32_t k = 0; to->received == before; k++) {
			turn(from, to);
			turn(to, from);
			reap(to);
			if (k > 1000)
				die("a message is lost");
		}
		reap(from);
	}
}

static void
idle(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		turn(&ends[0], &ends[1]);
}

static void
destroy(struct end *e)
{
	for (uint32_t i = 0; i < e->frames; i++)
		rte_pktmbuf_free(e->frame[i]);
	engine_abort(e->engine);
	engine_destroy(e->engine);
	iw_mr_dereg(e->mr);
	iw_pd_destroy(e->pd);
	iw_domain_destroy(e->domain);
	mbufpool_destroy(e->data_pool);
	mbufpool_destroy(e->ctl_pool);
	mbufpool_destroy(e->loan_pool);
	free(e->memory);
}

static void
run(const struct scenario *s, uint64_t n)
{
	attr.no_crc = s->payload != CRC;
	for (int i = 0; i < 2; i++)
		create(i, s);
	connect_ends();
	for (uint32_t i = 0; i < 2 * DEPTH; i++)
		if (s->opcode == IW_WR_SEND)
			i < DEPTH ? post_recv(&ends[0]) : post_recv(&ends[1]);
	if (s->idle)
		idle(n);
	else if (s->alternate)
		alternate(s, n);
	else
		stream(s, n);
	if (!s->idle && s->opcode != IW_WR_RDMA_READ && memcmp(ends[1].memory + MESSAGE, ends[0].memory, s->size) != 0)
		die("the data is not there");
	if (s->opcode == IW_WR_RDMA_READ && memcmp(ends[0].memory, ends[1].memory + MESSAGE, s->size) != 0)
		die("the data is not there");
	/* What is left of the stock goes with the process: who gave it back would be counted. */
	for (int i = 0; i < 2 && s->payload != ZERO_COPY; i++)
		destroy(&ends[i]);
}

int
main(int argc, char **argv)
{
	if (argc < 3) {
		for (uint32_t i = 0; i < SCENARIOS; i++)
			printf("%s %u\n", scenarios[i].name, scenarios[i].size);
		printf("compiler %s\n", __VERSION__);
		return 0;
	}
	for (uint32_t i = 0; i < SCENARIOS; i++)
		if (strcmp(argv[1], scenarios[i].name) == 0) {
			run(&scenarios[i], strtoull(argv[2], NULL, 10));
			return 0;
		}
	die("no such scenario");
	return 1;
}
