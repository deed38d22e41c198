/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "ends.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

static void
start_eal(const char *program, bool shown)
{
	char lcores[32], prefix[64];
	char *argv[] = {(char *)(uintptr_t)program,
			"--no-huge",
			"-m",
			"256",
			"--no-pci",
			"--lcores",
			lcores,
			"--file-prefix",
			prefix,
			"--log-level=lib.*:4",
			"--no-telemetry",
			"--no-shconf"};

	snprintf(lcores, sizeof(lcores), "0@%d", sched_getcpu());
	snprintf(prefix, sizeof(prefix), "iwends%ld", (long)time(NULL) * 100000 + clock() % 100000);
	if (rte_eal_init((int)RTE_DIM(argv) - (shown ? 2 : 0), argv) < 0)
		fail_msg("EAL did not start");
}

void
ends_eal(const char *program)
{
	start_eal(program, false);
}

void
ends_eal_shown(const char *program)
{
	start_eal(program, true);
}

struct iw_addr
ends_addr(int which, uint16_t port)
{
	struct iw_addr addr = {.port = 0};

	assert_int_equal(iw_addr_parse(which ? "192.0.2.2" : "192.0.2.1", &addr), 0);
	addr.port = port;
	return addr;
}

struct iw_engine_params
ends_params(const struct ends *s, int which)
{
	return (struct iw_engine_params){.port_id = s->port[which],
					 .addr = ends_addr(which, 0),
					 .prefix_len = 24,
					 .max_conns = 16,
					 .data_pool = s->end[which].data_pool,
					 .ctl_pool = s->end[which].ctl_pool};
}

static uint32_t opened; /* names are unique in the process */

static struct rte_mempool *
make_pool(const char *kind, int which)
{
	char name[32];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "ends%u_%s%d", opened, kind, which);
	pool = rte_pktmbuf_pool_create(name, ENDS_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(pool);
	return pool;
}

static void
open_end(struct ends *s, int i, const struct ends_how *how)
{
	struct end *e = &s->end[i];
	struct iw_qp_attr attr = {.sq_depth = 64,
				  .rq_depth = 64,
				  .foreign_poster = how->foreign_poster,
				  .recv_back_pressure = how->foreign_poster,
				  .context = e};
	struct iw_engine_params params;
	char why[128];
	int err;

	e->all = s;
	e->data_pool = make_pool("data", i);
	e->ctl_pool = make_pool("ctl", i);
	e->domain = i == 1 && how->domain ? how->domain : iw_domain_create();
	params = ends_params(s, i);
	params.zero_copy = how->lends && i == 0;
	if (how->own_pools)
		params.data_pool = params.ctl_pool = NULL;
	e->engine = iw_engine_create(e->domain, &params, &err, why, sizeof(why));
	if (!e->engine)
		fail_msg("%s", why);
	assert_string_equal(why, "");
	e->pd = iw_pd_create(e->domain);
	e->mr = iw_mr_reg(e->pd, e->area, ENDS_AREA, IW_LOCAL_WRITE | IW_REMOTE_READ | IW_REMOTE_WRITE, &err);
	e->cq = attr.send_cq = attr.recv_cq = iw_cq_create(e->engine, 256, NULL, NULL);
	e->qp = iw_qp_create(e->engine, e->pd, &attr, &err);
	assert_non_null(e->mr);
	assert_non_null(e->qp);
}

void
ends_open_as(struct ends *s, const struct ends_how *how)
{
	char name[16];

	memset(s, 0, sizeof(*s));
	s->lent = how->domain != NULL;
	s->attr.no_crc = how->lends;
	snprintf(name, sizeof(name), "ends%u", ++opened);
	assert_int_equal(iw_wire_create(name, 1024, &s->port[0], &s->port[1]), 0);
	for (int i = 0; i < 2; i++)
		open_end(s, i, how);
}

void
ends_open(struct ends *s)
{
	ends_open_as(s, &(struct ends_how){.domain = NULL});
}

