/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands behind the DDP header: Read Request and Terminate (RFC 5040 §4.4, §4.8), atomics and Immediate Data
 * (RFC 7306 §5.2, §6.2), host order. */
#ifndef RDMAP_HDR_H
#define RDMAP_HDR_H

#include <stdbool.h>
#include <stdint.h>

#include "ddp_hdr.h"

#define RDMAP_HDR_READ_REQ_LEN 28

struct rdmap_read_req {
	uint32_t sink_stag;
	uint64_t sink_to;
	uint32_t size;
	uint32_t src_stag;
	uint64_t src_to;
};

/* Reads the 28 octets behind the DDP header; false when n < 28. */
bool rdmap_hdr_read_req_parse(const uint8_t *p, uint32_t n, struct rdmap_read_req *req);
/* Writes them; returns 28, or 0 when room is short. */
uint32_t rdmap_hdr_read_req_emit(const struct rdmap_read_req *req, uint8_t *out, uint32_t room);

/* AOpCodes (RFC 7306 Fig. 5). */
#define RDMAP_HDR_FETCH_ADD 0
#define RDMAP_HDR_CMP_SWAP 2

#define RDMAP_HDR_ATOMIC_REQ_LEN 52

struct rdmap_atomic_req {
	uint32_t code; /* AOpCode: 4 bits */
	uint32_t id;
	uint32_t stag;
	uint64_t to;
	uint64_t data, mask; /* to add or to swap */
	uint64_t compare, compare_mask;
};

/* Reads the 52 octets behind the DDP header; false when n < 52. */
bool rdmap_hdr_atomic_req_parse(const uint8_t *p, uint32_t n, struct rdmap_atomic_req *req);
/* Writes them; returns 52, or 0 when room is short. */
uint32_t rdmap_hdr_atomic_req_emit(const struct rdmap_atomic_req *req, uint8_t *out, uint32_t room);

#define RDMAP_HDR_ATOMIC_RESP_LEN 12

struct rdmap_atomic_resp {
	uint32_t id; /* of the request */
	uint64_t original;
};

bool rdmap_hdr_atomic_resp_parse(const uint8_t *p, uint32_t n, struct rdmap_atomic_resp *resp);
uint32_t rdmap_hdr_atomic_resp_emit(const struct rdmap_atomic_resp *resp, uint8_t *out, uint32_t room);

#define RDMAP_HDR_IMM_LEN 8

/* Immediate Data: eight octets, as a number. */
bool rdmap_hdr_imm_parse(const uint8_t *p, uint32_t n, uint64_t *imm);
uint32_t rdmap_hdr_imm_emit(uint64_t imm, uint8_t *out, uint32_t room);

/* Payload of a Terminate: control 4, [M: segment length 2], [D: DDP header 14 or 18], [R: Read Request 28]. */
#define RDMAP_HDR_TERM_MIN 4
#define RDMAP_HDR_TERM_MAX (4 + 2 + DDP_HDR_UNTAGGED_LEN + RDMAP_HDR_READ_REQ_LEN)

struct rdmap_term {
	uint8_t layer, etype, code;
	bool has_length;      /* M: seg_len is valid */
	bool has_ddp;         /* D: the offending DDP header follows */
	bool has_rdmap;       /* R: its Read Request follows */
	bool nibbles_swapped; /* parse: the order of Linux' siw */
	bool malformed;       /* parse: bits claim headers that are not there, or octets are left over (R12) */
	uint16_t seg_len;     /* ULPDU_Length of the offending FPDU */
	struct ddp_hdr ddp;
	struct rdmap_read_req read;
};

/* Does any of the RFCs define this triple?  Unspecified codes 0xff of 0/1 and 0/2 and any code of 0/0 count. */
bool rdmap_hdr_is_defined(uint8_t layer, uint8_t etype, uint8_t code);

/* Reads the n octets behind the DDP header of a Terminate.  Never fails: what is not there stays zero with
 * `malformed` set; the has_ bits tell what was really read.  M or D set: their place tells the two orders
 * apart; else RFC order, unless only the swapped order gives a code that exists. */
void rdmap_hdr_term_parse(const uint8_t *p, uint32_t n, struct rdmap_term *t);

/* Writes the payload in RFC order; returns its length (4 to 52), or 0 when room is short.  The
 * two flags nibbles_swapped and malformed are ignored. */
uint32_t rdmap_hdr_term_emit(const struct rdmap_term *t, uint8_t *out, uint32_t room);

#endif
