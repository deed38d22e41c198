/* SPDX-License-Identifier: BSD-3-Clause */
/* The 4-tuple that names a connection; plain octets without padding, so that it can be hashed and compared whole.
 * Scopes are not in it: an engine has one port. */
#ifndef TCP_TUPLE_H
#define TCP_TUPLE_H

#include <iwarp/addr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "iw_addr.h"

struct tcp_tuple {
	uint8_t local_ip[16], remote_ip[16]; /* IPv4 in its mapped form */
	uint16_t local_port, remote_port;    /* host order */
};
_Static_assert(sizeof(struct tcp_tuple) == 36, "hashed as octets: no padding");

static inline struct tcp_tuple
tcp_tuple_of(const struct iw_addr *local, const struct iw_addr *remote)
{
	struct tcp_tuple t;

	memcpy(t.local_ip, local->ip, sizeof(t.local_ip));
	memcpy(t.remote_ip, remote->ip, sizeof(t.remote_ip));
	t.local_port = local->port;
	t.remote_port = remote->port;
	return t;
}

static inline bool
tcp_tuple_is_v4(const struct tcp_tuple *t)
{
	return memcmp(t->remote_ip, IW_ADDR_MAPPED, IW_ADDR_MAPPED_LEN) == 0;
}

static inline bool
tcp_tuple_equal(const struct tcp_tuple *a, const struct tcp_tuple *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

#endif
