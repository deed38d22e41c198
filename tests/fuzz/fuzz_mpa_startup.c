/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA Request and Reply in both roles: any octets, seen at every length; what was read goes through the negotiation,
 * and what that makes must be readable. */
#include <assert.h>
#include <string.h>

#include "fuzz.h"
#include "mpa_neg.h"

static void
check_frame(const struct mpa_startup *f)
{
	uint8_t out[MPA_HDR_STARTUP_MAX];
	struct mpa_startup back;
	uint32_t len = mpa_hdr_startup_emit(f, out, sizeof(out)), total;

	assert(len >= MPA_HDR_STARTUP_LEN);
	assert(mpa_hdr_startup_parse(out, len, f->reply, &back, &total) == MPA_HDR_OK && total == len);
	assert(back.private_len == f->private_len && back.ird == f->ird && back.ord == f->ord);
	assert(back.markers == f->markers && back.crc == f->crc && back.reject == f->reject);
}

static void
as_responder(const struct mpa_neg_local *local, const struct mpa_startup *request)
{
	struct mpa_startup reject;
	struct mpa_neg out;

	mpa_neg_responder(local, request, "data", 4, &out);
	assert(out.verdict == MPA_NEG_AGREED);
	assert(out.stream.ird <= local->ird && out.stream.ord <= local->ord);
	check_frame(&out.reply);
	mpa_neg_reject(local, request, NULL, 0, &reject);
	check_frame(&reject);
}

static void
as_initiator(const struct mpa_neg_local *local, const struct mpa_startup *reply)
{
	struct mpa_startup request;
	struct mpa_neg out;

	mpa_neg_request(local, "data", 4, &request);
	check_frame(&request);
	mpa_neg_initiator(local, &request, reply, &out);
	assert(out.verdict != MPA_NEG_AGREED || !reply->reject);
	assert(out.stream.ird <= local->ird && out.stream.ord <= local->ord);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = {data, data + len};
	uint8_t how = fuzz_u8(&in), depth = fuzz_u8(&in);
	struct mpa_neg_local local = {.revision = how & 2 ? 2 : 1,
				      .crc = how & 4,
				      .markers = how & 8,
				      .peer_to_peer = how & 16,
				      .no_ird_ord = how & 32,
				      .ird = depth & 15,
				      .ord = depth >> 4};
	enum mpa_hdr_verdict v = MPA_HDR_NEED;
	uint32_t n = (uint32_t)fuzz_left(&in), total;
	bool reply = how & 1;
	struct mpa_startup f;

	for (uint32_t i = 0; i <= n && v == MPA_HDR_NEED; i++) {
		v = mpa_hdr_startup_parse(in.p, i, reply, &f, &total);
		assert(v != MPA_HDR_NEED || (total > i && total <= MPA_HDR_STARTUP_MAX));
		assert(v != MPA_HDR_OK || total <= i);
	}
	if (v != MPA_HDR_OK)
		return 0;
	if (reply)
		as_initiator(&local, &f);
	else
		as_responder(&local, &f);
	return 0;
}
