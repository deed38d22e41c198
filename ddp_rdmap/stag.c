/* SPDX-License-Identifier: BSD-3-Clause */
#include "stag.h"

void
stag_perm_init(struct stag_perm *perm, const struct iw_env *env)
{
	for (uint32_t i = 0; i < STAG_ROUNDS; i++)
		for (uint32_t x = 0; x <= STAG_HALF_MASK; x++) {
			uint32_t in[2] = {i, x};

			perm->f[i][x] = (uint16_t)(iw_env_hash(env, IW_HASH_STAG, in, sizeof(in)) & STAG_HALF_MASK);
		}
}
