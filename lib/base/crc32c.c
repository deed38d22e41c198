/* SPDX-License-Identifier: BSD-3-Clause */
#include "crc32c.h"

#include <isa-l/crc.h>
#include <string.h>

#include "crc32c_sse42.h"
#include "crc32c_vpclmul.h"
#include "sum.h"

/* Below this one lane of the CPU's CRC instruction is faster than all that needs setting up. */
#define SHORT 256
/* From here on the kernels of our own are faster than ISA-L. */
#define LONG 1024
/* Without them: what is copied before it is summed, so that the destination is in the first-level cache. */
#define CHUNK 4096
/* ISA-L counts in int. */
#define ISAL_MAX ((size_t)1 << 30)

#define POLY 0x82f63b78u /* 0x1edc6f41 with its bits reversed */
#define T1(x) ((uint32_t)(x) >> 1 ^ (((x)&1) ? POLY : 0))
#define T4(x) T1(T1(T1(T1(x))))

/* One entry for each value of a nibble, twice: the eight steps of an octet are two look-ups. */
static const uint32_t nibble[16] = {T4(0), T4(1), T4(2),  T4(3),  T4(4),  T4(5),  T4(6),  T4(7),
				    T4(8), T4(9), T4(10), T4(11), T4(12), T4(13), T4(14), T4(15)};

uint32_t
iw_crc32c_scalar(uint32_t state, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		state ^= b[i];
		state = state >> 4 ^ nibble[state & 15];
		state = state >> 4 ^ nibble[state & 15];
	}
	return state;
}

/* ISA-L counts in int. */
static uint32_t
crc_isal(uint32_t state, const uint8_t *p, size_t n)
{
	while (n > ISAL_MAX) {
		state = crc32_iscsi((unsigned char *)(uintptr_t)p, (int)ISAL_MAX, state);
		p += ISAL_MAX;
		n -= ISAL_MAX;
	}
	return crc32_iscsi((unsigned char *)(uintptr_t)p, (int)n, state);
}

uint32_t
iw_crc32c(uint32_t state, const void *p, size_t n)
{
#ifdef __x86_64__
	if (n < SHORT && iw_crc32c_sse42_usable())
		return iw_crc32c_sse42(state, p, n);
	if (n >= LONG && iw_crc32c_vpclmul_usable())
		return iw_crc32c_vpclmul(state, p, n);
#endif
	return crc_isal(state, p, n);
}

uint32_t
iw_crc32c_sum(uint32_t state, const void *p, size_t n, uint64_t *sum)
{
#ifdef __x86_64__
	if (n >= LONG && iw_crc32c_vpclmul_usable())
		return iw_crc32c_vpclmul_sum(state, p, n, sum);
#endif
	*sum = iw_sum(p, n);
	return iw_crc32c(state, p, n);
}

/* CRC and sum are taken over the destination, which nobody else writes: the source may change under our hands. */
static uint32_t
copy_then_crc(uint32_t state, uint8_t *dst, const uint8_t *src, size_t n)
{
	for (size_t part; n > 0; n -= part, dst += part, src += part) {
		part = n < CHUNK ? n : CHUNK;
		memcpy(dst, src, part);
		state = iw_crc32c(state, dst, part);
	}
	return state;
}

uint32_t
iw_crc32c_copy(uint32_t state, void *dst, const void *src, size_t n)
{
#ifdef __x86_64__
	if (n < LONG && iw_crc32c_sse42_usable())
		return iw_crc32c_sse42_copy(state, dst, src, n);
	if (n >= LONG && iw_crc32c_vpclmul_usable())
		return iw_crc32c_vpclmul_copy(state, dst, src, n);
#endif
	return copy_then_crc(state, dst, src, n);
}

uint32_t
iw_crc32c_copy_sum(uint32_t state, void *dst, const void *src, size_t n, uint64_t *sum)
{
#ifdef __x86_64__
	if (n >= LONG && iw_crc32c_vpclmul_usable())
		return iw_crc32c_vpclmul_copy_sum(state, dst, src, n, sum);
#endif
	state = iw_crc32c_copy(state, dst, src, n);
	*sum = iw_sum(dst, n);
	return state;
}
