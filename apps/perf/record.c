/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <string.h>

#define MAGIC 0x69777066u /* "iwpf" */
#define VERSION 1

static uint8_t *
put(uint8_t *p, uint64_t value, int octets)
{
	for (int i = octets - 1; i >= 0; i--, value >>= 8)
		p[i] = (uint8_t)value;
	return p + octets;
}

static uint64_t
get(const uint8_t **p, int octets)
{
	uint64_t value = 0;

	for (int i = 0; i < octets; i++)
		value = value << 8 | (*p)[i];
	*p += octets;
	return value;
}

void
record_emit(const struct record *r, uint8_t *out)
{
	uint8_t *p = out;

	memset(out, 0, RECORD_LEN);
	p = put(p, MAGIC, 4);
	p = put(p, VERSION, 1);
	p = put(p, r->kind, 1);
	p = put(p, r->verb, 1);
	p = put(p, r->test, 1);
	p = put(p, r->size, 4);
	p = put(p, r->tx_depth, 4);
	p = put(p, r->rx_depth, 4);
	p = put(p, r->inline_size, 4);
	p = put(p, r->qps, 4);
	p = put(p, r->rkey, 4);
	p = put(p, r->iters, 8);
	p = put(p, r->in_addr, 8);
	put(p, r->credit_addr, 8);
}

bool
record_parse(const uint8_t *in, uint32_t len, struct record *r)
{
	const uint8_t *p = in;

	if (len != RECORD_LEN || get(&p, 4) != MAGIC || get(&p, 1) != VERSION)
		return false;
	r->kind = (uint8_t)get(&p, 1);
	r->verb = (uint8_t)get(&p, 1);
	r->test = (uint8_t)get(&p, 1);
	r->size = (uint32_t)get(&p, 4);
	r->tx_depth = (uint32_t)get(&p, 4);
	r->rx_depth = (uint32_t)get(&p, 4);
	r->inline_size = (uint32_t)get(&p, 4);
	r->qps = (uint32_t)get(&p, 4);
	r->rkey = (uint32_t)get(&p, 4);
	r->iters = get(&p, 8);
	r->in_addr = get(&p, 8);
	r->credit_addr = get(&p, 8);
	return true;
}
