/* SPDX-License-Identifier: BSD-3-Clause */
/* Several engines have one port and its addresses: who must see a frame that one of them received? */
#ifndef SHOWN_H
#define SHOWN_H

#include <rte_mbuf.h>

enum shown_to {
	SHOWN_TO_ONE,  /* TCP, or nothing that we know: whoever has the connection */
	SHOWN_TO_LEAD, /* the engine that speaks for the host */
	SHOWN_TO_ALL   /* what each has to learn: ARP, neighbour discovery, ICMP errors */
};

/* Looks at headers only; what is cut short is for one, who counts it. */
enum shown_to shown_to(const struct rte_mbuf *m);

#endif
