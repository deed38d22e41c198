/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cursor.h"

enum { MAGIC_LE = 0xd4c3b2a1, MAGIC_BE = 0xa1b2c3d4, LINK_ETHERNET = 1, TCP = 6, IPV4 = 0x0800, IPV6 = 0x86dd };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

struct segment {
	uint8_t ip[2][16]; /* from, to */
	uint16_t port[2];
	uint32_t seq;
	uint8_t flags;
	const uint8_t *data;
	uint32_t len;
};

static uint32_t
file_u32(struct iw_reader *r, bool little)
{
	uint32_t v = iw_reader_u32(r);

	return little ? __builtin_bswap32(v) : v;
}

static void
ip4_read(uint8_t ip[16], struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 4);

	memcpy(ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
	if (p)
		memcpy(ip + 12, p, 4);
}

static void
ip6_read(uint8_t ip[16], struct iw_reader *r)
{
	const uint8_t *p = iw_reader_take(r, 16);

	if (p)
		memcpy(ip, p, 16);
}

/* Leaves r on the IP payload, cut to its length (Ethernet pads short frames). */
static bool
ipv4_parse(struct segment *s, struct iw_reader *r)
{
	const uint8_t *start = r->p;
	uint8_t first = iw_reader_u8(r), proto;
	uint32_t header = (first & 15) * 4u, total;

	iw_reader_take(r, 1);
	total = iw_reader_u16(r);
	iw_reader_take(r, 5);
	proto = iw_reader_u8(r);
	iw_reader_take(r, 2);
	ip4_read(s->ip[0], r);
	ip4_read(s->ip[1], r);
	if (first >> 4 != 4 || header < 20 || total < header || total > (size_t)(r->end - start))
		return false;
	r->end = start + total;
	iw_reader_take(r, header - 20);
	return proto == TCP && !r->bad;
}

static bool
ipv6_parse(struct segment *s, struct iw_reader *r)
{
	uint8_t first = iw_reader_u8(r), next;
	uint32_t len;

	iw_reader_take(r, 3);
	len = iw_reader_u16(r);
	next = iw_reader_u8(r);
	iw_reader_take(r, 1);
	ip6_read(s->ip[0], r);
	ip6_read(s->ip[1], r);
	if (first >> 4 != 6 || next != TCP || len > iw_reader_left(r))
		return false;
	r->end = r->p + len;
	return !r->bad;
}

static bool
segment_parse(struct segment *s, const uint8_t *frame, uint32_t len)
{
	struct iw_reader r = iw_reader_init(frame, len);
	uint32_t header, type;

	iw_reader_take(&r, 12);
	type = iw_reader_u16(&r);
	if (!(type == IPV4 && ipv4_parse(s, &r)) && !(type == IPV6 && ipv6_parse(s, &r)))
		return false;
	s->port[0] = iw_reader_u16(&r);
	s->port[1] = iw_reader_u16(&r);
	s->seq = iw_reader_u32(&r);
	iw_reader_take(&r, 4);
	header = (iw_reader_u8(&r) >> 4) * 4u;
	s->flags = iw_reader_u8(&r);
	iw_reader_take(&r, 6);
	if (header < 20)
		return false;
	iw_reader_take(&r, header - 20);
	s->data = r.p;
	s->len = (uint32_t)iw_reader_left(&r);
	return !r.bad;
}

static bool
is_end(const struct pcap_stream *stream, const struct segment *s, int which)
{
	return stream->port == s->port[which] && memcmp(stream->ip, s->ip[which], 16) == 0;
}

/* The latest connection of this 4-tuple; *from: which of its directions the segment belongs to. */
static struct pcap_conn *
conn_find(struct pcap_file *file, const struct segment *s, int *from)
{
	for (uint32_t i = file->n_conns; i-- > 0;) {
		struct pcap_conn *conn = &file->conns[i];

		for (*from = 0; *from < 2; (*from)++)
			if (is_end(&conn->dir[*from], s, 0) && is_end(&conn->dir[!*from], s, 1))
				return conn;
	}
	return NULL;
}

static struct pcap_conn *
conn_add(struct pcap_file *file, const struct segment *s)
{
	struct pcap_conn *conn;

	file->conns = realloc(file->conns, (file->n_conns + 1) * sizeof(*file->conns));
	conn = &file->conns[file->n_conns++];
	memset(conn, 0, sizeof(*conn));
	for (int i = 0; i < 2; i++) {
		memcpy(conn->dir[i].ip, s->ip[i], 16);
		conn->dir[i].port = s->port[i];
	}
	return conn;
}

