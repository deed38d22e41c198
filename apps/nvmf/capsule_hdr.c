/* SPDX-License-Identifier: BSD-3-Clause */
#include "capsule_hdr.h"

#include <endian.h>
#include <string.h>

/* SGL descriptor types and subtypes (NVM Express base specification, "SGL descriptor"). */
#define SGL_DATA_BLOCK 0x00
#define SGL_DATA_OFFSET 0x01
#define SGL_KEYED_ADDRESS 0x40
#define SGL_KEYED_INVALIDATE 0x4f
#define SGL_FLAG 0x40 /* PSDT: the command uses an SGL */
#define SGL_FLAG_MASK 0xc0

static uint16_t
get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return le16toh(v);
}

static uint32_t
get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

static uint64_t
get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

static void
put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, 2);
}

static void
put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
}

static void
put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static struct sgl
sgl_parse(const uint8_t *p)
{
	static const uint8_t none[16];
	struct sgl s = {.kind = SGL_UNKNOWN, .addr = get64(p)};

	if (memcmp(p, none, sizeof(none)) == 0) {
		s.kind = SGL_NONE;
	} else if (p[15] == SGL_KEYED_ADDRESS || p[15] == SGL_KEYED_INVALIDATE) {
		s.kind = p[15] == SGL_KEYED_ADDRESS ? SGL_KEYED : SGL_KEYED_INV;
		s.len = get32(p + 8) & 0xffffff;
		s.key = get32(p + 11);
	} else if (p[15] == SGL_DATA_OFFSET) {
		s.kind = SGL_CAPSULE;
		s.len = get32(p + 8);
	} else if (p[15] == SGL_DATA_BLOCK) {
		s.len = get32(p + 8);
		s.kind = s.len == 0 ? SGL_NONE : SGL_UNKNOWN;
	}
	return s;
}

static void
sgl_emit(const struct sgl *s, uint8_t *p)
{
	memset(p, 0, 16);
	put64(p, s->addr);
	put32(p + 8, s->len);
	if (s->kind == SGL_KEYED || s->kind == SGL_KEYED_INV) {
		put32(p + 11, s->key);
		p[15] = s->kind == SGL_KEYED ? SGL_KEYED_ADDRESS : SGL_KEYED_INVALIDATE;
	} else if (s->kind == SGL_CAPSULE) {
		p[15] = SGL_DATA_OFFSET;
	}
}

void
capsule_command_parse(const uint8_t *p, struct nvme_command *c)
{
	c->opcode = p[0];
	c->fuse = p[1] & 3;
	c->sgl_used = (p[1] & SGL_FLAG_MASK) == SGL_FLAG;
	c->cid = get16(p + 2);
	c->fctype = p[4];
	c->nsid = get32(p + 4);
	c->sgl = sgl_parse(p + 24);
	c->cdw10 = get32(p + 40);
	c->cdw11 = get32(p + 44);
	c->cdw12 = get32(p + 48);
	c->cdw13 = get32(p + 52);
	c->cdw14 = get32(p + 56);
	c->cdw15 = get32(p + 60);
}

void
capsule_command_emit(const struct nvme_command *c, uint8_t *p)
{
	memset(p, 0, CAPSULE_COMMAND);
	p[0] = c->opcode;
	p[1] = (uint8_t)(c->fuse | SGL_FLAG);
	put16(p + 2, c->cid);
	put32(p + 4, c->nsid);
	sgl_emit(&c->sgl, p + 24);
	put32(p + 40, c->cdw10);
	put32(p + 44, c->cdw11);
	put32(p + 48, c->cdw12);
	put32(p + 52, c->cdw13);
	put32(p + 56, c->cdw14);
	put32(p + 60, c->cdw15);
}

void
capsule_response_parse(const uint8_t *p, struct nvme_response *r)
{
	r->result = get64(p);
	r->sq_head = get16(p + 8);
	r->sq_id = get16(p + 10);
	r->cid = get16(p + 12);
	r->status = get16(p + 14) >> 1;
}

void
capsule_response_emit(const struct nvme_response *r, uint8_t *p)
{
	put64(p, r->result);
	put16(p + 8, r->sq_head);
	put16(p + 10, r->sq_id);
	put16(p + 12, r->cid);
	put16(p + 14, (uint16_t)(r->status << 1));
}

uint32_t
capsule_connect_parse(const uint8_t *p, struct connect_data *d)
{
	memcpy(d->hostid, p + CAPSULE_CONNECT_HOSTID_AT, sizeof(d->hostid));
	d->cntlid = get16(p + CAPSULE_CONNECT_CNTLID_AT);
	memcpy(d->subnqn, p + CAPSULE_CONNECT_SUBNQN_AT, CAPSULE_NQN);
	memcpy(d->hostnqn, p + CAPSULE_CONNECT_HOSTNQN_AT, CAPSULE_NQN);
	if (!memchr(d->subnqn, 0, CAPSULE_NQN))
		return CAPSULE_CONNECT_SUBNQN_AT;
	return memchr(d->hostnqn, 0, CAPSULE_NQN) ? 0 : CAPSULE_CONNECT_HOSTNQN_AT;
}

void
capsule_connect_emit(const struct connect_data *d, uint8_t *p)
{
	memset(p, 0, CAPSULE_CONNECT_DATA);
	memcpy(p + CAPSULE_CONNECT_HOSTID_AT, d->hostid, sizeof(d->hostid));
	put16(p + CAPSULE_CONNECT_CNTLID_AT, d->cntlid);
	memcpy(p + CAPSULE_CONNECT_SUBNQN_AT, d->subnqn, CAPSULE_NQN);
	memcpy(p + CAPSULE_CONNECT_HOSTNQN_AT, d->hostnqn, CAPSULE_NQN);
}

void
capsule_private_parse(const uint8_t *p, struct private_request *r)
{
	r->recfmt = get16(p);
	r->qid = get16(p + 2);
	r->hrqsize = get16(p + 4);
	r->hsqsize = get16(p + 6);
}

void
capsule_private_emit(const struct private_request *r, uint8_t *p)
{
	memset(p, 0, CAPSULE_PRIVATE);
	put16(p, r->recfmt);
	put16(p + 2, r->qid);
	put16(p + 4, r->hrqsize);
	put16(p + 6, r->hsqsize);
}

void
capsule_private_accept_emit(uint16_t crqsize, uint8_t *p)
{
	memset(p, 0, CAPSULE_PRIVATE);
	put16(p + 2, crqsize);
}

void
capsule_private_reject_emit(uint16_t status, uint8_t *p)
{
	memset(p, 0, CAPSULE_PRIVATE_REJECT);
	put16(p + 2, status);
}

struct dsm_range
capsule_dsm_parse(const uint8_t *p)
{
	return (struct dsm_range){.blocks = get32(p + 4), .lba = get64(p + 8)};
}
