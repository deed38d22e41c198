/* SPDX-License-Identifier: BSD-3-Clause */
/* A net with 10.0.0.1/24, fe80::1 and 2001:db8::1/64 for each test. */
#ifndef NET6_ROOM_H
#define NET6_ROOM_H

#include "net6_test.h"
#include "net_room.h"

#define NS(target) "87 00 0000 00000000" target
#define NA(flags, target) "88 00 0000 " flags "000000" target
#define FROM_US "01 01 020000000001"
#define WE_ARE "02 01 020000000001"
#define SCOPE 4 /* port 3 */

static inline int
begin6(void **state)
{
	begin(state);
	net_destroy(net);
	nif.port_id = SCOPE - 1;
	nif.more[0] = (struct netif_addr){addr6(OURS6), 64};
	nif.more[1] = (struct netif_addr){addr6(GLOBAL6), 64};
	nif.n_more = 2;
	net = net_create(&env, &nif, 64, now);
	return net ? 0 : -1;
}

static inline struct iw_addr
link6(const char *octets)
{
	struct iw_addr a = addr6(octets);

	a.scope = SCOPE;
	return a;
}

static inline enum net_verdict
rx6(const char *eth, const char *src_dst, uint8_t next, uint8_t hop_limit, const char *payload)
{
	struct bytes b = ip6_frame(eth, src_dst, next, hop_limit, payload);

	return rx(&b);
}

/* The next frame out is this ND message of ours. */
static inline void
assert_nd(const char *eth, const char *src_dst, const char *message)
{
	struct bytes want = ip6_frame(eth, src_dst, 58, 255, message);

	want.b[15] = 0;
	assert_frame(&want);
}

/* The peer answers for an address. */
static inline void
answer6(const char *mac, const char *ip)
{
	char message[160], src_dst[160];

	snprintf(message, sizeof(message), "88 00 0000 60000000 %s 02 01 %s", ip, mac);
	snprintf(src_dst, sizeof(src_dst), "%s %s", ip, OURS6);
	assert_int_equal(rx6(OURS PEER "86dd", src_dst, 58, 255, message), NET_EATEN);
}

#define T6(name) cmocka_unit_test_setup_teardown(name, begin6, end)

#endif