static void
stream_reserve(struct pcap_stream *stream, uint32_t end)
{
	uint32_t room = stream->room ? stream->room : 4096;

	while (room < end)
		room *= 2;
	if (room == stream->room)
		return;
	stream->octets = realloc(stream->octets, room);
	stream->seen = realloc(stream->seen, room);
	memset(stream->octets + stream->room, 0, room - stream->room);
	memset(stream->seen + stream->room, 0, room - stream->room);
	stream->room = room;
}

static void
stream_add(struct pcap_stream *stream, const struct segment *s)
{
	uint32_t off = s->seq - stream->isn - 1;

	if (s->len == 0 || off >= 1u << 30) /* nothing, or before the first octet: a keep-alive probe */
		return;
	stream_reserve(stream, off + s->len);
	stream->segments++;
	stream->late += off + s->len <= stream->end;
	for (uint32_t i = 0; i < s->len; i++) {
		stream->repeated += stream->seen[off + i];
		stream->contradictory += stream->seen[off + i] && stream->octets[off + i] != s->data[i];
		if (!stream->seen[off + i])
			stream->octets[off + i] = s->data[i];
		stream->seen[off + i] = 1;
	}
	if (off + s->len > stream->end)
		stream->end = off + s->len;
}

static bool
frame_add(struct pcap_file *file, const uint8_t *frame, uint32_t len)
{
	struct pcap_stream *stream;
	struct pcap_conn *conn;
	struct segment s = {0};
	int from = 0;

	if (!segment_parse(&s, frame, len))
		return false;
	conn = conn_find(file, &s, &from);
	if (s.flags & SYN && !(s.flags & ACK) && (!conn || conn->dir[from].isn != s.seq)) {
		conn = conn_add(file, &s);
		from = 0;
	}
	if (!conn)
		return false;
	stream = &conn->dir[from];
	if (s.flags & SYN) {
		stream->syn = true;
		stream->isn = s.seq;
		return true;
	}
	if (stream->syn)
		stream_add(stream, &s);
	stream->fin |= (s.flags & FIN) != 0;
	stream->rst |= (s.flags & RST) != 0;
	return true;
}

static void
stream_finish(struct pcap_stream *stream)
{
	while (stream->len < stream->end && stream->seen[stream->len])
		stream->len++;
	stream->lost = stream->end - stream->len;
}

static uint8_t *
slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = NULL;
	size_t room = 0;

	*len = 0;
	if (!f)
		return NULL;
	do {
		room += 1 << 20;
		p = realloc(p, room);
		*len += fread(p + *len, 1, room - *len, f);
	} while (*len == room);
	fclose(f);
	return p;
}

static int
records_read(struct pcap_file *file, struct iw_reader *r)
{
	uint32_t magic = iw_reader_u32(r);
	bool little = magic == (uint32_t)MAGIC_LE;

	iw_reader_take(r, 16);
	if ((!little && magic != (uint32_t)MAGIC_BE) || file_u32(r, little) != LINK_ETHERNET || r->bad)
		return -1;
	while (iw_reader_left(r) > 0) {
		const uint8_t *frame;
		uint32_t len;

		iw_reader_take(r, 8);
		len = file_u32(r, little);
		iw_reader_take(r, 4);
		frame = iw_reader_take(r, len);
		if (!frame)
			return -1;
		file->frames++;
		file->skipped += !frame_add(file, frame, len);
	}
	return 0;
}

int
pcap_file_parse(const uint8_t *octets, size_t len, struct pcap_file *file)
{
	struct iw_reader r = iw_reader_init(octets, len);
	int rc;

	memset(file, 0, sizeof(*file));
	rc = records_read(file, &r);
	for (uint32_t i = 0; i < file->n_conns; i++)
		for (int d = 0; d < 2; d++)
			stream_finish(&file->conns[i].dir[d]);
	if (rc)
		pcap_file_free(file);
	return rc;
}

int
pcap_file_read(const char *path, struct pcap_file *file)
{
	size_t len;
	uint8_t *octets = slurp(path, &len);
	int rc = octets ? pcap_file_parse(octets, len, file) : -1;

	free(octets);
	return rc;
}

void
pcap_file_free(struct pcap_file *file)
{
	for (uint32_t i = 0; i < file->n_conns; i++) {
		for (int d = 0; d < 2; d++) {
			free(file->conns[i].dir[d].octets);
			free(file->conns[i].dir[d].seen);
		}
	}
	free(file->conns);
	memset(file, 0, sizeof(*file));
}
