/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_flight.h"

#include <assert.h>
#include <iwarp/err.h>

#include "len.h"
#include "tcp_pvt.h"

#define LOOK_MAX 64u     /* entries of the rest list looked at in one call */
#define WAKE_MAX 32u     /* starving connections told in one poll */
#define RESERVE_PART 16u /* of the pool */

int
tcp_flight_init(struct tcp *tcp, uint32_t max, uint32_t mbufs)
{
	struct tcp_flights *f = &tcp->flights;
	uint32_t conns = tcp->params.max_conns;

	iw_list_init(&f->rest);
	iw_list_init(&f->starved);
	if (max == 0)
		max = iw_len_max(mbufs, TCP_FLIGHT_LEAST);
	max = iw_len_min(iw_len_max(max, 2), conns);
	f->reserve = max == conns ? 0 : iw_len_max(max / RESERVE_PART, 1);
	return iw_pool_init(&f->pool, sizeof(struct tcp_flight), max);
}

void
tcp_flight_fini(struct tcp *tcp)
{
	assert(tcp->flights.pool.used == 0);
	iw_pool_fini(&tcp->flights.pool);
}

/* ---- what stays, and what begins with it ---- */

static uint32_t
units(uint64_t ns)
{
	return (uint32_t)((ns + TCP_FLIGHT_RTT_NS - 1) / TCP_FLIGHT_RTT_NS);
}

static uint64_t
ns_of(uint32_t n)
{
	return (uint64_t)n * TCP_FLIGHT_RTT_NS;
}

static void
keep(struct tcp_conn *c)
{
	const struct tcp_flight *fl = c->fl;

	c->kept = (struct tcp_flight_kept){
		.cwnd = fl->cc.cwnd,
		.ssthresh = fl->cc.ssthresh,
		.srtt = units(fl->rtt.srtt_ns),
		.rttvar = units(fl->rtt.rttvar_ns),
		.rto = units(tcp_rtt_rto(&fl->rtt)),
		.rto_doubled = fl->rtt.kept,
		.reo_wnd_mult = fl->rack.reo_wnd_mult,
		.reo_wnd_persist = fl->rack.reo_wnd_persist,
		.reordering_seen = fl->rack.reordering_seen,
		.dsack_seen = fl->undo.dsack_seen,
		.mtu_proven = c->appended - tcp_conn_queued(c) - fl->mtu_since >= TCP_PMTU_PROVEN * c->emss,
	};
}

uint64_t
tcp_flight_rto(const struct tcp_conn *c)
{
	if (c->fl)
		return tcp_rtt_rto(&c->fl->rtt);
	return c->kept.rto ? ns_of(c->kept.rto) : TCP_RTO_INIT_NS;
}

/* A window that nothing has used since starts small again (RFC 5681 §4.1): what CUBIC and HyStart++ knew of it is of
 * no use. */
static void
recall(const struct tcp *tcp, struct tcp_conn *c)
{
	const struct tcp_flight_kept *k = &c->kept;
	struct tcp_flight *fl = c->fl;

	if (k->cwnd) {
		fl->cc.cwnd = iw_len_min(k->cwnd, tcp_cc_initial_window(c->emss));
		fl->cc.ssthresh = k->ssthresh;
		fl->rack.reo_wnd_mult = k->reo_wnd_mult;
		fl->rack.reo_wnd_persist = k->reo_wnd_persist;
		fl->rack.reordering_seen = k->reordering_seen;
	}
	tcp_rtt_init(&fl->rtt, tcp->params.rto_min_ns);
	if (k->rto)
		tcp_rtt_recall(&fl->rtt, ns_of(k->srtt), ns_of(k->rttvar), ns_of(k->rto), k->rto_doubled, tcp->now_ns);
	fl->undo.dsack_seen = k->dsack_seen;
	fl->mtu_since = c->appended - (k->mtu_proven ? TCP_PMTU_PROVEN * c->emss : 0);
}

