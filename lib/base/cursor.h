/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded big-endian reader and writer.  A read or write past the end sets `bad` and yields 0; look at it once
 * at the end. */
#ifndef IW_CURSOR_H
#define IW_CURSOR_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Big-endian fields in memory that is known to be there, at any alignment. */
static inline uint16_t
iw_be16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t
iw_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t
iw_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

static inline void
iw_be16_put(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
iw_be32_put(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void
iw_be64_put(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

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

static inline uint8_t
iw_reader_u8(struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 1);

	return p ? *p : 0;
}

static inline uint16_t
iw_reader_u16(struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 2);

	return p ? iw_be16(p) : 0;
}

static inline uint32_t
iw_reader_u32(struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 4);

	return p ? iw_be32(p) : 0;
}

static inline uint64_t
iw_reader_u64(struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 8);

	return p ? iw_be64(p) : 0;
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
iw_writer_u8(struct iw_writer *w, uint8_t v)
{
	uint8_t *p = iw_writer_take(w, 1);

	if (p)
		*p = v;
}

static inline void
iw_writer_u16(struct iw_writer *w, uint16_t v)
{
	uint8_t *p = iw_writer_take(w, 2);

	if (p)
		iw_be16_put(p, v);
}

static inline void
iw_writer_u32(struct iw_writer *w, uint32_t v)
{
	uint8_t *p = iw_writer_take(w, 4);

	if (p)
		iw_be32_put(p, v);
}

static inline void
iw_writer_u64(struct iw_writer *w, uint64_t v)
{
	uint8_t *p = iw_writer_take(w, 8);

	if (p)
		iw_be64_put(p, v);
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
