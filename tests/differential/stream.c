/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream.h"

#include <string.h>

#define HASH 32

void
stream_init(struct stream *s, uint64_t seed, uint64_t want)
{
	*s = (struct stream){.seed = seed, .want = want};
	crypto_generichash_init(&s->hash_out, NULL, 0, HASH);
	crypto_generichash_init(&s->hash_in, NULL, 0, HASH);
}

static uint8_t
octet(uint64_t seed, uint64_t place)
{
	return (uint8_t)((place + seed * 7919 + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

uint32_t
stream_fill(const struct stream *s, uint8_t *data, uint32_t max)
{
	uint32_t n = s->mute ? 0 : s->want - s->sent < max ? (uint32_t)(s->want - s->sent) : max;

	for (uint32_t i = 0; i < n; i++)
		data[i] = octet(s->seed, s->sent + i);
	return n;
}

void
stream_sent(struct stream *s, const uint8_t *data, uint32_t len)
{
	s->sent += len;
	if (s->want != STREAM_ENDLESS)
		crypto_generichash_update(&s->hash_out, data, len);
}

void
stream_got(struct stream *s, const uint8_t *data, uint32_t len)
{
	s->got += len;
	if (s->want != STREAM_ENDLESS)
		crypto_generichash_update(&s->hash_in, data, len);
}

bool
stream_is_same(const struct stream *a, const struct stream *b)
{
	crypto_generichash_state out = a->hash_out, in = b->hash_in;
	uint8_t sent[HASH], got[HASH];

	crypto_generichash_final(&out, sent, HASH);
	crypto_generichash_final(&in, got, HASH);
	return a->sent == b->got && memcmp(sent, got, HASH) == 0;
}
