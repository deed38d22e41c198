/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection of a ping: QP, CQ, memory, and the four things it posts. */
#ifndef PING_SESSION_H
#define PING_SESSION_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "ping_msg.h"

#define PING_BUF 65536
#define PING_RECVS 4

enum ping_wr { PING_WR_RECV, PING_WR_SEND, PING_WR_READ, PING_WR_WRITE };

struct ping_session {
	struct iw_engine *engine;
	iw_cm_id id;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct iw_mr *msg_mr, *source_mr, *sink_mr;
	char peer[IW_ADDR_TEXT];
	bool established, ended, failed, hung_up;
	bool reading; /* server: the last advert was a source */
	uint32_t len; /* server: of the last Read */
	uint64_t rounds;
	uint8_t recv[PING_RECVS][PING_MSG_LEN];
	uint8_t send[PING_MSG_LEN];
	char source[PING_BUF], sink[PING_BUF];
};

/* Its memory, registered: by one thread for all.  NULL after an error line. */
struct ping_session *ping_session_create(struct iw_pd *pd);
/* Its QP, with receives, for one connection after another.  False after an error line. */
bool ping_session_open(struct ping_session *s, struct iw_engine *engine, struct iw_pd *pd);
void ping_session_close(struct ping_session *s);
void ping_session_destroy(struct ping_session *s);

/* False after an error line; the session is failed then. */
bool ping_session_post_recv(struct ping_session *s, uint32_t slot);
bool ping_session_post_send(struct ping_session *s, const struct ping_msg *msg);
bool ping_session_post_read(struct ping_session *s, const struct ping_msg *from);
bool ping_session_post_write(struct ping_session *s, const struct ping_msg *to);

/* The next successful completion.  False: none; a failed one marks the session failed with an error line. */
bool ping_session_next(struct ping_session *s, struct iw_wc *wc);

/* An error line about this session, with the peer's address. */
bool ping_session_fail(struct ping_session *s, const char *what, const char *why);

/* What connections of ours ask for: CRC, and when a silent peer is given up. */
struct iw_cm_attr ping_session_attr(const struct options *o);

/* The CLOSE of this session, judged. */
void ping_session_closed(struct ping_session *s, const struct iw_cm_event *event);

#endif
