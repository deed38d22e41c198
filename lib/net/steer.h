/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the engines on one port a TCP segment belongs to, as receive side scaling of a NIC decides it: the Toeplitz
 * hash of its addresses and ports, and a table of engines. */
#ifndef STEER_H
#define STEER_H

#include <iwarp/connect.h>
#include <stdint.h>

#define STEER_KEY 40     /* octets: enough for the 36 of two IPv6 addresses and two ports */
#define STEER_TABLE 2048 /* entries at most */
#define STEER_MAX 64     /* engines of one port */

struct steer {
	uint8_t key[STEER_KEY];
	uint32_t n;    /* engines */
	uint32_t mask; /* entries - 1 */
	uint8_t table[STEER_TABLE];
};

/* n engines, in turn in a table of so many entries (a power of two, at most STEER_TABLE). */
void steer_init(struct steer *s, const uint8_t key[STEER_KEY], uint32_t n, uint32_t entries);

/* The hash of len octets, len <= STEER_KEY - 4. */
uint32_t steer_hash(const uint8_t key[STEER_KEY], const uint8_t *octets, uint32_t len);

/* The number of the engine for a segment from one address and port to another, both of one family. */
uint32_t steer_home(const struct steer *s, const struct iw_addr *from, const struct iw_addr *to);

#endif
