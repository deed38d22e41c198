/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "exec.h"
#include "host.h"

struct options {
	struct host_options host;
	uint16_t port;       /* where we listen: 4420 */
	uint32_t buffer_mib; /* data buffers: 64 */
	bool no_crc;
	bool help, bench;
	int bench_argc; /* what stands behind `bench` */
	char **bench_argv;
};

/* Reads the command line into options and the subsystems of target; false after an error line. */
bool options_parse(int argc, char **argv, struct options *o, struct target *target);
void options_usage(void);

#endif
