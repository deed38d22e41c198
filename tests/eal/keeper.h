/* SPDX-License-Identifier: BSD-3-Clause */
/* A port whose driver keeps frames, as those of NICs do: the port of end[0] takes a frame as it is, its NIC reads it
 * later, and the driver gives it back when rte_eth_tx_done_cleanup() asks for that, or when descriptors are short, or
 * when it is stopped.  Behind it is the in-process wire, which carries a copy of what the NIC has read.  Drivers cannot
 * be made outside DPDK's source with what is installed; so this is the wire's, called "net_keeper", with another
 * transmit.  What links it wraps KEEPER_WRAPS of tests/eal/meson.build. */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stdint.h>

/* How the next one behaves, and what it has done. */
struct keeper {
	bool deaf;     /* asked what it is done with, it gives nothing back */
	bool grips;    /* stopped, it gives nothing back either: keeper_let_go() does */
	bool asleep;   /* the NIC reads nothing */
	uint32_t lose; /* the wire loses every so-manieth frame; 0: none */
	uint64_t read, lost, cleaned, short_of, at_stop; /* frames; the last three: how they were given back */
	uint32_t most;                                   /* kept at a time */
};
extern struct keeper keeper;

/* Frames that it has not given back. */
uint32_t keeper_keeps(void);
void keeper_let_go(void);

/* Before ends_open() and behind ends_close(). */
void keeper_begin(void);
void keeper_end(void);

#endif
