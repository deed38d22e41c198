/* SPDX-License-Identifier: BSD-3-Clause */
#include "mr_map.h"

#include <assert.h>
#include <iwarp/err.h>

#include "env.h"
#include "len.h"

struct mr_map *
mr_map_create(uint32_t max)
{
	struct mr_map *map = iw_env_alloc(sizeof(*map) + (max + 1) * sizeof(struct mr_seg));

	if (map)
		map->max = max;
	return map;
}

void
mr_map_destroy(struct mr_map *map)
{
	if (map)
		iw_env_free(map->spare);
	iw_env_free(map);
}

int
mr_map_fill(struct mr_map *map, const struct iw_iov *iov, uint32_t n)
{
	uint64_t total = 0;

	if (n == 0 || !iov)
		return -IW_E_INVAL;
	if (n > map->max)
		return -IW_E_TOOBIG;
	for (uint32_t i = 0; i < n; i++) {
		if (!iov[i].addr || iov[i].length == 0 || iw_len_wraps((uintptr_t)iov[i].addr, iov[i].length) ||
		    iw_len_wraps(total, iov[i].length))
			return -IW_E_INVAL;
		map->seg[i] = (struct mr_seg){.off = total, .p = iov[i].addr};
		total += iov[i].length;
	}
	map->seg[n] = (struct mr_seg){.off = total};
	map->n = n;
	map->total = total;
	return 0;
}

uint8_t *
mr_map_run(const struct mr_map *map, uint64_t off, uint32_t *len)
{
	uint32_t lo = 0, hi = map->n;

	assert(off < map->total);
	while (hi - lo > 1) { /* seg[lo].off <= off < seg[hi].off */
		uint32_t mid = lo + (hi - lo) / 2;

		if (map->seg[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	if (*len > map->seg[hi].off - off)
		*len = (uint32_t)(map->seg[hi].off - off);
	return map->seg[lo].p + (off - map->seg[lo].off);
}
