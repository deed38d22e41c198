/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_hdr.h"

#include <assert.h>

#include "cursor.h"
#include "len.h"
#include "sum.h"

enum option_kind { OPT_EOL = 0, OPT_NOP = 1, OPT_MSS = 2, OPT_WS = 3, OPT_SACK_PERM = 4, OPT_SACK = 5, OPT_TS = 8 };

enum option_len { LEN_MSS = 4, LEN_WS = 3, LEN_SACK_PERM = 2, LEN_TS = 10, LEN_SACK_HEAD = 2, LEN_BLOCK = 8 };

#define SEQ_OFFSET 4
#define CKSUM_OFFSET 16
#define TS_ALONE (OPT_NOP << 24 | OPT_NOP << 16 | OPT_TS << 8 | LEN_TS)

/* ---- parse ---- */

static void
read_sack(struct iw_reader *r, uint32_t len, struct tcp_seg *seg)
{
	seg->n_sack = (uint8_t)((len - LEN_SACK_HEAD) / LEN_BLOCK);
	for (uint32_t i = 0; i < seg->n_sack; i++) {
		seg->sack[i].from = iw_reader_u32(r);
		seg->sack[i].to = iw_reader_u32(r);
	}
}

/* The length that an option of this kind must have is the one it has; unknown kinds may have any. */
static bool
option_len_is_legal(uint8_t kind, uint32_t len)
{
	switch (kind) {
	case OPT_MSS:
		return len == LEN_MSS;
	case OPT_WS:
		return len == LEN_WS;
	case OPT_SACK_PERM:
		return len == LEN_SACK_PERM;
	case OPT_TS:
		return len == LEN_TS;
	case OPT_SACK:
		return len > LEN_SACK_HEAD && (len - LEN_SACK_HEAD) % LEN_BLOCK == 0 &&
		       (len - LEN_SACK_HEAD) / LEN_BLOCK <= TCP_SACK_MAX;
	default:
		return len >= 2;
	}
}

/* r holds the option's body of len - 2 octets. */
static void
read_option(uint8_t kind, uint32_t len, struct iw_reader *r, struct tcp_seg *seg)
{
	bool syn = (seg->flags & TCP_SYN) != 0;

	if (kind == OPT_TS) {
		seg->has_ts = true;
		seg->tsval = iw_reader_u32(r);
		seg->tsecr = iw_reader_u32(r);
	} else if (kind == OPT_SACK) {
		read_sack(r, len, seg);
	} else if (kind == OPT_MSS && syn) {
		seg->has_mss = true;
		seg->mss = iw_reader_u16(r);
	} else if (kind == OPT_WS && syn) {
		seg->has_ws = true;
		seg->ws = (uint8_t)iw_len_min(iw_reader_u8(r), TCP_WS_MAX);
	} else if (kind == OPT_SACK_PERM && syn) {
		seg->sack_perm = true;
	}
}

/* Ends: each turn takes at least one octet. */
static bool
read_options(struct iw_reader *r, struct tcp_seg *seg)
{
	while (iw_reader_left(r) > 0) {
		uint8_t kind = iw_reader_u8(r);
		struct iw_reader body;
		const uint8_t *p;
		uint32_t len;

		if (kind == OPT_EOL)
			break;
		if (kind == OPT_NOP)
			continue;
		len = iw_reader_u8(r);
		if (r->bad || !option_len_is_legal(kind, len))
			return false;
		p = iw_reader_take(r, len - 2);
		if (!p)
			return false;
		body = iw_reader_init(p, len - 2);
		read_option(kind, len, &body, seg);
	}
	return true;
}

/* The options of nearly every segment: two NOPs and timestamps (RFC 7323 appendix A). */
static bool
read_only_ts(const uint8_t *p, uint32_t len, struct tcp_seg *seg)
{
	if (len != TCP_HDR_TS_LEN || iw_be32(p) != TS_ALONE)
		return false;
	seg->has_ts = true;
	seg->tsval = iw_be32(p + 4);
	seg->tsecr = iw_be32(p + 8);
	return true;
}

