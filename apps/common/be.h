/* SPDX-License-Identifier: BSD-3-Clause */
/* Big-endian numbers of 1 to 8 octets in the messages of the programs. */
#ifndef BE_H
#define BE_H

#include <stdint.h>

/* Writes value at p; where the next one goes. */
static inline uint8_t *
be_put(uint8_t *p, uint64_t value, int octets)
{
	for (int i = octets - 1; i >= 0; i--, value >>= 8)
		p[i] = (uint8_t)value;
	return p + octets;
}

/* Reads a number at *p and moves *p behind it. */
static inline uint64_t
be_get(const uint8_t **p, int octets)
{
	uint64_t value = 0;

	for (int i = 0; i < octets; i++)
		value = value << 8 | (*p)[i];
	*p += octets;
	return value;
}

#endif
