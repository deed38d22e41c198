/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_isn.h"

uint32_t
tcp_isn_seq(const struct iw_env *env, const struct tcp_tuple *t, uint64_t now_ns)
{
	return (uint32_t)(now_ns / TCP_ISN_TICK_NS) + (uint32_t)iw_env_hash(env, IW_HASH_ISN, t, sizeof(*t));
}

uint32_t
tcp_isn_ts_offset(const struct iw_env *env, const struct tcp_tuple *t)
{
	return (uint32_t)iw_env_hash(env, IW_HASH_TSOFF, t, sizeof(*t));
}

uint16_t
tcp_isn_port_first(struct tcp_isn_ports *walk, struct iw_env *env)
{
	uint64_t r = iw_env_draw(env);

	walk->at = (uint32_t)r % TCP_PORT_COUNT;
	walk->stride = (uint32_t)(r >> 32) % TCP_PORT_COUNT | 1;
	walk->left = TCP_PORT_COUNT;
	return tcp_isn_port_next(walk);
}

uint16_t
tcp_isn_port_next(struct tcp_isn_ports *walk)
{
	uint32_t port = TCP_PORT_FIRST + walk->at;

	if (walk->left == 0)
		return 0;
	walk->left--;
	walk->at = (walk->at + walk->stride) % TCP_PORT_COUNT;
	return (uint16_t)port;
}
