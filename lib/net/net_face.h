/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face: Ethernet, neighbours and IP of one engine.  Knows nothing of TCP.
 *
 * Received mbufs are read-only (design D19).  Frames to be sent collect in one bounded queue, filled by
 * net_tx() and by the room's own answers (ARP, waiting packets), and emptied by net_drain(). */
#ifndef NET_H
#define NET_H

#include <iwarp/addr.h>
#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "env.h"
#include "netif.h"

struct net; /* one engine's */

#define NET_OUTQ 1024 /* frames; a power of two */
/* What an mbuf given to net_tx() must have free in front of the layer-4 header: Ethernet with a tag, and IPv6, in a
 * block that is copied whole. */
#define NET_HEADROOM 64

#define NET_PROTO_ICMP 1
#define NET_PROTO_TCP 6
#define NET_PROTO_ICMP6 58

enum net_verdict {
	NET_DROP,     /* counted and freed */
	NET_EATEN,    /* was for this room (ARP, neighbour discovery); freed */
	NET_TCP,      /* pkt is filled; the caller owns the mbuf */
	NET_ICMP_ERR, /* err is filled; the mbuf is freed */
	NET_HOST      /* IP packet for our address that is neither: for the host path; the caller owns the mbuf */
};

/* An IP packet whose header was checked. */
struct net_pkt {
	struct iw_addr src, dst; /* ports are 0 */
	uint32_t l3_off;         /* of the IP header from the packet's first octet */
	uint32_t l4_off, l4_len; /* layer-4 header and payload; Ethernet padding is not in it */
	uint32_t pseudo_sum;     /* of the pseudo header, for iw_cksum_*; not folded */
	uint8_t proto;
	uint8_t ecn;        /* RFC 3168: 0..3 */
	bool l4_cksum_good; /* the port has verified it */
};

/* An ICMP error about a TCP segment that we sent (RFC 5927), ports and sequence number from the quoted header. */
struct net_icmp_err {
	struct iw_addr local, remote;
	uint32_t seq;
	uint16_t mtu; /* of the next hop; 0: not given */
	enum { NET_ICMP_SOFT, NET_ICMP_HARD, NET_ICMP_TOOBIG } kind;
};

/* NULL when memory is short or the addresses of nif do not go together (two of IPv4, one twice). */
struct net *net_create(struct iw_env *env, const struct netif *nif, uint32_t max_neigh, uint64_t now_ns);
void net_destroy(struct net *net); /* frees every mbuf it holds */

const struct netif *net_if(const struct net *net);

/* The number of the engine that a segment from remote to local is received by, as the port's steering has it; our own
 * when there is no other. */
uint32_t net_home(const struct net *net, const struct iw_addr *remote, const struct iw_addr *local);

/* Several engines have the port, and another one speaks for it: this one learns from what it is shown, and asks for
 * its neighbours, but answers nobody and claims its addresses without a word. */
void net_set_quiet(struct net *net, bool quiet);

/* One received frame. */
enum net_verdict net_rx(struct net *net, struct rte_mbuf *m, uint64_t now_ns, struct net_pkt *pkt,
			struct net_icmp_err *err);

/* Where packets to dst go; filled by net_route(), kept by its user, refreshed by net_tx(). */
struct net_route {
	struct iw_addr src, dst;
	uint32_t neigh; /* handle, of the next hop */
	uint32_t flow;  /* label of IPv6 */
	uint16_t mtu;   /* of the path: layer 3 */
	uint8_t own;    /* number of the source address; 0: none */
};

/* From our address src, or the best one when it is unspecified.  A link-local dst without a scope is on our link.
 * 0; -IW_E_HOSTUNREACH when no next hop exists (no gateway, no address of the family, not unicast, another link);
 * -IW_E_ADDRNOTAVAIL (src is not ours), -IW_E_ADDRINUSE (somebody else has it). */
int net_route_from(struct net *net, const struct iw_addr *src, const struct iw_addr *dst, struct net_route *route);
int net_route(struct net *net, const struct iw_addr *dst, struct net_route *route);

enum net_reach { NET_REACH_KNOWN, NET_REACH_ASKING, NET_REACH_FAILED }; /* from the best to the worst */
enum net_reach net_reach(const struct net *net, const struct net_route *route);
/* The peer seems gone (RTO): ask the neighbour again without dropping what is known (RFC 9293 R1). */
void net_reconfirm(struct net *net, struct net_route *route, uint64_t now_ns);

/* Sends a layer-4 packet that begins at the mbuf's first octet, in headroom of NET_HEADROOM: puts IP and Ethernet
 * in front and queues the frame (or lets it wait for the neighbour).  One reference of the mbuf is consumed in
 * every case, and the mbuf's data may begin elsewhere afterwards.  The layer-4 checksum: see net_l4_cksum_offloaded().
 * 0 (queued, or waits for the neighbour); dropped and counted: -IW_E_NOMEM (queue or neighbour table full),
 * -IW_E_HOSTUNREACH (no route, or the neighbour does not answer), -IW_E_TOOBIG (longer than the port's MTU),
 * -IW_E_AGAIN (the neighbour is being asked, and enough packets wait for it, or the source is one that came later and
 * is still claimed: try again when net_settled() moves). */
