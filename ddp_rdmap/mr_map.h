/* SPDX-License-Identifier: BSD-3-Clause */
/* Scattered memory that looks like one piece: offsets to places. */
#ifndef MR_MAP_H
#define MR_MAP_H

#include <iwarp/verbs.h>
#include <stdint.h>

struct mr_seg {
	uint64_t off; /* of its first octet */
	uint8_t *p;
};

struct mr_map {
	struct mr_map
		*spare; /* a fast registration's other one: filled at the post, in use from the request's turn on */
	uint64_t total;
	uint32_t n, max;
	struct mr_seg seg[]; /* ascending, without gaps; one more than max, at the end */
};

/* Room for max pieces; NULL: memory is short. */
struct mr_map *mr_map_create(uint32_t max);
void mr_map_destroy(struct mr_map *map); /* and its spare */

/* Takes the list.  -IW_E_INVAL: empty, a piece is empty, wraps or is nowhere, the sum wraps; -IW_E_TOOBIG: more than
 * max. */
int mr_map_fill(struct mr_map *map, const struct iw_iov *iov, uint32_t n);

/* The place of the octet at off < total; *len is cut to what follows it in one piece. */
uint8_t *mr_map_run(const struct mr_map *map, uint64_t off, uint32_t *len);

#endif
