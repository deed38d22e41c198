/* SPDX-License-Identifier: BSD-3-Clause */
/* Two engines on an in-process wire under a real EAL, as an application makes them. */
#ifndef ENDS_H
#define ENDS_H

#include <iwarp.h>
#include <rte_mempool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENDS_PORT 4420
#define ENDS_AREA 200000
#define ENDS_MBUFS 2047

struct ends;

struct end {
	struct ends *all;
	struct iw_domain *domain;
	struct rte_mempool *data_pool, *ctl_pool;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_mr *mr;
	struct iw_cq *cq;
	struct iw_qp *qp;
	iw_cm_id id;
	bool up, closed;
	int status; /* of CLOSE or a failed REPLY */
	uint8_t area[ENDS_AREA];
};

/* end[0] connects, end[1] listens. */
struct ends {
	uint16_t port[2];
	struct end end[2];
	iw_cm_id listener;
	bool lent;              /* end[1]'s domain */
	struct iw_cm_attr attr; /* of both ends */
	/* Called for every event before the usual answer; a result other than 0 is the handler's, negative: 0. */
	int (*on_event)(struct end *e, iw_cm_id id, const struct iw_cm_event *event);
};

/* EAL without hugepages, root and PCI, on one CPU.  Once for each program. */
void ends_eal(const char *program);
/* The same with its telemetry. */
void ends_eal_shown(const char *program);

/* How they are made.  Zero is the default of each field. */
struct ends_how {
	struct iw_domain *domain; /* of end[1], the caller's; NULL: its own */
	bool own_pools;           /* the engines make theirs, instead of the small ones of the test */
	bool foreign_poster;      /* and receives that come late are waited for */
	bool lends;               /* end[0] sends without copies, as far as its port can; no CRC */
};

/* Wire, domains, pools and engines; then QPs and memory.  Several may be open at once. */
void ends_open(struct ends *s);
void ends_open_as(struct ends *s, const struct ends_how *how);
/* Everything that is left, and the check that every mbuf is back in its pool. */
void ends_close(struct ends *s);

/* Octets of EAL's memory that are taken. */
size_t ends_heap_in_use(void);

struct iw_engine_params ends_params(const struct ends *s, int which);
struct iw_addr ends_addr(int which, uint16_t port);

/* Polls both (those that are there) until *flag or for at most seconds; *flag. */
bool ends_until(struct ends *s, const bool *flag, int seconds);
void ends_turns(struct ends *s, int turns);

/* Listens and begins to connect. */
void ends_start(struct ends *s);
/* The same, until both are up. */
void ends_connect(struct ends *s);

/* Completions of an end, until n have come; fails at one that is not a success. */
void ends_reap(struct ends *s, int which, int n);

#endif
