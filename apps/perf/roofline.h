/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory limit for messages of one size: one core copies them into packet buffers with CRC32C and Internet
 * checksum and hands these over a ring, the other checks both and copies the payload out.  The passes are the stack's
 * own; there is no header and no protocol, and as few buffers are under way as are best: "share of the roofline" is
 * what the protocols leave. */
#ifndef ROOFLINE_H
#define ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"

/* Octets of payload a second for messages of `size` octets at a layer-3 MTU, with or without the CRC; 0 when it cannot
 * be measured (fewer than two lcores, no memory).  Takes a fifth of a second on the main and the first worker lcore. */
double roofline_measure(uint32_t size, uint16_t mtu, bool crc);

/* The memory limit of one core alone, which does the work of both and hands nothing over.  Cores that do so at the same
 * time, each with a roofline of its own, share nothing but what the machine makes them share: what several bring there
 * nothing exceeds.  NULL: no memory. */
struct roofline *roofline_create(uint32_t size, uint16_t mtu, bool crc);
void roofline_destroy(struct roofline *r); /* or NULL */
/* Octets of payload a second, in a tenth of a second on this core; 0: they did not arrive as they were. */
double roofline_alone(struct roofline *r);

/* The same for latency: one message, of one packet, goes to the other core and one comes back, each copied in, checked
 * and copied out.  Nanoseconds of each of iters round trips; false: it cannot be measured, or was stopped. */
bool roofline_latency(uint32_t size, uint16_t mtu, bool crc, uint64_t iters, struct hist *hist);

/* Payload of one packet. */
uint32_t roofline_payload(uint32_t size, uint16_t mtu);

#endif
