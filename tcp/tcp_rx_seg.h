/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrival hands from step to step. */
#ifndef TCP_RX_SEG_H
#define TCP_RX_SEG_H

#include <rte_mbuf.h>
#include <stdint.h>

#include "net_face.h"
#include "tcp_hdr.h"
#include "tcp_tuple.h"

/* A segment that is on its way through. */
struct tcp_rx_seg {
	struct tcp_seg seg;
	struct tcp_tuple tuple; /* who it is for, and the demux table's hash of that */
	uint32_t hash;
	uint32_t guess;     /* the connection that it is likely to be for */
	uint32_t sealed;    /* octets of the payload's front, see struct iw_view */
	struct rte_mbuf *m; /* ours to free; NULL: handed on */
	const struct net_pkt *pkt;
	uint64_t now_ns;
};

#endif
