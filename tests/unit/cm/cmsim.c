/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmsim.h"

#include <stdio.h>

#include "domain.h"
#include "iw_addr.h"
#include "len.h"
#include "mbufpool.h"
#include "qp.h"
#include "tcp_hdr.h"

#define BURST 64

/* ---- the book ---- */

static struct cmsim_seen *
seen_of(struct cmsim_host *h, iw_cm_id id)
{
	for (uint32_t i = h->seen_n; i-- > 0;)
		if (h->seen[i].id == id)
			return &h->seen[i];
	assert_true(h->seen_n < CMSIM_LOG);
	h->seen[h->seen_n] = (struct cmsim_seen){.id = id};
	return &h->seen[h->seen_n++];
}

static void
check_close(struct cmsim_host *h, struct cmsim_seen *s)
{
	assert_true(s->up);
	s->up = false;
	s->closes++;
	s->told_disconnect = s->disconnected = false;
	assert_int_equal(cm_state(h->cm, s->id), IW_CM_IDLE);
}

/* The language of events. */
static void
check_event(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev)
{
	struct cmsim_seen *s = seen_of(h, id);

	assert_false(h->in_call);
	assert_false(s->gone);
	switch (ev->type) {
	case IW_CM_CONNECT_REQUEST:
		assert_int_equal(s->requests++, 0);
		assert_int_equal(cm_state(h->cm, id), IW_CM_CONN_RECV);
		break;
	case IW_CM_CONNECT_REPLY:
		assert_true(s->owed_replies > 0 && !s->up);
		s->owed_replies--;
		s->replies++;
		s->up = ev->status == 0;
		assert_int_equal(cm_state(h->cm, id) == IW_CM_IDLE, ev->status != 0);
		break;
	case IW_CM_ESTABLISHED_EV:
		assert_true(s->accepted && !s->up);
		s->accepted = false;
		s->up = true;
		s->established++;
		break;
	case IW_CM_DISCONNECT:
		assert_true(s->up && !s->told_disconnect && !s->disconnected);
		s->told_disconnect = true;
		s->disconnects++;
		break;
	case IW_CM_CLOSE:
		check_close(h, s);
		break;
	case IW_CM_TIMEWAIT_EXIT:
		assert_true(!s->up && !s->accepted && s->owed_replies == 0);
		s->timewaits++;
		break;
	}
}

static int
handler(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	struct cmsim_host *h = context;
	struct cmsim_event *e = &h->log[h->logged];
	int result = 0;

	assert_true(h->logged < CMSIM_LOG);
	h->logged++;
	check_event(h, id, ev);
	*e = (struct cmsim_event){.id = id, .ev = *ev, .at_ns = h->sim->now_ns};
	if (ev->private_len)
		memcpy(e->data, ev->private_data, ev->private_len);
	cmsim_poll_cq(h);
	if (h->hook)
		result = h->hook(h, id, ev);
	/* The event's pointers hold until the handler returns, whatever it did (D7). */
	assert_memory_equal(e->data, ev->private_data ? ev->private_data : (const void *)"", ev->private_len);
	if (result)
		seen_of(h, id)->gone = true;
	return result;
}

/* ---- life ---- */

static void
open_host(struct cmsim *s, uint32_t n, const struct cmsim_opts *o)
{
	struct cmsim_host *h = &s->h[n];
	struct tcp_params tp = {.max_conns = 64, .max_listeners = 4, .max_timewait = 64, .max_ooo_mbufs = 256};
	struct rdmap_params rp = {.max_qps = 32};
	struct cm_params cp = o->cm;

	h->sim = s;
	h->n = n;
	h->fpdu_budget = o->fpdu_budget ? o->fpdu_budget : 64;
	h->env.data_pool = mbufpool_create("data", 9216, 0);
	h->env.ctl_pool = mbufpool_create("ctl", 1024, 0);
	h->env.data_pool->size = h->env.ctl_pool->size = 512; /* tcp sizes its tables by it */
	memset(h->env.secret, (int)n + 7, sizeof(h->env.secret));
	h->nif = (struct netif){.mac = {2, 0, 0, 0, 0, (uint8_t)(n + 1)}, .prefix_len = 24, .mtu = 1500};
	h->nif.addr = iw_addr_from_v4(0x0a000001u + n, 0);
	h->net = net_create(&h->env, &h->nif, 16, s->now_ns);
	h->tcp = tcp_create(&h->env, h->net, &tp, s->now_ns);
	h->domain = domain_create(h->env.secret);
	h->rdmap = rdmap_create(&h->env, h->domain, NULL, &rp);
	h->pd = iw_pd_create(h->domain);
	h->cq = cq_create(h->rdmap, 8192, NULL, NULL);
	assert_true(h->net && h->tcp && h->domain && h->rdmap && h->pd && h->cq);
	cp.max_ids = cp.max_ids ? cp.max_ids : 16;
	cp.max_listeners = cp.max_listeners ? cp.max_listeners : 4;
	if (!(n == 0 ? o->raw_client : o->raw_server)) {
		h->cm = cm_create(&h->env, h->tcp, h->rdmap, &cp);
		assert_non_null(h->cm);
	}
}

