/* SPDX-License-Identifier: BSD-3-Clause */
/* The small record that the two ends exchange, one Send each way before a run. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define RECORD_LEN 80

enum record_kind { RECORD_RUN = 1, RECORD_READY, RECORD_REFUSED };

struct record {
	uint8_t kind, verb, test;
	uint32_t size, tx_depth, rx_depth, inline_size, qps;
	uint64_t iters;   /* 0: until the client hangs up or sends the next record */
	uint64_t in_addr; /* where the other end may Write and what it may Read: size octets for each QP */
	uint64_t
		credit_addr; /* Sends: where the server counts the receives it has posted again, 8 octets for each QP */
	uint32_t rkey;
};

void record_emit(const struct record *r, uint8_t *out);
/* False: not such a record, or of another version. */
bool record_parse(const uint8_t *in, uint32_t len, struct record *r);

#endif
