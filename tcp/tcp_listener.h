/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener, as those see it who count its backlog. */
#ifndef TCP_LISTENER_H
#define TCP_LISTENER_H

#include <iwarp/addr.h>
#include <stdint.h>

#include "list.h"

struct tcp_listener {
	struct iw_addr addr;
	uint32_t owner, backlog, used;
	struct iw_list embryos; /* connections in the backlog */
};

#endif
