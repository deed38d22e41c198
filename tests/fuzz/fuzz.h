/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fuzz target is: libFuzzer's two functions.  The same file is linked with libFuzzer (clang), or with replay.c,
 * which runs the corpus and some thousand seeded changes of it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max);

/* A reader of the input; zeros behind its end. */
struct fuzz_in {
	const uint8_t *p, *end;
};

static inline uint8_t
fuzz_u8(struct fuzz_in *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

static inline uint16_t
fuzz_u16(struct fuzz_in *in)
{
	uint16_t high = fuzz_u8(in);

	return (uint16_t)(high << 8 | fuzz_u8(in));
}

static inline uint32_t
fuzz_u32(struct fuzz_in *in)
{
	uint32_t high = fuzz_u16(in);

	return high << 16 | fuzz_u16(in);
}

static inline size_t
fuzz_left(const struct fuzz_in *in)
{
	return (size_t)(in->end - in->p);
}

/* Up to n octets; *got of them are there. */
static inline const uint8_t *
fuzz_take(struct fuzz_in *in, size_t n, size_t *got)
{
	const uint8_t *p = in->p;

	*got = n < fuzz_left(in) ? n : fuzz_left(in);
	in->p += *got;
	return p;
}

#endif
