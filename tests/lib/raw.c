/* SPDX-License-Identifier: BSD-3-Clause */
#include "raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crc32c.h"
#include "iw_time.h"
#include "len.h"
#include "mpa_hdr.h"
#include "rdmap_hdr.h"

#define STEP (20 * IW_US)

static struct tcp *
tcp_of(const struct raw *r)
{
	return r->sim->host[r->host].engine->tcp;
}

static struct raw *all;

static void
begin(struct raw *r, struct sim *sim, uint32_t host)
{
	memset(r, 0, sizeof(*r));
	r->sim = sim;
	r->host = host;
	r->in = malloc(RAW_IN);
	sim->host[host].raw = true;
	r->next = all;
	all = r;
}

/* Returns whether there was something. */
static bool
read_all(struct raw *r)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n, octets, before = r->len;

	while (r->conn && !r->deaf && (n = tcp_rx_peek(tcp_of(r), r->conn, views, TCP_PEEK_VIEWS)) > 0) {
		octets = iw_view_total(views, n);
		assert_true(r->len + octets <= RAW_IN);
		iw_view_copy(views, n, 0, r->in + r->len, octets);
		r->len += octets;
		tcp_rx_consume(tcp_of(r), r->conn, octets, r->sim->now_ns);
	}
	return r->len > before;
}

static struct raw *
owner_of(struct raw *r, const struct tcp_ready *ready)
{
	for (struct raw *o = all; o; o = o->next)
		if (o->sim == r->sim && o->host == r->host && o->conn == ready->conn)
			return o;
	return NULL;
}

static bool
look(struct raw *r)
{
	struct tcp_ready ready;
	bool any = false;

	while (tcp_ready_next(tcp_of(r), &ready)) {
		struct raw *o = owner_of(r, &ready);

		if (!o && ready.listener && ready.bits & TCP_READY_UP && r->listener && !r->conn) {
			o = r;
			r->conn = ready.conn;
			tcp_adopt(tcp_of(r), r->conn, 98, NULL);
		}
		any = true;
		if (o)
			o->bits |= ready.bits;
	}
	for (struct raw *o = all; o; o = o->next)
		if (o->sim == r->sim && read_all(o))
			any = true;
	return any;
}

void
raw_run(struct raw *r, uint64_t ns)
{
	uint64_t end = r->sim->now_ns + ns;
	bool any;

	(void)look(r);
	any = true;
	/* What was read is acknowledged in the next turn; while nothing is under way only a timer can bring something.
	 * The last turn is one at the end. */
	while (r->sim->now_ns < end) {
		uint64_t step = r->sim->now_ns + STEP;

		sim_step(r->sim, any || r->sim->frames || step >= end ? iw_time_min(end, step) : end - STEP);
		any = look(r);
	}
}

void
raw_dial(struct raw *r, struct sim *sim, uint32_t host, uint32_t to, uint16_t port)
{
	struct iw_addr remote = sim_addr(to, port), local = {.port = 0};

	begin(r, sim, host);
	assert_int_equal(tcp_open(tcp_of(r), &local, &remote, NULL, 97, sim->now_ns, &r->conn), 0);
}

bool
raw_open(struct raw *r, struct sim *sim, uint32_t host, uint32_t to, uint16_t port)
{
	raw_dial(r, sim, host, to, port);
	for (uint32_t i = 0; i < 5000 && !(r->bits & TCP_READY_UP); i++)
		raw_run(r, IW_MS);
	return r->bits & TCP_READY_UP;
}

void
raw_listen(struct raw *r, struct sim *sim, uint32_t host, uint16_t port)
{
	struct iw_addr any = {.port = port};

	begin(r, sim, host);
	assert_int_equal(tcp_listen(tcp_of(r), &any, 8, 99, &r->listener), 0);
}

bool
raw_accept(struct raw *r)
{
	raw_run(r, 100 * IW_US);
	return r->conn != 0;
}

void
raw_close(struct raw *r)
{
	if (r->conn) {
		tcp_abort(tcp_of(r), r->conn, r->sim->now_ns);
		tcp_release(tcp_of(r), r->conn, r->sim->now_ns);
	}
	if (r->listener)
		tcp_unlisten(tcp_of(r), r->listener, r->sim->now_ns);
	for (struct raw **p = &all; *p; p = &(*p)->next)
		if (*p == r) {
			*p = r->next;
			break;
		}
	free(r->in);
	r->in = NULL;
	r->conn = r->listener = 0;
}

