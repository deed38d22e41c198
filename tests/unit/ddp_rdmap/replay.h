/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays one direction of a captured connection through the codecs. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "mpa_neg.h"
#include "pcap.h"
#include "rdmap_err.h"
#include "rdmap_ops.h"

/* What was found in FPDU streams. */
struct tally {
	uint32_t fpdus, with_crc, stale_pads, swapped;
	uint32_t ops[RDMAP_OP_MAX];
	struct rdmap_term term; /* the last one */
};

/* One direction in full operation. */
struct replay {
	const struct pcap_stream *stream;
	bool crc, siw;
	uint32_t reads; /* Read Requests that the other direction sent */
	uint32_t msn[RDMAP_QN_MAX], mo;
	struct tally *tally;
};

/* Reads a file of tests/captures; fails the test when it cannot. */
void replay_capture(const char *name, struct pcap_file *file);

/* Octets were lost by nobody, and retransmissions say the same as what they repeat. */
void replay_check_whole(const struct pcap_stream *s);

/* Parses the start-up frame that begins the stream, whole and by every prefix of it. */
enum mpa_hdr_verdict replay_startup(const struct pcap_stream *s, bool reply, struct mpa_startup *f, uint32_t *total);

/* What was parsed gives the same octets again, but for reserved bits, which siw echoes, and for its reject that claims
 * enhanced data and has none. */
void replay_check_startup_emit(const struct pcap_stream *s, const struct mpa_startup *f);

/* The side that sent this Request, as far as it can be seen from it. */
struct mpa_neg_local replay_local_of(const struct mpa_startup *request);

/* Every FPDU from off on, up to the first fault: CRC right where it is on and 0 elsewhere (siw), headers that give the
 * same octets again, and what the codecs alone can judge of the F, D and R rows of the error tables. */
enum rdmap_fault replay_stream(struct replay *r, uint32_t off);

/* Read Requests from off on. */
uint32_t replay_count_reads(const struct pcap_stream *s, uint32_t off);

#endif
