/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a measurement: control connection, data connections, memory. */
#ifndef PEER_H
#define PEER_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "record.h"

#define PEER_CONTROL_RECVS 4

/* A connection.  Link 0 is for control, 1..qps are for data. */
struct link {
	iw_cm_id id;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_qp *qp;
	bool up, ended;
	int status;
};

struct peer {
	const struct options *o;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct link links[1 + PERF_MAX_QPS];
	uint32_t qps; /* data links */
	bool failed, crc;
	uint8_t control[PEER_CONTROL_RECVS + 1][RECORD_LEN];
	struct iw_mr *control_mr;
	/* out and in: size octets for each QP; credit: 8 octets for each QP */
	uint8_t *mem;
	uint64_t mem_len;
	struct iw_mr *mr;
	uint32_t size;
	struct record theirs; /* the other end's last record */
};

bool peer_init(struct peer *p, const struct options *o, struct iw_domain *domain, struct iw_engine *engine);
void peer_fini(struct peer *p);

/* QP and CQs of link i, with receives posted on the control link.  False after an error line. */
bool peer_make_link(struct peer *p, uint32_t i, uint32_t tx_depth, uint32_t rx_depth);

/* (Re)makes the memory for messages of size octets. */
bool peer_make_memory(struct peer *p, uint32_t size);
uint8_t *peer_out(const struct peer *p, uint32_t qp);
uint8_t *peer_in(const struct peer *p, uint32_t qp);
uint64_t *peer_credit(const struct peer *p, uint32_t qp);

/* Sends a record with our addresses filled in. */
bool peer_send_record(struct peer *p, struct record *r);
/* Takes one record that came in; false: none yet. */
bool peer_take_record(struct peer *p);

/* Everything is lost after this; the line names the reason. */
bool peer_fail(struct peer *p, const char *what, int err);
bool peer_fail_wc(struct peer *p, const struct iw_wc *wc);

#endif
