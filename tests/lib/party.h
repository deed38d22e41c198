/* SPDX-License-Identifier: BSD-3-Clause */
/* A user of one engine, as the grid of calls needs him: an id, its QP, and what he has been told. */
#ifndef PARTY_H
#define PARTY_H

#include "cells.h"

#define PARTY_QPS 4

struct party {
	uint32_t host;
	struct iw_engine *e;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_mr *mr;
	uint8_t *area;
	const struct party *peer; /* whose memory is read and written */
	struct iw_addr to;        /* where he connects to */
	iw_cm_id listener, id;
	iw_cm_id before;                   /* the one that a new request took the place of */
	struct iw_qp *qp, *qps[PARTY_QPS]; /* the last one made, and all */
	enum { PARTY_KEEPS, PARTY_ACCEPTS, PARTY_REJECTS } answer;
	bool poor;              /* posts no receives */
	struct iw_cm_attr attr; /* of connect; at first: peer-to-peer is required */
	uint32_t posted, completed;
	char story[256];
};

void party_open(struct party *p, struct iw_engine *engine, struct iw_domain *domain, uint32_t host);
void party_close(struct party *p);
/* Its id and QPs go. */
void party_clear(struct party *p);

/* The call's result; CELLS_RETURN and CELLS_MIGRATE are none. */
int party_call(struct party *p, enum cells_call call);
iw_cm_id party_listen(struct party *p, iw_cm_handler handler, uint16_t port);
void party_post(struct party *p, enum iw_wr_opcode opcode, uint32_t len);
void party_take_completions(struct party *p);
/* Adds an event to the story. */
void party_write_down(struct party *p, const struct iw_cm_event *ev);

#endif
