/* SPDX-License-Identifier: BSD-3-Clause */
/* The 16-octet message of rping and its test pattern. */
#ifndef PING_MSG_H
#define PING_MSG_H

#include <stdbool.h>
#include <stdint.h>

#define PING_MSG_LEN 16

/* Advert of a buffer: address, STag, length; big-endian on the wire. */
struct ping_msg {
	uint64_t addr;
	uint32_t rkey, len;
};

void ping_msg_emit(const struct ping_msg *msg, uint8_t *out);
void ping_msg_parse(const uint8_t *in, struct ping_msg *msg);

/* Round `round`'s data: "rdma-ping-N: " and letters that move on with each round; ends with a NUL. */
void ping_msg_fill(char *buf, uint32_t size, uint64_t round);

#endif
