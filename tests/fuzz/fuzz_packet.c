/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames into a whole engine that listens.  Input: for each frame a length, a flag (addresses, lengths and checksums
 * made right), and its octets: Ethernet, IP, TCP with its options. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_host.h"
#include "iw_time.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = {data, data + len};
	struct fuzz_host h;

	fuzz_host_open(&h);
	for (int i = 0; i < 16 && fuzz_left(&in) > 2; i++) {
		uint8_t frame[1518];
		size_t got, want = fuzz_u16(&in);
		const uint8_t *p = fuzz_take(&in, (want & 0x7fff) % sizeof(frame), &got);

		memcpy(frame, p, got);
		if (!(want & 0x8000))
			fuzz_host_repair(frame, (uint32_t)got);
		if (got > 0)
			fuzz_host_frame(&h, frame, (uint32_t)got);
		h.now_ns += 10 * IW_US;
	}
	fuzz_host_close(&h);
	return 0;
}