void
cmsim_open(struct cmsim *s, const struct cmsim_opts *opts)
{
	static const struct cmsim_opts none;
	const struct cmsim_opts *o = opts ? opts : &none;

	memset(s, 0, sizeof(*s));
	s->now_ns = 1000 * IW_SEC;
	s->rng = 88172645463325252u;
	s->delay_ns = 50 * IW_US;
	open_host(s, 0, o);
	open_host(s, 1, o);
}

static void
close_host(struct cmsim_host *h)
{
	if (h->cm) {
		cm_destroy_all(h->cm, h->sim->now_ns);
		assert_int_equal(cm_id_count(h->cm), 0);
		cm_destroy_all(h->cm, h->sim->now_ns); /* what was let go meanwhile */
		cm_free(h->cm);
	}
	tcp_destroy(h->tcp);
	net_destroy(h->net);
	rdmap_destroy(h->rdmap);
	assert_int_equal(iw_pd_destroy(h->pd), 0);
	assert_int_equal(iw_domain_destroy(h->domain), 0);
}

void
cmsim_close(struct cmsim *s)
{
	for (uint32_t i = 0; i < s->frames_n; i++)
		rte_pktmbuf_free(s->frames[i].m);
	close_host(&s->h[0]);
	close_host(&s->h[1]);
	for (uint32_t n = 0; n < 2; n++) {
		mbufpool_destroy(s->h[n].env.data_pool);
		mbufpool_destroy(s->h[n].env.ctl_pool);
	}
}

/* ---- the wire ---- */

static bool
chance(struct cmsim *s, uint32_t ppm)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return ppm && s->rng % 1000000 < ppm;
}

/* false: not TCP. */
static bool
look(const struct rte_mbuf *m, uint32_t from, struct cmsim_seg *seg)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	struct tcp_seg t;

	if (m->data_len < 54 || p[12] != 8 || p[13] != 0 || p[23] != 6)
		return false;
	if (tcp_hdr_parse(m, 34, (uint32_t)(p[16] << 8 | p[17]) - 20, &t) != TCP_HDR_OK)
		return false;
	*seg = (struct cmsim_seg){.from = from, .len = t.len, .data = p + t.off};
	seg->syn = t.flags & TCP_SYN;
	seg->ack = t.flags & TCP_ACK;
	seg->fin = t.flags & TCP_FIN;
	seg->rst = t.flags & TCP_RST;
	return true;
}

static void
wire(struct cmsim *s, uint32_t from, struct rte_mbuf *m)
{
	struct cmsim_seg seg;
	bool tcp = look(m, from, &seg), lost = s->cut;

	if (tcp) {
		s->rsts[from] += seg.rst;
		s->fins[from] += seg.fin;
		s->datas[from] += seg.len > 0;
		s->fin_with_data |= seg.fin && seg.len;
		lost |= chance(s, s->loss_ppm) || (s->filter && s->filter(s, &seg));
	}
	if (lost || s->frames_n == CMSIM_FRAMES) {
		rte_pktmbuf_free(m);
		return;
	}
	s->frames[s->frames_n++] =
		(struct cmsim_frame){.at_ns = s->now_ns + s->delay_ns, .order = s->order++, .m = m, .to = !from};
}

/* The earliest that is due at that host. */
static struct rte_mbuf *
arrived(struct cmsim *s, uint32_t to)
{
	uint32_t best = UINT32_MAX;
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < s->frames_n; i++)
		if (s->frames[i].to == to && s->frames[i].at_ns <= s->now_ns &&
		    (best == UINT32_MAX || s->frames[i].order < s->frames[best].order))
			best = i;
	if (best == UINT32_MAX)
		return NULL;
	m = s->frames[best].m;
	s->frames[best] = s->frames[--s->frames_n];
	return m;
}

