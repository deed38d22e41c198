/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <string.h>

#include "be.h"

#define MAGIC 0x69777066u /* "iwpf" */
#define VERSION 3

void
record_emit(const struct record *r, uint8_t *out)
{
	uint8_t *p = out;

	memset(out, 0, RECORD_LEN);
	p = be_put(p, MAGIC, 4);
	p = be_put(p, VERSION, 1);
	p = be_put(p, r->kind, 1);
	p = be_put(p, r->verb, 1);
	p = be_put(p, r->test, 1);
	p = be_put(p, r->size, 4);
	p = be_put(p, r->tx_depth, 4);
	p = be_put(p, r->rx_depth, 4);
	p = be_put(p, r->inline_size, 4);
	p = be_put(p, r->qps, 4);
	p = be_put(p, r->cq_mod, 4);
	p = be_put(p, r->outs, 4);
	p = be_put(p, r->flags, 4);
	p = be_put(p, r->rkey, 4);
	p = be_put(p, r->iters, 8);
	p = be_put(p, r->in_addr, 8);
	p = be_put(p, r->credit_addr, 8);
	p = be_put(p, r->count, 8);
	be_put(p, r->bad, 8);
}

bool
record_parse(const uint8_t *in, uint32_t len, struct record *r)
{
	const uint8_t *p = in;

	if (len != RECORD_LEN || be_get(&p, 4) != MAGIC || be_get(&p, 1) != VERSION)
		return false;
	r->kind = (uint8_t)be_get(&p, 1);
	r->verb = (uint8_t)be_get(&p, 1);
	r->test = (uint8_t)be_get(&p, 1);
	r->size = (uint32_t)be_get(&p, 4);
	r->tx_depth = (uint32_t)be_get(&p, 4);
	r->rx_depth = (uint32_t)be_get(&p, 4);
	r->inline_size = (uint32_t)be_get(&p, 4);
	r->qps = (uint32_t)be_get(&p, 4);
	r->cq_mod = (uint32_t)be_get(&p, 4);
	r->outs = (uint32_t)be_get(&p, 4);
	r->flags = (uint32_t)be_get(&p, 4);
	r->rkey = (uint32_t)be_get(&p, 4);
	r->iters = be_get(&p, 8);
	r->in_addr = be_get(&p, 8);
	r->credit_addr = be_get(&p, 8);
	r->count = be_get(&p, 8);
	r->bad = be_get(&p, 8);
	return true;
}
