/* SPDX-License-Identifier: BSD-3-Clause */
/* The other end: one queue of an NVMe over Fabrics host, for the benchmark and for tests.  It sends what it is told,
 * right or wrong, and returns the responses. */
#ifndef INITIATOR_H
#define INITIATOR_H

#include <iwarp.h>

#include "capsule_hdr.h"

struct initiator {
	struct iw_engine *engine;
	struct iw_pd *pd;
	iw_cm_id id;
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct iw_mr *mr;
	uint8_t *memory; /* command capsules, then response capsules */
	uint32_t capsule_len;
	uint16_t qid, depth;
	bool up, ended;
	uint16_t crqsize;       /* the target's receive queue, as its accept has it; 0: it does not say */
	int status;             /* why it ended: 0 or -IW_E_* */
	uint16_t reject_status; /* of the RDMA binding, when the connect was rejected with one */
	void (*turn)(void);     /* what else must run while a call waits: a target in the same thread; or NULL */
};

/* Starts to connect a queue of depth entries whose capsules may carry in_capsule octets.  0 or -IW_E_*; up or ended is
 * set by a later poll of the engine.  attr: instead of the right one, with its private data; or NULL. */
int initiator_connect(struct initiator *i, struct iw_engine *engine, struct iw_pd *pd, const struct iw_addr *addr,
		      uint16_t qid, uint16_t depth, uint32_t in_capsule, const struct iw_cm_attr *attr);
void initiator_close(struct initiator *i);

/* Sends the command in slot c->cid (< depth), with len octets of data behind it.  The slot must be free. */
int initiator_send(struct initiator *i, const struct nvme_command *c, const void *data, uint32_t len);
/* The same with data in the capsule that are sent from where they are (registered for the QP's domain); they stay there
 * until the response has come. */
int initiator_send_from(struct initiator *i, const struct nvme_command *c, const struct iw_sge *data);

/* Up to max responses that have come. */
int initiator_poll(struct initiator *i, struct nvme_response *r, int max);

/* Polls the engine until the one command under way is answered; false when the connection ended, or nothing came for
 * 10 s. */
bool initiator_call(struct initiator *i, struct nvme_command *c, const void *data, uint32_t len,
		    struct nvme_response *r);

/* Fabrics Connect; the controller's number, or a negative status. */
int initiator_fabrics_connect(struct initiator *i, const char *subnqn, const char *hostnqn, uint16_t cntlid,
			      uint32_t kato_ms);
/* Enables the controller of an admin queue; false when it does not get ready. */
bool initiator_enable(struct initiator *i);

#endif
