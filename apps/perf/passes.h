/* SPDX-License-Identifier: BSD-3-Clause */
/* What the memory limit does to a packet's payload: the passes of the stack itself, which leave nothing to the CPU that
 * it can do, and nothing else of the stack. */
#ifndef PASSES_H
#define PASSES_H

#include <stdbool.h>
#include <stdint.h>

/* Of the payload of one packet: CRC32C, and the Internet checksum before it is folded. */
struct check {
	uint32_t crc; /* 0 without */
	uint64_t sum;
};

/* Copies n octets and takes them into both, in one pass; without the CRC only into the sum. */
struct check passes_copy(void *to, const void *from, uint32_t n, bool crc);

/* Takes n octets into both, then copies them out: not before it is known whether they are good. */
struct check passes_check(void *to, const void *from, uint32_t n, bool crc);

#endif
