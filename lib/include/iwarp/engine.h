/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_ENGINE_H
#define IWARP_ENGINE_H

#include <iwarp/cm.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;

#define IW_NO_DEADLINE UINT64_MAX

/* Congestion control of an engine's connections. */
enum iw_congestion {
	IW_CONGESTION_DEFAULT, /* CUBIC; in profile_datacenter DCTCP */
	IW_CONGESTION_CUBIC,
	IW_CONGESTION_NEWRENO,
	IW_CONGESTION_DCTCP /* in profile_datacenter only */
};

/* How an engine is made.  Zero is the default of each field but port_id and addr.  The port must not be
 * started yet unless `port_is_started` says that the caller configured it. */
struct iw_engine_params {
	uint16_t port_id; /* a DPDK port */
	uint16_t queue;   /* 0 */
	bool port_is_started;
	struct iw_addr addr; /* own address */
	uint8_t prefix_len;
	struct iw_addr gateway;        /* all zero: none */
	uint16_t mtu;                  /* layer 3; 0: the port's */
	uint32_t max_conns;            /* 0: 4096 */
	uint32_t max_qps, max_cm_ids;  /* 0: max_conns */
	struct rte_mempool *data_pool; /* NULL: made by the engine */
	struct rte_mempool *ctl_pool;
	uint32_t num_mbufs;        /* for the pools it makes; 0: by max_conns and ring sizes */
	uint16_t rx_ring, tx_ring; /* descriptors; 0: 1024 */
	bool no_host_path;         /* do not answer ICMP echo by lwIP (it can serve one engine of a process) */
	bool profile_datacenter;   /* RTO floor 5 ms, DCTCP: for switches that mark early, and both ends alike */
	bool no_ecn;               /* neither ask for ECN nor agree to it */
	enum iw_congestion congestion;
	const uint8_t *secret; /* 32 octets, to be kept over restarts; NULL: random */
};

/* Creates an engine in a domain and starts its port.  EAL must be initialised.  NULL and *err:
 * -IW_E_NODEV, -IW_E_PORT, -IW_E_NOMEM, -IW_E_INVAL.  `why` (may be NULL) gets one line for the user. */
struct iw_engine *iw_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why,
				   size_t why_len);

/* Destroys it with everything that hangs off it: peers are told by RST.  From inside a handler it happens at
 * the end of that poll. */
int iw_engine_destroy(struct iw_engine *engine);

/* One turn: messages, receive, timers, events, transmit.  Returns the packets and events handled; 0: idle, and only
 * then may one sleep until iw_engine_next_deadline(). -IW_E_BUSY from inside a handler. */
int iw_engine_poll(struct iw_engine *engine);

/* When the next timer is due, in nanoseconds of iw_engine_now(); IW_NO_DEADLINE: none. */
uint64_t iw_engine_next_deadline(const struct iw_engine *engine);
uint64_t iw_engine_now(const struct iw_engine *engine);

/* Runs fn(engine, arg) inside the engine's next poll.  From any thread.  -IW_E_NOMEM: the ring is full. */
int iw_engine_call(struct iw_engine *engine, void (*fn)(struct iw_engine *engine, void *arg), void *arg);

/* What the port can do, for `info`. */
struct iw_port_info {
	char name[64];
	char driver[32];
	uint8_t mac[6];
	uint16_t mtu;
	int numa_node; /* -1: any */
	bool link_up;
	uint32_t link_mbps; /* 0: unknown */
	bool rx_cksum, tx_ip_cksum, tx_tcp_cksum, tso, multi_seg, rss;
	uint16_t max_rx_queues, max_tx_queues;
};
int iw_port_info_get(uint16_t port_id, struct iw_port_info *info);

/* Two DPDK ports joined by rings that hand mbufs across without copying: what one sends the other receives.
 * name: unique in the process.  0 or -IW_E_NOMEM, -IW_E_INVAL. */
int iw_wire_create(const char *name, uint32_t ring_size, uint16_t *port_a, uint16_t *port_b);
void iw_wire_destroy(uint16_t port_a, uint16_t port_b);

/* RDMA devices that rdma-core sees, for `info` and for hints when a port is missing. */
struct iw_nic {
	char device[64]; /* RDMA device, "" if the kernel driver shows none */
	char pci[16];
	char netdev[32];
	char provider[32]; /* user-space provider, "" if missing */
	char hint[160];    /* what to do about what is missing, "" if nothing */
};
/* Fills up to max; returns the number found (may exceed max), or -IW_E_NOTSUP when built without rdma-core. */
int iw_nic_list(struct iw_nic *nics, int max);

#ifdef __cplusplus
}
#endif
#endif
