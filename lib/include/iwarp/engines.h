/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_ENGINE_H
#define IWARP_ENGINE_H

#include <iwarp/connect.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mempool;

#define IW_NO_DEADLINE UINT64_MAX

/* An address and how many of its bits are the link's. */
struct iw_engine_addr {
	struct iw_addr ip;
	uint8_t prefix_len; /* 0..32 or 0..128 */
};
#define IW_ENGINE_MORE_ADDRS 7

/* Congestion control of an engine's connections. */
enum iw_congestion {
	IW_CONGESTION_DEFAULT, /* CUBIC; in profile_datacenter DCTCP */
	IW_CONGESTION_CUBIC,
	IW_CONGESTION_NEWRENO,
	IW_CONGESTION_DCTCP /* in profile_datacenter only */
};

/* How an engine is made.  Zero is the default of each field but port_id and the addresses.  The port must not be
 * started yet unless `port_is_started` says that the caller configured it. */
struct iw_engine_params {
	uint16_t port_id; /* a DPDK port */
	uint16_t queue;   /* 0 */
	bool port_is_started;
	struct iw_addr addr; /* own address, of either family; all zero: more_addrs or autoconf give it */
	uint8_t prefix_len;
	struct iw_addr gateway;  /* of either family; all zero: none.  Another host within the prefix of an own address
				    (any with prefix 32 or 128, which names no link), or a link-local address */
	struct iw_addr gateway6; /* of IPv6 beside one of IPv4; all zero: none, or the one that advertises */
	const struct iw_engine_addr *more_addrs; /* further addresses; of all at most one is IPv4 */
	uint32_t n_more_addrs;                   /* <= IW_ENGINE_MORE_ADDRS */
	bool autoconf;                 /* IPv6 addresses and router by advertisement (RFC 4862); needs the host path */
	bool no_claim;                 /* use addresses without asking before whether somebody has them */
	uint16_t vlan;                 /* IEEE 802.1Q VLAN, 1..4094; 0: untagged */
	uint16_t mtu;                  /* layer 3; 0: the port's */
	uint32_t max_conns;            /* 0: 4096 */
	uint32_t max_qps, max_cm_ids;  /* 0: max_conns; and a few ids more, for listeners */
	struct rte_mempool *data_pool; /* NULL: made by the engine */
	struct rte_mempool *ctl_pool;
	uint32_t num_mbufs;        /* for the pools it makes; 0: 8191, and one for each descriptor */
	uint16_t rx_ring, tx_ring; /* descriptors; 0: 1024 */
	bool rx_interrupts;        /* ask the port for them, for iw_engine_arm(); not all have them */
	bool no_tso;               /* do not let the port cut frames into segments (TSO), where it can */
	bool zero_copy;            /* send from memory with IW_ZERO_COPY without copying it, where the port can */
	bool no_host_path;         /* do not answer ICMP echo by lwIP (it can serve one engine of a process) */
	bool profile_datacenter;   /* RTO floor 5 ms, DCTCP: for switches that mark early, and both ends alike */
	uint32_t fpdu_timeout_ms;  /* for an FPDU that a peer has begun to be finished, else its stream is reset; should
				      not be below the user timeout of its connections; 0: 100 s, as that.  Earlier,
				      after a  second without progress, when mbufs are short: the slowest first,
				      CLOSE(-IW_E_CONNABORTED) */
	uint32_t reap_idle_ms; /* when fewer than 1/16 of the ids or connections are free, streams without an FPDU for
				  so long are reset (RFC 5042 §6.4.2): CLOSE(-IW_E_CONNABORTED); 0: never */
	bool no_ecn;           /* neither ask for ECN nor agree to it */
	enum iw_congestion congestion;
	const uint8_t *secret; /* 32 octets, to be kept over restarts; NULL: random */
};

/* Creates an engine in a domain and starts its port.  EAL must be initialised.  NULL and *err:
 * -IW_E_NODEV, -IW_E_PORT, -IW_E_NOMEM, -IW_E_INVAL.  `why` (may be NULL) gets one line for the user. */
struct iw_engine *iw_engine_create(struct iw_domain *domain, const struct iw_engine_params *params, int *err, char *why,
				   size_t why_len);

/* Whether it sends memory with IW_ZERO_COPY without copying it: asked for, and the port can. */
bool iw_engine_zero_copy(const struct iw_engine *engine);

