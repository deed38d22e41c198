/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine with nothing to do lets its core go. */
#define _GNU_SOURCE
#include <poll.h>
#include <rte_interrupts.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "iw_time.h"
#include "port_engine.h"
#include "port_ring.h"
#include "team.h"

#define LONGEST_NS IW_SEC       /* Ctrl-C and the like are looked for between sleeps */
#define BACKLOG_NS (20 * IW_US) /* frames wait for the driver, which does not say when it takes them */

/* Both descriptors, at the first sleep. */
static bool
open_fds(struct port_engine *p)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};

	if (p->bell->fd < 0)
		p->bell->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (p->bell->fd < 0)
		return false;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0)
		return false;
	if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->bell->fd, &ev) != 0) {
		close(p->epoll);
		p->epoll = -1;
		return false;
	}
	p->frames_wake = p->rx_interrupts && port_wakes(&p->port, p->epoll);
	return true;
}

/* An engine without a queue of its own hears of frames by the bell alone; a lead that minds others' queues cannot. */
static bool
frames_wake(const struct port_engine *p)
{
	if (!p->team)
		return p->frames_wake;
	return team_has_queue(p) ? p->frames_wake && !team_minds_queues(p) : !team_minds_queues(p);
}

static bool
is_pending(const struct iw_engine *e, const struct port_engine *p)
{
	return !port_ring_is_empty(p->calls) || !rdmap_is_idle(e->rdmap) || engine_deadline(e) == 0 ||
	       (p->team && team_is_pending(p));
}

int
iw_engine_arm(struct iw_engine *engine, bool *frames)
{
	struct port_engine *p;

	if (!engine || !frames)
		return -IW_E_INVAL;
	p = engine->port;
	*frames = false;
	if (engine->in_handler)
		return -IW_E_BUSY;
	if (p->epoll < 0 && !open_fds(p))
		return -IW_E_NOMEM;
	*frames = frames_wake(p);
	iw_bell_set(p->bell, true);
	if (is_pending(engine, p) || (p->frames_wake && !port_arm(&p->port))) {
		iw_engine_disarm(engine);
		return -IW_E_BUSY;
	}
	return p->epoll;
}

void
iw_engine_disarm(struct iw_engine *engine)
{
	struct port_engine *p;
	struct rte_epoll_event ev[2];
	eventfd_t rung;

	if (!engine)
		return;
	p = engine->port;
	iw_bell_set(p->bell, false);
	if (p->frames_wake) {
		port_disarm(&p->port);
		rte_epoll_wait(p->epoll, ev, 2, 0);
	}
	/* Nobody rang: nothing is there to be read. */
	if (eventfd_read(p->bell->fd, &rung) != 0)
		return;
}

int
iw_engine_sleep(struct iw_engine *engine, uint64_t blind_ns)
{
	struct port_engine *p;
	uint64_t now, until, ns;
	struct pollfd fd = {.events = POLLIN};
	struct timespec time;
	bool frames;

	if (!engine)
		return -IW_E_INVAL;
	p = engine->port;
	fd.fd = iw_engine_arm(engine, &frames);
	if (fd.fd < 0)
		return fd.fd == -IW_E_BUSY ? 0 : fd.fd;
	now = iw_engine_now(engine);
	until = iw_engine_next_deadline(engine);
	ns = iw_time_min(until > now ? until - now : 0, LONGEST_NS);
	if (!frames)
		ns = iw_time_min(ns, blind_ns);
	if (p->port.n_backlog > 0)
		ns = iw_time_min(ns, BACKLOG_NS);
	time = (struct timespec){.tv_sec = (time_t)(ns / IW_SEC), .tv_nsec = (long)(ns % IW_SEC)};
	if (ns > 0)
		ppoll(&fd, 1, &time, NULL);
	iw_engine_disarm(engine);
	return 0;
}
