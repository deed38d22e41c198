/* SPDX-License-Identifier: BSD-3-Clause */
/* What nobody outside may predict: initial sequence numbers (RFC 6528), timestamp offsets (RFC 7323 §5.4, §7),
 * ephemeral ports (RFC 6056). */
#ifndef TCP_ISN_H
#define TCP_ISN_H

#include <stdint.h>

#include "env.h"
#include "iw_time.h"
#include "tcp_tuple.h"

#define TCP_ISN_TICK_NS (4 * IW_US)

/* ISN = M + F(4-tuple, secret), M a 4 us clock: rises for one 4-tuple, unrelated between two (RFC 6528 §3). */
uint32_t tcp_isn_seq(const struct iw_env *env, const struct tcp_tuple *t, uint64_t now_ns);

/* The offset of the timestamp clock for this 4-tuple: the same each time it is used, so that timestamps never step
 * backwards when it is used again (RFC 6191, spec T7). */
uint32_t tcp_isn_ts_offset(const struct iw_env *env, const struct tcp_tuple *t);

/* One draw of an ephemeral port: a walk in random order over all of [TCP_PORT_FIRST, 65535], each exactly once. */
#define TCP_PORT_FIRST 32768u
#define TCP_PORT_COUNT 32768u /* a power of two: any odd stride meets every port */

struct tcp_isn_ports {
	uint32_t at, stride, left;
};

/* Begins a walk and returns its first port, which the caller tries; tcp_isn_port_next() gives the next one, 0 when
 * all were given.  The order is keyed by fresh random numbers. */
uint16_t tcp_isn_port_first(struct tcp_isn_ports *walk, struct iw_env *env);
uint16_t tcp_isn_port_next(struct tcp_isn_ports *walk);

/* ---- inline ---- */

/* TSval: ticks of 1 ms, shifted by the connection's offset. */
static inline uint32_t
tcp_isn_tsval(uint64_t now_ns, uint32_t ts_offset)
{
	return (uint32_t)(now_ns / IW_MS) + ts_offset;
}

#endif
