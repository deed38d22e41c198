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
	X(rx_ipv6_unsupported)  /* D */                                                            \
	X(rx_arp)               /* well-formed and not from ourselves */                           \
	X(rx_arp_malformed)     /* D */                                                            \
	X(rx_arp_bad_sender)    /* D sender's hardware or protocol address cannot be one */        \
	X(rx_arp_own)           /* D our own, come back */                                         \
	X(rx_arp_conflict)      /* D somebody else claims our address */                           \
	X(arp_answered)                                                                            \
	X(arp_answer_lost)        /* no mbuf or place for the answer */                            \
	X(arp_learned)            /* entries made because somebody asked for us */                 \
	X(arp_not_learned)        /* table full of neighbours in use */                            \
	X(rx_ipv4_short)          /* D rules of ipv4.c from here on */                             \
	X(rx_ipv4_version)        /* D */                                                          \
	X(rx_ipv4_ihl)            /* D */                                                          \
	X(rx_ipv4_len)            /* D total length below the header's */                          \
	X(rx_ipv4_truncated)      /* D total length beyond the frame */                            \
	X(rx_ipv4_cksum)          /* D */                                                          \
	X(rx_ipv4_bad_src)        /* D */                                                          \
	X(rx_ipv4_own_src)        /* D LAND */                                                     \
	X(rx_ipv4_not_ours)       /* D */                                                          \
	X(rx_ipv4_link_broadcast) /* D for us alone, but in a broadcast frame */                   \
	X(rx_ipv4_fragment)       /* D */                                                          \
	X(rx_tcp_broadcast)       /* D */                                                          \
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
	X(tx_unreachable)        /* D the neighbour does not answer */                             \
	X(tx_neigh_full)         /* D no entry to be had */                                        \
	X(neigh_asked)                                                                             \
	X(neigh_ask_lost) /* no mbuf or place for the question */                                  \
	X(neigh_failed)                                                                            \
	X(neigh_mac_changed)                                                                       \
	X(neigh_evicted)                                                                           \
	X(neigh_wait_overrun) /* D pushed out by a later packet to the same neighbour */           \
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
