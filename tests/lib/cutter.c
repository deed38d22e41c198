/* SPDX-License-Identifier: BSD-3-Clause */
#include "cutter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#define OFFLOADS (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM | RTE_MBUF_F_TX_IP_CKSUM)

/* The headers of a frame, at any address. */
struct headers {
	uint8_t *ip;
	struct rte_tcp_hdr *tcp;
	bool v4;
};

static struct headers
headers_of(struct rte_mbuf *m, const struct rte_mbuf *lens)
{
	return (struct headers){.ip = rte_pktmbuf_mtod_offset(m, uint8_t *, lens->l2_len),
				.tcp = rte_pktmbuf_mtod_offset(m, struct rte_tcp_hdr *, lens->l2_len + lens->l3_len),
				.v4 = (lens->ol_flags & RTE_MBUF_F_TX_IPV4) != 0};
}

static uint16_t
pseudo(const struct headers *h, uint64_t ol_flags)
{
	return h->v4 ? rte_ipv4_phdr_cksum((const struct rte_ipv4_hdr *)h->ip, ol_flags)
		     : rte_ipv6_phdr_cksum((const struct rte_ipv6_hdr *)h->ip, ol_flags);
}

/* Every field that a driver may look at. */
static void
check(struct rte_mbuf *m)
{
	struct headers h = headers_of(m, m);
	uint32_t octets = 0, segs = 0, hdr_len = m->l2_len + m->l3_len + m->l4_len;

	for (const struct rte_mbuf *s = m; s; s = s->next, segs++)
		octets += s->data_len;
	assert_int_equal(octets, m->pkt_len);
	assert_int_equal(segs, m->nb_segs);
	assert_true(hdr_len <= m->data_len);
	assert_int_equal((m->ol_flags & RTE_MBUF_F_TX_IPV6) != 0, !h.v4);
	assert_int_equal(m->l4_len, (h.tcp->data_off >> 4) * 4);
	assert_int_equal(h.tcp->cksum, pseudo(&h, m->ol_flags));
	if (h.v4) {
		const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)h.ip;

		assert_int_equal(rte_be_to_cpu_16(ip->total_length), m->pkt_len - m->l2_len);
		assert_true(ip->hdr_checksum == 0 && m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM);
	} else {
		assert_int_equal(rte_be_to_cpu_16(((const struct rte_ipv6_hdr *)h.ip)->payload_len),
				 m->pkt_len - m->l2_len - m->l3_len);
	}
	if (m->ol_flags & RTE_MBUF_F_TX_TCP_SEG)
		assert_true(m->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM && m->tso_segsz > 0 &&
			    m->pkt_len > hdr_len + m->tso_segsz);
}

static void
set_lengths_and_cksums(const struct headers *h, uint32_t l4_len, uint32_t number)
{
	struct rte_ipv4_hdr *ip4 = (struct rte_ipv4_hdr *)h->ip;
	struct rte_ipv6_hdr *ip6 = (struct rte_ipv6_hdr *)h->ip;

	h->tcp->cksum = 0;
	if (h->v4) {
		ip4->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip4) + l4_len));
		ip4->packet_id = rte_cpu_to_be_16((uint16_t)(rte_be_to_cpu_16(ip4->packet_id) + number));
		ip4->hdr_checksum = rte_ipv4_cksum(ip4);
		h->tcp->cksum = rte_ipv4_udptcp_cksum(ip4, h->tcp);
	} else {
		ip6->payload_len = rte_cpu_to_be_16((uint16_t)l4_len);
		h->tcp->cksum = rte_ipv6_udptcp_cksum(ip6, h->tcp);
	}
}

/* Octets [at, at + len) of the payload of m, with its headers. */
static struct rte_mbuf *
cut(struct rte_mempool *pool, struct rte_mbuf *m, uint32_t at, uint32_t len, uint32_t number)
{
	uint32_t hdr_len = m->l2_len + m->l3_len + m->l4_len;
	bool last = hdr_len + at + len == m->pkt_len;
	struct rte_mbuf *c = rte_pktmbuf_alloc(pool);
	struct headers h;
	uint8_t *p;
	const void *from;

	assert_non_null(c);
	p = (uint8_t *)rte_pktmbuf_append(c, (uint16_t)(hdr_len + len));
	assert_non_null(p);
	memcpy(p, rte_pktmbuf_mtod(m, void *), hdr_len);
	from = rte_pktmbuf_read(m, hdr_len + at, len, p + hdr_len);
	if (from != p + hdr_len)
		memcpy(p + hdr_len, from, len);
	h = headers_of(c, m);
	h.tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(h.tcp->sent_seq) + at);
	if (!last)
		h.tcp->tcp_flags &= (uint8_t) ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	set_lengths_and_cksums(&h, m->l4_len + len, number);
	return c;
}

uint32_t
cutter_send(struct rte_mempool *pool, struct rte_mbuf *m, struct rte_mbuf *out[CUTTER_SEGMENTS])
{
	uint32_t n = 0, payload, segsz;

	out[0] = m;
	if (!(m->ol_flags & OFFLOADS))
		return 1;
	if (!(m->ol_flags & RTE_MBUF_F_TX_TCP_CKSUM)) { /* no TCP in it: the IP header's checksum alone */
		struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, m->l2_len);

		ip->hdr_checksum = 0;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
		return 1;
	}
	check(m);
	payload = m->pkt_len - m->l2_len - m->l3_len - m->l4_len;
	segsz = m->ol_flags & RTE_MBUF_F_TX_TCP_SEG ? m->tso_segsz : payload;
	for (uint32_t at = 0, len; n == 0 || at < payload; at += len) {
		len = RTE_MIN(payload - at, segsz);
		assert_true(n < CUTTER_SEGMENTS);
		out[n] = cut(pool, m, at, len, n);
		n++;
	}
	rte_pktmbuf_free(m);
	return n;
}
