/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpa_hdr.h"

#include <assert.h>
#include <string.h>

#include "cursor.h"
#include "len.h"

#define KEY_LEN 16

enum startup_flags { F_M = 0x80, F_C = 0x40, F_R = 0x20, F_S = 0x10 };

/* The enhanced words (RFC 6581 §9): two flags above 14 bits. */
enum enhanced_bits { W_A = 0x8000, W_B = 0x4000, W_C = 0x8000, W_D = 0x4000, W_DEPTH = 0x3fff };

static const char key_request[] = "MPA ID Req Frame";
static const char key_reply[] = "MPA ID Rep Frame";

static const char *
startup_key(bool reply)
{
	return reply ? key_reply : key_request;
}

static uint32_t
mulpdu(uint32_t emss, uint32_t markers)
{
	uint32_t overhead = FPDU_HDR_LENGTH_LEN + FPDU_HDR_CRC_LEN + emss % 4 + markers * MPA_HDR_MARKER_LEN;

	if (emss < MPA_HDR_MULPDU_MIN + overhead)
		return MPA_HDR_MULPDU_MIN;
	return iw_len_min(emss - overhead, MPA_HDR_MULPDU_MAX);
}

uint32_t
mpa_hdr_mulpdu(uint32_t emss)
{
	return mulpdu(emss, 0);
}

uint32_t
mpa_hdr_mulpdu_marked(uint32_t emss)
{
	const uint32_t span = MPA_HDR_MARKER_LEN + MPA_HDR_MARKER_GAP;

	return mulpdu(emss, emss / span + (emss % span != 0));
}

uint16_t
mpa_hdr_marker_parse(const uint8_t *p)
{
	return (uint16_t)((p[2] << 8 | p[3]) & ~3);
}

void
mpa_hdr_marker_emit(uint8_t *p, uint16_t fpduptr)
{
	p[0] = p[1] = 0;
	p[2] = (uint8_t)(fpduptr >> 8);
	p[3] = (uint8_t)fpduptr;
}

/* Octet 16 and 17; S and the enhanced words are only known together with PD_Length. */
static void
flags_parse(struct mpa_startup *f, uint8_t flags, uint8_t rev)
{
	f->markers = flags & F_M;
	f->crc = flags & F_C;
	f->reject = f->reply && flags & F_R;
	f->rev = rev;
	/* In revision 1 S is one more reserved bit. */
	f->reserved = flags & (rev == 2 ? 0x0f : 0x0f | F_S);
}

static void
enhanced_parse(struct mpa_startup *f, struct iw_reader *r)
{
	uint16_t ird = iw_reader_u16(r), ord = iw_reader_u16(r);

	f->enhanced = true;
	f->peer_to_peer = ird & W_A;
	f->rtr_send = ird & W_B;
	f->rtr_write = ord & W_C;
	f->rtr_read = ord & W_D;
	f->ird = ird & W_DEPTH;
	f->ord = ord & W_DEPTH;
}

/* What the 20 octets alone decide.  A reject is one whatever its form. */
static enum mpa_hdr_verdict
form_check(const struct mpa_startup *f, bool s)
{
	if (f->pd_len > MPA_HDR_PD_MAX)
		return MPA_HDR_BAD_LENGTH;
	if (f->reject)
		return MPA_HDR_OK;
	if (f->rev != 1 && f->rev != 2)
		return MPA_HDR_BAD_REV;
	if (s && f->pd_len < MPA_HDR_ENHANCED_LEN)
		return MPA_HDR_BAD_ENHANCED;
	return MPA_HDR_OK;
}

/* The private data field, all of it in r. */
static void
private_parse(struct mpa_startup *f, struct iw_reader *r, bool s)
{
	if (s && f->pd_len < MPA_HDR_ENHANCED_LEN) /* of a reject: nothing that could be told apart */
		return;
	if (s)
		enhanced_parse(f, r);
	f->private_len = (uint16_t)iw_reader_left(r);
	f->private_data = r->p;
	assert(!r->bad);
}

enum mpa_hdr_verdict
mpa_hdr_startup_parse(const uint8_t *p, uint32_t n, bool reply, struct mpa_startup *f, uint32_t *total)
{
	struct iw_reader r = iw_reader_init(p, n);
	enum mpa_hdr_verdict verdict;
	uint8_t flags;
	bool s;

	*f = (struct mpa_startup){.reply = reply};
	*total = MPA_HDR_STARTUP_LEN;
	if (n && memcmp(p, startup_key(reply), iw_len_min(n, KEY_LEN)) != 0)
		return MPA_HDR_BAD_KEY;
	if (n < MPA_HDR_STARTUP_LEN)
		return MPA_HDR_NEED;
	iw_reader_take(&r, KEY_LEN);
	flags = iw_reader_u8(&r);
	flags_parse(f, flags, iw_reader_u8(&r));
	f->pd_len = iw_reader_u16(&r);
	s = f->rev == 2 && flags & F_S;
	verdict = form_check(f, s);
	if (verdict != MPA_HDR_OK)
		return verdict;
	*total = MPA_HDR_STARTUP_LEN + f->pd_len;
	if (n < *total)
		return MPA_HDR_NEED;
	r.end = p + *total;
	private_parse(f, &r, s);
	return MPA_HDR_OK;
}

uint32_t
mpa_hdr_startup_len(const struct mpa_startup *f)
{
	return MPA_HDR_STARTUP_LEN + (f->enhanced ? MPA_HDR_ENHANCED_LEN : 0) + f->private_len;
}

static void
enhanced_emit(const struct mpa_startup *f, struct iw_writer *w)
{
	assert(f->rev == 2 && f->ird <= W_DEPTH && f->ord <= W_DEPTH);
	iw_writer_u16(w, (uint16_t)((f->peer_to_peer ? W_A : 0) | (f->rtr_send ? W_B : 0) | f->ird));
	iw_writer_u16(w, (uint16_t)((f->rtr_write ? W_C : 0) | (f->rtr_read ? W_D : 0) | f->ord));
}

uint32_t
mpa_hdr_startup_emit(const struct mpa_startup *f, uint8_t *out, uint32_t room)
{
	uint32_t total = mpa_hdr_startup_len(f);
	struct iw_writer w = iw_writer_init(out, room);

	if (total > room || f->private_len > mpa_hdr_private_max(f->enhanced))
		return 0;
	iw_writer_bytes(&w, startup_key(f->reply), KEY_LEN);
	iw_writer_u8(&w, (uint8_t)((f->markers ? F_M : 0) | (f->crc ? F_C : 0) | (f->reply && f->reject ? F_R : 0) |
				   (f->enhanced ? F_S : 0)));
	iw_writer_u8(&w, f->rev);
	iw_writer_u16(&w, (uint16_t)(total - MPA_HDR_STARTUP_LEN));
	if (f->enhanced)
		enhanced_emit(f, &w);
	iw_writer_bytes(&w, f->private_data, f->private_len);
	assert(!w.bad);
	return total;
}
