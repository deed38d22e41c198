/* SPDX-License-Identifier: BSD-3-Clause */
/* Big-endian numbers at fixed places of a header whose length was checked at once: for the *_hdr.c of this room, where
 * every packet passes.  Elsewhere the cursors of lib/base. */
#ifndef BE_H
#define BE_H

#include <stdint.h>

static inline uint16_t
be_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
be_get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void
be_put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void
be_put32(uint8_t *p, uint32_t v)
{
	be_put16(p, (uint16_t)(v >> 16));
	be_put16(p + 2, (uint16_t)v);
}

#endif
