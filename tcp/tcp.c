/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face: what is not the business of one file alone. */
#include "tcp_face.h"

#include <assert.h>
#include <iwarp/err.h>
#include <rte_mempool.h>

#include "iw_addr.h"
#include "len.h"
#include "tcp_accept.h"
#include "tcp_conn.h"
#include "tcp_flight.h"
#include "tcp_isn.h"
#include "tcp_listen.h"
#include "tcp_pmtu.h"
#include "tcp_pvt.h"
#include "tcp_timer.h"
#include "tcp_timer_fire.h"
#include "tcp_tx.h"

#define RCV_BUF_DEFAULT (1u << 20)
#define RCV_BUF_GROWN (16u << 20)
#define RCV_BUF_MAX (1u << 30) /* 65535 << 14, rounded down (RFC 7323 §2.3) */
#define RCV_GROW_PER_MBUF 512  /* of what an mbuf holds: the rest is for windows as they begin, and for sending */
/* Eighths of the data pool that receive queues and transmit records may hold.  The rest is the port's: with nothing to
 * receive into it would hear no ACK, and nobody would be heard who could end it. */
#define RCV_EIGHTHS 3
#define SND_EIGHTHS 4
#define MSL_DEFAULT_NS (30 * IW_SEC)
#define MBUFS_DEFAULT 8192u /* for a data pool that does not tell its size */
#define TIMEWAIT_MAX (IW_POOL_MAX / 2)
#define ANSWER_RATE_DEFAULT 200u
#define SYN_DEFAULT_MAX 16384u
#define LINGER_BEYOND_NS (60 * IW_SEC)

/* ---- creation ---- */

static uint32_t
pool_mbufs(const struct iw_env *env)
{
	return env->data_pool->size ? env->data_pool->size : MBUFS_DEFAULT;
}

static void
fill_params(struct tcp_params *p, const struct iw_env *env)
{
	if (!p->rcv_buf_max)
		p->rcv_buf_max = p->rcv_buf ? p->rcv_buf : RCV_BUF_GROWN;
	if (!p->rcv_buf)
		p->rcv_buf = RCV_BUF_DEFAULT;
	p->rcv_buf = iw_len_min(p->rcv_buf, RCV_BUF_MAX);
	p->rcv_buf_max = iw_len_min(iw_len_max(p->rcv_buf_max, p->rcv_buf), RCV_BUF_MAX);
	if (p->cc == TCP_CC_DEFAULT)
		p->cc = TCP_CC_CUBIC;
	if (!p->max_ooo_mbufs)
		p->max_ooo_mbufs = pool_mbufs(env) / 4;
	if (!p->challenge_acks)
		p->challenge_acks = TCP_CHALLENGES;
	if (p->challenge_acks > UINT8_MAX)
		p->challenge_acks = UINT8_MAX;
	if (!p->answer_rate)
		p->answer_rate = ANSWER_RATE_DEFAULT;
	if (!p->max_syn)
		p->max_syn = p->max_conns < SYN_DEFAULT_MAX ? p->max_conns : SYN_DEFAULT_MAX;
	if (!p->msl_ns)
		p->msl_ns = MSL_DEFAULT_NS;
	if (!p->max_listeners)
		p->max_listeners = 1;
	if (!p->max_timewait)
		p->max_timewait = p->max_conns;
	if (p->max_timewait > TIMEWAIT_MAX)
		p->max_timewait = TIMEWAIT_MAX;
}

static uint32_t
eighths(uint32_t mbufs, uint32_t n)
{
	return (uint32_t)((uint64_t)mbufs * n / 8) + 1;
}

static int
init_tables(struct tcp *tcp, uint64_t now_ns)
{
	const struct tcp_params *p = &tcp->params;
	uint32_t mbufs = pool_mbufs(tcp->env);
	uint32_t ooo_conns = p->max_conns < p->max_ooo_mbufs ? p->max_conns : p->max_ooo_mbufs;
	int err = iw_pool_init(&tcp->conns, sizeof(struct tcp_conn), p->max_conns);

	iw_wheel_init(&tcp->wheel, now_ns);
	tcp_limit_init(&tcp->limit, p->answer_rate);
	iw_list_init(&tcp->ready);
	iw_list_init(&tcp->tx);
	iw_list_init(&tcp->unheard);
	if (!err)
		err = iw_pool_init(&tcp->listeners, sizeof(struct tcp_listener), p->max_listeners);
	if (!err)
		err = tcp_demux_init(&tcp->demux, tcp->env, p->max_conns + p->max_timewait, p->max_listeners);
	if (!err)
		err = tcp_timewait_init(&tcp->timewait, p->max_timewait, p->msl_ns);
	if (!err)
		err = tcp_syn_init(&tcp->syn, tcp->env, p->max_syn);
	if (!err)
		err = tcp_rxq_pool_init(&tcp->rxq_pool, tcp->env->data_pool,
					iw_len_max(eighths(mbufs, RCV_EIGHTHS), p->max_ooo_mbufs + 1), p->max_ooo_mbufs,
					ooo_conns);
	if (!err)
		err = tcp_txq_pool_init(&tcp->txq_pool, tcp->env->data_pool, tcp->env->ctl_pool,
					eighths(mbufs, SND_EIGHTHS) + p->max_conns);
	if (!err)
		err = tcp_flight_init(tcp, p->max_flights, mbufs);
	tcp->txq_pool.no_sums = net_l4_cksum_offloaded(tcp->net);
	return err;
}

