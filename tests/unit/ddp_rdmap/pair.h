/* SPDX-License-Identifier: BSD-3-Clause */
/* Two QPs of two hosts, back to back: what one fills is cut into views as a test likes and handed to the other.  Or one
 * QP alone, fed with octets made by hand; what it answers stands in `sent`. */
#ifndef PAIR_H
#define PAIR_H

#include <iwarp/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "ddp_hdr.h"
#include "env.h"
#include "rdmap_face.h"

#define PAIR_ARENA (4u << 20)
#define PAIR_STREAM (8u << 20)

/* One direction: octets filled and not yet taken. */
struct pair_stream {
	uint8_t *p;
	uint32_t len, avail; /* octets; how many of them have "arrived" */
	uint32_t room;
};

struct pair_side {
	struct iw_env env;
	struct iw_domain *domain;
	struct rdmap *rdmap;
	struct iw_pd *pd;
	struct iw_cq *cq;
	struct iw_qp *qp;
	uint8_t *arena; /* filled with a pattern */
	struct pair_stream in;
	uint32_t out_bits; /* all that were reported */
	uint32_t fills, fpdus_in;
	enum mpa_rx_stop stop;
};

struct pair_opts {
	bool no_crc;
	uint32_t room;     /* 0: 1448 */
	uint32_t view;     /* octets of a view; 0: as filled (one view for each delivery) */
	uint32_t step;     /* octets that arrive at a time; 0: all */
	uint16_t ird, ord; /* of both; 0: 16; PAIR_NONE: 0 */
	bool markers;      /* both ways */
	bool rx_markers;   /* only in what is received: for octets made by hand */
	enum qp_rtr rtr;
	bool rtr_by_hand;       /* the responder expects it, the initiator does not send it */
	struct iw_qp_attr attr; /* CQs are filled in */
	uint32_t cq_depth;      /* 0: 1024 */
	uint32_t arena;         /* octets; 0: PAIR_ARENA */
};

#define PAIR_NONE 0xffff

struct pair {
	struct pair_opts o;
	struct rte_mempool *mp;
	struct pair_side a, b; /* a: initiator */
	uint64_t now_ns;
};

void pair_open(struct pair *p, const struct pair_opts *opts);
void pair_close(struct pair *p);

/* Fills whatever this side has to send into the other's stream; returns fills. */
uint32_t pair_fill(struct pair *p, struct pair_side *from);
/* Lets what stands in the stream arrive. */
void pair_deliver(struct pair *p, struct pair_side *to);
/* Both until nothing moves. */
void pair_pump(struct pair *p);
/* Octets made by hand. */
void pair_inject(struct pair *p, struct pair_side *to, const void *octets, uint32_t len);

/* An FPDU by the bytes: header, payload, pad, CRC (by the reference code).  Returns its length. */
uint32_t pair_fpdu(uint8_t *out, const struct ddp_hdr *h, const void *payload, uint32_t len);
/* CRC again, after octets were changed. */
void pair_fix_crc(uint8_t *fpdu);

/* Posts one request of one SGE (len 0: of none). */
int pair_send(struct pair_side *s, uint64_t id, const void *addr, uint32_t len, uint32_t lkey, uint8_t flags);
int pair_recv(struct pair_side *s, uint64_t id, void *addr, uint32_t len, uint32_t lkey);
int pair_rdma(struct pair_side *s, uint64_t id, uint8_t opcode, const void *addr, uint32_t len, uint32_t lkey,
	      const void *remote, uint32_t rkey, uint8_t flags);
struct iw_mr *pair_mr(struct pair_side *s, uint32_t off, uint64_t len, uint32_t access);

/* One completion: fails the test when there is none. */
struct iw_wc pair_wc(struct pair_side *s);
bool pair_no_wc(struct pair_side *s);

/* The pattern of the arena: is [off, off+len) untouched? */
bool pair_untouched(const struct pair_side *s, uint32_t off, uint32_t len);
uint8_t pair_pattern(const struct pair_side *s, uint32_t off);

#endif
