/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping_msg.h"

#include <stdio.h>

#define FIRST_LETTER 'A'
#define LETTERS ('z' - FIRST_LETTER + 1)

static void
put_be(uint8_t *out, uint64_t value, int octets)
{
	for (int i = octets - 1; i >= 0; i--, value >>= 8)
		out[i] = (uint8_t)value;
}

static uint64_t
get_be(const uint8_t *in, int octets)
{
	uint64_t value = 0;

	for (int i = 0; i < octets; i++)
		value = value << 8 | in[i];
	return value;
}

void
ping_msg_emit(const struct ping_msg *msg, uint8_t *out)
{
	put_be(out, msg->addr, 8);
	put_be(out + 8, msg->rkey, 4);
	put_be(out + 12, msg->len, 4);
}

void
ping_msg_parse(const uint8_t *in, struct ping_msg *msg)
{
	msg->addr = get_be(in, 8);
	msg->rkey = (uint32_t)get_be(in + 8, 4);
	msg->len = (uint32_t)get_be(in + 12, 4);
}

void
ping_msg_fill(char *buf, uint32_t size, uint64_t round)
{
	int head = snprintf(buf, size, "rdma-ping-%llu: ", (unsigned long long)round);

	for (uint32_t i = (uint32_t)head, k = 0; i < size; i++, k++)
		buf[i] = (char)(FIRST_LETTER + (round + k) % LETTERS);
	buf[size - 1] = 0;
}
