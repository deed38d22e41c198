/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts of this process, one on each end of an in-process wire. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "host.h"
#include "loss.h"
#include "options.h"

struct loopback {
	struct options client, server;
	struct host a, b; /* the client's, the server's */
	uint16_t port_a, port_b;
	struct loss at_a, at_b;
};

/* Each host with so many engines, and the wire with as many queues; *l is all zero.  False after an error line;
 * loopback_close() follows in any case. */
bool loopback_open(struct loopback *l, const struct options *o, uint32_t engines);
void loopback_close(struct loopback *l);
/* How much of what was under way the wire has lost. */
void loopback_print_loss(const struct loopback *l);

#endif
