/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole engine that listens at port 4791 and accepts whoever asks, and the peer's end of one connection, made by
 * hand.  IPv4: 192.0.2.1 is the engine, 192.0.2.2 the peer. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include "engine_face.h"

#define FUZZ_PORT 4791

struct fuzz_host {
	struct rte_mempool *data_pool, *ctl_pool;
	struct iw_domain *domain;
	struct iw_engine *engine;
	struct iw_pd *pd;
	struct iw_mr *mr;
	struct iw_cq *cq;
	struct iw_qp *qp[4];
	iw_cm_id id[4], listener;
	uint32_t qps;
	uint64_t now_ns;
	/* what the engine has sent last in the connection from port 5000 */
	uint32_t seq, ack; /* of the peer's next segment */
	bool seen;
};

void fuzz_host_open(struct fuzz_host *h);
void fuzz_host_close(struct fuzz_host *h);
/* A frame arrives, in an mbuf of its own; then a turn. */
void fuzz_host_frame(struct fuzz_host *h, const uint8_t *frame, uint32_t len);
void fuzz_host_turn(struct fuzz_host *h);
/* Makes addresses, lengths and checksums of an IPv4 TCP frame right, as far as it is one. */
void fuzz_host_repair(uint8_t *frame, uint32_t len);
/* A whole segment from the peer: options are padded with zeros. */
uint32_t fuzz_host_segment(uint8_t *out, uint32_t seq, uint32_t ack, uint8_t flags, uint16_t wnd, const uint8_t *opts,
			   uint32_t opts_len, const uint8_t *data, uint32_t len);

#endif
