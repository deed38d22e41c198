/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded big-endian reader and writer.  A read or write past the end sets `bad` and yields 0; look at it once
 * at the end. */
#ifndef IW_CURSOR_H
#define IW_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct iw_reader {
	const uint8_t *p, *end;
	bool bad;
};

struct iw_writer {
	uint8_t *p, *end;
	bool bad;
};

static inline struct iw_reader
iw_reader_init(const void *buf, size_t len)
{
	return (struct iw_reader){.p = (const uint8_t *)buf, .end = (const uint8_t *)buf + len, .bad = false};
}

static inline size_t
iw_reader_left(const struct iw_reader *r)
{
	return (size_t)(r->end - r->p);
}

/* The next n octets, or NULL. */
static inline const uint8_t *
iw_reader_take(struct iw_reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (n > iw_reader_left(r)) {
		r->bad = true;
		r->p = r->end;
		return NULL;
	}
	r->p += n;
	return p;
}

static inline uint64_t
iw_reader_be(struct iw_reader *r, size_t n)
{
	const uint8_t *p = iw_reader_take(r, n);
	uint64_t v = 0;

	if (p)
		for (size_t i = 0; i < n; i++)
			v = v << 8 | p[i];
	return v;
}

static inline uint8_t
iw_reader_u8(struct iw_reader *r)
{
	return (uint8_t)iw_reader_be(r, 1);
}
static inline uint16_t
iw_reader_u16(struct iw_reader *r)
{
	return (uint16_t)iw_reader_be(r, 2);
}
static inline uint32_t
iw_reader_u32(struct iw_reader *r)
{
	return (uint32_t)iw_reader_be(r, 4);
}
static inline uint64_t
iw_reader_u64(struct iw_reader *r)
{
	return iw_reader_be(r, 8);
}

static inline struct iw_writer
iw_writer_init(void *buf, size_t len)
{
	return (struct iw_writer){.p = (uint8_t *)buf, .end = (uint8_t *)buf + len, .bad = false};
}

static inline size_t
iw_writer_left(const struct iw_writer *w)
{
	return (size_t)(w->end - w->p);
}

static inline uint8_t *
iw_writer_take(struct iw_writer *w, size_t n)
{
	uint8_t *p = w->p;

	if (n > iw_writer_left(w)) {
		w->bad = true;
		w->p = w->end;
		return NULL;
	}
	w->p += n;
	return p;
}

static inline void
iw_writer_be(struct iw_writer *w, uint64_t v, size_t n)
{
	uint8_t *p = iw_writer_take(w, n);

	if (p)
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static inline void
iw_writer_u8(struct iw_writer *w, uint8_t v)
{
	iw_writer_be(w, v, 1);
}
static inline void
iw_writer_u16(struct iw_writer *w, uint16_t v)
{
	iw_writer_be(w, v, 2);
}
static inline void
iw_writer_u32(struct iw_writer *w, uint32_t v)
{
	iw_writer_be(w, v, 4);
}
static inline void
iw_writer_u64(struct iw_writer *w, uint64_t v)
{
	iw_writer_be(w, v, 8);
}

static inline void
iw_writer_bytes(struct iw_writer *w, const void *src, size_t n)
{
	uint8_t *p = iw_writer_take(w, n);

	if (p && n)
		memcpy(p, src, n);
}

static inline void
iw_writer_zero(struct iw_writer *w, size_t n)
{
	uint8_t *p = iw_writer_take(w, n);

	if (p && n)
		memset(p, 0, n);
}

#endif
