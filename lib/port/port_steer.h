/* SPDX-License-Identifier: BSD-3-Clause */
/* How segments reach the engine that has their connection, on a port with several: asked for before the port starts,
 * looked at afterwards, never assumed (design D11). */
#ifndef PORT_STEER_H
#define PORT_STEER_H

#include <rte_ethdev.h>

#include "port_queues.h"
#include "steer.h"

#define PORT_STEER_KEY_MAX 64 /* octets; the longest that drivers have is 52 */

/* Asks for RSS by TCP's ports with a key of ours, where the port says it has that; key is used until it is started. */
void port_steer_ask(const struct rte_eth_dev_info *info, uint8_t key[PORT_STEER_KEY_MAX], struct rte_eth_conf *conf);

/* The port has started with queues->n queues: what is steered, and how.  as_found: nothing is changed any more. */
void port_steer_probe(uint16_t port_id, const struct rte_eth_dev_info *info, bool as_found, struct port_queues *queues);

#endif
