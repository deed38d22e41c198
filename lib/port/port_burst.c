/* SPDX-License-Identifier: BSD-3-Clause */
/* The data path of a port: frames in, frames out, and those that the driver has not taken yet. */
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <string.h>

#include "port.h"
#include "port_lend.h"

uint32_t
port_rx_queue(struct port *p, uint16_t queue, struct rte_mbuf **m, uint32_t max)
{
	uint32_t n = rte_eth_rx_burst(p->id, queue, m, (uint16_t)max);

	p->n.rx_frames += n;
	return n;
}

uint32_t
port_rx(struct port *p, struct rte_mbuf **m, uint32_t max)
{
	return port_rx_queue(p, p->queue, m, max);
}

/* The frame at the front has not moved for long: some drivers refuse a frame that is too long for ever. */
static void
drop_stuck(struct port *p, uint64_t now_ns)
{
	if (p->stuck_since == 0) {
		p->stuck_since = now_ns;
		return;
	}
	if (now_ns - p->stuck_since < PORT_STUCK_NS)
		return;
	rte_pktmbuf_free(p->backlog[0]);
	p->n_backlog--;
	memmove(p->backlog, p->backlog + 1, p->n_backlog * sizeof(struct rte_mbuf *));
	p->n.tx_never_taken++;
	p->stuck_since = 0;
}

uint32_t
port_tx_flush(struct port *p, uint32_t added, uint64_t now_ns)
{
	uint32_t n;

	p->n_backlog += added;
	if (p->n_backlog == 0)
		return 0;
	n = p->via ? rte_ring_enqueue_burst(p->via, (void **)p->backlog, p->n_backlog, NULL)
		   : rte_eth_tx_burst(p->id, p->queue, p->backlog, (uint16_t)p->n_backlog);
	p->n.tx_frames += n;
	p->n_backlog -= n;
	if (p->n_backlog == 0) {
		p->stuck_since = 0;
		return n;
	}
	p->n.tx_backlogged++;
	memmove(p->backlog, p->backlog + n, p->n_backlog * sizeof(struct rte_mbuf *));
	if (n)
		p->stuck_since = 0;
	else
		drop_stuck(p, now_ns);
	return n;
}

void
port_tx_reap(struct port *p)
{
	if (p->keeps)
		port_lend_reap(p->id, p->queue);
}
