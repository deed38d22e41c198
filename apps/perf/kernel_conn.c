/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* accept4 */
#include "kernel_conn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rte_launch.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "options.h"

#define WAIT_MS 10000

struct slot {
	bool connected;
	uint64_t begin; /* of the step that is under way */
};

struct kernel_conn {
	struct conn_times *times;
	struct sockaddr_in at;
	int listener;
	uint64_t started, ended;
	uint32_t at_once;
	struct slot slots[PERF_CONN_QPS];
	struct pollfd fds[PERF_CONN_QPS]; /* fd -1: the slot is free */
};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool
fail(const char *what)
{
	cli_fail("kernel TCP: %s: %s", what, strerror(errno));
	return false;
}

/* The passive side: the end of each connection follows that of its peer. */
static int
serve(void *arg)
{
	struct kernel_conn *k = arg;
	char octet;
	int fd;

	while ((fd = accept(k->listener, NULL, NULL)) >= 0) {
		while (recv(fd, &octet, 1, 0) > 0)
			;
		close(fd);
	}
	return 0;
}

static bool
start(struct kernel_conn *k, uint32_t i)
{
	struct slot *s = &k->slots[i];
	uint64_t begin = now_ns();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("no socket");
	s->begin = now_ns();
	s->connected = false;
	k->fds[i] = (struct pollfd){.fd = fd, .events = POLLOUT};
	conn_times_add(k->times, CONN_CREATE, s->begin - begin);
	k->started++;
	return connect(fd, (const struct sockaddr *)&k->at, sizeof(k->at)) == 0 || errno == EINPROGRESS ||
	       fail("cannot connect over loopback");
}

static bool
connected(struct kernel_conn *k, uint32_t i)
{
	struct slot *s = &k->slots[i];
	socklen_t len = sizeof(int);
	uint64_t begin = now_ns();
	int err = 0;

	if (getsockopt(k->fds[i].fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0 || err) {
		errno = err ? err : errno;
		return fail("cannot connect over loopback");
	}
	conn_times_add(k->times, CONN_CONNECT, begin - s->begin);
	if (shutdown(k->fds[i].fd, SHUT_WR) != 0)
		return fail("cannot shut down");
	conn_times_add(k->times, CONN_DISCONNECT, now_ns() - begin);
	s->begin = begin;
	s->connected = true;
	k->fds[i].events = POLLIN;
	return true;
}

static bool
closed(struct kernel_conn *k, uint32_t i)
{
	uint64_t begin = now_ns();
	char octet;

	if (recv(k->fds[i].fd, &octet, 1, 0) != 0)
		return fail("the end of the stream did not come");
	conn_times_add(k->times, CONN_CLOSE, begin - k->slots[i].begin);
	begin = now_ns();
	close(k->fds[i].fd);
	conn_times_add(k->times, CONN_DESTROY, now_ns() - begin);
	k->fds[i].fd = -1;
	k->ended++;
	return true;
}

static bool
turn(struct kernel_conn *k)
{
	for (uint32_t i = 0; i < k->at_once; i++)
		if (k->fds[i].fd < 0 && k->started < k->times->count && !start(k, i))
			return false;
	if (poll(k->fds, k->at_once, WAIT_MS) <= 0)
		return !cli_stopped() && fail("no answer");
	for (uint32_t i = 0; i < k->at_once; i++)
		if (k->fds[i].fd >= 0 && k->fds[i].revents && !(k->slots[i].connected ? closed(k, i) : connected(k, i)))
			return false;
	return !cli_stopped();
}

static bool
listen_here(struct kernel_conn *k)
{
	socklen_t len = sizeof(k->at);

	k->at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	k->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return (k->listener >= 0 && bind(k->listener, (const struct sockaddr *)&k->at, len) == 0 &&
		listen(k->listener, PERF_CONN_QPS * 2) == 0 &&
		getsockname(k->listener, (struct sockaddr *)&k->at, &len) == 0) ||
	       fail("cannot listen on loopback");
}

static bool
run(struct kernel_conn *k, unsigned lcore)
{
	bool ok = true;

	if (rte_eal_remote_launch(serve, k, lcore) != 0)
		return cli_fail("lcore %u is busy with something else", lcore) == 0;
	k->times->begin_ns = now_ns();
	while (ok && k->ended < k->times->count)
		ok = turn(k);
	k->times->end_ns = now_ns();
	for (uint32_t i = 0; i < k->at_once; i++)
		if (k->fds[i].fd >= 0)
			close(k->fds[i].fd);
	shutdown(k->listener, SHUT_RD); /* wakes accept() */
	rte_eal_wait_lcore(lcore);
	return ok;
}

bool
kernel_conn_run(struct conn_times *t, uint32_t at_once, unsigned lcore)
{
	struct kernel_conn k = {.times = t, .at_once = at_once};
	bool ok = listen_here(&k);

	for (uint32_t i = 0; i < at_once; i++)
		k.fds[i].fd = -1;
	ok = ok && run(&k, lcore);
	if (k.listener >= 0)
		close(k.listener);
	return ok;
}

void
kernel_conn_print(struct conn_times *t)
{
	static const char *const texts[CONN_STEPS] = {"socket()",
						      "no step here: a number was given",
						      "connect() to writable",
						      "no step here: no start-up messages",
						      "shutdown()",
						      "shutdown() to the end of the peer's stream",
						      "close()"};

	conn_times_print(t, "Kernel TCP over loopback", texts);
}
