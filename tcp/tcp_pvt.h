/* SPDX-License-Identifier: BSD-3-Clause */
/* struct tcp itself: what the files of this room share.  Not for other rooms. */
#ifndef TCP_PVT_H
#define TCP_PVT_H

#include "env.h"
#include "list.h"
#include "net_face.h"
#include "pool.h"
#include "tcp_conn_obj.h"
#include "tcp_counters.h"
#include "tcp_demux.h"
#include "tcp_face.h"
#include "tcp_flight_obj.h"
#include "tcp_limit.h"
#include "tcp_rxq.h"
#include "tcp_syn.h"
#include "tcp_timewait.h"
#include "tcp_txq.h"
#include "wheel.h"

struct tcp {
	struct iw_env *env;
	struct net *net;
	struct tcp_params params; /* with the defaults filled in */
	struct iw_pool conns;     /* struct tcp_conn */
	struct iw_pool listeners; /* struct tcp_listener */
	struct tcp_demux demux;
	struct tcp_timewait timewait;
	struct tcp_syn syn;
	struct tcp_limit limit;
	uint64_t cookie_ns; /* when the last SYN cookie left; 0: never */
	struct tcp_rxq_pool rxq_pool;
	struct tcp_txq_pool txq_pool;
	struct tcp_flights flights;
	struct iw_wheel wheel;
	struct iw_list ready;             /* connections with ready_bits */
	struct iw_list tx;                /* connections that may have something to send */
	struct iw_list unheard;           /* those whose next hop is being asked, and enough wait for it */
	uint32_t settled;                 /* net_settled() when they were looked at last */
	uint32_t poll;                    /* counts tcp_tx_emit() */
	uint64_t rcv_grown, rcv_grow_max; /* octets by which receive buffers have grown, and may */
	uint64_t now_ns;                  /* the latest that was passed in */
	uint64_t tx_at_ns;                /* when the tx list wants a poll; IW_NEVER: it is empty */
	struct tcp_counters n;
	enum tcp_strangers strangers;
	uint32_t first_stray, n_strays;
	struct tcp_stray strays[TCP_STRAYS]; /* a ring: those of one connection must not overtake each other */
};

#endif
