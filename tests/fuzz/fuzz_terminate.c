/* SPDX-License-Identifier: BSD-3-Clause */
/* The body of a Terminate: read, written again, and as an FPDU that a QP receives; never one in answer. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_world.h"
#include "rdmap_hdr.h"

static void
round_trip(const uint8_t *body, uint32_t len)
{
	uint8_t out[RDMAP_HDR_TERM_MAX];
	struct rdmap_term t, back;
	uint32_t n;

	rdmap_hdr_term_parse(body, len, &t);
	if (t.malformed || t.nibbles_swapped)
		return;
	n = rdmap_hdr_term_emit(&t, out, sizeof(out));
	assert(n > 0 && n <= len);
	rdmap_hdr_term_parse(out, n, &back);
	assert(back.layer == t.layer && back.etype == t.etype && back.code == t.code);
	assert(back.has_ddp == t.has_ddp && back.has_rdmap == t.has_rdmap);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint8_t head[18] = {0x41, 0x47, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0};
	static uint8_t ulpdu[2048], fpdu[2064];
	struct iw_terminate info;
	struct fuzz_world w;

	if (len > sizeof(ulpdu) - sizeof(head))
		return 0;
	round_trip(data, (uint32_t)len);
	memcpy(ulpdu, head, sizeof(head));
	memcpy(ulpdu + sizeof(head), data, len);
	fuzz_world_open(&w, FUZZ_CRC | FUZZ_INITIATOR | FUZZ_READS | FUZZ_RECVS);
	fuzz_world_feed(&w, fpdu, fuzz_fpdu(fpdu, ulpdu, (uint32_t)(sizeof(head) + len)), len % 7);
	iw_qp_terminate_info(w.qp, &info);
	assert(info.valid && !info.sent);
	assert(iw_qp_state(w.qp) == IW_QP_ERROR);
	fuzz_world_close(&w);
	return 0;
}
