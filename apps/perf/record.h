/* SPDX-License-Identifier: BSD-3-Clause */
/* The small record that the two ends exchange on the control connection: before a run, and behind it. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define RECORD_LEN 96

enum record_kind {
	RECORD_RUN = 1, /* client: this comes */
	RECORD_READY,   /* server: begin */
	RECORD_REFUSED, /* server: that cannot be */
	RECORD_STOP,    /* client: the run is over; the server ends its own part of it */
	RECORD_DONE /* server: it has; count: messages that it sent itself, bad: octets that are not as they must be */
};

enum record_flags {
	RECORD_BOTH_WAYS = 1 << 0,
	RECORD_SRQ = 1 << 1,
	RECORD_VALIDATE = 1 << 2,
	RECORD_AWAKE = 1 << 3, /* the server does not sleep in this run, whatever it was told */
};
#define RECORD_ALL_FLAGS 15u

struct record {
	uint8_t kind, verb, test;
	uint32_t size, tx_depth, rx_depth, inline_size, qps, cq_mod, outs, flags;
	uint64_t iters;   /* 0: until the client says that it is over */
	uint64_t in_addr; /* where the other end may Write and what it may Read: size octets for each QP */
	/* Where the other end counts the receives it has posted again, 8 octets for each QP. */
	uint64_t credit_addr;
	uint64_t count, bad;
	uint32_t rkey;
};

void record_emit(const struct record *r, uint8_t *out);
/* False: not such a record, or of another version. */
bool record_parse(const uint8_t *in, uint32_t len, struct record *r);

#endif
