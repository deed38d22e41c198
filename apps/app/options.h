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
};

/* False after an error line. */
bool options_parse(int argc, char **argv, struct options *o);
void options_usage(void);

#endif
