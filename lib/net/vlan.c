/* SPDX-License-Identifier: BSD-3-Clause */
#include "vlan.h"

#include <assert.h>

void
vlan_push(struct rte_mbuf *m, uint16_t vlan, bool offload)
{
	char *p;

	if (offload) {
		m->ol_flags |= RTE_MBUF_F_TX_VLAN;
		m->vlan_tci = vlan;
		return;
	}
	p = rte_pktmbuf_prepend(m, ETH_TAG_LEN);
	assert(p);
	eth_hdr_push_tag((uint8_t *)p, vlan);
	if (m->l2_len)
		m->l2_len = (m->l2_len + ETH_TAG_LEN) & 0x7f;
}
