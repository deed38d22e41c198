/* SPDX-License-Identifier: BSD-3-Clause */
/* What an end sends and gets: octets by a seed and their place, and a hash (BLAKE2b of libsodium) of each way. */
#ifndef STREAM_H
#define STREAM_H

#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>

#define STREAM_ENDLESS UINT64_MAX

struct stream {
	uint64_t seed;
	uint64_t want, sent, got; /* octets; want: to be sent, then the end closes; STREAM_ENDLESS: it does not */
	crypto_generichash_state hash_out, hash_in;
	bool mute;                    /* sends nothing, and does not close */
	bool up, closed, eof, failed; /* closed: our side, eof: the peer's */
};

void stream_init(struct stream *s, uint64_t seed, uint64_t want);
/* The next octets to be sent, at most max; to be followed by stream_sent() for those that TCP took. */
uint32_t stream_fill(const struct stream *s, uint8_t *data, uint32_t max);
void stream_sent(struct stream *s, const uint8_t *data, uint32_t len);
void stream_got(struct stream *s, const uint8_t *data, uint32_t len);
/* Everything that a has sent is what b got. */
bool stream_is_same(const struct stream *a, const struct stream *b);

#endif
