/* SPDX-License-Identifier: BSD-3-Clause */
/* The two packet pools of an engine (design D13): whole packets, and the reserve for control frames. */
#ifndef PORT_POOLS_H
#define PORT_POOLS_H

#include <iwarp.h>

#include "port_engine.h"

/* Lends params' pools to env or makes them.  -IW_E_NOMEM, -IW_E_INVAL (a packet at the MTU fits into no mbuf), with a
 * line in `why`. */
int port_pools_create(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, char *why,
		      size_t why_len);
void port_pools_destroy(struct port_engine *p);

#endif
