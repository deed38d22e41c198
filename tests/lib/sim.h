/* SPDX-License-Identifier: BSD-3-Clause */
/* A network in one thread: engines without ports on a seeded wire and a simulated clock.  The same seed gives the same
 * run.  Every frame is handed on either as the sender's own mbuf (as the in-process wire does) or as a copy (as a NIC
 * does), so that a write to a shared mbuf shows. */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine_face.h"

#define SIM_HOSTS 4
#define SIM_FRAMES 16384
#define SIM_LATE_NS 300000000u

struct sim_wire {
	uint64_t delay_ns;         /* one way */
	uint64_t jitter_ns;        /* added at random: reorders */
	double loss, dup, corrupt; /* of each frame; corrupt: one bit, no checksum repaired */
};

struct sim_host {
	struct iw_domain *domain;
	struct iw_engine *engine;
	struct rte_mempool *data_pool, *ctl_pool, *loan_pool;
	bool cut;     /* its cable is out: nothing in or out */
	bool asleep;  /* it is not polled: what comes waits (sim_sleep) */
	bool unheard; /* its user is not called: events wait */
	bool deaf;    /* raw: its TCP hears nothing */
	bool raw;     /* no cm, no QPs: a test uses its tcp by hand (raw.h) */
};

struct sim_frame {
	uint64_t at_ns, order;
	struct rte_mbuf *m;
	uint32_t to;
};

struct sim {
	uint64_t now_ns, seed, orders;
	struct sim_wire wire;
	struct sim_host host[SIM_HOSTS];
	uint32_t hosts;
	uint32_t burst;                     /* frames of one engine_rx: 1 or 32 */
	bool copies;                        /* frames are handed on as copies only: the receiver's pool pays for them */
	bool shares;                        /* never as copies: a receiver without mbufs hears them all the same */
	struct sim_frame frame[SIM_FRAMES]; /* a heap by time */
	uint32_t frames;
	uint64_t sent, lost;
	void (*tap)(struct sim *s, const struct rte_mbuf *m); /* sees every frame that an engine sends */
	void *tap_context;
	uint64_t drop_nth; /* the n-th frame sent from now is lost; 0: none */
	uint64_t dup_nth;  /* the same, arrives twice */
	uint64_t late_nth; /* the same, arrives SIM_LATE_NS later */
};

/* hosts engines with addresses 192.0.2.1, .2, ..., 2001:db8::1, ::2, ... and fe80::1, ..., and the given MTU.  With
 * IW_SEED=n in the environment each seed stands for another run (./run soak). */
void sim_init(struct sim *s, uint64_t seed, uint32_t hosts, uint16_t mtu);

/* As above, with parameters of the engines (addresses are filled in). */
void sim_init_params(struct sim *s, uint64_t seed, uint32_t hosts, const struct engine_params *params);

/* Destroys the engines and fails when an mbuf, connection, id or QP was left over. */
void sim_fini(struct sim *s);

/* One step: what is due is delivered, every engine has its turn, the clock moves to the next thing that can happen,
 * but not beyond until_ns. */
void sim_step(struct sim *s, uint64_t until_ns);

/* Steps until *flag is true; false when limit_ns of simulated time went by without. */
bool sim_until(struct sim *s, const bool *flag, uint64_t limit_ns);
void sim_run(struct sim *s, uint64_t duration_ns);

/* A host becomes another station: same addresses, another MAC, and nobody is told. */
void sim_move(struct sim *s, uint32_t host);

/* A host stops being polled, or starts again and finds all that has come meanwhile. */
void sim_sleep(struct sim *s, uint32_t host, bool asleep);

/* The next number of the run, and one below n. */
uint64_t sim_draw(struct sim *s);
uint64_t sim_below(struct sim *s, uint64_t n);

/* Address of a host with a port: of IPv4, or of IPv6 in a run with IW_TEST_FAMILY=6; and of one family. */
struct iw_addr sim_addr(uint32_t host, uint16_t port);
struct iw_addr sim_addr4(uint32_t host, uint16_t port);
struct iw_addr sim_addr6(uint32_t host, uint16_t port);
struct iw_addr sim_addr_link(uint32_t host, uint16_t port); /* fe80::, without a scope */
bool sim_is_v6(void);

#endif
