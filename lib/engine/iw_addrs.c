/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of an engine, for its user. */
#include <string.h>

#include "engine_face.h"

int
iw_engine_addrs(const struct iw_engine *engine, struct iw_addr_info *addrs, int max)
{
	static const enum iw_addr_state states[] = {[NET_OWN_TENTATIVE] = IW_ADDR_TENTATIVE,
						    [NET_OWN_READY] = IW_ADDR_READY,
						    [NET_OWN_DUPLICATE] = IW_ADDR_DUPLICATE};
	struct net_own_info own;
	uint32_t pos = 0;
	int n = 0;

	if (!engine || (max > 0 && !addrs))
		return -IW_E_INVAL;
	for (; net_own_get(engine->net, &pos, &own); n++) {
		if (n >= max)
			continue;
		addrs[n] = (struct iw_addr_info){.ip = own.ip,
						 .prefix_len = own.prefix_len,
						 .state = states[own.state],
						 .deprecated = own.deprecated,
						 .conflicts = own.conflicts};
		memcpy(addrs[n].conflict_mac, own.conflict_mac, sizeof(own.conflict_mac));
	}
	return n;
}