struct tcp *
tcp_create(struct iw_env *env, struct net *net, const struct tcp_params *params, uint64_t now_ns)
{
	struct tcp *tcp = (struct tcp *)iw_env_alloc(sizeof(*tcp));

	if (!tcp)
		return NULL;
	tcp->env = env;
	tcp->net = net;
	tcp->params = *params;
	tcp->now_ns = now_ns;
	tcp->tx_at_ns = IW_NEVER;
	fill_params(&tcp->params, env);
	tcp->rcv_grow_max = (uint64_t)pool_mbufs(env) * RCV_GROW_PER_MBUF;
	if (init_tables(tcp, now_ns)) {
		tcp_destroy(tcp);
		return NULL;
	}
	return tcp;
}

void
tcp_destroy(struct tcp *tcp)
{
	struct tcp_conn *c;
	struct tcp_stray stray;
	uint32_t pos = 0;

	while (tcp->conns.objs && (c = (struct tcp_conn *)iw_pool_walk(&tcp->conns, &pos)) != NULL)
		tcp_conn_free(tcp, c);
	while (tcp_stray_next(tcp, &stray))
		rte_pktmbuf_free(stray.m);
	tcp_flight_fini(tcp);
	tcp_txq_pool_fini(&tcp->txq_pool);
	tcp_rxq_pool_fini(&tcp->rxq_pool);
	tcp_syn_fini(&tcp->syn);
	tcp_timewait_fini(&tcp->timewait);
	tcp_demux_fini(&tcp->demux);
	iw_pool_fini(&tcp->listeners);
	iw_pool_fini(&tcp->conns);
	iw_env_free(tcp);
}

/* ---- opening ---- */

/* Enters the connection under a free source port: the caller's, or a random one (RFC 6056 §3.3.1).  When every port
 * leads to this peer already the walk ends after all of them. */
static struct tcp_conn *
create_on_port(struct tcp *tcp, struct iw_addr *local, const struct iw_addr *remote, uint64_t now_ns, int *err)
{
	struct tcp_isn_ports walk;

	if (local->port)
		return tcp_conn_create(tcp, local, remote, 0, now_ns, err);
	*err = -IW_E_ADDRNOTAVAIL;
	for (local->port = tcp_isn_port_first(&walk, tcp->env); local->port; local->port = tcp_isn_port_next(&walk)) {
		struct tcp_tuple tuple = tcp_tuple_of(local, remote);

		/* The answer has to come to this engine. */
		if (net_home(tcp->net, remote, local) != net_if(tcp->net)->engine)
			continue;
		if (!tcp_demux_port_listens(&tcp->demux, local->port) &&
		    tcp_demux_find(&tcp->demux, &tuple).kind == TCP_DEMUX_NONE)
			return tcp_conn_create(tcp, local, remote, 0, now_ns, err);
	}
	return NULL;
}

int
tcp_open(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, const struct tcp_attr *attr,
	 uint32_t owner, uint64_t now_ns, uint32_t *conn)
{
	struct iw_addr from, to = net_own_scoped(tcp->net, remote);
	struct tcp_conn *c;
	int err = net_own_source(tcp->net, local, remote, &from);

	if (err)
		return err;
	if (remote->port == 0 || net_own_is(tcp->net, remote))
		return -IW_E_HOSTUNREACH;
	tcp->now_ns = now_ns;
	c = create_on_port(tcp, &from, &to, now_ns, &err);
	if (!c)
		return err;
	if (!tcp_flight_take(tcp, c, TCP_FLIGHT_CONTROL)) {
		tcp_conn_free(tcp, c);
		return -IW_E_NOMEM;
	}
	tcp_conn_set_attr(tcp, c, attr);
	c->owner = owner;
	if (attr && attr->syn_timeout_ns) {
		tcp_conn_set(c, TCP_CONN_SYN_TIMED);
		tcp_timer_set(tcp, c, TCP_TIMER_USER, iw_time_after(now_ns, attr->syn_timeout_ns));
	}
	tcp->n.opened_active++;
	tcp_conn_event(tcp, c, TCP_EV_ACTIVE_OPEN, now_ns);
	*conn = c->handle;
	return 0;
}

