/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss.h"

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "cli.h"

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): any seed will do. */
static uint64_t
draw(struct loss *l)
{
	uint64_t z = l->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* What is left of a burst; DPDK calls this behind the driver's receive. */
static uint16_t
lose(uint16_t port, uint16_t queue, struct rte_mbuf **m, uint16_t n, uint16_t max, void *arg)
{
	struct loss *l = arg;
	uint16_t left = 0;

	for (uint16_t i = 0; i < n; i++)
		if (draw(l) < l->limit)
			rte_pktmbuf_free(m[i]);
		else
			m[left++] = m[i];
	l->frames += n;
	l->lost += (uint64_t)(n - left);
	return left;
}

bool
loss_begin(struct loss *l, uint16_t port, double percent, uint64_t seed)
{
	*l = (struct loss){.port = port, .random = seed, .limit = (uint64_t)(percent / 100 * 0x1p64)};
	l->callback = rte_eth_add_rx_callback(port, 0, lose, l);
	if (l->callback)
		return true;
	cli_fail("--loss: DPDK cannot look at what port %u receives", port);
	return false;
}

void
loss_end(struct loss *l)
{
	if (!l->callback || rte_eth_remove_rx_callback(l->port, 0, l->callback) != 0)
		return;
	/* Of this memory DPDK lets go only here. */
	rte_free((void *)(uintptr_t)l->callback);
	l->callback = NULL;
}
