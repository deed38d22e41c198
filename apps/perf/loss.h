/* SPDX-License-Identifier: BSD-3-Clause */
/* What a wire loses: frames that come in at one of its ports, picked at random, as its driver would never have had
 * them. */
#ifndef LOSS_H
#define LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct rte_eth_rxtx_callback;

/* One end.  Its queue is polled by one lcore, which draws, counts and drops. */
struct loss {
	const struct rte_eth_rxtx_callback *callback; /* NULL: nothing is lost here */
	uint16_t port;
	uint64_t random, limit; /* a frame is lost when what is drawn is below */
	uint64_t frames, lost;  /* that came, and of them */
};

/* From now on so many percent of the frames that come in at queue 0 of a port that is running are lost; the same ones
 * for the same seed and the same frames.  False after an error line. */
bool loss_begin(struct loss *l, uint16_t port, double percent, uint64_t seed);
/* When no lcore polls the port any more.  Nothing happens where nothing was lost. */
void loss_end(struct loss *l);

#endif