static void
begin(const struct tcp *tcp, struct tcp_conn *c)
{
	struct tcp_flight *fl = c->fl;

	fl->conn = c;
	tcp_txq_init(&fl->txq, c->snd_una);
	tcp_cc_init(&fl->cc, tcp_cc_ops_of(tcp->params.cc), c->emss, false);
	tcp_sack_init(&fl->sack);
	tcp_rack_init(&fl->rack);
	fl->emss_recip = (UINT64_C(1) << 40) / c->emss + 1;
	fl->limited_end = fl->ecn_end = c->snd_una;
	fl->recover = c->snd_una - 1; /* the next third duplicate begins a recovery (RFC 6582 §3.2 step 1) */
	for (uint32_t i = 0; i < TCP_FLIGHT_TIMERS; i++)
		fl->at_ns[i] = IW_NEVER;
	recall(tcp, c);
}

/* ---- taking ---- */

static bool
is_at_rest(const struct tcp_conn *c)
{
	return tcp_txq_empty(&c->fl->txq) && c->phase == TCP_PHASE_OPEN && tcp_conn_synchronized(c);
}

/* The one that has been at rest for longest; those that are in use again leave the list. */
static struct tcp_flight *
idlest(struct tcp *tcp)
{
	struct iw_link *l;

	for (uint32_t i = 0; i < LOOK_MAX && (l = iw_list_first(&tcp->flights.rest)) != NULL; i++) {
		struct tcp_flight *fl = iw_list_entry(l, struct tcp_flight, rest);

		if (is_at_rest(fl->conn))
			return fl;
		iw_list_del(l);
	}
	return NULL;
}

static bool
has_free(const struct tcp_flights *f, enum tcp_flight_use use)
{
	return f->pool.max - f->pool.used > (use == TCP_FLIGHT_DATA ? f->reserve : 0);
}

bool
tcp_flight_take(struct tcp *tcp, struct tcp_conn *c, enum tcp_flight_use use)
{
	struct tcp_flight *idle;
	uint32_t handle;

	if (c->fl)
		return true;
	/* Ends: what was taken from the reserve goes back to it first. */
	while (!has_free(&tcp->flights, use) && (idle = idlest(tcp)) != NULL) {
		tcp->n.flights_parted++;
		tcp_flight_drop(tcp, idle->conn);
	}
	if (has_free(&tcp->flights, use))
		c->fl = (struct tcp_flight *)iw_pool_get(&tcp->flights.pool, &handle);
	if (!c->fl) {
		tcp->n.tx_no_flight++;
		return false;
	}
	begin(tcp, c);
	tcp_flight_rest(tcp, c); /* until it is used */
	return true;
}

/* ---- waiting for one ---- */

void
tcp_flight_starve(struct tcp *tcp, struct tcp_conn *c)
{
	if (!tcp_conn_has(c, TCP_CONN_EMBRYO | TCP_CONN_RELEASED))
		iw_list_add(&tcp->flights.starved, &c->wait_link);
}

void
tcp_flight_wake(struct tcp *tcp, uint64_t now_ns)
{
	struct iw_list *starved = &tcp->flights.starved;

	for (uint32_t i = 0; i < WAKE_MAX && !iw_list_empty(starved); i++) {
		struct tcp_conn *c;

		if (!has_free(&tcp->flights, TCP_FLIGHT_DATA) && !idlest(tcp))
			break;
		c = iw_list_entry(iw_list_pop(starved), struct tcp_conn, wait_link);
		tcp_conn_clear(c, TCP_CONN_ROOM_WANTED);
		if (tcp_conn_has(c, TCP_CONN_RELEASED))
			continue;
		c->ready_bits |= TCP_READY_ROOM;
		iw_list_add(&tcp->ready, &c->ready_link);
	}
	if (!iw_list_empty(starved))
		tcp->tx_at_ns = iw_time_min(tcp->tx_at_ns, iw_time_after(now_ns, TCP_FLIGHT_LOOK_NS));
}

/* ---- giving back ---- */

void
tcp_flight_rest(struct tcp *tcp, struct tcp_conn *c)
{
	iw_list_add(&tcp->flights.rest, &c->fl->rest);
}

void
tcp_flight_drop(struct tcp *tcp, struct tcp_conn *c)
{
	if (!c->fl)
		return;
	keep(c);
	tcp_txq_fini(&c->fl->txq, &tcp->txq_pool);
	iw_list_del(&c->fl->rest);
	iw_pool_put(&tcp->flights.pool, iw_pool_handle(&tcp->flights.pool, c->fl));
	c->fl = NULL;
	c->dupacks = 0;
	if (tcp_conn_has(c, TCP_CONN_ROOM_WANTED) && tcp_conn_may_send(c))
		tcp_flight_starve(tcp, c);
}
