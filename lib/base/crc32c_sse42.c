/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c_sse42.h"

#ifdef __x86_64__
#include <nmmintrin.h>
#include <string.h>

bool
iw_crc32c_sse42_usable(void)
{
	return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) uint32_t
iw_crc32c_sse42(uint32_t state, const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t crc = state, word;

	for (; n >= 8; n -= 8, b += 8) {
		memcpy(&word, b, 8);
		crc = _mm_crc32_u64(crc, word);
	}
	for (; n > 0; n--)
		crc = _mm_crc32_u8((uint32_t)crc, *b++);
	return (uint32_t)crc;
}

#else
#include "crc32c.h"

bool
iw_crc32c_sse42_usable(void)
{
	return false;
}

uint32_t
iw_crc32c_sse42(uint32_t state, const void *p, size_t n)
{
	return iw_crc32c_scalar(state, p, n);
}
#endif
