/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_host.h"

#include <assert.h>
#include <string.h>

#include "cksum.h"
#include "domains.h"
#include "iw_addr.h"
#include "iw_time.h"
#include "mbufpool.h"

/* Small tables: making and clearing them is much of a run, and their ends are reached. */
#define MBUFS 128 /* that an engine counts on */
#define CONNS 8

enum { ETH = 14, IP = 20, TCP = 20 };

static const uint8_t eth[ETH] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
static uint8_t memory[12000]; /* written to the peer: several segments in a turn */
static const uint8_t addrs[8] = {192, 0, 2, 2, 192, 0, 2, 1};

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct fuzz_host *h = context;
	struct iw_qp_attr attr = {.send_cq = h->cq, .recv_cq = h->cq, .sq_depth = 4, .rq_depth = 4};
	struct iw_recv_wr recv = {.wr_id = 1};
	struct iw_sge sge = {(uintptr_t)memory, sizeof(memory), iw_mr_lkey(h->mr)};
	struct iw_send_wr write = {.wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = IW_WR_RDMA_WRITE};
	struct iw_send_wr send = {.next = &write, .wr_id = 2, .opcode = IW_WR_SEND};

	if (event->type != IW_CM_CONNECT_REQUEST || h->qps == 4)
		return event->type == IW_CM_CONNECT_REQUEST;
	h->qp[h->qps] = iw_qp_create(h->engine, h->pd, &attr, NULL);
	assert(h->qp[h->qps]);
	assert(iw_post_recv(h->qp[h->qps], &recv, NULL) == 0);
	h->id[h->qps] = id;
	if (iw_cm_accept(h->engine, id, h->qp[h->qps], NULL) == 0)
		(void)iw_post_send(h->qp[h->qps], &send, NULL);
	h->qps++;
	return 0;
}

static void
neighbour(struct fuzz_host *h)
{
	static const uint8_t arp[60] = {2, 0, 0, 0, 0, 1, 2, 0,   0, 0, 0, 2, 8, 6, 0, 1, 8, 0,   6, 4, 0,
					1, 2, 0, 0, 0, 0, 2, 192, 0, 2, 2, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1};

	fuzz_host_frame(h, arp, sizeof(arp));
}

void
fuzz_host_open(struct fuzz_host *h)
{
	struct engine_params params = {.nif = {.mac = {2, 0, 0, 0, 0, 1}, .prefix_len = 24, .mtu = 1500},
				       .max_conns = CONNS,
				       .max_cm_ids = 2 * CONNS,
				       .max_neighbours = 8,
				       .tcp = {.max_listeners = 2},
				       .cm = {.max_listeners = 2}};
	struct iw_addr any = {.port = FUZZ_PORT};
	struct iw_env env = {.secret = {9}};

	memset(h, 0, sizeof(*h));
	h->now_ns = 1000 * IW_SEC;
	h->data_pool = env.data_pool = mbufpool_create("data", 2048, 0);
	h->ctl_pool = env.ctl_pool = mbufpool_create("ctl", 1024, 0);
	/* What tcp sizes its queues by. */
	h->data_pool->size = h->ctl_pool->size = MBUFS;
	params.nif.addr = iw_addr_from_v4(0xc0000201, 0);
	h->domain = domains_get(env.secret);
	h->engine = engine_create(h->domain, &env, &params, h->now_ns);
	h->pd = iw_pd_create(h->domain);
	h->mr = iw_mr_reg(h->pd, memory, sizeof(memory), 0, NULL);
	h->cq = iw_cq_create(h->engine, 64, NULL, NULL);
	h->listener = iw_cm_create(h->engine, on_event, h);
	assert(iw_cm_listen(h->engine, h->listener, &any, 4) == 0);
	neighbour(h);
}

void
fuzz_host_close(struct fuzz_host *h)
{
	iw_cm_destroy(h->engine, h->listener);
	for (uint32_t i = 0; i < h->qps; i++) {
		(void)iw_cm_destroy(h->engine, h->id[i]);
		assert(iw_qp_destroy(h->qp[i]) == 0);
	}
	engine_abort(h->engine);
	fuzz_host_turn(h);
	assert(iw_mr_dereg(h->mr) == 0 && iw_cq_destroy(h->cq) == 0 && iw_pd_destroy(h->pd) == 0);
	engine_destroy(h->engine);
	domains_put(h->domain);
	mbufpool_destroy(h->data_pool);
	mbufpool_destroy(h->ctl_pool);
}