/* Tells DPDK and every port that is there of memory that ports are to read by themselves, for IW_ZERO_COPY: what EAL
 * gave out itself (rte_malloc() and the like) is known.  addr and len are multiples of the page size; the memory stays
 * the caller's, and in place until it is taken back.  0; -IW_E_INVAL; -IW_E_BUSY: some of it is known already;
 * -IW_E_PORT: a port cannot be given it; -IW_E_NOMEM.  Any thread, one at a time. */
int iw_dma_map(void *addr, uint64_t len);
/* Takes all of it back that one call told of.  -IW_E_INVAL: there is no such memory.  Any thread, one at a time. */
int iw_dma_unmap(void *addr, uint64_t len);

/* How the segments of a connection reach the engine that has it, on a port with several. */
enum iw_steering {
	IW_STEERING_NONE, /* there is one engine */
	IW_STEERING_RSS,  /* the port hashes, and source ports are chosen so that answers come to their engine */
	IW_STEERING_FLOW, /* rules spread connections over the queues; who began one may have to be handed its answers
			   */
	IW_STEERING_PORT, /* so does the port, by a way of its own */
	IW_STEERING_SOFTWARE /* there are fewer queues than engines: those with one hand over what is others' */
};

#define IW_MAX_ENGINES 64 /* of one port */

/* Creates n engines on one port, with its addresses in common and a queue for each as far as it has so many.  What is
 * received by the wrong one is handed over; so any of them may listen and connect, and each may be polled by a thread
 * of its own.  They are engines[0..n-1]; engines[0] speaks for the host (ping), so it should go last.  Of IPv6 autoconf
 * is for single engines.  0, or as iw_engine_create(), and then there is none. */
int iw_engines_create(struct iw_domain *domain, const struct iw_engine_params *params, uint32_t n,
		      struct iw_engine **engines, char *why, size_t why_len);
enum iw_steering iw_engines_steering(const struct iw_engine *engine);
/* "RSS" and the like, for people. */
const char *iw_engines_steering_name(enum iw_steering steering);

/* Destroys it with everything that hangs off it (ids, QPs, CQs, SRQs, windows, fast registrations), whose pointers are
 * not to be used any more: calls that wait are run, peers are told by RST, no handler is called.  From inside a handler
 * it happens at the end of that poll.  PDs and registrations are the domain's and stay. */
int iw_engine_destroy(struct iw_engine *engine);

/* One turn: messages, receive, timers, events, transmit.  Returns the packets and events handled; 0: idle, and only
 * then may one sleep until iw_engine_next_deadline().  A turn sends so much and no more: who has seen the last CLOSE
 * polls until there is nothing left to do, or destroys the engine.  -IW_E_BUSY from inside a handler. */
int iw_engine_poll(struct iw_engine *engine);

/* When the next timer is due, in nanoseconds of iw_engine_now(), which is 0 without an engine; IW_NO_DEADLINE: none. */
uint64_t iw_engine_next_deadline(const struct iw_engine *engine);
uint64_t iw_engine_now(const struct iw_engine *engine);

/* For who wants the core back when there is nothing to do, after a poll that returned 0.  arm: a descriptor to wait for
 * (epoll, poll: readable), until iw_engine_next_deadline() at most; calls, posts from other threads and what other
 * engines hand over make it readable, received frames when *frames: else poll again after a time of your choice.  Then
 * disarm, and poll.  The engine's thread.  -IW_E_BUSY: there is something to poll for; -IW_E_NOMEM: no descriptor to be
 * had. */
int iw_engine_arm(struct iw_engine *engine, bool *frames);
void iw_engine_disarm(struct iw_engine *engine);
/* All of that: sleeps until there is something to do, and where frames do not wake at most blind_ns.  0, or
 * -IW_E_INVAL, -IW_E_NOMEM. */
int iw_engine_sleep(struct iw_engine *engine, uint64_t blind_ns);

/* Runs fn(engine, arg) inside the engine's next poll, or first thing in its destruction.  From any thread.
 * -IW_E_NOMEM: the ring is full. */
int iw_engine_call(struct iw_engine *engine, void (*fn)(struct iw_engine *engine, void *arg), void *arg);

/* Moves an id in IDLE to another engine, where it gets a new handle and keeps handler and context.  Called by the
 * thread of `engine`, also from inside a handler.  When it returns 0 the old handle is gone, with a TIMEWAIT_EXIT that
 * it still awaited, and moved() is called exactly once, in the next poll of `to` and so perhaps before this returns; it
 * may call anything but the poll.  id 0: the table of `to` is full; context says which id that was.  QPs do not move.
 * -IW_E_INVAL (state or arguments), -IW_E_STALE, -IW_E_NOMEM (memory, or too many calls wait in `to`): the id stays as
 * it is. */
