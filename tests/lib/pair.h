/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts of a sim with one connection between them, and what came of it: the events of each id in order, the
 * completions of each end.  End 0 connects, end 1 listens. */
#ifndef PAIR_H
#define PAIR_H

#include "sim.h"

#define PAIR_EVENTS 16

struct pair_end {
	struct pair *pair;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	iw_cm_id id;
	uint8_t event[PAIR_EVENTS]; /* of the id, in order */
	int status[PAIR_EVENTS];
	uint32_t events;
	uint8_t private_data[IW_MAX_PRIVATE]; /* the last that came */
	uint16_t private_len;
	struct iw_cm_event last;
	struct iw_cm_attr attr; /* for connect or accept */
	bool up, closed;
};

struct pair {
	struct sim *sim;
	struct pair_end end[2];
	iw_cm_id listener;
	bool reject; /* end 1 rejects */
	bool both_up, both_closed;
};

#define PAIR_PORT 4791

/* Objects of both ends; QPs with these depths (0: defaults). */
void pair_init(struct pair *p, struct sim *sim, const struct iw_qp_attr *attr);
/* Destroys what is left of them. */
void pair_fini(struct pair *p);

/* Listens and connects; true when both ends are established within limit_ns. */
bool pair_connect(struct pair *p, uint64_t limit_ns);
/* End 0 disconnects; true when both have had CLOSE within limit_ns. */
bool pair_disconnect(struct pair *p, uint64_t limit_ns);

/* O12 (isolation): one of hosts 0 and 1 that is established before others begin; and that works still, and closes in
 * good order, when they are through. */
void pair_beside(struct pair *p, struct sim *sim);
void pair_unharmed(struct pair *p);

/* O12 (isolation): a Send of nothing from an end arrives, and both ends know of it, within limit_ns; fails the test
 * otherwise. */
void pair_ping(struct pair *p, int from, uint64_t limit_ns);

/* "REPLY0 CLOSE0" and the like, for comparing: names of the events of an end, with status other than 0 in brackets. */
const char *pair_history(const struct pair *p, int end, char *buf, size_t len);

#endif