/* ---- a poll, as the engine does it ---- */

static void
rx(struct cmsim_host *h)
{
	struct cmsim *s = h->sim;
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < BURST && (m = arrived(s, h->n)); i++) {
		struct net_icmp_err err;
		struct net_pkt pkt;

		switch (net_rx(h->net, m, s->now_ns, &pkt, &err)) {
		case NET_TCP:
			tcp_rx(h->tcp, m, &pkt, s->now_ns);
			break;
		case NET_ICMP_ERR:
			tcp_icmp_err(h->tcp, &err, s->now_ns);
			break;
		case NET_HOST:
			rte_pktmbuf_free(m);
			break;
		case NET_DROP:
		case NET_EATEN:
			break;
		}
	}
}

static void
feed_qp(struct cmsim_host *h, struct iw_qp *qp, uint32_t conn)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint64_t now = h->sim->now_ns;
	struct mpa_rx_result r;

	r = mpa_rx(qp, views, tcp_rx_peek(h->tcp, conn, views, TCP_PEEK_VIEWS), h->fpdu_budget, now);
	tcp_rx_consume(h->tcp, conn, r.consumed, now);
	if (r.stop == MPA_RX_DEAD)
		tcp_rx_consume(h->tcp, conn, tcp_rx_pending(h->tcp, conn), now);
	if (r.stop == MPA_RX_BUDGET)
		tcp_ready_again(h->tcp, conn);
}

static bool
outs(struct cmsim_host *h)
{
	struct rdmap_out o;
	bool any = false;

	while (rdmap_out_next(h->rdmap, &o)) {
		any = true;
		if (o.bits & RDMAP_OUT_RX_RESUME)
			tcp_ready_again(h->tcp, qp_conn(o.qp));
		if (h->cm)
			cm_qp_out(h->cm, &o, h->sim->now_ns);
	}
	return any;
}

static void
readies(struct cmsim_host *h)
{
	struct tcp_ready r;
	uint32_t n = 0;

	do {
		while (h->cm && n++ < 4096 && tcp_ready_next(h->tcp, &r)) {
			struct iw_qp *qp = r.stream ? qp_at(h->rdmap, r.stream) : NULL;

			if (qp && r.bits & TCP_READY_RX)
				feed_qp(h, qp, r.conn);
			if (qp && r.bits & TCP_READY_ROOM)
				rdmap_run_add(qp);
			if (r.bits & TCP_READY_UP) { /* in two parts, as an engine may: start-up first, then the end */
				struct tcp_ready end = r;

				r.bits &= TCP_READY_UP | TCP_READY_RX;
				end.bits &= ~(uint32_t)(TCP_READY_UP | TCP_READY_RX);
				cm_tcp_ready(h->cm, &r, h->sim->now_ns);
				r = end;
			}
			cm_tcp_ready(h->cm, &r, h->sim->now_ns);
		}
	} while (outs(h));
	assert_true(n < 4096);
}

static void
deliver(struct cmsim_host *h)
{
	struct iw_cm_event ev;
	iw_cm_handler fn;
	void *context;
	iw_cm_id id;

	while (h->cm && cm_event_next(h->cm, &id, &ev, &fn, &context)) {
		int result;

		assert_ptr_equal(context, h);
		result = fn(id, &ev, context);
		cm_event_done(h->cm, id, result, h->sim->now_ns);
	}
}

static void
fill_qp(struct cmsim_host *h, struct iw_qp *qp)
{
	struct tcp_grant g = tcp_tx_grant(h->tcp, qp_conn(qp));
	bool terminate = iw_qp_state(qp) == IW_QP_TERMINATE;

	for (uint32_t i = 0; i < (terminate ? 1 : g.segments); i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(h->env.data_pool);

		if (!rdmap_tx_fill(qp, m, iw_len_min(g.emss, rte_pktmbuf_tailroom(m)), NULL, h->sim->now_ns)) {
			rte_pktmbuf_free(m);
			return;
		}
		(void)tcp_tx_append(h->tcp, qp_conn(qp), m);
	}
	if (g.segments)
		rdmap_run_add(qp);
}