void
tcp_adopt(struct tcp *tcp, uint32_t conn, uint32_t owner, const struct tcp_attr *attr)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (!c)
		return;
	c->owner = owner;
	tcp_conn_leave_backlog(tcp, c);
	tcp_conn_set_attr(tcp, c, attr);
}

void
tcp_set_stream(struct tcp *tcp, uint32_t conn, uint32_t stream)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (c)
		c->stream = stream;
}

uint32_t
tcp_stream(struct tcp *tcp, uint32_t conn)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	return c ? c->stream : 0;
}

void
tcp_set_owner(struct tcp *tcp, uint32_t conn, uint32_t owner)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (c)
		c->owner = owner;
}

/* ---- closing ---- */

void
tcp_close(struct tcp *tcp, uint32_t conn, uint64_t now_ns)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	tcp->now_ns = now_ns;
	if (c)
		tcp_conn_event(tcp, c, TCP_EV_CLOSE, now_ns);
}

/* Ended by the user: nothing is reported of it. */
static void
abort_conn(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns)
{
	tcp_conn_event(tcp, c, TCP_EV_ABORT, now_ns);
	c->ready_bits = 0;
	iw_list_del(&c->ready_link);
}

void
tcp_abort(struct tcp *tcp, uint32_t conn, uint64_t now_ns)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	tcp->now_ns = now_ns;
	if (c)
		abort_conn(tcp, c, now_ns);
}

void
tcp_abort_all(struct tcp *tcp, uint64_t now_ns)
{
	struct tcp_conn *c;
	uint32_t pos = 0;

	tcp->now_ns = now_ns;
	while ((c = (struct tcp_conn *)iw_pool_walk(&tcp->conns, &pos)) != NULL) {
		abort_conn(tcp, c, now_ns);
		tcp_conn_settle(tcp, c);
	}
}

/* What a full close calls for (RFC 9293 §3.6.1): a RST where the peer could still believe that its octets were
 * read, or that more is to come. */
static bool
release_aborts(const struct tcp_conn *c)
{
	switch ((enum tcp_state)c->state) {
	case TCP_ESTABLISHED:
	case TCP_CLOSE_WAIT:
	case TCP_SYN_SENT:
	case TCP_LISTEN:
		return true;
	case TCP_SYN_RCVD:
		return !tcp_conn_has(c, TCP_CONN_CLOSE_WANTED);
	case TCP_FIN_WAIT_1:
	case TCP_FIN_WAIT_2:
		return c->rxq.octets > 0;
	case TCP_CLOSED:
	case TCP_CLOSING:
	case TCP_LAST_ACK:
	case TCP_TIME_WAIT:
		return false;
	}
	return false;
}

void
tcp_release(struct tcp *tcp, uint32_t conn, uint64_t now_ns)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (!c)
		return;
	tcp->now_ns = now_ns;
	if (release_aborts(c))
		abort_conn(tcp, c, now_ns);
	tcp_conn_leave_backlog(tcp, c);
	iw_list_del(&c->ready_link);
	tcp_conn_set(c, TCP_CONN_RELEASED);
	tcp_conn_slow(c);
	if (tcp_conn_settle(tcp, c))
		return;
	tcp_timer_linger(tcp, c, iw_time_after(c->user_timeout_ms * IW_MS, LINGER_BEYOND_NS), now_ns);
	if (c->state == TCP_FIN_WAIT_2)
		tcp_timer_linger(tcp, c, TCP_FIN_WAIT_2_NS, now_ns);
}

void
tcp_want_timewait(struct tcp *tcp, uint32_t conn, uint32_t tag)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (c)
		c->tag = tag;
}

bool
tcp_timewait_gone(struct tcp *tcp, uint32_t *tag)
{
	return tcp_timewait_pop(&tcp->timewait, tag);
}

/* ---- what happened ---- */

static struct tcp_ready
ready_of(const struct tcp_conn *c)
{
	return (struct tcp_ready){.conn = c->handle,
				  .owner = c->owner,
				  .stream = c->stream,
				  .listener = tcp_conn_has(c, TCP_CONN_PASSIVE) ? c->listener : 0,
				  .bits = c->ready_bits};
}

uint32_t
tcp_ready_peek(const struct tcp *tcp, struct tcp_ready *ready, uint32_t max)
{
	const struct iw_link *l = tcp->ready.head.next;
	uint32_t n = 0;

	for (; n < max && l != &tcp->ready.head; l = l->next)
		ready[n++] = ready_of(iw_list_entry(l, const struct tcp_conn, ready_link));
	return n;
}

bool
tcp_ready_next(struct tcp *tcp, struct tcp_ready *ready)
{
	struct iw_link *link = iw_list_pop(&tcp->ready);
	struct tcp_conn *c;

	if (!link)
		return false;
	c = iw_list_entry(link, struct tcp_conn, ready_link);
	*ready = ready_of(c);
	c->ready_bits = 0;
	return true;
}

