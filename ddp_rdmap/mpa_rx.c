/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of MPA: whole FPDUs out of a list of views, markers taken out (RFC 5044 §4.1, §4.3, §6; design
 * D5). */
#include <assert.h>

#include "crc32c.h"
#include "len.h"
#include "mpa_fpdu.h"
#include "mpa_hdr.h"
#include "qp.h"
#include "qp_timer.h"
#include "rdmap_ctx.h"
#include "rdmap_rx.h"

/* From here on the CRC is better taken with the checksum. */
#define FPDU_LONG 1024

/* Octets by which an unfinished FPDU moves: whoever trickles does not (X3). */
#define GROWTH 4096

/* Pieces of one FPDU when its markers are taken out: each of them cuts a view in two. */
#define MARKED_PIECES (MPA_RX_VIEWS + 2 + (2 + 65535 + 3 + 4) / MPA_HDR_MARKER_GAP)

/* Moves the front of the stream on. */
static void
skip(struct mpa_fpdu *f, uint32_t octets)
{
	f->off += octets;
	while (f->n > 0 && f->off >= f->views->len) {
		f->off -= f->views->len;
		f->views++;
		f->n--;
		f->aligned = f->off == 0;
	}
}

/* The CRC of len octets from the front on, over any number of views. */
static uint32_t
crc_of(const struct mpa_fpdu *f, uint32_t len)
{
	uint32_t state = IW_CRC32C_INIT, off = f->off;

	for (uint32_t i = 0; len > 0; i++) {
		uint32_t part = iw_len_min(f->views[i].len - off, len);

		state = iw_crc32c(state, iw_view_data(&f->views[i]) + off, part);
		len -= part;
		off = 0;
	}
	return iw_crc32c_final(state);
}

/* Octets of the FPDU at the front with its markers, or of the shortest when not even its length is there. */
static uint32_t
fpdu_len(const struct iw_qp *qp, struct mpa_fpdu *f, uint32_t left)
{
	uint32_t lead = qp->rx_markers && qp->rx_gap == 0 ? MPA_HDR_MARKER_LEN : 0, octets;
	uint8_t len[FPDU_HDR_LENGTH_LEN];

	if (left < FPDU_HDR_MIN + lead)
		return FPDU_HDR_MIN + lead;
	if (f->views->len - f->off >= lead + sizeof(len)) {
		f->ulpdu_len = fpdu_hdr_length_parse(iw_view_data(f->views) + f->off + lead);
	} else {
		iw_view_copy(f->views, f->n, f->off + lead, len, sizeof(len));
		f->ulpdu_len = fpdu_hdr_length_parse(len);
	}
	octets = fpdu_hdr_len(f->ulpdu_len);
	return qp->rx_markers ? octets + MPA_HDR_MARKER_LEN * mpa_hdr_markers(qp->rx_gap, octets) : octets;
}

static bool
is_in_one_view(const struct mpa_fpdu *f, uint32_t len)
{
	return f->views->len - f->off >= len;
}

/* It is worth the while, and possible, that tcp looks at the CRC of such. */
static bool
is_sealable(const struct iw_qp *qp, const struct mpa_fpdu *f, uint32_t len)
{
	return qp->crc && !qp->rx_markers && f->aligned && len >= FPDU_LONG && is_in_one_view(f, len);
}

static bool
is_sealed(const struct mpa_fpdu *f, uint32_t len)
{
	return f->aligned && f->views->sealed >= f->off + len;
}

/* Wholly in one view: everything in place.  Returns whether the CRC is right. */
static bool
open_fast(struct mpa_fpdu *f, bool crc)
{
	const uint8_t *p = iw_view_data(f->views) + f->off;
	uint32_t n = fpdu_hdr_crc_off(f->ulpdu_len);

	f->head = p + FPDU_HDR_LENGTH_LEN;
	f->head_len = f->ulpdu_len;
	return !crc || is_sealed(f, n + FPDU_HDR_CRC_LEN) ||
	       iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, p, n)) == fpdu_hdr_crc_parse(p + n);
}

