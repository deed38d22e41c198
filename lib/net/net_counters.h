/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything the room counts; a frame that is dropped is in exactly one of those marked D. */
#ifndef NET_COUNTERS_H
#define NET_COUNTERS_H

#include <stdbool.h>

#include "counter.h"

#define NET_COUNTERS(X)                                                                            \
	X(rx_frames)                                                                               \
	X(rx_bad_mbuf)          /* D lengths of mbuf and segments do not agree */                  \
	X(rx_runt)              /* D shorter than an Ethernet header */                            \
	X(rx_bad_src_mac)       /* D source address zero or a group */                             \
	X(rx_multicast)         /* D */                                                            \
	X(rx_not_our_mac)       /* D */                                                            \
	X(rx_vlan)              /* D tagged for a VLAN */                                          \
	X(rx_llc)               /* D 802.3 length instead of a type: spanning tree and the like */ \
	X(rx_unknown_ethertype) /* D */                                                            \
	X(rx_ipv6_off)          /* D we have no IPv6 address */                                    \
	X(rx_arp)               /* well-formed and not from ourselves */                           \
	X(rx_arp_malformed)     /* D */                                                            \
	X(rx_arp_bad_sender)    /* D sender's hardware or protocol address cannot be one */        \
	X(rx_arp_own)           /* D our own, come back */                                         \
	X(rx_arp_conflict)      /* D somebody else claims our address */                           \
	X(arp_answered)                                                                            \
	X(arp_answer_lost)         /* no mbuf or place for the answer */                           \
	X(arp_learned)             /* entries made because somebody asked for us */                \
	X(arp_not_learned)         /* table full of neighbours in use */                           \
	X(rx_ipv4_short)           /* D rules of ipv4.c from here on */                            \
	X(rx_ipv4_version)         /* D */                                                         \
	X(rx_ipv4_ihl)             /* D */                                                         \
	X(rx_ipv4_len)             /* D total length below the header's */                         \
	X(rx_ipv4_truncated)       /* D total length beyond the frame */                           \
	X(rx_ipv4_cksum)           /* D */                                                         \
	X(rx_ipv4_bad_src)         /* D */                                                         \
	X(rx_ipv4_own_src)         /* D LAND */                                                    \
	X(rx_ipv4_not_ours)        /* D */                                                         \
	X(rx_ipv4_link_broadcast)  /* D for us alone, but in a broadcast frame */                  \
	X(rx_ipv4_fragment)        /* D */                                                         \
	X(rx_ipv6_short)           /* D rules of ipv6.c from here on */                            \
	X(rx_ipv6_version)         /* D */                                                         \
	X(rx_ipv6_truncated)       /* D payload length beyond the frame */                         \
	X(rx_ipv6_bad_src)         /* D */                                                         \
	X(rx_ipv6_own_src)         /* D LAND */                                                    \
	X(rx_ipv6_not_ours)        /* D */                                                         \
	X(rx_ipv6_link_group)      /* D for us alone, but in a frame to a group */                 \
	X(rx_ipv6_tentative)       /* D for an address that is still claimed */                    \
	X(rx_ipv6_ext_short)       /* D extension header beyond the packet */                      \
	X(rx_ipv6_ext_long)        /* D longer or more of them than we look at */                  \
	X(rx_ipv6_ext_order)       /* D hop-by-hop options that are not first */                   \
	X(rx_ipv6_ext_unknown)     /* D ESP, AH, mobility and the like */                          \
	X(rx_ipv6_option)          /* D one that may not be skipped */                             \
	X(rx_ipv6_routing)         /* D segments left */                                           \
	X(rx_ipv6_fragment)        /* D */                                                         \
	X(rx_ipv6_no_next)         /* D nothing behind the headers */                              \
	X(rx_icmp6_cksum)          /* D */                                                         \
	X(rx_icmp6_hop_limit)      /* D neighbour or router discovery from beyond the link */      \
	X(rx_icmp6_router_solicit) /* D we are no router */                                        \
	X(rx_icmp6_redirect)       /* D ignored */                                                 \
	X(rx_icmp6_mtu_below_min)  /* D Packet Too Big with less than 1280 */                      \
	X(rx_nd)                   /* well-formed solicitations and advertisements of others */    \
	X(rx_nd_invalid)           /* D */                                                         \
	X(rx_nd_own)               /* D our own, come back */                                      \
	X(nd_answered)                                                                             \
	X(nd_answer_lost)     /* no mbuf or place for the answer */                                \
	X(addr_probes)        /* sent, whether somebody has an address of ours */                  \
	X(addr_announcements) /* sent */                                                           \
	X(addr_say_lost)      /* no mbuf or place for either */                                    \
	X(addr_conflicts)     /* somebody else has or wants an address of ours */                  \
	X(addr_duplicates)    /* addresses given up before use for that */                         \
	X(rx_tcp_broadcast)   /* D */                                                              \
	X(rx_tcp)                                                                                  \
	X(rx_host)                                                                                 \
	X(rx_icmp_err)           /* handed up */                                                   \
	X(rx_icmp_short)         /* D */                                                           \
	X(rx_icmp_cksum)         /* D */                                                           \
	X(rx_icmp_source_quench) /* D ignored, RFC 6633 */                                         \
	X(rx_icmp_redirect)      /* D ignored */                                                   \
	X(rx_icmp_unknown_code)  /* D */                                                           \
	X(rx_icmp_bad_quote)     /* D quoted packet malformed or cut before its ports */           \
	X(rx_icmp_not_tcp)       /* D */                                                           \
	X(rx_icmp_not_ours)      /* D we never sent what is quoted */                              \
	X(tx_frames)             /* put into the queue */                                          \
	X(tx_queue_full)         /* D */                                                           \
	X(tx_too_big)            /* D longer than the MTU */                                       \
	X(tx_no_route)           /* D */                                                           \
	X(tx_tentative)          /* D from an address that is still claimed: sent again */         \
	X(tx_unreachable)        /* D the neighbour does not answer */                             \
	X(tx_neigh_full)         /* D no entry to be had */                                        \
	X(neigh_asked)                                                                             \
	X(neigh_ask_lost) /* no mbuf or place for the question */                                  \
	X(neigh_failed)                                                                            \
	X(neigh_mac_changed)                                                                       \
	X(neigh_evicted)                                                                           \
	X(neigh_wait_overrun) /* D enough packets wait for the same neighbour: sent again */       \
	X(neigh_wait_failed)  /* D waited for a neighbour that did not answer */

IW_COUNTERS(net_counters, NET_COUNTERS);

/* The end of a frame: return net_drop(&counters->why). */
static inline bool
net_drop(uint64_t *counter)
{
	++*counter;
	return false;
}

#endif