void
tcp_ready_again(struct tcp *tcp, uint32_t conn)
{
	struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (c)
		tcp_conn_ready(tcp, c, TCP_READY_RX);
}

void
tcp_icmp_err(struct tcp *tcp, const struct net_icmp_err *err, uint64_t now_ns)
{
	struct tcp_tuple tuple = tcp_tuple_of(&err->local, &err->remote);
	struct tcp_demux_hit hit = tcp_demux_find(&tcp->demux, &tuple);
	struct tcp_conn *c = hit.kind == TCP_DEMUX_CONN ? tcp_conn_at(tcp, hit.handle) : NULL;

	tcp->now_ns = now_ns;
	if (!c) {
		tcp->n.icmp_ignored++;
		return;
	}
	tcp_pmtu_icmp(tcp, c, err, now_ns);
	tcp_conn_settle(tcp, c);
}

/* ---- time ---- */

void
tcp_tick(struct tcp *tcp, uint64_t now_ns)
{
	struct iw_timer *t;
	uint32_t demux;

	tcp->now_ns = now_ns;
	while ((t = iw_wheel_due(&tcp->wheel, now_ns)) != NULL) {
		struct tcp_conn *c = iw_list_entry(t, struct tcp_conn, timer);

		tcp_timer_fire(tcp, c, now_ns);
		tcp_conn_settle(tcp, c);
	}
	while (tcp_timewait_expire(&tcp->timewait, now_ns, &demux))
		tcp_demux_del(&tcp->demux, demux);
	tcp_listen_tick(tcp, now_ns);
}

bool
tcp_is_ready(const struct tcp *tcp)
{
	return !iw_list_empty(&tcp->ready);
}

bool
tcp_is_idle(const struct tcp *tcp)
{
	return !tcp_is_ready(tcp) && iw_list_empty(&tcp->tx);
}

uint64_t
tcp_deadline(const struct tcp *tcp)
{
	uint64_t at = iw_time_min(iw_wheel_deadline(&tcp->wheel), tcp_timewait_deadline(&tcp->timewait));

	return iw_time_min(iw_time_min(at, tcp_syn_deadline(&tcp->syn)), tcp->tx_at_ns);
}

/* ---- looking ---- */

bool
tcp_conn_info(struct tcp *tcp, uint32_t conn, struct tcp_info *info)
{
	const struct tcp_conn *c = tcp_conn_user(tcp, conn);

	if (!c)
		return false;
	*info = (struct tcp_info){.local = *tcp_conn_local(c),
				  .peer = *tcp_conn_remote(c),
				  .state = (enum tcp_state)c->state,
				  .emss = c->emss,
				  .cwnd = c->fl ? c->fl->cc.cwnd : c->kept.cwnd,
				  .ssthresh = c->fl ? c->fl->cc.ssthresh : c->kept.ssthresh,
				  .snd_wnd = c->snd_wnd,
				  .in_flight = c->fl ? tcp_txq_flight_size(&c->fl->txq) : 0,
				  .queued = tcp_conn_queued(c),
				  .srtt_ns = tcp_conn_srtt(c),
				  .rto_ns = tcp_flight_rto(c),
				  .appended = c->appended,
				  .retransmits = c->retransmits,
				  .rx_ooo = c->rx_ooo,
				  .rx_dup = c->rx_dup,
				  .rx_outside = c->rx_outside,
				  .rx_dupacks = c->rx_dupacks,
				  .passive = tcp_conn_has(c, TCP_CONN_PASSIVE)};
	return true;
}

struct iw_counter_list
tcp_counter_list(const struct tcp *tcp)
{
#define IW_COUNTER_PREFIX "tcp"
	static const char *const names[] = {TCP_COUNTERS(IW_COUNTER_NAME)};
#undef IW_COUNTER_PREFIX

	_Static_assert(sizeof(struct tcp_counters) == sizeof(names) / sizeof(names[0]) * sizeof(uint64_t), "one list");
	return (struct iw_counter_list){names, (const uint64_t *)&tcp->n, sizeof(names) / sizeof(names[0])};
}

uint32_t
tcp_conn_count(const struct tcp *tcp)
{
	return tcp->conns.used;
}

uint32_t
tcp_conn_room(const struct tcp *tcp)
{
	return tcp->conns.max - tcp->conns.used;
}

bool
tcp_rx_is_short(struct tcp *tcp)
{
	return tcp_rxq_is_short(&tcp->rxq_pool);
}

uint32_t
tcp_timewait_count(const struct tcp *tcp)
{
	return tcp_timewait_used(&tcp->timewait);
}

uint32_t
tcp_syn_count(const struct tcp *tcp)
{
	return tcp->syn.used;
}
