/* SPDX-License-Identifier: BSD-3-Clause */
/* The IEEE 802.1Q tag of a port that is in one VLAN. */
#ifndef VLAN_H
#define VLAN_H

#include <rte_mbuf.h>
#include <stdbool.h>
#include <stdint.h>

#include "eth_hdr.h"

/* A received frame is in the VLAN (0: none; a tag that gives a priority only is none), be the tag in the frame or taken
 * out by the port.  A service tag, or a second one, is never ours. */
static inline bool vlan_is_ours(const struct rte_mbuf *m, const struct eth_hdr *h, uint16_t vlan);

/* Tags a finished frame: by the port (offload), or in the frame, for which ETH_TAG_LEN octets of headroom are the
 * caller's promise. */
void vlan_push(struct rte_mbuf *m, uint16_t vlan, bool offload);

/* ---- inline ---- */

#define VLAN_VID_MASK 0x0fff

static inline bool
vlan_is_ours(const struct rte_mbuf *m, const struct eth_hdr *h, uint16_t vlan)
{
	uint16_t stripped = m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? m->vlan_tci & VLAN_VID_MASK : 0;

	if (h->service_tag || (stripped && h->vlan))
		return h->vlan == 0 && stripped == vlan;
	return (stripped ? stripped : h->vlan) == vlan;
}

#endif
