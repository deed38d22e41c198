/* SPDX-License-Identifier: BSD-3-Clause */
#include "steer.h"

#include <assert.h>
#include <string.h>

#include "iw_addr.h"

#define V4_AT 12 /* of the four octets in a mapped address */

void
steer_init(struct steer *s, const uint8_t key[STEER_KEY], uint32_t n, uint32_t entries)
{
	assert(n > 0 && n <= STEER_MAX);
	assert(entries > 0 && entries <= STEER_TABLE && (entries & (entries - 1)) == 0);
	memcpy(s->key, key, STEER_KEY);
	s->n = n;
	s->mask = entries - 1;
	for (uint32_t i = 0; i < entries; i++)
		s->table[i] = (uint8_t)(i % n);
}

/* The key slides to the left by one bit for each bit of the octets, and is added, without carry, where that is 1. */
uint32_t
steer_hash(const uint8_t key[STEER_KEY], const uint8_t *octets, uint32_t len)
{
	uint32_t hash = 0, window = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];

	assert(len <= STEER_KEY - 4);
	for (uint32_t i = 0; i < len; i++)
		for (int bit = 7; bit >= 0; bit--) {
			hash ^= octets[i] >> bit & 1 ? window : 0;
			window = window << 1 | (key[i + 4] >> bit & 1);
		}
	return hash;
}

uint32_t
steer_home(const struct steer *s, const struct iw_addr *from, const struct iw_addr *to)
{
	uint32_t at = iw_addr_is_v4(to) ? V4_AT : 0, n = 16 - at;
	uint8_t octets[STEER_KEY - 4], *ports = octets + 2 * n;

	memcpy(octets, from->ip + at, n);
	memcpy(octets + n, to->ip + at, n);
	ports[0] = (uint8_t)(from->port >> 8);
	ports[1] = (uint8_t)from->port;
	ports[2] = (uint8_t)(to->port >> 8);
	ports[3] = (uint8_t)to->port;
	return s->table[steer_hash(s->key, octets, 2 * n + 4) & s->mask];
}
