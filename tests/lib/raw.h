/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer made by hand: a host of the sim that speaks through its TCP alone, octet by octet as a test likes. */
#ifndef RAW_H
#define RAW_H

#include "ddp_hdr.h"
#include "sim.h"

#define RAW_IN (4u << 20)

struct raw {
	struct sim *sim;
	uint32_t host, conn;
	uint32_t bits; /* TCP_READY_*: all that came */
	uint8_t *in;   /* what has arrived and was read */
	uint32_t len;
	bool deaf; /* does not read: its window closes */
	uint32_t listener;
	struct raw *next; /* others; all of them read when one does */
};

/* Makes the host a raw one and opens a connection to another one's port; true when it is up within five seconds. */
bool raw_open(struct raw *r, struct sim *sim, uint32_t host, uint32_t to, uint16_t port);
/* The same without waiting. */
void raw_dial(struct raw *r, struct sim *sim, uint32_t host, uint32_t to, uint16_t port);
/* Or waits for one: raw_listen(), then somebody connects, then raw_accept() until it is true. */
void raw_listen(struct raw *r, struct sim *sim, uint32_t host, uint16_t port);
bool raw_accept(struct raw *r);
/* Reset if it is still there, and everything given back. */
void raw_close(struct raw *r);

/* Octets as segments of their own, cut at the MSS. */
void raw_send(struct raw *r, const void *octets, uint32_t len);
void raw_fin(struct raw *r);
void raw_rst(struct raw *r);
/* Lets time pass and reads. */
void raw_run(struct raw *r, uint64_t ns);
/* Until that many octets have come; false: not within ns. */
bool raw_await(struct raw *r, uint32_t len, uint64_t ns);
/* Forgets what was read. */
void raw_forget(struct raw *r);
bool raw_ended(const struct raw *r); /* FIN or RST came */

/* A start-up frame by the octets: returns its length. */
uint32_t raw_startup(uint8_t *out, bool reply, uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len);
/* Request of revision 2 with CRC, IRD 16, ORD 16 and no A; then the Reply: true when it came, 24 octets, taken. */
bool raw_start(struct raw *r);

/* An FPDU with its CRC; returns its length. */
uint32_t raw_fpdu(uint8_t *out, const struct ddp_hdr *h, const void *payload, uint32_t len);
uint32_t raw_read_req(uint8_t *out, uint32_t msn, uint32_t size, uint32_t stag, uint64_t to);
/* The Terminate in what was read, from its ULPDU_Length on; NULL: there is none. */
const uint8_t *raw_find_terminate(const struct raw *r);
/* Layer, type and code of the Terminate at the end of what was read as 0xLECC; 0: there is none. */
uint32_t raw_terminate(const struct raw *r);

#endif
