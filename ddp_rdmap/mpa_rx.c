/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of MPA: whole FPDUs out of a list of views (RFC 5044 §4.1, §6; design D5). */
#include "crc32c.h"
#include "len.h"
#include "mpa_fpdu.h"
#include "mpa_hdr.h"
#include "qp.h"
#include "qp_timer.h"
#include "rdmap_ctx.h"
#include "rdmap_rx.h"

/* Shorter ones do not exist: length, no ULPDU, pad 2, CRC. */
#define FPDU_MIN 8

/* Moves the front of the stream on. */
static void
skip(struct mpa_fpdu *f, uint32_t octets)
{
	f->off += octets;
	while (f->n > 0 && f->off >= f->views->len) {
		f->off -= f->views->len;
		f->views++;
		f->n--;
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

/* Octets of the FPDU at the front, or FPDU_MIN when not even its length is there. */
static uint32_t
fpdu_len(struct mpa_fpdu *f, uint32_t left)
{
	uint8_t len[MPA_HDR_LENGTH_LEN];

	if (left < FPDU_MIN)
		return FPDU_MIN;
	if (f->views->len - f->off >= sizeof(len)) {
		f->ulpdu_len = mpa_hdr_length_parse(iw_view_data(f->views) + f->off);
	} else {
		iw_view_copy(f->views, f->n, f->off, len, sizeof(len));
		f->ulpdu_len = mpa_hdr_length_parse(len);
	}
	return mpa_hdr_fpdu_len(f->ulpdu_len);
}

/* Wholly in one view: everything in place.  Returns whether the CRC is right. */
static bool
open_fast(struct mpa_fpdu *f, bool crc)
{
	const uint8_t *p = iw_view_data(f->views) + f->off;
	uint32_t n = mpa_hdr_crc_off(f->ulpdu_len);

	f->head = p + MPA_HDR_LENGTH_LEN;
	f->head_len = f->ulpdu_len;
	return !crc || iw_crc32c_final(iw_crc32c(IW_CRC32C_INIT, p, n)) == mpa_hdr_crc_parse(p + n);
}

static bool
open_slow(struct mpa_fpdu *f, bool crc)
{
	uint32_t n = mpa_hdr_crc_off(f->ulpdu_len);
	uint8_t got[MPA_HDR_CRC_LEN];

	f->head_len = iw_len_min(f->ulpdu_len, MPA_FPDU_HEAD);
	iw_view_copy(f->views, f->n, f->off + MPA_HDR_LENGTH_LEN, f->buf, f->head_len);
	f->head = f->buf;
	if (!crc)
		return true;
	iw_view_copy(f->views, f->n, f->off + n, got, sizeof(got));
	return crc_of(f, n) == mpa_hdr_crc_parse(got);
}

/* A whole FPDU: nothing of it is believed before its CRC is right (RFC 5044 §6, security.md rule 1). */
static void
take(struct iw_qp *qp, struct mpa_fpdu *f, uint32_t len)
{
	bool fast = f->views->len - f->off >= len;
	bool good = fast ? open_fast(f, qp->crc) : open_slow(f, qp->crc);

	qp->rdmap->count.n.rx_slow_fpdus += !fast;
	if (good)
		rdmap_rx(qp, f);
	else
		qp_fault(qp, RDMAP_FAULT_MPA_CRC, NULL, 0, NULL);
}

/* Time runs for an unfinished FPDU from its first octet, or from the FPDU before it. */
static void
watch_partial(struct iw_qp *qp, bool partial, bool progress, uint64_t now_ns)
{
	if (partial && (!qp->rx_partial || progress)) {
		qp->fpdu_at = iw_time_after(now_ns, qp->rdmap->fpdu_timeout_ns);
		qp_timer_arm(qp);
	} else if (!partial) {
		qp->fpdu_at = IW_NEVER;
	}
	qp->rx_partial = partial;
}

struct mpa_rx_result
mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget, uint64_t now_ns)
{
	struct mpa_rx_result r = {.consumed = 0};
	struct mpa_fpdu f;
	uint32_t left = iw_view_total(views, n);

	f.views = views;
	f.n = n;
	f.off = 0;
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
		len = fpdu_len(&f, left);
		r.stop = left < len ? MPA_RX_NEED : MPA_RX_BUDGET;
		r.need = len;
		if (left < len || r.fpdus == budget)
			break;
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
	watch_partial(qp, left > 0 && r.stop == MPA_RX_NEED && !f.wait, r.fpdus > 0, now_ns);
	return r;
}
