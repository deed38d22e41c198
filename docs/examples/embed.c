/* SPDX-License-Identifier: BSD-3-Clause */
/* How to embed dpdk-iwarp into a polling loop that is yours: two engines and the loop's own work, in one thread.
 *
 *     embed --no-huge -m 512 --no-pci --no-telemetry --no-shconf -l 0
 *
 * One engine listens and offers a buffer in its private data; the other connects, Writes a line into that buffer and
 * hangs up.  The library starts no thread and never prints: everything happens inside iw_engine_poll(). */
#include <iwarp.h>
#include <rte_eal.h>
#include <stdio.h>
#include <string.h>

#define PORT 4420

struct offer { /* same host, so host byte order will do here */
	uint64_t addr;
	uint32_t rkey;
};

struct side {
	struct iw_domain *domain;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_mr *mr;
	iw_cm_id id;
	char buffer[64];
	bool closed;
	int status;
};

static struct side server, client;

static bool
open_side(struct side *s, uint16_t port_id, const char *ip)
{
	struct iw_engine_params params = {.port_id = port_id, .prefix_len = 24};
	struct iw_qp_attr attr = {.sq_depth = 16, .rq_depth = 16};
	char why[128];

	iw_addr_parse(ip, &params.addr);
	s->domain = iw_domain_create();
	s->engine = iw_engine_create(s->domain, &params, NULL, why, sizeof(why));
	if (!s->engine) {
		fprintf(stderr, "embed: %s\n", why);
		return false;
	}
	s->pd = iw_pd_create(s->domain);
	s->mr = iw_mr_reg(s->pd, s->buffer, sizeof(s->buffer), IW_LOCAL_WRITE | IW_REMOTE_WRITE, NULL);
	s->cq = attr.send_cq = attr.recv_cq = iw_cq_create(s->engine, 64, NULL, NULL);
	s->qp = iw_qp_create(s->engine, s->pd, &attr, NULL);
	return s->mr && s->qp;
}

/* Also what was only half opened: to destroy NULL changes nothing. */
static void
close_side(struct side *s)
{
	if (s->id)
		iw_cm_destroy(s->engine, s->id);
	iw_qp_destroy(s->qp);
	iw_cq_destroy(s->cq);
	iw_mr_dereg(s->mr);
	iw_engine_destroy(s->engine);
	iw_pd_destroy(s->pd);
	iw_domain_destroy(s->domain);
}

/* A connection came in: accept it, and say where the peer may Write. */
static int
on_server_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct offer offer = {(uintptr_t)server.buffer, iw_mr_rkey(server.mr)};
	struct iw_cm_attr attr = {.private_data = &offer, .private_len = sizeof(offer)};

	if (event->type == IW_CM_CONNECT_REQUEST)
		return iw_cm_accept(server.engine, server.id = id, server.qp, &attr);
	if (event->type == IW_CM_CLOSE) {
		server.closed = true;
		server.status = event->status;
	}
	return 0;
}

/* Connected: Write one line to where the offer says.  iw_cm_disconnect() lets the send queue drain first. */
static int
on_client_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct iw_sge sge = {(uintptr_t)client.buffer, sizeof(client.buffer), iw_mr_lkey(client.mr)};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_RDMA_WRITE, .flags = IW_SEND_SIGNALED};
	struct offer offer;

	if (event->type == IW_CM_CLOSE || event->status != 0) {
		client.closed = true;
		client.status = event->status;
		return 0;
	}
	if (event->type != IW_CM_CONNECT_REPLY || event->private_len != sizeof(offer))
		return 0;
	memcpy(&offer, event->private_data, sizeof(offer));
	snprintf(client.buffer, sizeof(client.buffer), "hello through iWARP");
	wr.remote_addr = offer.addr;
	wr.rkey = offer.rkey;
	if (iw_post_send(client.qp, &wr, NULL) != 0)
		return 1;
	return iw_cm_disconnect(client.engine, id, false);
}

static int
run(void)
{
	struct iw_addr addr = {.port = 0};
	iw_cm_id listener = iw_cm_create(server.engine, on_server_event, NULL);
	unsigned long long turns = 0;

	iw_addr_parse("192.0.2.1", &addr);
	addr.port = PORT;
	if (iw_cm_listen(server.engine, listener, &addr, 8) != 0)
		return 1;
	client.id = iw_cm_create(client.engine, on_client_event, NULL);
	if (iw_cm_connect(client.engine, client.id, &addr, client.qp, NULL) != 0)
		return 1;

	/* The foreign loop: its own work, and one poll of each engine, as often as it likes. */
	for (; !(server.closed && client.closed); turns++) {
		iw_engine_poll(server.engine);
		iw_engine_poll(client.engine);
	}
	printf("%s (after %llu turns)\n", server.buffer, turns);
	iw_cm_destroy(server.engine, listener);
	return server.status || client.status || strcmp(server.buffer, client.buffer) != 0;
}

int
main(int argc, char **argv)
{
	uint16_t a, b;
	int result = 1;

	if (rte_eal_init(argc, argv) < 0 || iw_wire_create("embed", 1024, &a, &b) != 0)
		return 1;
	if (open_side(&server, a, "192.0.2.1") && open_side(&client, b, "192.0.2.2"))
		result = run();
	close_side(&client);
	close_side(&server);
	iw_wire_destroy(a, b);
	rte_eal_cleanup();
	return result;
}