void
raw_send(struct raw *r, const void *octets, uint32_t len)
{
	const uint8_t *p = octets;

	while (len > 0) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(r->sim->host[r->host].data_pool);
		uint32_t part = iw_len_min(len, 1400);

		memcpy(rte_pktmbuf_append(m, (uint16_t)part), p, part);
		(void)tcp_tx_append(tcp_of(r), r->conn, m); /* gone: it says so by its bits */
		p += part;
		len -= part;
	}
}

void
raw_fin(struct raw *r)
{
	tcp_close(tcp_of(r), r->conn, r->sim->now_ns);
}

void
raw_rst(struct raw *r)
{
	tcp_abort(tcp_of(r), r->conn, r->sim->now_ns);
	tcp_release(tcp_of(r), r->conn, r->sim->now_ns);
	r->conn = 0;
}

bool
raw_await(struct raw *r, uint32_t len, uint64_t ns)
{
	uint64_t end = r->sim->now_ns + ns;

	while (r->len < len && r->sim->now_ns < end)
		raw_run(r, 100 * IW_US);
	return r->len >= len;
}

void
raw_forget(struct raw *r)
{
	r->len = 0;
}

bool
raw_ended(const struct raw *r)
{
	return r->bits & (TCP_READY_FIN | TCP_READY_RST | TCP_READY_TIMEOUT | TCP_READY_CLOSED);
}

/* ---- octets ---- */

uint32_t
raw_startup(uint8_t *out, bool reply, uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len)
{
	memcpy(out, reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
	out[16] = flags;
	out[17] = rev;
	out[18] = (uint8_t)(pd_len >> 8);
	out[19] = (uint8_t)pd_len;
	if (pd_len)
		memcpy(out + 20, pd, pd_len);
	return 20u + pd_len;
}

bool
raw_start(struct raw *r)
{
	uint8_t request[64];

	raw_send(r, request, raw_startup(request, false, 0x50, 2, "\x00\x10\x00\x10", 4));
	if (!raw_await(r, 24, IW_SEC) || memcmp(r->in, "MPA ID Rep Frame", 16) || r->in[16] & 0x20)
		return false;
	raw_forget(r);
	return true;
}

uint32_t
raw_fpdu(uint8_t *out, const struct ddp_hdr *h, const void *payload, uint32_t len)
{
	uint32_t ulpdu = h->hdr_len + len, crc_off = fpdu_hdr_crc_off(ulpdu);

	fpdu_hdr_length_emit(out, (uint16_t)ulpdu);
	ddp_hdr_emit(h, out + 2, DDP_HDR_MAX_LEN);
	if (len)
		memcpy(out + 2 + h->hdr_len, payload, len);
	memset(out + 2 + ulpdu, 0, fpdu_hdr_pad(ulpdu));
	fpdu_hdr_crc_emit(out + crc_off, iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, out, crc_off)));
	return crc_off + 4;
}

uint32_t
raw_read_req(uint8_t *out, uint32_t msn, uint32_t size, uint32_t stag, uint64_t to)
{
	struct rdmap_read_req req = {
		.sink_stag = 0x51515151, .sink_to = 0x5252, .size = size, .src_stag = stag, .src_to = to};
	struct ddp_hdr h = ddp_hdr_untagged(1, true, 0, 1, msn, 0);
	uint8_t body[RDMAP_HDR_READ_REQ_LEN];

	rdmap_hdr_read_req_emit(&req, body, sizeof(body));
	return raw_fpdu(out, &h, body, sizeof(body));
}

const uint8_t *
raw_find_terminate(const struct raw *r)
{
	for (uint32_t at = 0; at + 8 <= r->len;) {
		const uint8_t *p = r->in + at;
		uint32_t len = fpdu_hdr_len(fpdu_hdr_length_parse(p));

		if (len > r->len - at)
			break;
		if ((p[3] & 15) == 7)
			return p;
		at += len;
	}
	return NULL;
}

uint32_t
raw_terminate(const struct raw *r)
{
	const uint8_t *p = raw_find_terminate(r);

	return p ? (uint32_t)p[20] << 8 | p[21] : 0;
}
