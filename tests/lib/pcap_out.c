/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcap_out.h"

FILE *
pcap_out_open(const char *path)
{
	static const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, sigfigs, snaplen, link;
	} head = {.magic = 0xa1b23c4d, .major = 2, .minor = 4, .snaplen = 65535, .link = 1};
	FILE *f = fopen(path, "wb");

	if (f)
		fwrite(&head, sizeof(head), 1, f);
	return f;
}

void
pcap_out_frame(FILE *f, const struct rte_mbuf *m, uint64_t now_ns)
{
	const uint32_t head[4] = {(uint32_t)(now_ns / 1000000000), (uint32_t)(now_ns % 1000000000),
				  rte_pktmbuf_pkt_len(m), rte_pktmbuf_pkt_len(m)};

	fwrite(head, sizeof(head), 1, f);
	for (; m; m = m->next)
		fwrite(rte_pktmbuf_mtod(m, const void *), rte_pktmbuf_data_len(m), 1, f);
}
