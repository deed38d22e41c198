/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames whose payload is the user's memory: which ports can send them. */
#ifndef PORT_LEND_H
#define PORT_LEND_H

#include <rte_ethdev.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL: it can, when it was started with these transmit offloads; else why not, for people. */
const char *port_lend_why_not(uint16_t port_id, const struct rte_eth_dev_info *info, uint64_t offloads);

/* Drivers report what has been sent every so many packets, and nothing of it before: on a queue that falls silent the
 * last ones would never come back. */
void port_lend_ask(struct rte_eth_txconf *conf);

/* It keeps frames when its transmit has returned: to be asked by port_lend_reap() for those that it is done with. */
bool port_lend_keeps(const struct rte_eth_dev_info *info);
void port_lend_reap(uint16_t port_id, uint16_t queue);

#endif
