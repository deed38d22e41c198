/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of dpdk-iwarp-app behind EAL's part. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "host.h"

enum command { COMMAND_NONE, COMMAND_HELP, COMMAND_PING, COMMAND_INFO };

struct options {
	struct host_options host;
	enum command command;
	bool no_crc, no_p2p;
	/* ping */
	bool server, client, verbose, validate;
	struct iw_addr addr; /* with port */
	bool has_addr;
	uint64_t count; /* 0: until stopped */
	uint32_t size;
	uint64_t times;     /* client: so many connections, one after another */
	uint32_t silence_s; /* a peer that is silent so long is given up; 0: the library's defaults */
	/* server: what a peer must be able to bear */
	const char *reject; /* reject everybody with this text */
	uint32_t delay_s;   /* answer a request so late */
	uint64_t rounds;    /* hang up after so many; 0: when the client does */
};

/* False after an error line. */
bool options_parse(int argc, char **argv, struct options *o);
void options_usage(void);

#endif