int net_tx(struct net *net, struct rte_mbuf *m, struct net_route *route, uint8_t proto, uint8_t ecn, uint64_t now_ns);

/* What net_tx() has put in front of a packet, for packets that differ from it in their length only.  Good until
 * something is received or ticks. */
struct net_head {
	uint8_t octets[NET_HEADROOM]; /* the headers at its end */
	uint8_t len;                  /* of them; 0: there is none */
	uint8_t l3_len;
	uint16_t l4_len; /* what its IP header tells */
	uint16_t vlan_tci;
	uint64_t ol_flags, tx_offload;
};
/* As net_tx(); when the frame was queued *head is what it begins with, else there is none. */
int net_tx_first(struct net *net, struct rte_mbuf *m, struct net_route *route, uint8_t proto, uint8_t ecn,
		 uint64_t now_ns, struct net_head *head);
/* Another one, with such a head.  As net_tx(); never -IW_E_AGAIN. */
int net_tx_next(struct net *net, struct rte_mbuf *m, const struct net_head *head);

/* Into how many segments the port cuts a frame on this route (TSO), which has no more mbufs; 1: it does not. */
uint32_t net_tso(const struct net *net, const struct net_route *route);
/* What makes one frame of several segments. */
struct net_tso {
	uint32_t mbufs;  /* of the frame: at most net_tso() */
	uint32_t octets; /* of the payloads of those behind the first */
	uint16_t segsz;  /* octets of payload in each but the last */
};
/* The frame m was queued with this head, and nothing was drained since: further payload was chained behind it.  Its
 * layer-4 checksum must be the sum of a pseudo header without a length. */
void net_tx_grow(struct rte_mbuf *m, const struct net_head *head, const struct net_tso *tso);

/* Counts neighbours that have answered, or failed to, while they were asked for the first time, and addresses of ours
 * whose claim is over. */
uint32_t net_settled(const struct net *net);

/* Sends to a group of IPv6, for the host path (router solicitations, MLD). */
struct net_group_tx {
	const uint8_t *src, *dst; /* 16 octets; src may be unspecified */
	uint8_t proto, hop_limit;
};
/* As net_tx(), without a neighbour; the packet's checksum is the caller's. */
int net_tx_group(struct net *net, struct rte_mbuf *m, const struct net_group_tx *group);

/* True: the layer-4 header must hold the pseudo-header sum only (the port does the rest); false: the whole sum. */
bool net_l4_cksum_offloaded(const struct net *net);

/* Pseudo-header sum for sending, not folded. */
uint32_t net_pseudo_sum(const struct net *net, const struct iw_addr *src, const struct iw_addr *dst, uint8_t proto,
			uint32_t l4_len);

/* Free places in the queue of frames to be sent. */
uint32_t net_tx_space(const struct net *net);
bool net_tx_is_empty(const struct net *net);

/* Takes up to max frames; the caller owns them. */
uint32_t net_drain(struct net *net, struct rte_mbuf **out, uint32_t max);

/* ---- our addresses ---- */

/* A link-local address without a scope gets ours; others as they are. */
struct iw_addr net_own_scoped(const struct net *net, const struct iw_addr *addr);

/* It is one of ours, whatever its state. */
bool net_own_is(const struct net *net, const struct iw_addr *addr);

/* The source for packets to dst (RFC 6724), with local's port: local, or the best one when it is unspecified.  Errors
 * of net_route_from(). */
int net_own_source(const struct net *net, const struct iw_addr *local, const struct iw_addr *dst, struct iw_addr *src);

/* The link is up: begins to ask whether somebody has our addresses, when nif.claim says so.  Until that is over
 * (0.3 s) questions to neighbours wait, and packets with them. */
void net_own_claim(struct net *net, uint64_t now_ns);

/* An IPv6 address comes (SLAAC), goes, or is not for new connections any more.  -IW_E_ADDRINUSE (it is there),
 * -IW_E_NOMEM (no place). */
int net_own_add(struct net *net, const struct iw_addr *addr, uint8_t prefix_len, uint64_t now_ns);
void net_own_remove(struct net *net, const struct iw_addr *addr);
void net_own_deprecate(struct net *net, const struct iw_addr *addr, bool deprecated);

/* The router for IPv6; NULL: none. */
void net_own_gateway6(struct net *net, const struct iw_addr *gateway);

/* The MTU for new routes of IPv6, where routers tell one below the port's (RFC 4861 §4.6.4); others are not taken. */
void net_own_mtu6(struct net *net, uint16_t mtu);

enum net_own_state { NET_OWN_TENTATIVE, NET_OWN_READY, NET_OWN_DUPLICATE };
struct net_own_info {
	struct iw_addr ip;
	uint8_t prefix_len;
	enum net_own_state state;
	bool deprecated;
	uint32_t conflicts; /* how often somebody else claimed it */
	uint8_t conflict_mac[6];
};
/* The next address after *pos (start with 0); false: that was the last. */
bool net_own_get(const struct net *net, uint32_t *pos, struct net_own_info *info);

void net_tick(struct net *net, uint64_t now_ns);
uint64_t net_deadline(const struct net *net);

struct iw_counter_list net_counter_list(const struct net *net);

#endif
