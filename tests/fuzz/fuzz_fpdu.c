/* SPDX-License-Identifier: BSD-3-Clause */
/* An octet stream into an established QP.  Input: how the QP is made, the cut of its views, the stream.  The mutator
 * changes the stream as a whole and then, mostly, makes length, pad and CRC of its FPDUs right again. */
#include <string.h>

#include "crc32c.h"
#include "fuzz.h"
#include "fuzz_world.h"
#include "mpa_hdr.h"

#define HEAD 2

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = {data, data + len};
	unsigned how = fuzz_u8(&in);
	uint32_t cut = fuzz_u8(&in);
	struct fuzz_world w;

	if (len > 16384)
		return 0;
	fuzz_world_open(&w, how);
	/* No more views than tcp would hand over. */
	fuzz_world_feed(&w, in.p, (uint32_t)fuzz_left(&in), cut && fuzz_left(&in) / cut >= MPA_RX_VIEWS ? 0 : cut);
	fuzz_world_close(&w);
	return 0;
}

/* Walks FPDU by FPDU; the last one is cut to what is there.  Without markers. */
static void
repair(uint8_t *p, size_t left)
{
	while (left >= 8) {
		uint32_t ulpdu = fpdu_hdr_length_parse(p), n;

		if (fpdu_hdr_len(ulpdu) > left) {
			ulpdu = (uint32_t)(left & ~(size_t)3) - 6;
			fpdu_hdr_length_emit(p, (uint16_t)ulpdu);
		}
		n = fpdu_hdr_crc_off(ulpdu);
		fpdu_hdr_crc_emit(p + n, iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, p, n)));
		p += n + 4;
		left -= n + 4;
	}
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t max, unsigned seed)
{
	len = LLVMFuzzerMutate(data, len, max);
	if (len > HEAD && seed % 8)
		repair(data + HEAD, len - HEAD);
	return len;
}
