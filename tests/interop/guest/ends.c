/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of connections that rping cannot bring about, by librdmacm in the guest.
 *     ends server|client ADDR PORT HOW
 * HOW: reject   (server) refuses with private data
 *      deaf     (server) one receive is posted and answered: the peer's second Send finds none, which is answered by a
 *               Terminate.  (Before ESTABLISHED is told Linux' connection manager does not survive that.)
 *      loud     (client) sends more octets than the peer's receive takes: it answers by a Terminate
 *      kill     the process is killed when the connection is up
 *      destroy  the QP is destroyed when the connection is up, and nothing else
 * Prints each event.  Exit status: 0 when it came as HOW says; 1 otherwise. */
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_S 30 /* for all of it */

static struct rdma_event_channel *channel;
static char text[64] = "no room here";

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* The next event, which must be this one. */
static struct rdma_cm_id *
await(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &ev) != 0)
		die("no event");
	printf("%s, status %d\n", rdma_event_str(ev->event), ev->status);
	if (ev->event != type) {
		printf("not %s\n", rdma_event_str(type));
		exit(1);
	}
	id = ev->id;
	rdma_ack_cm_event(ev);
	return id;
}

static struct addrinfo *
resolve(const char *addr, const char *port)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *ai;

	if (getaddrinfo(addr, port, &hints, &ai) != 0)
		die(addr);
	return ai;
}

static void
make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};

	if (rdma_create_qp(id, NULL, &attr) != 0)
		die("rdma_create_qp");
}

/* Posted before the connection is up; a peer that sends at once finds it. */
static struct ibv_mr *
post_receive(struct rdma_cm_id *id)
{
	struct ibv_mr *mr = ibv_reg_mr(id->pd, text, sizeof(text), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge = {.addr = (uintptr_t)text, .length = sizeof(text)};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	if (!mr)
		die("ibv_reg_mr");
	sge.lkey = mr->lkey;
	if (ibv_post_recv(id->qp, &wr, &bad) != 0)
		die("ibv_post_recv");
	return mr;
}

static void
send_much(struct rdma_cm_id *id, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {.addr = (uintptr_t)text, .length = sizeof(text), .lkey = mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	if (ibv_post_send(id->qp, &wr, &bad) != 0)
		die("ibv_post_send");
}

/* What comes is a message of rping's; so is the answer. */
static void
answer(struct rdma_cm_id *id, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {.addr = (uintptr_t)text, .length = 16, .lkey = mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	struct ibv_wc wc;

	while (ibv_poll_cq(id->recv_cq, 1, &wc) == 0)
		usleep(1000);
	if (wc.status != IBV_WC_SUCCESS || ibv_post_send(id->qp, &wr, &bad) != 0)
		die("no message");
}

static int
up(struct rdma_cm_id *id, const char *how, const struct ibv_mr *mr)
{
	if (!strcmp(how, "kill")) {
		fflush(stdout);
		raise(SIGKILL);
	}
	if (!strcmp(how, "destroy")) {
		rdma_destroy_qp(id);
		sleep(3);
		return 0;
	}
	if (!strcmp(how, "loud"))
		send_much(id, mr);
	if (!strcmp(how, "deaf"))
		answer(id, mr);
	await(RDMA_CM_EVENT_DISCONNECTED);
	return 0;
}

static int
serve(const struct addrinfo *ai, const char *how)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_id *listener, *id;
	struct ibv_mr *mr;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 || rdma_bind_addr(listener, ai->ai_addr) != 0 ||
	    rdma_listen(listener, 4) != 0)
		die("listen");
	id = await(RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!strcmp(how, "reject"))
		return rdma_reject(id, text, (uint8_t)strlen(text)) != 0;
	make_qp(id);
	mr = post_receive(id);
	if (rdma_accept(id, &param) != 0)
		die("rdma_accept");
	return up(await(RDMA_CM_EVENT_ESTABLISHED), how, mr);
}

static int
call(const struct addrinfo *ai, const char *how)
{
	struct rdma_conn_param param = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_id *id;
	struct ibv_mr *mr;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) != 0 || rdma_resolve_addr(id, NULL, ai->ai_addr, 2000) != 0)
		die("rdma_resolve_addr");
	await(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, 2000) != 0)
		die("rdma_resolve_route");
	await(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	mr = post_receive(id);
	if (rdma_connect(id, &param) != 0)
		die("rdma_connect");
	return up(await(RDMA_CM_EVENT_ESTABLISHED), how, mr);
}

int
main(int argc, char **argv)
{
	const struct addrinfo *ai;

	if (argc != 5)
		return 64;
	alarm(LIMIT_S);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ai = resolve(argv[2], argv[3]);
	channel = rdma_create_event_channel();
	if (!channel)
		die("rdma_create_event_channel");
	return strcmp(argv[1], "server") ? call(ai, argv[4]) : serve(ai, argv[4]);
}
