/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "end.h"

#define CHUNK 65536
#define QUEUE 10000

struct kernel {
	struct end end;
	int tap, listener, sock;
	bool blocked; /* its send buffer is full */
	uint8_t in[CHUNK], out[CHUNK];
	uint32_t next, ready; /* of out */
};

static bool
say(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return false;
}

const char *
end_kernel_missing(void)
{
	int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (tun < 0)
		return "needs /dev/net/tun";
	close(tun);
	return unshare(CLONE_NEWNET) ? "needs root, for network namespaces" : NULL;
}

/* ---- a namespace with one TAP device ---- */

/* /proc/sys/net is that of the namespace we are in. */
static bool
set(const char *name, const char *value)
{
	char path[128];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	if (fd >= 0)
		close(fd);
	return ok || say(path);
}

/* Nothing is learned from one run for the next, black holes are found, ECN is asked for. */
static bool
set_all(void)
{
	return set("ipv4/tcp_no_metrics_save", "1") && set("ipv4/tcp_mtu_probing", "1") && set("ipv4/tcp_ecn", "1") &&
	       set("ipv6/conf/default/accept_ra", "0") && set("ipv6/conf/default/router_solicitations", "0") &&
	       set("ipv6/conf/default/disable_ipv6", "0");
}

static int
open_tap(int host)
{
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI, .ifr_name = "line"};
	const uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)(host + 1)};
	int tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), s;
	bool ok;

	if (tap < 0 || ioctl(tap, TUNSETIFF, &ifr) < 0) {
		say("TUNSETIFF");
		return -1;
	}
	s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ifr.ifr_hwaddr.sa_family = 1; /* ARPHRD_ETHER */
	memcpy(ifr.ifr_hwaddr.sa_data, mac, sizeof(mac));
	ok = ioctl(s, SIOCSIFHWADDR, &ifr) == 0;
	ifr.ifr_qlen = QUEUE;
	ok = ok && ioctl(s, SIOCSIFTXQLEN, &ifr) == 0;
	ifr.ifr_flags = IFF_UP | IFF_RUNNING;
	ok = ok && ioctl(s, SIOCSIFFLAGS, &ifr) == 0;
	if (!ok)
		say("TAP device");
	close(s);
	return ok ? tap : -1;
}

static bool
set_address4(int host)
{
	struct ifreq ifr = {.ifr_name = "line"};
	struct sockaddr_in *a = (struct sockaddr_in *)&ifr.ifr_addr;
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	a->sin_family = AF_INET;
	a->sin_addr.s_addr = htonl(0x0a000001u + (uint32_t)host);
	ok = ioctl(s, SIOCSIFADDR, &ifr) == 0;
	a->sin_addr.s_addr = htonl(0xffffff00u);
	ok = ok && ioctl(s, SIOCSIFNETMASK, &ifr) == 0;
	close(s);
	return ok || say("IPv4 address");
}

/* By netlink, since only there an address can be good at once: without duplicate address detection. */
static bool
set_address6(int host)
{
	struct {
		struct nlmsghdr n;
		struct ifaddrmsg a;
		struct rtattr r;
		struct in6_addr ip;
	} q = {.n = {.nlmsg_len = sizeof(q),
		     .nlmsg_type = RTM_NEWADDR,
		     .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_ACK},
	       .a = {.ifa_family = AF_INET6, .ifa_prefixlen = 64, .ifa_flags = IFA_F_NODAD},
	       .r = {.rta_len = RTA_LENGTH(sizeof(q.ip)), .rta_type = IFA_LOCAL},
	       .ip.s6_addr = {0xfd, [15] = (uint8_t)(host + 1)}};
	struct ifreq index = {.ifr_name = "line"};
	struct {
		struct nlmsghdr n;
		struct nlmsgerr e;
		uint8_t more[128];
	} answer = {0};
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	bool ok = ioctl(s, SIOCGIFINDEX, &index) == 0;

	q.a.ifa_index = (uint32_t)index.ifr_ifindex;
	ok = ok && send(s, &q, sizeof(q), 0) == sizeof(q) && recv(s, &answer, sizeof(answer), 0) > 0 &&
	     answer.n.nlmsg_type == NLMSG_ERROR && answer.e.error == 0;
	close(s);
	return ok || say("IPv6 address");
}

/* ---- its socket ---- */

static socklen_t
address(int host, bool v6, uint16_t port, struct sockaddr_storage *to)
{
	struct sockaddr_in *a = (struct sockaddr_in *)to;
	struct sockaddr_in6 *a6 = (struct sockaddr_in6 *)to;

	memset(to, 0, sizeof(*to));
	if (v6) {
		*a6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
					    .sin6_port = htons(port),
					    .sin6_addr.s6_addr = {0xfd, [15] = (uint8_t)(host + 1)}};
		return sizeof(*a6);
	}
	*a = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0x0a000001u + (uint32_t)host)};
	return sizeof(*a);
}

/* A socket with CUBIC, bound. */
static int
make_socket(const struct end_config *config, uint16_t port)
{
	struct sockaddr_storage at;
	socklen_t len = address(config->host, config->v6, port, &at);
	int s = socket(config->v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int buf = END_LAZY_BUF;

	if (s >= 0 && (!config->lazy || setsockopt(s, SOL_SOCKET, SO_RCVBUF, &buf, sizeof(buf)) == 0) &&
	    setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) == 0 && bind(s, (struct sockaddr *)&at, len) == 0)
		return s;
	say("socket with CUBIC");
	if (s >= 0)
		close(s);
	return -1;
}

