/* SPDX-License-Identifier: BSD-3-Clause */
/* STags as handed to peers: a keyed permutation of (slot, generation) in the upper 24 bits, a key octet below
 * (design D16, RFC 5040 §8.1.1 item 8: hard to predict).  Four Feistel rounds whose round functions are tables of
 * secret random numbers, so that a lookup costs four loads. */
#ifndef STAG_H
#define STAG_H

#include <stdint.h>

#include "env.h"

#define STAG_ROUNDS 4
#define STAG_HALF_BITS 12
#define STAG_HALF_MASK ((1u << STAG_HALF_BITS) - 1)
#define STAG_GEN_BITS 4
#define STAG_GEN_MASK ((1u << STAG_GEN_BITS) - 1)
#define STAG_SLOT_BITS (2 * STAG_HALF_BITS - STAG_GEN_BITS)
#define STAG_SLOTS (1u << STAG_SLOT_BITS)

struct stag_perm {
	uint16_t f[STAG_ROUNDS][1u << STAG_HALF_BITS];
};

/* Draws the tables from the secret; the same secret gives the same STags. */
void stag_perm_init(struct stag_perm *perm, const struct iw_env *env);

/* ---- inline ---- */

/* The STag of a slot's gen-th use with that key octet. */
static inline uint32_t
stag_make(const struct stag_perm *perm, uint32_t slot, uint32_t gen, uint8_t key)
{
	uint32_t l = (slot << STAG_GEN_BITS | (gen & STAG_GEN_MASK)) >> STAG_HALF_BITS;
	uint32_t r = (slot << STAG_GEN_BITS | (gen & STAG_GEN_MASK)) & STAG_HALF_MASK;

	for (int i = 0; i < STAG_ROUNDS; i++) {
		uint32_t t = l ^ perm->f[i][r];

		l = r;
		r = t;
	}
	return (l << STAG_HALF_BITS | r) << 8 | key;
}

/* The slot that an STag names; every 32-bit value names one. */
static inline uint32_t
stag_slot(const struct stag_perm *perm, uint32_t stag)
{
	uint32_t l = stag >> (8 + STAG_HALF_BITS), r = stag >> 8 & STAG_HALF_MASK;

	for (int i = STAG_ROUNDS - 1; i >= 0; i--) {
		uint32_t t = r ^ perm->f[i][l];

		r = l;
		l = t;
	}
	return (l << STAG_HALF_BITS | r) >> STAG_GEN_BITS;
}

#endif