/* At p: TCP_HDR_MIN octets. */
static void
read_fixed(const uint8_t *p, struct tcp_seg *seg)
{
	seg->sport = iw_be16(p);
	seg->dport = iw_be16(p + 2);
	seg->seq = iw_be32(p + 4);
	seg->ack = iw_be32(p + 8);
	seg->hdr_len = (uint8_t)((p[12] >> 4) * 4);
	seg->flags = p[13];
	seg->wnd = iw_be16(p + 14);
	/* the checksum at 16: verified before */
	seg->urp = iw_be16(p + 18);
}

enum tcp_hdr_verdict
tcp_hdr_parse(const struct rte_mbuf *m, uint32_t l4_off, uint32_t l4_len, struct tcp_seg *seg)
{
	uint8_t copy[TCP_HDR_MAX];
	uint32_t room = iw_len_min(l4_len, TCP_HDR_MAX);
	struct tcp_seg s = {0};
	struct iw_reader r;
	const uint8_t *p;

	if (l4_len < TCP_HDR_MIN || !iw_len_fits(l4_off, l4_len, rte_pktmbuf_pkt_len(m)))
		return TCP_HDR_SHORT;
	p = rte_pktmbuf_read(m, l4_off, room, copy);
	if (!p)
		return TCP_HDR_SHORT;
	read_fixed(p, &s);
	if (s.hdr_len < TCP_HDR_MIN || s.hdr_len > room)
		return TCP_HDR_OFFSET;
	if (!read_only_ts(p + TCP_HDR_MIN, s.hdr_len - TCP_HDR_MIN, &s)) {
		r = iw_reader_init(p + TCP_HDR_MIN, s.hdr_len - TCP_HDR_MIN);
		if (!read_options(&r, &s))
			return TCP_HDR_BAD_OPTION;
	}
	s.off = l4_off + s.hdr_len;
	s.len = l4_len - s.hdr_len;
	*seg = s;
	return TCP_HDR_OK;
}

/* ---- emit ---- */

static uint32_t
syn_options_len(const struct tcp_seg *seg)
{
	return (seg->has_mss ? LEN_MSS : 0) + (seg->has_ts ? 12 : seg->sack_perm ? 4 : 0) + (seg->has_ws ? 4 : 0);
}

/* Blocks that fit beside the timestamps. */
static uint32_t
blocks_that_fit(const struct tcp_seg *seg)
{
	uint32_t room = TCP_HDR_MAX - TCP_HDR_MIN - (seg->has_ts ? TCP_HDR_TS_LEN : 0);

	return iw_len_min(seg->n_sack, (room - 2 - LEN_SACK_HEAD) / LEN_BLOCK);
}

uint32_t
tcp_hdr_len(const struct tcp_seg *seg)
{
	uint32_t blocks;

	if (seg->flags & TCP_SYN)
		return TCP_HDR_MIN + syn_options_len(seg);
	blocks = blocks_that_fit(seg);
	return TCP_HDR_MIN + (seg->has_ts ? TCP_HDR_TS_LEN : 0) + (blocks ? 2 + LEN_SACK_HEAD + blocks * LEN_BLOCK : 0);
}

static void
write_fixed(uint8_t *p, const struct tcp_seg *seg, uint32_t hdr_len)
{
	iw_be16_put(p, seg->sport);
	iw_be16_put(p + 2, seg->dport);
	iw_be32_put(p + 4, seg->seq);
	iw_be32_put(p + 8, seg->ack);
	p[12] = (uint8_t)(hdr_len / 4 << 4);
	p[13] = seg->flags;
	iw_be16_put(p + 14, seg->wnd);
	iw_be16_put(p + CKSUM_OFFSET, 0);
	iw_be16_put(p + 18, seg->urp);
}

static void
write_head(struct iw_writer *w, uint8_t kind, uint32_t len)
{
	iw_writer_u8(w, kind);
	iw_writer_u8(w, (uint8_t)len);
}

static void
write_nops(struct iw_writer *w, uint32_t n)
{
	while (n-- > 0)
		iw_writer_u8(w, OPT_NOP);
}

static void
write_ts(struct iw_writer *w, const struct tcp_seg *seg)
{
	write_head(w, OPT_TS, LEN_TS);
	iw_writer_u32(w, seg->tsval);
	iw_writer_u32(w, seg->tsecr);
}

