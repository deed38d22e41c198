/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts with the whole stack up to the connection manager (net, tcp, ddp_rdmap, cm), composed as the engine does
 * it, on a wire that delays, loses and cuts as a test likes.  Time jumps from deadline to deadline.  Every event is
 * checked against the language that the specification allows ("Events"), and that all work was flushed before CLOSE. */
#ifndef CMSIM_H
#define CMSIM_H

#include <iwarp/connect.h>
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cm_face.h"
#include "crc32c.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "net_face.h"
#include "rdmap_err.h"
#include "rdmap_face.h"
#include "tcp_face.h"

#define CMSIM_LOG 512
#define CMSIM_FRAMES 1024
#define CMSIM_PORT 4420

struct cmsim;
struct cmsim_host;

struct cmsim_event {
	iw_cm_id id;
	struct iw_cm_event ev;
	uint8_t data[IW_MAX_PRIVATE];
	uint64_t at_ns;
};

/* What the host's handler does beside writing down; its result is the handler's. */
typedef int (*cmsim_hook)(struct cmsim_host *h, iw_cm_id id, const struct iw_cm_event *ev);

/* What is known of an id, for the language of events. */
struct cmsim_seen {
	iw_cm_id id;
	uint32_t owed_replies; /* connects that returned 0 and were not answered */
	bool accepted;         /* ESTABLISHED is owed */
	bool up;               /* CLOSE is owed */
	bool told_disconnect, disconnected;
	bool gone; /* destroyed: nothing may come */
	uint32_t requests, replies, established, disconnects, closes, timewaits;
};

struct cmsim_host {
	struct cmsim *sim;
	uint32_t n;
	struct iw_env env;
	struct netif nif;
	struct net *net;
	struct tcp *tcp;
	struct iw_domain *domain;
	struct rdmap *rdmap;
	struct cm *cm; /* NULL: a hand-made peer that uses tcp alone */
	struct iw_pd *pd;
	struct iw_cq *cq;
	cmsim_hook hook;
	struct cmsim_event log[CMSIM_LOG];
	uint32_t logged;
	struct cmsim_seen seen[CMSIM_LOG];
	uint32_t seen_n;
	uint32_t posted, completed; /* work requests */
	uint32_t recv_ok, send_ok;
	bool in_call; /* a call of ours is under way: no event may come */
	bool frozen;  /* does not poll */
	uint32_t fpdu_budget;
};

struct cmsim_frame {
	uint64_t at_ns, order;
	struct rte_mbuf *m;
	uint32_t to;
};

/* A TCP segment on the wire, as much of it as tests look at. */
struct cmsim_seg {
	uint32_t from;
	bool syn, ack, fin, rst;
	uint32_t len; /* octets of payload */
	const uint8_t *data;
};

struct cmsim {
	struct cmsim_host h[2]; /* 0: who connects, 1: who listens */
	uint64_t now_ns, order, rng;
	uint64_t delay_ns;
	uint32_t loss_ppm;
	bool cut; /* nothing gets through */
	struct cmsim_frame frames[CMSIM_FRAMES];
	uint32_t frames_n;
	bool (*filter)(struct cmsim *s, const struct cmsim_seg *seg); /* true: lost */
	uint32_t rsts[2], fins[2], datas[2];                          /* segments sent by each */
	bool fin_with_data;                                           /* seen on the wire */
	uint32_t polls;
	void (*each_poll)(struct cmsim *s);
	void *arg;
};

struct cmsim_opts {
	bool raw_client, raw_server; /* no cm there */
	struct cm_params cm;         /* max_* : 0 is 16 ids, 4 listeners */
	uint32_t fpdu_budget;        /* of one mpa_rx; 0: 64 */
};

void cmsim_open(struct cmsim *s, const struct cmsim_opts *opts);
/* Destroys everything; fails when an id, connection, QP, MR or mbuf is left. */
void cmsim_close(struct cmsim *s);

/* Runs for that long, or until nothing is due any more. */
void cmsim_run(struct cmsim *s, uint64_t for_ns);
/* One poll of each host; false: nothing is due before the end. */
bool cmsim_step(struct cmsim *s, uint64_t end_ns);

struct iw_addr cmsim_addr(const struct cmsim *s, uint32_t host);
struct iw_qp *cmsim_qp(struct cmsim_host *h);
void cmsim_qp_destroy(struct cmsim_host *h, struct iw_qp *qp);
void cmsim_post_recv(struct cmsim_host *h, struct iw_qp *qp, uint32_t n);
/* A Send of no octets. */
int cmsim_post_send(struct cmsim_host *h, struct iw_qp *qp);
void cmsim_poll_cq(struct cmsim_host *h);

/* The calls, with the book kept. */
iw_cm_id cmsim_id(struct cmsim_host *h);
iw_cm_id cmsim_listen(struct cmsim_host *h, int backlog);
int cmsim_connect(struct cmsim_host *h, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr);
int cmsim_accept(struct cmsim_host *h, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr);
int cmsim_reject(struct cmsim_host *h, iw_cm_id id, const void *data, uint16_t len);
int cmsim_disconnect(struct cmsim_host *h, iw_cm_id id, bool abrupt);
int cmsim_destroy(struct cmsim_host *h, iw_cm_id id);

/* The n-th event of that type at this host, counted from 0; NULL: there is none. */
const struct cmsim_event *cmsim_nth(const struct cmsim_host *h, enum iw_cm_event_type type, uint32_t n);
uint32_t cmsim_count(const struct cmsim_host *h, enum iw_cm_event_type type);
/* Types in order, as text: "CONNECT_REPLY(0) CLOSE(IW_E_PROTO)". */
const char *cmsim_story(const struct cmsim_host *h, iw_cm_id id);
uint64_t cmsim_counter(const struct cmsim_host *h, const char *name);

/* A connection from host 0 to host 1 that both have heard of; attr may be NULL. */
struct cmsim_pair {
	iw_cm_id listener, a, b;
	struct iw_qp *qa, *qb;
};
void cmsim_pair(struct cmsim *s, struct cmsim_pair *p, const struct iw_cm_attr *active,
		const struct iw_cm_attr *passive);
/* As far as CONNECT_REQUEST. */
void cmsim_ask(struct cmsim *s, struct cmsim_pair *p, const struct iw_cm_attr *active);

/* A hand-made peer: host n opens or waits for a connection and writes octets. */
uint32_t cmsim_raw_listen(struct cmsim *s);
uint32_t cmsim_raw_accept(struct cmsim *s);
uint32_t cmsim_raw_open(struct cmsim *s);
void cmsim_raw_send(struct cmsim_host *h, uint32_t conn, const void *octets, uint32_t len);
/* What has arrived, up to max octets; taken. */
uint32_t cmsim_raw_recv(struct cmsim_host *h, uint32_t conn, uint8_t *out, uint32_t max);
/* Bits that became ready of any of its connections. */
uint32_t cmsim_raw_bits(struct cmsim_host *h);

/* A start-up frame by the bytes (RFC 5044 §7.1.1): key, flags, revision, PD_Length, then pd octets.  Returns 20 + pd.
 */
uint32_t cmsim_frame(uint8_t *out, bool reply, uint8_t flags, uint8_t rev, uint16_t pd_len, const void *pd,
		     uint32_t pd_n);
/* A Send FPDU of len octets (0x5a), with CRC; returns its length. */
uint32_t cmsim_fpdu(uint8_t *out, uint32_t msn, uint32_t len);

#endif
