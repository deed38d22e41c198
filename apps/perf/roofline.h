/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory limit for packets of one size: one core copies a payload into packet buffers with CRC32C and Internet
 * checksum and hands them over a ring, the other checks both and copies the payload out. */
#ifndef ROOFLINE_H
#define ROOFLINE_H

#include <stdint.h>

/* Octets of payload a second for messages of `size` octets at a layer-3 MTU; 0 when it cannot be measured (fewer
 * than two lcores, no memory).  Takes a quarter of a second on the main and the first worker lcore. */
double roofline_measure(uint32_t size, uint16_t mtu);

/* Payload of one packet. */
uint32_t roofline_payload(uint32_t size, uint16_t mtu);

#endif