static void
close_end(struct end *e)
{
	if (e->engine) {
		if (e->id)
			iw_cm_destroy(e->engine, e->id);
		assert_int_equal(iw_qp_destroy(e->qp), 0);
		assert_int_equal(iw_cq_destroy(e->cq), 0);
		assert_int_equal(iw_engine_destroy(e->engine), 0);
	}
	assert_int_equal(iw_mr_dereg(e->mr), 0);
	assert_int_equal(iw_pd_destroy(e->pd), 0);
	if (!(e == &e->all->end[1] && e->all->lent))
		assert_int_equal(iw_domain_destroy(e->domain), 0);
}

void
ends_close(struct ends *s)
{
	if (s->listener && s->end[1].engine)
		iw_cm_destroy(s->end[1].engine, s->listener);
	for (int i = 0; i < 2; i++)
		close_end(&s->end[i]);
	iw_wire_destroy(s->port[0], s->port[1]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rte_mempool_avail_count(s->end[i].data_pool), ENDS_MBUFS);
		assert_int_equal(rte_mempool_avail_count(s->end[i].ctl_pool), ENDS_MBUFS);
		rte_mempool_free(s->end[i].data_pool);
		rte_mempool_free(s->end[i].ctl_pool);
	}
}

void
ends_turns(struct ends *s, int turns)
{
	for (int t = 0; t < turns; t++)
		for (int i = 0; i < 2; i++)
			if (s->end[i].engine)
				assert_true(iw_engine_poll(s->end[i].engine) >= 0);
}

bool
ends_until(struct ends *s, const bool *flag, int seconds)
{
	time_t end = time(NULL) + seconds + 1;

	while (!*flag && time(NULL) < end)
		ends_turns(s, 1);
	return *flag;
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct ends *s = context;
	struct end *e = id == s->end[0].id ? &s->end[0] : &s->end[1];
	int result = 0;

	if (event->type == IW_CM_CONNECT_REQUEST)
		e->id = id;
	if (s->on_event)
		result = s->on_event(e, id, event);
	if (result)
		return result < 0 ? 0 : result;
	if (event->type == IW_CM_CONNECT_REQUEST)
		return iw_cm_accept(e->engine, id, e->qp, &s->attr);
	if (event->type == IW_CM_ESTABLISHED_EV || event->type == IW_CM_CONNECT_REPLY)
		e->up = event->status == 0;
	if (event->type == IW_CM_CLOSE || event->status != 0) {
		e->closed = true;
		e->status = event->status;
	}
	return 0;
}

void
ends_start(struct ends *s)
{
	struct iw_addr to = ends_addr(1, ENDS_PORT);

	s->listener = iw_cm_create(s->end[1].engine, on_event, s);
	assert_int_equal(iw_cm_listen(s->end[1].engine, s->listener, &to, 4), 0);
	s->end[0].id = iw_cm_create(s->end[0].engine, on_event, s);
	assert_int_equal(iw_cm_connect(s->end[0].engine, s->end[0].id, &to, s->end[0].qp, &s->attr), 0);
}

void
ends_connect(struct ends *s)
{
	ends_start(s);
	assert_true(ends_until(s, &s->end[0].up, 10));
	assert_true(ends_until(s, &s->end[1].up, 10));
}

size_t
ends_heap_in_use(void)
{
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id(), &stats), 0);
	return stats.heap_allocsz_bytes;
}

void
ends_reap(struct ends *s, int which, int n)
{
	time_t end = time(NULL) + 10;
	struct iw_wc wc;

	while (n > 0 && time(NULL) < end) {
		ends_turns(s, 1);
		while (n > 0 && iw_cq_poll(s->end[which].cq, &wc, 1) == 1) {
			assert_string_equal(iw_wc_status_name(wc.status), iw_wc_status_name(IW_WC_SUCCESS));
			n--;
		}
	}
	assert_int_equal(n, 0);
}