static bool
start(struct kernel *k)
{
	const struct end_config *c = &k->end.config;
	struct sockaddr_storage to;
	socklen_t len = address(!c->host, c->v6, END_PORT, &to);

	if (c->listens) {
		k->listener = make_socket(c, END_PORT);
		return k->listener >= 0 && (listen(k->listener, 4) == 0 || say("listen"));
	}
	k->sock = make_socket(c, END_CLIENT_PORT);
	return k->sock >= 0 &&
	       (connect(k->sock, (struct sockaddr *)&to, len) == 0 || errno == EINPROGRESS || say("connect"));
}

static void
kernel_close(struct end *e)
{
	struct kernel *k = (struct kernel *)e;

	if (k->sock >= 0)
		close(k->sock);
	if (k->listener >= 0)
		close(k->listener);
	if (k->tap >= 0)
		close(k->tap);
	free(k);
}

/* The namespace lives as long as the device and the sockets. */
static struct end *
kernel_open(const struct end_config *config, uint64_t now_ns)
{
	struct kernel *k = calloc(1, sizeof(*k));
	int host = config->host;

	(void)now_ns;
	if (!k)
		return NULL;
	k->end = (struct end){.kind = &end_kernel, .config = *config};
	k->tap = k->listener = k->sock = -1;
	if (unshare(CLONE_NEWNET) == 0 && set_all() && (k->tap = open_tap(host)) >= 0 && set_address4(host) &&
	    set_address6(host) && start(k))
		return &k->end;
	kernel_close(&k->end);
	return NULL;
}

static uint32_t
kernel_take(struct end *e, uint8_t *frame, uint32_t max)
{
	ssize_t n = read(((struct kernel *)e)->tap, frame, max);

	return n > 0 ? (uint32_t)n : 0;
}

static void
kernel_give(struct end *e, const uint8_t *frame, uint32_t len, uint64_t now_ns)
{
	(void)now_ns;
	if (write(((struct kernel *)e)->tap, frame, len) != (ssize_t)len && errno != EINVAL)
		e->stream.failed = !say("write to the TAP device");
}

static void
receive(struct kernel *k)
{
	struct stream *s = &k->end.stream;
	ssize_t n = 1;

	for (uint32_t i = 0; i < 64 && n > 0; i++) {
		n = recv(k->sock, k->in, CHUNK, 0);
		if (n > 0)
			stream_got(s, k->in, (uint32_t)n);
	}
	if (n == 0)
		s->eof = true;
	else if (n < 0 && errno != EAGAIN)
		s->failed = !say("recv");
}

/* Octets that were made and that its buffer did not take wait in k->out. */
static bool
transmit_some(struct kernel *k)
{
	struct stream *s = &k->end.stream;
	ssize_t n;

	if (k->next == k->ready) {
		k->ready = stream_fill(s, k->out, CHUNK);
		k->next = 0;
	}
	if (k->ready == 0)
		return false;
	n = send(k->sock, k->out + k->next, k->ready - k->next, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		s->failed = !say("send");
	if (n > 0) {
		stream_sent(s, k->out + k->next, (uint32_t)n);
		k->next += (uint32_t)n;
	}
	k->blocked = k->next < k->ready;
	return !k->blocked;
}

static void
transmit(struct kernel *k)
{
	struct stream *s = &k->end.stream;

	for (uint32_t i = 0; i < 8 && transmit_some(k); i++)
		;
	if (s->sent == s->want && !s->closed)
		s->closed = shutdown(k->sock, SHUT_WR) == 0;
}

static void
kernel_turn(struct end *e, uint64_t now_ns)
{
	struct kernel *k = (struct kernel *)e;
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	if (k->sock < 0 && k->listener >= 0)
		k->sock = accept4(k->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (k->sock < 0 || e->stream.failed)
		return;
	if (!e->stream.up) {
		getsockopt(k->sock, IPPROTO_TCP, TCP_INFO, &info, &len);
		e->stream.up = info.tcpi_state != TCP_SYN_SENT && info.tcpi_state != TCP_CLOSE;
	}
	if (!e->stream.up)
		return;
	if (!e->stream.eof && end_may_read(e, now_ns))
		receive(k);
	transmit(k);
}

static uint64_t
kernel_deadline(const struct end *e)
{
	return e->config.lazy ? e->read_ns : UINT64_MAX;
}

static uint32_t
kernel_fds(const struct end *e, struct pollfd fd[END_FDS])
{
	const struct kernel *k = (const struct kernel *)e;
	bool waits = k->blocked || !e->stream.up, reads = !e->stream.eof && !(e->config.lazy && e->stream.up);

	fd[0] = (struct pollfd){.fd = k->tap, .events = POLLIN};
	fd[1] = (struct pollfd){.fd = k->sock >= 0 ? k->sock : k->listener,
				.events = (short)((reads ? POLLIN : 0) | (waits ? POLLOUT : 0))};
	return fd[1].events ? 2 : 1;
}

static bool
kernel_is_over(struct end *e)
{
	struct tcp_info info = {0};
	socklen_t len = sizeof(info);

	if (!e->stream.closed || !e->stream.eof)
		return false;
	/* The kernel shows CLOSED for what has turned into TIME_WAIT. */
	return getsockopt(((struct kernel *)e)->sock, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       (info.tcpi_state == TCP_CLOSE || info.tcpi_state == TCP_TIME_WAIT);
}

const struct end_kind end_kernel = {.name = "Linux",
				    .open = kernel_open,
				    .close = kernel_close,
				    .take = kernel_take,
				    .give = kernel_give,
				    .turn = kernel_turn,
				    .deadline = kernel_deadline,
				    .fds = kernel_fds,
				    .is_over = kernel_is_over};