static void
write_syn_options(struct iw_writer *w, const struct tcp_seg *seg)
{
	if (seg->has_mss) {
		write_head(w, OPT_MSS, LEN_MSS);
		iw_writer_u16(w, seg->mss);
	}
	if (seg->has_ts != seg->sack_perm)
		write_nops(w, 2);
	if (seg->sack_perm)
		write_head(w, OPT_SACK_PERM, LEN_SACK_PERM);
	if (seg->has_ts)
		write_ts(w, seg);
	if (seg->has_ws) {
		write_nops(w, 1);
		write_head(w, OPT_WS, LEN_WS);
		iw_writer_u8(w, seg->ws);
	}
}

static void
write_options(struct iw_writer *w, const struct tcp_seg *seg)
{
	uint32_t blocks = blocks_that_fit(seg);

	if (seg->has_ts) {
		iw_writer_u32(w, TS_ALONE);
		iw_writer_u32(w, seg->tsval);
		iw_writer_u32(w, seg->tsecr);
	}
	if (!blocks)
		return;
	write_nops(w, 2);
	write_head(w, OPT_SACK, LEN_SACK_HEAD + blocks * LEN_BLOCK);
	for (uint32_t i = 0; i < blocks; i++) {
		iw_writer_u32(w, seg->sack[i].from);
		iw_writer_u32(w, seg->sack[i].to);
	}
}

uint32_t
tcp_hdr_push(struct rte_mbuf *m, const struct tcp_seg *seg)
{
	uint32_t hdr_len = tcp_hdr_len(seg);
	struct iw_writer w;
	uint8_t *p;

	assert(seg->n_sack <= TCP_SACK_MAX && hdr_len <= TCP_HDR_MAX && hdr_len % 4 == 0);
	p = (uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)hdr_len);
	if (!p)
		return 0;
	write_fixed(p, seg, hdr_len);
	w = iw_writer_init(p + TCP_HDR_MIN, hdr_len - TCP_HDR_MIN);
	if (seg->flags & TCP_SYN)
		write_syn_options(&w, seg);
	else
		write_options(&w, seg);
	assert(!w.bad && iw_writer_left(&w) == 0);
	return hdr_len;
}

void
tcp_hdr_form_init(struct tcp_hdr_form *form, const uint8_t *p, uint32_t hdr_len)
{
	*form = (struct tcp_hdr_form){.len = 0};
	if (hdr_len > sizeof(form->octets))
		return;
	memcpy(form->octets, p, hdr_len);
	iw_be32_put(form->octets + SEQ_OFFSET, 0);
	iw_be16_put(form->octets + CKSUM_OFFSET, 0);
	form->sum = iw_sum_fold(iw_sum_short(form->octets, sizeof(form->octets)));
	form->len = (uint8_t)hdr_len;
}

uint32_t
tcp_hdr_push_form(struct rte_mbuf *m, const struct tcp_hdr_form *form, uint32_t seq)
{
	uint8_t *p = (uint8_t *)rte_pktmbuf_prepend(m, form->len);
	uint32_t word = htobe32(seq);

	assert(p && form->len > 0);
	memcpy(p, form->octets, TCP_HDR_MIN);
	if (form->len > TCP_HDR_MIN)
		memcpy(p + TCP_HDR_MIN, form->octets + TCP_HDR_MIN, TCP_HDR_TS_LEN);
	memcpy(p + SEQ_OFFSET, &word, sizeof(word));
	return form->sum + (word & UINT16_MAX) + (word >> 16);
}

uint32_t
tcp_hdr_sum(const struct rte_mbuf *m, uint32_t hdr_len)
{
	assert(hdr_len <= rte_pktmbuf_data_len(m));
	return iw_sum_fold(iw_sum_short(rte_pktmbuf_mtod(m, const void *), hdr_len));
}

void
tcp_hdr_set_cksum(struct rte_mbuf *m, uint16_t cksum)
{
	tcp_hdr_set_cksum_at(m, 0, cksum);
}

void
tcp_hdr_set_cksum_at(struct rte_mbuf *m, uint32_t l4_off, uint16_t cksum)
{
	assert(rte_pktmbuf_data_len(m) >= l4_off + TCP_HDR_MIN);
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, l4_off + CKSUM_OFFSET), &cksum, sizeof(cksum));
}
