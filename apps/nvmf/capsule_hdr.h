/* SPDX-License-Identifier: BSD-3-Clause */
/* NVMe over Fabrics on the wire: command and response capsules, SGL descriptors, the Connect data and the private data
 * of the RDMA binding.  Everything here is little-endian; host order leaves and enters. */
#ifndef CAPSULE_HDR_H
#define CAPSULE_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define CAPSULE_COMMAND 64
#define CAPSULE_RESPONSE 16
#define CAPSULE_CONNECT_DATA 1024
#define CAPSULE_NQN 256
#define CAPSULE_PRIVATE 32       /* private data of a connect and of its accept */
#define CAPSULE_PRIVATE_REJECT 4 /* of a reject */

/* What the SGL descriptor of a command says about its data. */
enum sgl_kind {
	SGL_NONE,      /* all zero: no data */
	SGL_KEYED,     /* the host's memory, by address and key */
	SGL_KEYED_INV, /* the same, and the response invalidates the key */
	SGL_CAPSULE,   /* behind the command, at an offset */
	SGL_UNKNOWN    /* a type or subtype that we do not speak */
};

struct sgl {
	enum sgl_kind kind;
	uint64_t addr; /* or the offset */
	uint32_t len, key;
};

struct nvme_command {
	uint8_t opcode;
	uint8_t fuse; /* 0: not fused */
	bool sgl_used;
	uint8_t fctype; /* Fabrics commands */
	uint16_t cid;
	uint32_t nsid;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
	struct sgl sgl;
};

/* p: CAPSULE_COMMAND octets. */
void capsule_command_parse(const uint8_t *p, struct nvme_command *c);
void capsule_command_emit(const struct nvme_command *c, uint8_t *p);

struct nvme_response {
	uint64_t result; /* DW0 and DW1 */
	uint16_t sq_head, sq_id, cid;
	uint16_t status; /* type, code and "do not retry" as in libnvme's NVME_SC_*; no phase bit */
};

void capsule_response_parse(const uint8_t *p, struct nvme_response *r);
void capsule_response_emit(const struct nvme_response *r, uint8_t *p);

/* The data of a Connect command. */
struct connect_data {
	uint8_t hostid[16];
	uint16_t cntlid;
	char subnqn[CAPSULE_NQN], hostnqn[CAPSULE_NQN];
};

#define CAPSULE_CONNECT_HOSTID_AT 0
#define CAPSULE_CONNECT_CNTLID_AT 16
#define CAPSULE_CONNECT_SUBNQN_AT 256
#define CAPSULE_CONNECT_HOSTNQN_AT 512

/* 0, or where the name stands that is not NUL-terminated. */
uint32_t capsule_connect_parse(const uint8_t *p, struct connect_data *d);
void capsule_connect_emit(const struct connect_data *d, uint8_t *p);

/* The private data of a host's connect. */
struct private_request {
	uint16_t recfmt, qid, hrqsize, hsqsize;
};

void capsule_private_parse(const uint8_t *p, struct private_request *r);
void capsule_private_emit(const struct private_request *r, uint8_t *p);
void capsule_private_accept_emit(uint16_t crqsize, uint8_t *p);
void capsule_private_reject_emit(uint16_t status, uint8_t *p);

/* One range of a Dataset Management command: 16 octets. */
struct dsm_range {
	uint64_t lba;
	uint32_t blocks;
};
#define CAPSULE_DSM_RANGE 16
struct dsm_range capsule_dsm_parse(const uint8_t *p);

#endif
