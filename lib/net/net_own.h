/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own addresses, the sending half: own.c decides, this says it by ARP and ND.  Calls for other rooms are in
 * net_face.h.
 */
#ifndef NET_OWN_H
#define NET_OWN_H

#include "net_obj.h"

/* Enters the addresses of nif.  false: more than one IPv4 address, one twice, or too many. */
bool net_own_init(struct net *net);

/* Somebody else (mac) has or wants the address with that number: given up before use, or announced again. */
void net_own_conflict(struct net *net, uint8_t number, const uint8_t mac[6], uint64_t now_ns);

/* Probes and announcements that are due. */
void net_own_tick(struct net *net, uint64_t now_ns);

/* An IPv6 address, with our scope when it is link-local; port 0. */
struct iw_addr net_own_addr6(const struct net *net, const uint8_t ip[16]);

#endif
