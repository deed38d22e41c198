/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a pcap file and puts its TCP streams together: classic format, Ethernet, IPv4 and IPv6 without extension
 * headers or fragments. */
#ifndef PCAP_H
#define PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One direction of a connection. */
struct pcap_stream {
	uint8_t ip[16]; /* of the sender; IPv4 as ::ffff:a.b.c.d */
	uint16_t port;
	uint32_t isn; /* sequence number of the SYN */
	bool syn, fin, rst;
	uint32_t len;           /* octets from the first one on without a hole */
	uint32_t lost;          /* octets behind the first hole */
	uint32_t segments;      /* with data */
	uint32_t repeated;      /* octets that were there already: retransmissions */
	uint32_t contradictory; /* of them, those that differ from what was there */
	uint32_t late;          /* segments that came after a later one */
	uint8_t *octets;        /* len of them, then the hole and what is behind it */
	/* private to pcap.c */
	uint8_t *seen;
	uint32_t room, end;
};

/* [0] is the side that sent the first SYN. */
struct pcap_conn {
	struct pcap_stream dir[2];
};

struct pcap_file {
	struct pcap_conn *conns; /* in the order of their SYNs */
	uint32_t n_conns;
	uint32_t frames, skipped; /* frames that are not TCP, or belong to no connection whose SYN was seen */
};

/* 0, or -1 when it cannot be read or is no pcap file. */
int pcap_file_read(const char *path, struct pcap_file *file);
/* The same from memory. */
int pcap_file_parse(const uint8_t *octets, size_t len, struct pcap_file *file);
void pcap_file_free(struct pcap_file *file);

#endif