static uint32_t
u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void
put(uint8_t *p, uint32_t v, unsigned octets)
{
	for (unsigned i = 0; i < octets; i++)
		p[i] = (uint8_t)(v >> 8 * (octets - 1 - i));
}

/* What the peer learns from a segment to its port 5000. */
static void
learn(struct fuzz_host *h, const uint8_t *p, uint32_t len)
{
	const uint8_t *t = p + ETH + IP;

	if (len < ETH + IP + TCP || p[12] != 8 || p[13] != 0 || p[ETH + 9] != 6 || (t[2] << 8 | t[3]) != 5000)
		return;
	h->seen = true;
	h->ack = u32(t + 4) + (len - ETH - IP - (t[12] >> 4) * 4u) + (t[13] & 2 ? 1 : 0) + (t[13] & 1);
	if (t[13] & 16)
		h->seq = u32(t + 8);
}

void
fuzz_host_turn(struct fuzz_host *h)
{
	struct rte_mbuf *out[32];
	uint32_t n;

	engine_tick(h->engine, h->now_ns);
	engine_deliver(h->engine);
	n = engine_tx(h->engine, out, 32, h->now_ns);
	for (uint32_t i = 0; i < n; i++) {
		learn(h, rte_pktmbuf_mtod(out[i], const uint8_t *), rte_pktmbuf_data_len(out[i]));
		rte_pktmbuf_free(out[i]);
	}
}

void
fuzz_host_frame(struct fuzz_host *h, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->data_pool);

	memcpy(rte_pktmbuf_append(m, (uint16_t)len), frame, len);
	engine_rx(h->engine, &m, 1, h->now_ns, NULL, NULL);
	fuzz_host_turn(h);
}

void
fuzz_host_repair(uint8_t *f, uint32_t len)
{
	uint32_t sum, ihl, tcp_len;

	if (len < ETH + IP + TCP)
		return;
	memcpy(f, eth, ETH);
	f[ETH] = (uint8_t)(0x40 | (f[ETH] & 15));
	ihl = (f[ETH] & 15) * 4u;
	if (ihl < IP || ETH + ihl + TCP > len)
		return;
	tcp_len = len - ETH - ihl;
	put(f + ETH + 2, len - ETH, 2);
	memset(f + ETH + 6, 0, 2);
	f[ETH + 9] = 6;
	memcpy(f + ETH + 12, addrs, 8);
	memset(f + ETH + 10, 0, 2);
	put(f + ETH + 10, iw_cksum_finish(iw_cksum_add(0, 0, f + ETH, ihl)), 2);
	memset(f + ETH + ihl + 16, 0, 2);
	sum = iw_cksum_pseudo4(u32(addrs), u32(addrs + 4), 6, tcp_len);
	put(f + ETH + ihl + 16, iw_cksum_finish(iw_cksum_add(sum, 0, f + ETH + ihl, tcp_len)), 2);
}

uint32_t
fuzz_host_segment(uint8_t *out, uint32_t seq, uint32_t ack, uint8_t flags, uint16_t wnd, const uint8_t *opts,
		  uint32_t opts_len, const uint8_t *data, uint32_t len)
{
	uint32_t padded = (opts_len + 3) & ~3u;
	uint8_t *t = out + ETH + IP;

	memset(out, 0, ETH + IP + TCP + padded);
	out[ETH] = 0x45;
	out[ETH + 8] = 64;
	put(t, 5000, 2);
	put(t + 2, FUZZ_PORT, 2);
	put(t + 4, seq, 4);
	put(t + 8, ack, 4);
	t[12] = (uint8_t)((TCP + padded) / 4 << 4);
	t[13] = flags;
	put(t + 14, wnd, 2);
	if (opts_len)
		memcpy(t + TCP, opts, opts_len);
	if (len)
		memcpy(t + TCP + padded, data, len);
	fuzz_host_repair(out, ETH + IP + TCP + padded + len);
	return ETH + IP + TCP + padded + len;
}
