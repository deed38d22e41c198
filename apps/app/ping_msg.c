/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping_msg.h"

#include <stdio.h>

#include "be.h"

#define FIRST_LETTER 'A'
#define LETTERS ('z' - FIRST_LETTER + 1)

void
ping_msg_emit(const struct ping_msg *msg, uint8_t *out)
{
	out = be_put(out, msg->addr, 8);
	out = be_put(out, msg->rkey, 4);
	be_put(out, msg->len, 4);
}

void
ping_msg_parse(const uint8_t *in, struct ping_msg *msg)
{
	msg->addr = be_get(&in, 8);
	msg->rkey = (uint32_t)be_get(&in, 4);
	msg->len = (uint32_t)be_get(&in, 4);
}

void
ping_msg_fill(char *buf, uint32_t size, uint64_t round)
{
	int head = snprintf(buf, size, "rdma-ping-%llu: ", (unsigned long long)round);

	for (uint32_t i = (uint32_t)head, k = 0; i < size; i++, k++)
		buf[i] = (char)(FIRST_LETTER + (round + k) % LETTERS);
	buf[size - 1] = 0;
}
