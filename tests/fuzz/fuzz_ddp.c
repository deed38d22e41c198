/* SPDX-License-Identifier: BSD-3-Clause */
/* DDP segments into an established QP, framed and with CRC, their STags and offsets drawn from registrations that
 * exist. Input: how the QP is made; then for each segment a length, an STag, where it goes, and its octets. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_world.h"

#define SEGMENTS 16

static void
be(uint8_t *p, uint64_t v, unsigned octets)
{
	for (unsigned i = 0; i < octets; i++)
		p[i] = (uint8_t)(v >> 8 * (octets - 1 - i));
}

/* STag and TO of a tagged header, or of the source in a Read Request, or of an atomic. */
static void
aim(const struct fuzz_world *w, uint8_t *ulpdu, uint32_t len, uint8_t which, uint16_t off)
{
	uint32_t stag = w->stag[which % FUZZ_STAGS];
	uint64_t to = FUZZ_BASE + (which % FUZZ_STAGS) * UINT64_C(8192) + (uint64_t)(int16_t)off;

	if (which & 0x80)
		return;
	if (len >= 14 && ulpdu[0] & 0x80) {
		be(ulpdu + 2, stag, 4);
		be(ulpdu + 6, to, 8);
	} else if (len >= 46 && (ulpdu[1] & 15) == 1) {
		be(ulpdu + 34, stag, 4);
		be(ulpdu + 38, to, 8);
	} else if (len >= 38 && (ulpdu[1] & 15) == 10) {
		be(ulpdu + 26, stag, 4);
		be(ulpdu + 30, to, 8);
	} else if (len >= 6) {
		be(ulpdu + 2, stag, 4);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint8_t stream[SEGMENTS * 2048];
	struct fuzz_in in = {data, data + len};
	unsigned how = fuzz_u8(&in);
	struct fuzz_world w;
	uint32_t n = 0;

	fuzz_world_open(&w, (how & ~(unsigned)FUZZ_MARKERS) | FUZZ_CRC);
	for (int i = 0; i < SEGMENTS && fuzz_left(&in) > 0; i++) {
		uint8_t ulpdu[1024];
		size_t got, want = fuzz_u16(&in) % sizeof(ulpdu);
		uint8_t which = fuzz_u8(&in);
		uint16_t off = fuzz_u16(&in);
		const uint8_t *p = fuzz_take(&in, want, &got);

		memset(ulpdu, 0xa5, sizeof(ulpdu)); /* payload may be longer than the input */
		memcpy(ulpdu, p, got);
		aim(&w, ulpdu, (uint32_t)want, which, off);
		n += fuzz_fpdu(stream + n, ulpdu, (uint32_t)want);
	}
	fuzz_world_feed(&w, stream, n, 0);
	fuzz_world_close(&w);
	return 0;
}