typedef void (*iw_cm_moved)(struct iw_engine *to, iw_cm_id id, void *context);
int iw_cm_migrate(struct iw_engine *engine, iw_cm_id id, struct iw_engine *to, iw_cm_moved moved);

/* Listens at one address and port on n engines, with an id in each; all with this handler and context, so what they
 * share must bear the threads of all.  From any thread; addr is copied.  Returns how many engines were asked, from the
 * first one on: fewer than n when memory is short or too many calls wait in the next one, and then the rest can be
 * asked by another call.  In the next poll of each that was asked listening() is called exactly once: err as of
 * iw_cm_listen(), and id 0 when there is one.  Engines are independent: who wants all or none destroys the others' ids.
 * -IW_E_INVAL: arguments; port 0 (a port that one engine chose is told by iw_cm_addrs()). */
typedef void (*iw_cm_listening)(struct iw_engine *engine, iw_cm_id id, int err, void *context);
int iw_cm_listen_all(struct iw_engine *const *engines, uint32_t n, const struct iw_addr *addr, int backlog,
		     iw_cm_handler handler, void *context, iw_cm_listening listening);

/* The addresses of an engine.  At start it asks 0.3 s long whether somebody has one (RFC 5227, RFC 4862); connections
 * that are begun meanwhile wait.  One that is READY stays so: whoever claims it is counted and told that it is ours. */
enum iw_addr_state {
	IW_ADDR_TENTATIVE, /* nobody has objected so far; also while the link is down */
	IW_ADDR_READY,
	IW_ADDR_DUPLICATE /* somebody else has it: never used; connecting from it gives -IW_E_ADDRINUSE */
};
struct iw_addr_info {
	struct iw_addr ip;
	uint8_t prefix_len;
	enum iw_addr_state state;
	bool deprecated;         /* by its router: not for new connections when there is another */
	uint32_t conflicts;      /* how often somebody else claimed it */
	uint8_t conflict_mac[6]; /* who did last */
};
/* Fills up to max; returns how many there are (may exceed max), or -IW_E_INVAL. */
int iw_engine_addrs(const struct iw_engine *engine, struct iw_addr_info *addrs, int max);

/* The port with that name, DPDK's or that of the kernel interface behind it: what stands behind % in an address.
 * 0, -IW_E_NODEV or -IW_E_INVAL. */
int iw_port_find(const char *name, uint16_t *port_id);

/* What the port can do, for `info`.  0, -IW_E_NODEV or -IW_E_INVAL. */
struct iw_port_info {
	char name[64];
	char driver[32];
	uint8_t mac[6];
	uint16_t mtu, max_mtu; /* as it is now; the most it takes, 65535: the driver does not say */
	int numa_node;         /* -1: any */
	bool link_up;          /* known of a started port only */
	uint32_t link_mbps;    /* 0: unknown */
	bool rx_cksum, tx_ip_cksum, tx_tcp_cksum, tso, multi_seg, rss;
	bool zero_copy; /* known of a started port only */
	uint16_t max_rx_queues, max_tx_queues;
};
int iw_port_info_get(uint16_t port_id, struct iw_port_info *info);

/* The same of a port that is not in use: it is started until its link is up, wait_ms at most, and stopped again; of one
 * that is in use, as it is.  -IW_E_PORT or -IW_E_NOMEM: it cannot be started, and *info holds what is known without;
 * -IW_E_NODEV, -IW_E_INVAL. */
int iw_port_probe(uint16_t port_id, uint32_t wait_ms, struct iw_port_info *info);

/* Two DPDK ports joined by rings that hand mbufs across without copying: what one sends the other receives.
 * name: unique in the process.  0 or -IW_E_NOMEM, -IW_E_INVAL. */
int iw_wire_create(const char *name, uint32_t ring_size, uint16_t *port_a, uint16_t *port_b);
/* The same with several queues, at most IW_WIRE_QUEUES: what leaves by one is received by the one of that number, so
 * both ends need an engine for each. */
#define IW_WIRE_QUEUES 16
int iw_wire_create_queues(const char *name, uint32_t ring_size, uint32_t queues, uint16_t *port_a, uint16_t *port_b);
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