static bool
open_slow(struct mpa_fpdu *f, bool crc)
{
	uint32_t n = fpdu_hdr_crc_off(f->ulpdu_len);
	uint8_t got[FPDU_HDR_CRC_LEN];

	f->head_len = iw_len_min(f->ulpdu_len, MPA_FPDU_HEAD);
	iw_view_copy(f->views, f->n, f->off + FPDU_HDR_LENGTH_LEN, f->buf, f->head_len);
	f->head = f->buf;
	if (!crc)
		return true;
	iw_view_copy(f->views, f->n, f->off + n, got, sizeof(got));
	return crc_of(f, n) == fpdu_hdr_crc_parse(got);
}

/* Cuts the len octets at the front into the pieces between their markers; returns how many, 0: a marker does not point
 * to this FPDU (F2). */
static uint32_t
strip(const struct iw_qp *qp, const struct mpa_fpdu *f, uint32_t len, struct iw_view *piece)
{
	uint32_t gap = qp->rx_gap, length_at = gap == 0 ? MPA_HDR_MARKER_LEN : 0, off = 0, n = 0;

	while (off < len) {
		uint32_t part = iw_len_min(gap, len - off), cut;
		uint8_t marker[MPA_HDR_MARKER_LEN];

		if (gap == 0) {
			iw_view_copy(f->views, f->n, f->off + off, marker, sizeof(marker));
			if (mpa_hdr_marker_parse(marker) != (uint16_t)(off ? off - length_at : 0))
				return 0;
			off += MPA_HDR_MARKER_LEN;
			gap = MPA_HDR_MARKER_GAP;
			continue;
		}
		cut = iw_view_slice(f->views, f->n, f->off + off, part, piece + n, MARKED_PIECES - n);
		assert(cut > 0);
		n += cut;
		off += part;
		gap -= part;
	}
	return n;
}

/* As take(), when the peer puts markers into the stream.  They are in the CRC. */
static void
take_marked(struct iw_qp *qp, struct mpa_fpdu *f, uint32_t len)
{
	struct iw_view piece[MARKED_PIECES];
	uint8_t got[FPDU_HDR_CRC_LEN];
	struct mpa_fpdu bare;

	qp->rdmap->count.n.rx_slow_fpdus++;
	qp->rx_split += qp->rx_split < UINT16_MAX;
	iw_view_copy(f->views, f->n, f->off + len - FPDU_HDR_CRC_LEN, got, sizeof(got));
	if (qp->crc && crc_of(f, len - FPDU_HDR_CRC_LEN) != fpdu_hdr_crc_parse(got)) {
		qp_fault(qp, RDMAP_FAULT_MPA_CRC, NULL, 0, NULL);
		return;
	}
	bare.views = piece;
	bare.n = strip(qp, f, len, piece);
	if (bare.n == 0) {
		qp_fault(qp, RDMAP_FAULT_MPA_MARKER, NULL, 0, NULL);
		return;
	}
	bare.off = 0;
	bare.ulpdu_len = f->ulpdu_len;
	bare.wait = false;
	(void)open_slow(&bare, false);
	rdmap_rx(qp, &bare);
	f->wait = bare.wait;
}

/* A whole FPDU: nothing of it is believed before its CRC is right (RFC 5044 §6). */
static void
take_plain(struct iw_qp *qp, struct mpa_fpdu *f, uint32_t len)
{
	bool fast = is_in_one_view(f, len);
	bool good = fast ? open_fast(f, qp->crc) : open_slow(f, qp->crc);

	qp->rdmap->count.n.rx_slow_fpdus += !fast;
	qp->rx_split += !fast && qp->rx_split < UINT16_MAX;
	if (good)
		rdmap_rx(qp, f);
	else
		qp_fault(qp, RDMAP_FAULT_MPA_CRC, NULL, 0, NULL);
}