static void
tx(struct cmsim_host *h)
{
	struct rte_mbuf *out[BURST];
	struct iw_qp *qp;
	uint32_t n;

	for (uint32_t i = 0; i < 64 && (qp = rdmap_run_next(h->rdmap)); i++)
		fill_qp(h, qp);
	outs(h);
	tcp_tx_emit(h->tcp, BURST, h->sim->now_ns);
	while ((n = net_drain(h->net, out, BURST)) > 0)
		for (uint32_t i = 0; i < n; i++)
			wire(h->sim, h->n, out[i]);
}

static void
poll_host(struct cmsim_host *h)
{
	uint64_t now = h->sim->now_ns;

	if (h->frozen)
		return;
	rx(h);
	net_tick(h->net, now);
	tcp_tick(h->tcp, now);
	rdmap_tick(h->rdmap, now);
	readies(h);
	if (h->cm)
		cm_tick(h->cm, now);
	deliver(h);
	tx(h);
	cmsim_poll_cq(h);
}

static uint64_t
next_due(const struct cmsim *s)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 0; i < s->frames_n; i++)
		if (!s->h[s->frames[i].to].frozen)
			at = iw_time_min(at, s->frames[i].at_ns);
	for (uint32_t n = 0; n < 2; n++) {
		const struct cmsim_host *h = &s->h[n];

		if (h->frozen)
			continue;
		at = iw_time_min(at, iw_time_min(net_deadline(h->net), tcp_deadline(h->tcp)));
		at = iw_time_min(at, rdmap_deadline(h->rdmap));
		if (h->cm)
			at = iw_time_min(at, cm_deadline(h->cm));
	}
	return at;
}

bool
cmsim_step(struct cmsim *s, uint64_t end_ns)
{
	uint64_t next;

	s->polls++;
	poll_host(&s->h[0]);
	poll_host(&s->h[1]);
	if (s->each_poll)
		s->each_poll(s);
	next = next_due(s);
	if (next > end_ns)
		return false;
	s->now_ns = next > s->now_ns ? next : s->now_ns + 1;
	return true;
}

void
cmsim_run(struct cmsim *s, uint64_t for_ns)
{
	uint64_t end = s->now_ns + for_ns;
	uint32_t polls = 0;

	while (cmsim_step(s, end))
		assert_true(++polls < 200000);
	s->now_ns = end;
}

/* ---- calls ---- */

struct iw_addr
cmsim_addr(const struct cmsim *s, uint32_t host)
{
	struct iw_addr a = s->h[host].nif.addr;

	a.port = CMSIM_PORT;
	return a;
}

iw_cm_id
cmsim_id(struct cmsim_host *h)
{
	return cm_id_create(h->cm, handler, h);
}

iw_cm_id
cmsim_listen(struct cmsim_host *h, int backlog)
{
	struct iw_addr any = {.port = CMSIM_PORT};
	iw_cm_id id = cmsim_id(h);

	assert_true(id != 0);
	assert_int_equal(cm_listen(h->cm, id, &any, backlog), 0);
	return id;
}

int
cmsim_connect(struct cmsim_host *h, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr)
{
	struct iw_addr to = cmsim_addr(h->sim, !h->n);
	int err;

	h->in_call = true;
	err = cm_connect(h->cm, id, &to, qp, attr, h->sim->now_ns);
	h->in_call = false;
	if (!err)
		seen_of(h, id)->owed_replies++;
	return err;
}

int
cmsim_accept(struct cmsim_host *h, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr)
{
	int err;

	h->in_call = true;
	err = cm_accept(h->cm, id, qp, attr, h->sim->now_ns);
	h->in_call = false;
	if (!err)
		seen_of(h, id)->accepted = true;
	return err;
}

int
cmsim_reject(struct cmsim_host *h, iw_cm_id id, const void *data, uint16_t len)
{
	int err;

	h->in_call = true;
	err = cm_reject(h->cm, id, data, len, h->sim->now_ns);
	h->in_call = false;
	return err;
}

int
cmsim_disconnect(struct cmsim_host *h, iw_cm_id id, bool abrupt)
{
	int err;

	h->in_call = true;
	err = cm_disconnect(h->cm, id, abrupt, h->sim->now_ns);
	h->in_call = false;
	if (!err && seen_of(h, id)->up)
		seen_of(h, id)->disconnected = true;
	return err;
}

int
cmsim_destroy(struct cmsim_host *h, iw_cm_id id)
{
	int err;

	h->in_call = true;
	err = cm_id_destroy(h->cm, id, h->sim->now_ns);
	h->in_call = false;
	if (!err)
		seen_of(h, id)->gone = true;
	return err;
}
