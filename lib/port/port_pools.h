/* SPDX-License-Identifier: BSD-3-Clause */
/* The two packet pools of an engine (design D13): whole packets, and the reserve for control frames. */
#ifndef PORT_POOLS_H
#define PORT_POOLS_H

#include <iwarp.h>

#include "port_engine.h"

/* Lends params' pools to env or makes them; roomy: with mbufs of the next power of two.  -IW_E_NOMEM, -IW_E_INVAL (a
 * packet at the MTU fits into no mbuf), with a line in `why`. */
int port_pools_create(struct port_engine *p, const struct iw_engine_params *params, bool roomy, struct iw_env *env,
		      char *why, size_t why_len);
/* The pool of mbufs for what leaves from the user's memory.  -IW_E_NOMEM. */
int port_pools_create_loans(struct port_engine *p, const struct iw_engine_params *params, struct iw_env *env, char *why,
			    size_t why_len);
/* Frees them, or, while another engine still holds mbufs of them (a wire hands mbufs across), leaves them to
 * port_pools_collect(). */
void port_pools_destroy(struct port_engine *p);

/* The same for one pool; NULL: nothing. */
void port_pools_park(struct rte_mempool *pool);

/* Frees the pools left over whose mbufs have all come home. */
void port_pools_collect(void);

#endif
