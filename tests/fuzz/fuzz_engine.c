/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole engine in conversation with a peer made by hand.  Input: steps of {time, flags, how sequence and ACK number
 * deviate, what the payload is, its octets}.  Without deviation the numbers are those that the engine waits for, so
 * that inputs get through the handshake, the start-up and into FPDUs, whose CRC is made right. */
#include <string.h>

#include "fuzz.h"
#include "fuzz_host.h"
#include "fuzz_world.h"
#include "iw_time.h"

#define STEPS 24
#define FIRST_SEQ 1000

enum { PAY_RAW, PAY_REQUEST, PAY_FPDU, PAY_OPTIONS };

static uint32_t
deviate(uint32_t n, uint8_t by)
{
	return by & 0x80 ? n + (uint32_t)((by & 0x3f) - 32) * (by & 0x40 ? 1448u : 1u) : n;
}

static uint32_t
payload(uint8_t kind, const uint8_t *p, size_t n, uint8_t *out)
{
	if (kind == PAY_FPDU && n >= 2)
		return fuzz_fpdu(out, p, (uint32_t)n);
	if (kind == PAY_REQUEST) {
		memcpy(out, "MPA ID Req Frame", 16);
		memcpy(out + 16, p, n);
		return 16 + (uint32_t)n;
	}
	if (n)
		memcpy(out, p, n);
	return (uint32_t)n;
}

static void
step(struct fuzz_host *h, struct fuzz_in *in, uint32_t *next)
{
	uint8_t dt = fuzz_u8(in), flags = fuzz_u8(in), seq_by = fuzz_u8(in), ack_by = fuzz_u8(in), what = fuzz_u8(in);
	uint8_t octets[600], frame[1518];
	size_t got;
	const uint8_t *p = fuzz_take(in, fuzz_u16(in) & 511, &got);
	uint32_t n = payload(what & 3, p, got, octets);
	bool opts = (what & 3) == PAY_OPTIONS;
	uint32_t len;

	h->now_ns += (uint64_t)IW_US << (dt & 31) % 28; /* 1 us to 134 s */
	fuzz_host_turn(h);
	len = fuzz_host_segment(frame, deviate(*next, seq_by), deviate(h->ack, ack_by), flags, (uint16_t)(what << 8),
				octets, opts ? (n < 40 ? n : 40) : 0, octets, opts ? 0 : n);
	fuzz_host_frame(h, frame, len);
	if (!(seq_by & 0x80))
		*next += (opts ? 0 : n) + (flags & 2 ? 1 : 0) + (flags & 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = {data, data + len};
	uint32_t next = FIRST_SEQ;
	struct fuzz_host h;

	fuzz_host_open(&h);
	for (int i = 0; i < STEPS && fuzz_left(&in) > 0; i++)
		step(&h, &in, &next);
	fuzz_host_close(&h);
	return 0;
}
