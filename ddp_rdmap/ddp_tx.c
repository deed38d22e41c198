/* SPDX-License-Identifier: BSD-3-Clause */
#include "ddp_tx.h"

uint32_t
ddp_tx_part(const struct mpa_tx *b, uint32_t hdr_len, uint32_t left)
{
	uint32_t max = mpa_tx_mulpdu(b) - hdr_len;

	if (b->used == 0)
		return left <= max ? left : max & ~3u;
	if (left > max || mpa_tx_len(b, hdr_len + left) > b->room - b->used)
		return DDP_TX_NO_ROOM;
	return left;
}

static void
put(struct mpa_tx *b, const struct wr_piece *piece)
{
	uint32_t at = 0;

	while (at < piece->len) {
		uint32_t part = piece->len - at;
		const uint8_t *src = wr_piece_run(piece, at, &part);

		mpa_tx_payload(b, src, part);
		at += part;
	}
}

void
ddp_tx_lent(struct mpa_tx *b, const struct ddp_hdr *h, struct rte_mbuf *more, uint32_t len)
{
	mpa_tx_begin(b, h, h->hdr_len + len);
	mpa_tx_lend(b, more);
}

void
ddp_tx_segment(struct mpa_tx *b, const struct ddp_hdr *h, const struct wr_piece *pieces, uint32_t n, uint32_t len)
{
	mpa_tx_begin(b, h, h->hdr_len + len);
	for (uint32_t i = 0; i < n; i++)
		put(b, &pieces[i]);
	mpa_tx_end(b, h->hdr_len + len);
}
