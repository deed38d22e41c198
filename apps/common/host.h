/* SPDX-License-Identifier: BSD-3-Clause */
/* One iWARP host of a program: a domain and an engine on a DPDK port. */
#ifndef HOST_H
#define HOST_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

struct host_options {
	struct iw_addr ip, gateway;
	uint8_t prefix_len;
	bool has_ip;
	uint16_t mtu; /* 0: the port's */
	uint16_t port_id;
};

struct host {
	struct iw_domain *domain;
	struct iw_engine *engine;
};

/* Opens the port and waits for its link; an error line and false when that fails. */
bool host_open(struct host *host, const struct host_options *options);
/* Answers until nothing has come for a moment (a second at most): a peer whose last FIN was not acknowledged sends
 * it again, and would wait for long if nobody were there; and some drivers (memif) take back what the peer has not yet
 * fetched.  For an end that hung up. */
void host_linger(struct host *host);
/* Tells peers, frees everything. */
void host_close(struct host *host);

#endif
