/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_limit.h"

#include <string.h>

#include "iw_addr.h"
#include "iw_time.h"

#define EPOCH_NS (64 * IW_SEC)
#define PREFIX 8 /* octets of an IPv6 address that one site cannot choose */

void
tcp_limit_init(struct tcp_limit *l, uint32_t rate)
{
	memset(l, 0, sizeof(*l));
	l->step_ns = IW_SEC / (rate ? rate : 1);
}

static uint64_t *
bucket_of(struct tcp_limit *l, const struct iw_env *env, const struct iw_addr *peer, uint64_t now_ns)
{
	bool whole = iw_addr_is_v4(peer) || iw_addr_is_link_local(peer);
	struct {
		uint8_t ip[16];
		uint64_t epoch;
	} key = {.epoch = now_ns / EPOCH_NS};

	memcpy(key.ip, peer->ip, whole ? sizeof(key.ip) : PREFIX);
	return &l->full_ns[iw_env_hash(env, IW_HASH_LIMIT, &key, sizeof(key)) % TCP_LIMIT_BUCKETS];
}

bool
tcp_limit_allows(struct tcp_limit *l, const struct iw_env *env, const struct iw_addr *peer, uint64_t now_ns)
{
	uint64_t *full = bucket_of(l, env, peer, now_ns);
	uint64_t from = *full > now_ns ? *full : now_ns;

	if (from - now_ns > IW_SEC - l->step_ns)
		return false;
	*full = from + l->step_ns;
	return true;
}
