/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory limit for messages of one size: one core copies them into packet buffers with CRC32C and Internet
 * checksum and hands these over a ring, the other checks both and copies the payload out.  No header, no protocol, and
 * as few buffers under way as are best, in pieces that stay in the first cache: nothing that does this work goes
 * faster, so "share of the roofline" is what the protocols leave. */
#ifndef ROOFLINE_H
#define ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

/* Octets of payload a second for messages of `size` octets at a layer-3 MTU, with or without the CRC; 0 when it cannot
 * be measured (fewer than two lcores, no memory).  Takes a sixth of a second on the main and the first worker lcore. */
double roofline_measure(uint32_t size, uint16_t mtu, bool crc);

/* Payload of one packet. */
uint32_t roofline_payload(uint32_t size, uint16_t mtu);

#endif
