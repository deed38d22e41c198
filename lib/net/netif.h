/* SPDX-License-Identifier: BSD-3-Clause */
/* One port as the rooms see it: plain data. */
#ifndef NETIF_H
#define NETIF_H

#include <iwarp/cm.h>
#include <stdbool.h>
#include <stdint.h>

struct netif {
	uint8_t mac[6];
	struct iw_addr addr;    /* port 0 */
	uint8_t prefix_len;     /* of the family: 0..32 or 0..128 */
	struct iw_addr gateway; /* ip all zero: none */
	uint16_t mtu;           /* layer 3 */
	uint16_t port_id;
	bool rx_cksum; /* trust RTE_MBUF_F_RX_*_CKSUM_GOOD */
	bool tx_ip_cksum, tx_tcp_cksum;
};

#endif
