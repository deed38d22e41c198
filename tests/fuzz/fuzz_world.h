/* SPDX-License-Identifier: BSD-3-Clause */
/* An established QP with registrations of every kind (of pieces, by work request and a window, too), receives of its
 * own or of an SRQ, Reads and an atomic under way; always at the same addresses and with the same STags, so that an
 * input means the same in every run. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "env.h"
#include "rdmap_face.h"

#define FUZZ_ARENA 65536u /* at FUZZ_BASE */
#define FUZZ_BASE UINT64_C(0x200000000000)
#define FUZZ_STAGS 8

struct fuzz_world {
	struct iw_env env;
	struct rte_mempool *mp;
	struct iw_domain *domain;
	struct rdmap *rdmap;
	struct iw_pd *pd, *other;
	struct iw_cq *cq;
	struct iw_srq *srq; /* NULL: receives of its own */
	struct iw_qp *qp;
	struct iw_mw *mw;
	struct iw_mr *behind; /* the registration that the window is bound to */
	struct iw_mr *mr[FUZZ_STAGS];
	uint32_t stag[FUZZ_STAGS];
	uint64_t now_ns;
	uint8_t *arena;
};

enum fuzz_how {
	FUZZ_CRC = 1,
	FUZZ_MARKERS = 2,
	FUZZ_INITIATOR = 4,
	FUZZ_READS = 8,
	FUZZ_RECVS = 16,
	FUZZ_WAIT = 32,
	FUZZ_ATOMIC = 64, /* the second Read is an atomic */
	FUZZ_SRQ = 128
};

void fuzz_world_open(struct fuzz_world *w, unsigned how);
/* The octets arrive as views of `cut` octets (0: one), each an allocation of its own. */
void fuzz_world_feed(struct fuzz_world *w, const uint8_t *octets, uint32_t len, uint32_t cut);
/* Fills what there is to send; checks what no input may bring about; takes everything down. */
void fuzz_world_close(struct fuzz_world *w);
/* Length, pad and CRC of an ULPDU; returns the octets of the FPDU. */
uint32_t fuzz_fpdu(uint8_t *out, const uint8_t *ulpdu, uint32_t len);

#endif
