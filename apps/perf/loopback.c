/* SPDX-License-Identifier: BSD-3-Clause */
#include "loopback.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"

#define WIRE_RING 4096

bool
loopback_open(struct loopback *l, const struct options *o, uint32_t engines)
{
	if (iw_wire_create_queues("iwperf", WIRE_RING, engines, &l->port_a, &l->port_b) != 0) {
		cli_fail("no memory for the in-process wire: give EAL more with -m");
		return false;
	}
	l->client = l->server = *o;
	l->client.host.port_id = l->port_a;
	l->server.host.port_id = l->port_b;
	l->client.host.engines = l->server.host.engines = engines;
	l->client.host.has_ip = l->server.host.has_ip = true;
	l->client.host.no_claim = l->server.host.no_claim = true; /* nobody else is on this wire */
	l->client.host.prefix_len = l->server.host.prefix_len = 24;
	iw_addr_parse("192.0.2.1", &l->client.host.ip);
	iw_addr_parse("192.0.2.2", &l->server.host.ip);
	l->client.peer = l->server.host.ip;
	l->client.peer.port = l->server.peer.port = o->peer.port;
	if (!host_open(&l->a, &l->client.host) || !host_open(&l->b, &l->server.host))
		return false;
	return !o->loss || (loss_begin(&l->at_a, l->port_a, o->loss, 2 * o->loss_seed) &&
			    loss_begin(&l->at_b, l->port_b, o->loss, 2 * o->loss_seed + 1));
}

void
loopback_print_loss(const struct loopback *l)
{
	printf("# --loss %g: %" PRIu64 " of %" PRIu64 " frames to the server were lost, %" PRIu64 " of %" PRIu64
	       " to the client\n",
	       l->client.loss, l->at_b.lost, l->at_b.frames, l->at_a.lost, l->at_a.frames);
}

void
loopback_close(struct loopback *l)
{
	loss_end(&l->at_a);
	loss_end(&l->at_b);
	host_close(&l->a);
	host_close(&l->b);
	iw_wire_destroy(l->port_a, l->port_b);
}
