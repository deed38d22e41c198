/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a pcap file: classic format, Ethernet, nanoseconds. */
#ifndef PCAP_OUT_H
#define PCAP_OUT_H

#include <rte_mbuf.h>
#include <stdint.h>
#include <stdio.h>

/* NULL: it cannot be made. */
FILE *pcap_out_open(const char *path);
void pcap_out_frame(FILE *f, const struct rte_mbuf *m, uint64_t now_ns);

#endif
