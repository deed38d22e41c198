/* SPDX-License-Identifier: BSD-3-Clause */
/* lwIP's TCP as a peer in this process: a second stack that nobody here has written.  It has one connection, sends a
 * stream and checks the other one.  The library is loaded apart: some of its functions have the names of ours. */
#ifndef LWIP_PEER_H
#define LWIP_PEER_H

#include <iwarp/connect.h>
#include <stdbool.h>
#include <stdint.h>

/* What its host does with an IP packet of it. */
typedef void (*lwip_peer_output)(void *arg, const uint8_t *packet, uint32_t len);

struct lwip_peer {
	lwip_peer_output output;
	void *arg;
	void *pcb, *listener;
	uint64_t next_tick_ns;
	uint64_t sent, want, got; /* octets */
	uint64_t hash;            /* of what was got, lwip_peer_hash() */
	bool v6, up, fin, closed, failed;
};

/* False: the library is not there. */
bool lwip_peer_init(struct lwip_peer *p, const struct iw_addr *ip, lwip_peer_output output, void *arg);
/* Its connection is aborted, nothing is left. */
void lwip_peer_fini(struct lwip_peer *p);

void lwip_peer_listen(struct lwip_peer *p, uint16_t port);
void lwip_peer_connect(struct lwip_peer *p, uint16_t from_port, const struct iw_addr *to);

/* An IP packet for it. */
void lwip_peer_input(struct lwip_peer *p, const uint8_t *packet, uint32_t len);
/* Its timers, by our clock; it writes what it may, and closes behind the last octet. */
void lwip_peer_turn(struct lwip_peer *p, uint64_t now_ns);

/* The octet at a place of its stream (which 1) or ours (0), and a hash over octets. */
uint8_t lwip_peer_octet(uint32_t which, uint64_t place);
uint64_t lwip_peer_hash(uint64_t hash, const uint8_t *data, uint32_t len);

#endif
