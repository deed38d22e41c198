/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_cookie.h"

#include <string.h>

#include "seq.h"
#include "tcp_face.h"

#define MSS_BITS 3
#define SLOT_BIT (1u << MSS_BITS)
#define HASH_MASK (~(SLOT_BIT | (SLOT_BIT - 1)))
#define OPT_MASK 63u
#define OPT_WS 15u /* its value: none */
#define OPT_SACK (1u << 4)
#define OPT_ECN (1u << 5)
#define OPT_NO_TS 64u /* never on the wire: no timestamp to carry options */
#define ECN_FLAGS (TCP_ECE | TCP_CWR)

/* Rounded down to one of these. */
static const uint16_t mss_table[1u << MSS_BITS] = {TCP_MSS_MIN, TCP_HDR_MSS_V4, TCP_HDR_MSS_V6, 1360,
						   1440,        1460,           4036,           8940};

static uint32_t
hash(const struct iw_env *env, const struct tcp_tuple *t, uint32_t irs, uint64_t slot, uint32_t mss, uint32_t opts)
{
	struct {
		struct tcp_tuple tuple;
		uint32_t irs, slot, what;
	} in = {.tuple = *t, .irs = irs, .slot = (uint32_t)slot, .what = opts << MSS_BITS | mss};

	_Static_assert(sizeof(in) == sizeof(*t) + 12, "hashed as octets: no padding");
	return (uint32_t)iw_env_hash(env, IW_HASH_COOKIE, &in, sizeof(in)) & HASH_MASK;
}

static uint32_t
mss_index(const struct tcp_seg *syn, bool v4)
{
	uint32_t i = (1u << MSS_BITS) - 1, mss = tcp_hdr_mss(syn, v4);

	while (i > 0 && mss_table[i] > mss)
		i--;
	return i;
}

static uint32_t
options_of(const struct tcp_seg *syn)
{
	if (!syn->has_ts)
		return OPT_NO_TS;
	return (syn->has_ws ? syn->ws : OPT_WS) | (syn->sack_perm ? OPT_SACK : 0) |
	       ((syn->flags & ECN_FLAGS) == ECN_FLAGS ? OPT_ECN : 0);
}

struct tcp_seg
tcp_cookie_kept(const struct tcp_seg *syn)
{
	struct tcp_seg kept = *syn;

	if (syn->has_ts)
		return kept;
	kept.flags &= (uint8_t)~ECN_FLAGS;
	kept.has_ws = kept.sack_perm = false;
	return kept;
}

uint32_t
tcp_cookie_make(const struct iw_env *env, const struct tcp_tuple *t, const struct tcp_seg *syn, uint64_t now_ns,
		uint32_t *tsval)
{
	uint64_t slot = now_ns / TCP_COOKIE_SLOT_NS;
	uint32_t mss = mss_index(syn, tcp_tuple_is_v4(t)), opts = options_of(syn), clock = *tsval;

	if (opts != OPT_NO_TS) {
		*tsval = (clock & ~OPT_MASK) | opts;
		if (iw_seq_gt(*tsval, clock))
			*tsval -= OPT_MASK + 1;
	}
	return hash(env, t, syn->seq, slot, mss, opts) | (slot & 1 ? SLOT_BIT : 0) | mss;
}

bool
tcp_cookie_take(const struct iw_env *env, const struct tcp_tuple *t, const struct tcp_seg *ack, uint64_t now_ns,
		struct tcp_seg *syn)
{
	uint64_t slot = now_ns / TCP_COOKIE_SLOT_NS;
	uint32_t isn = ack->ack - 1, irs = ack->seq - 1, mss = isn & (SLOT_BIT - 1);
	uint32_t opts = ack->has_ts ? ack->tsecr & OPT_MASK : OPT_NO_TS, ws = opts & OPT_WS;

	slot -= (slot & 1) != ((isn & SLOT_BIT) != 0);
	if (hash(env, t, irs, slot, mss, opts) != (isn & HASH_MASK))
		return false;
	*syn = (struct tcp_seg){.seq = irs,
				.tsval = ack->tsval,
				.sport = ack->sport,
				.dport = ack->dport,
				.wnd = ack->wnd,
				.mss = mss_table[mss],
				.flags = TCP_SYN | (opts & OPT_ECN ? ECN_FLAGS : 0),
				.has_mss = true,
				.has_ts = ack->has_ts};
	if (ack->has_ts) {
		syn->sack_perm = (opts & OPT_SACK) != 0;
		syn->has_ws = ws != OPT_WS;
		syn->ws = (uint8_t)(syn->has_ws ? ws : 0);
	}
	return true;
}