static void
take(struct iw_qp *qp, struct mpa_fpdu *f, uint32_t len)
{
	if (!qp->rx_markers) {
		take_plain(qp, f, len);
		return;
	}
	take_marked(qp, f, len);
	if (!f->wait)
		qp->rx_gap = (uint16_t)mpa_hdr_marker_gap(qp->rx_gap, fpdu_hdr_len(f->ulpdu_len));
}

/* It has grown, by an FPDU or by enough of one: behind all others. */
static void
grow(struct iw_qp *qp, uint32_t octets, uint64_t now_ns)
{
	struct wr_rq *rq = qp->rq;

	iw_list_del(&rq->partial);
	iw_list_add(&qp->rdmap->partial, &rq->partial);
	rq->grown = octets;
	rq->grown_at = QP_ACTIVE(now_ns);
}

/* Time runs for an unfinished FPDU from its first octet, or from the FPDU before it.  octets: of it, that are there; 0:
 * there is none. */
static void
watch_partial(struct iw_qp *qp, uint32_t octets, bool progress, uint64_t now_ns)
{
	if (octets == 0) {
		qp->fpdu_at = IW_NEVER;
		if (qp->rx_partial)
			iw_list_del(&qp->rq->partial);
	} else if (!qp->rx_partial || progress) {
		qp->fpdu_at = iw_time_after(now_ns, qp->rdmap->fpdu_timeout_ns);
		qp_timer_arm(qp);
		grow(qp, octets, now_ns);
	} else if (octets >= qp->rq->grown + GROWTH) {
		grow(qp, octets, now_ns);
	}
	qp->rx_partial = octets > 0;
}

struct iw_qp *
mpa_rx_slowest(struct rdmap *rdmap, uint64_t still_ns, uint64_t now_ns)
{
	struct iw_link *n = iw_list_first(&rdmap->partial);
	struct wr_rq *rq = n ? iw_list_entry(n, struct wr_rq, partial) : NULL;

	if (!rq || QP_ACTIVE(now_ns) - rq->grown_at < QP_ACTIVE(still_ns))
		return NULL;
	iw_list_del(n);
	return rq->qp;
}

/* Back-pressure: time runs anew for each message that finds no receive. */
static void
watch_wait(struct iw_qp *qp, bool waits, bool progress, uint64_t now_ns)
{
	if (waits && (qp->wait_at == IW_NEVER || progress)) {
		qp_timer_wait(qp, now_ns);
	} else if (!waits) {
		qp->wait_at = IW_NEVER;
		qp->wait_over = false;
	}
}

struct mpa_rx_result
mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget, uint64_t now_ns)
{
	struct mpa_rx_result r = {.consumed = 0};
	struct mpa_fpdu f;
	uint32_t left = iw_view_total(views, n);

	assert(n <= MPA_RX_VIEWS);
	f.views = views;
	f.n = n;
	f.off = 0;
	f.aligned = true;
	f.wait = false;
	skip(&f, 0);
	domain_enter(qp->user.domain, qp->rdmap->reader);
	for (;;) {
		uint32_t len;

		if (!qp_fsm_receives(qp->fsm.state)) {
			r.stop = MPA_RX_DEAD;
			r.consumed += left;
			break;
		}
		len = fpdu_len(qp, &f, left);
		r.stop = left < len ? MPA_RX_NEED : MPA_RX_BUDGET;
		r.need = len;
		if (left < len || r.fpdus == budget)
			break;
		r.sealable += is_sealable(qp, &f, len);
		take(qp, &f, len);
		if (f.wait) {
			r.stop = MPA_RX_NEED;
			r.need = UINT32_MAX;
			break;
		}
		skip(&f, len);
		left -= len;
		r.consumed += len;
		r.fpdus++;
	}
	if (r.fpdus > 0)
		qp->active = QP_ACTIVE(now_ns);
	watch_partial(qp, r.stop == MPA_RX_NEED && !f.wait ? left : 0, r.fpdus > 0, now_ns);
	watch_wait(qp, f.wait, r.fpdus > 0, now_ns);
	return r;
}
