/* SPDX-License-Identifier: BSD-3-Clause */
/* What two start-up frames agree on (RFC 5044 §7.1, RFC 6581 §9): pure functions of the frames and of what this side
 * wants. */
#ifndef MPA_NEG_H
#define MPA_NEG_H

#include <stdbool.h>
#include <stdint.h>

#include "mpa_hdr.h"
#include "rdmap_err.h"
#include "rdmap_face.h"

/* What this side wants and can do. */
struct mpa_neg_local {
	uint8_t revision;  /* initiator: 1 or 2 of the Request; the responder mirrors what it got */
	bool crc;          /* ask for it; it is used whenever either side asks */
	bool markers;      /* ask for them in what we receive; the peer's wish for what we send is always met */
	bool peer_to_peer; /* initiator: offer it with Write and Read RTR (RFC 6581 §9.2); revision 2 only */
	bool no_ird_ord;   /* 0x3fff for both in what we send */
	uint16_t ird, ord; /* of the QP: never exceeded by what is agreed; <= 0x3ffe */
};

enum mpa_neg_verdict {
	MPA_NEG_AGREED,   /* stream holds it; responder: `reply` is to be sent */
	MPA_NEG_REJECTED, /* initiator: the peer said no; its private data is in the Reply */
	MPA_NEG_CLOSE,    /* initiator: the Reply is of no legal form; close without a Terminate */
	MPA_NEG_TERMINATE /* initiator: send the Terminate of `fault`, then close */
};

struct mpa_neg {
	enum mpa_neg_verdict verdict;
	enum rdmap_fault fault; /* TERMINATE: RDMAP_FAULT_MPA_IRD, _MPA_RTR or _MPA_LOCAL */
	struct qp_stream
		stream; /* AGREED: all but `conn` (0), which the caller fills in; TERMINATE: good for sending it */
	struct mpa_startup reply; /* responder: AGREED */
};

/* The initiator's Request.  private_data is kept by pointer.  private_len must be <= mpa_hdr_private_max(). */
void mpa_neg_request(const struct mpa_neg_local *local, const void *private_data, uint16_t private_len,
		     struct mpa_startup *request);

/* The initiator has its Reply: AGREED, REJECTED, CLOSE or TERMINATE.  `request` is what was sent. */
void mpa_neg_initiator(const struct mpa_neg_local *local, const struct mpa_startup *request,
		       const struct mpa_startup *reply, struct mpa_neg *out);

/* The ULP accepts a Request: AGREED. The Reply carries the private data. */
void mpa_neg_responder(const struct mpa_neg_local *local, const struct mpa_startup *request, const void *private_data,
		       uint16_t private_len, struct mpa_neg *out);

/* The ULP (or we) refuse a Request: a Reply with R = 1 in the Request's form, stating our IRD and ORD (local NULL:
 * 0 and 0). */
void mpa_neg_reject(const struct mpa_neg_local *local, const struct mpa_startup *request, const void *private_data,
		    uint16_t private_len, struct mpa_startup *reply);

#endif
