/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums, and FPDUs with markers (RFC 5044 §4.3, §4.4). */
#include "mpa_tx.h"

#include <rte_mbuf.h>

#include "len.h"

/* What stands between the last summed octet and `to`. */
static void
sum_until(struct mpa_tx *b, uint32_t to)
{
	const uint8_t *from = b->base + b->summed;
	uint32_t n = to - b->summed;

	b->sum = iw_sum_join(b->sum, b->summed, n < MPA_TX_SHORT ? iw_sum_short(from, n) : iw_sum(from, n));
	b->summed = to;
}

void
mpa_tx_long(struct mpa_tx *b, const uint8_t *src, uint32_t n)
{
	uint32_t at = (uint32_t)(b->p - b->base);
	uint64_t part;

	if (b->sums) {
		sum_until(b, at);
		b->state = iw_crc32c_copy_sum(b->state, b->p, src, n, &part);
		b->sum = iw_sum_join(b->sum, at, part);
		b->summed = at + n;
	} else {
		b->state = iw_crc32c_copy(b->state, b->p, src, n);
	}
	b->p += n;
}

/* Payload in its place; returns the CRC field, *sum of the payload unless it is NULL. */
static uint32_t
put_payload(uint8_t *fpdu, uint32_t head_len, const uint8_t *src, uint32_t n, bool crc, uint64_t *sum)
{
	uint8_t *to = fpdu + head_len;
	uint32_t state;

	if (crc) {
		state = iw_crc32c_short(IW_CRC32C_INIT, fpdu, head_len);
		return iw_crc32c_final(sum ? iw_crc32c_copy_sum(state, to, src, n, sum)
					   : iw_crc32c_copy(state, to, src, n));
	}
	memcpy(to, src, n);
	if (sum)
		*sum = iw_sum(to, n);
	return 0;
}

void
mpa_tx_whole(uint8_t *fpdu, uint32_t head_len, const uint8_t *src, uint32_t n, bool crc, uint16_t *sum)
{
	uint8_t *end = fpdu + head_len + n;
	uint64_t part;

	assert(head_len % 2 == 0 && (head_len + n) % 4 == 0);
	fpdu_hdr_crc_emit(end, put_payload(fpdu, head_len, src, n, crc, sum ? &part : NULL));
	if (sum)
		*sum = iw_sum_fold(iw_sum_short(fpdu, head_len) + part + iw_sum_short(end, FPDU_HDR_CRC_LEN));
}

void
mpa_tx_lend(struct mpa_tx *b, struct rte_mbuf *more)
{
	b->fpdus++;
	b->more = more;
	b->used = b->room = (uint32_t)(b->p - b->base);
	if (!b->sums)
		return;
	sum_until(b, b->used);
	/* What follows the payload is zero. */
	b->sum = iw_sum_join(b->sum, b->used, iw_sum(rte_pktmbuf_mtod(more, const void *), more->data_len));
}

uint16_t
mpa_tx_sum(struct mpa_tx *b)
{
	sum_until(b, b->used);
	return iw_sum_fold(b->sum);
}

/* One that stands between two FPDUs belongs to the following one, with FPDUPTR 0; all are in the CRC. */
static void
put_marker(struct mpa_tx *b)
{
	mpa_hdr_marker_emit(b->p, b->length ? (uint16_t)(b->p - b->length) : 0);
	if (b->crc)
		b->state = iw_crc32c_short(b->state, b->p, MPA_HDR_MARKER_LEN);
	b->p += MPA_HDR_MARKER_LEN;
	b->gap = MPA_HDR_MARKER_GAP;
}

void
mpa_tx_marked(struct mpa_tx *b, const uint8_t *src, uint32_t n)
{
	while (n > 0) {
		uint32_t part;

		if (b->gap == 0)
			put_marker(b);
		part = iw_len_min(b->gap, n);
		if (b->crc)
			b->state = iw_crc32c_copy(b->state, b->p, src, part);
		else
			memcpy(b->p, src, part);
		b->p += part;
		src += part;
		n -= part;
		b->gap = (uint16_t)(b->gap - part);
	}
}

void
mpa_tx_marked_begin(struct mpa_tx *b, const struct ddp_hdr *h, uint32_t ulpdu_len)
{
	struct ddp_hdr_image head = mpa_tx_head(h, ulpdu_len);

	b->length = NULL;
	if (b->gap == 0)
		put_marker(b);
	b->length = b->p;
	mpa_tx_marked(b, (const uint8_t *)&head, FPDU_HDR_LENGTH_LEN + h->hdr_len);
}

void
mpa_tx_marked_end(struct mpa_tx *b, uint32_t ulpdu_len)
{
	static const uint8_t zero[3];
	uint32_t octets;

	mpa_tx_marked(b, zero, fpdu_hdr_pad(ulpdu_len));
	if (b->gap == 0)
		put_marker(b);
	fpdu_hdr_crc_emit(b->p, b->crc ? iw_crc32c_final(b->state) : 0);
	b->p += FPDU_HDR_CRC_LEN;
	b->gap = (uint16_t)(b->gap - FPDU_HDR_CRC_LEN);
	octets = (uint32_t)(b->p - b->fpdu);
	assert(octets >= fpdu_hdr_len(ulpdu_len) && octets % 4 == 0);
	b->used += octets;
}
