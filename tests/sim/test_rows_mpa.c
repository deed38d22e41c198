/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows M1 to M22 of the start-up (RFC 5044 §7.1, RFC 6581), one test for each, with a whole engine on one side and
 * a peer made by hand on the other. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "mpa_hdr.h"
#include "oracle.h"
#include "raw.h"
#include "victim.h"

static struct sim *s;
static struct victim v;
static struct raw r;
static uint8_t octets[70000];

static void
open_host(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 1, 2, 1500);
	victim_init(&v, s, 0);
}

static void
close_all(void)
{
	raw_close(&r);
	victim_fini(&v);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}

/* ---- we are the responder ---- */

static void
open_responder(void)
{
	open_host();
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
}

static void
request(uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len)
{
	raw_send(&r, octets, raw_startup(octets, false, flags, rev, pd, pd_len));
	raw_run(&r, 2 * IW_MS);
}

/* No Reply, no Terminate, no event, and the connection is gone. */
static void
check_refused(void)
{
	assert_int_equal(r.len, 0);
	assert_true(raw_ended(&r));
	assert_int_equal(v.events, 0);
	close_all();
}

/* The Reply's flags, revision and IRD/ORD words. */
static void
check_reply(uint8_t flags, uint8_t rev, const char *words)
{
	uint32_t pd = words ? 4 : 0;

	assert_int_equal(r.len, 20 + pd);
	assert_memory_equal(r.in, "MPA ID Rep Frame", 16);
	assert_int_equal(r.in[16], flags);
	assert_int_equal(r.in[17], rev);
	assert_int_equal(r.in[18] << 8 | r.in[19], pd);
	if (words)
		assert_memory_equal(r.in + 20, words, 4);
}

static void
one_responder(uint8_t flags, uint8_t rev, const char *pd, uint16_t pd_len, uint8_t want_flags, const char *want)
{
	open_responder();
	request(flags, rev, pd, pd_len);
	check_reply(want_flags, rev, want);
	close_all();
}

/* ---- we are the initiator ---- */

static void
open_initiator(bool p2p)
{
	open_host();
	v.attr.no_peer_to_peer = !p2p;
	v.attr.require_peer_to_peer = p2p; /* no second attempt */
	raw_listen(&r, s, 1, 4000);
	victim_connect(&v, 1, 4000);
	for (uint32_t i = 0; i < 1000 && !raw_accept(&r); i++)
		;
	assert_true(raw_await(&r, 24, IW_SEC));
	assert_memory_equal(r.in, "MPA ID Req Frame", 16);
	raw_forget(&r);
}

static void
reply(uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len)
{
	raw_send(&r, octets, raw_startup(octets, true, flags, rev, pd, pd_len));
	raw_run(&r, 2 * IW_MS);
}

static void
check_answer(int status, uint32_t terminate)
{
	assert_int_equal(v.conn[0].events, 1);
	assert_int_equal(v.conn[0].last.type, IW_CM_CONNECT_REPLY);
	assert_int_equal(v.conn[0].status, status);
	assert_int_equal(raw_terminate(&r), terminate);
	close_all();
}

static void
one_initiator(bool p2p, uint8_t flags, uint8_t rev, const char *pd, uint16_t pd_len, int status, uint32_t terminate)
{
	open_initiator(p2p);
	reply(flags, rev, pd, pd_len);
	check_answer(status, terminate);
}

/* ---- rows ---- */

static void
test_M1(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		open_responder();
		raw_startup(octets, false, 0x50, 2, NULL, 0);
		octets[i] ^= 1;
		raw_send(&r, octets, 20);
		raw_run(&r, 2 * IW_MS);
		check_refused();
		open_initiator(false);
		raw_startup(octets, true, 0x50, 2, NULL, 0);
		octets[i] ^= 1;
		raw_send(&r, octets, 20);
		raw_run(&r, 2 * IW_MS);
		check_answer(-IW_E_PROTO, 0);
	}
}

static void
test_M2(void **state)
{
	(void)state;
	open_initiator(false);
	raw_send(&r, octets, raw_startup(octets, false, 0x50, 2, "\0\x10\0\x10", 4));
	raw_run(&r, 2 * IW_MS);
	check_answer(-IW_E_PROTO, 0);
}

static void
test_M3(void **state)
{
	static const uint16_t lengths[] = {513, 0x8000, 0xffff};

	(void)state;
	for (int i = 0; i < 3; i++) {
		open_responder();
		raw_startup(octets, false, 0x50, 2, NULL, 0);
		octets[18] = (uint8_t)(lengths[i] >> 8);
		octets[19] = (uint8_t)lengths[i];
		raw_send(&r, octets, 20);
		raw_run(&r, 2 * IW_MS);
		check_refused();
		open_initiator(false);
		raw_startup(octets, true, 0x50, 2, NULL, 0);
		octets[18] = (uint8_t)(lengths[i] >> 8);
		octets[19] = (uint8_t)lengths[i];
		raw_send(&r, octets, 20);
		raw_run(&r, 2 * IW_MS);
		check_answer(-IW_E_PROTO, 0);
	}
}

static void
test_M4(void **state)
{
	(void)state;
	open_responder();
	raw_send(&r, octets, raw_startup(octets, false, 0x50, 2, "\0\x10\0\x10", 4) - 1);
	raw_run(&r, 9 * IW_SEC);
	assert_false(raw_ended(&r));
	raw_run(&r, 2 * IW_SEC);
	check_refused();
	open_initiator(false);
	raw_send(&r, octets, raw_startup(octets, true, 0x50, 2, "\0\x10\0\x10", 4) - 1);
	raw_run(&r, 9 * IW_SEC);
	assert_int_equal(v.events, 0);
	raw_run(&r, 2 * IW_SEC);
	check_answer(-IW_E_TIMEDOUT, 0);
}

/* Octets behind the Request: no start-up.  Behind the Reply: the first FPDUs.  Our initiator sends nothing behind its
 * Request, our responder nothing before it has heard an FPDU. */
static void
test_M5(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);
	uint32_t n;

	(void)state;
	open_responder();
	n = raw_startup(octets, false, 0x50, 2, "\0\x10\0\x10", 4);
	octets[n] = 0;
	raw_send(&r, octets, n + 1);
	raw_run(&r, 2 * IW_MS);
	check_refused();
	open_initiator(false);
	n = raw_startup(octets, true, 0x50, 2, "\0\x10\0\x10", 4);
	n += raw_fpdu(octets + n, &h, "12345678", 8);
	raw_send(&r, octets, n);
	raw_run(&r, 2 * IW_MS);
	victim_reap(&v);
	assert_int_equal(v.received, 1);
	assert_int_equal(r.len, 0);
	check_answer(0, 0);
}

/* Every two-way split, and octet by octet: as whole. */
static void
test_M6(void **state)
{
	uint32_t n = raw_startup(octets, false, 0x50, 2, "\0\x10\0\x10hello", 9);
	uint8_t copy[64];

	(void)state;
	memcpy(copy, octets, n);
	for (uint32_t cut = 1; cut <= n; cut++) {
		open_responder();
		if (cut == n)
			for (uint32_t i = 0; i < n; i++)
				raw_send(&r, copy + i, 1);
		else
			raw_send(&r, copy, cut);
		raw_run(&r, 100 * IW_US);
		if (cut < n)
			raw_send(&r, copy + cut, n - cut);
		raw_run(&r, 2 * IW_MS);
		check_reply(0x50, 2, "\0\x10\0\x10");
		assert_int_equal(v.conn[0].request.private_len, 5);
		close_all();
		open_initiator(false);
		memcpy(octets, copy, n);
		octets[9] = 'p'; /* Rep */
		raw_send(&r, octets, cut);
		raw_run(&r, 100 * IW_US);
		if (cut < n)
			raw_send(&r, octets + cut, n - cut);
		raw_run(&r, 2 * IW_MS);
		assert_memory_equal(v.conn[0].private_data, "hello", 5);
		check_answer(0, 0);
	}
}

static void
test_M7(void **state)
{
	static const uint8_t revs[] = {0, 3, 4, 127, 255};

	(void)state;
	for (uint32_t i = 0; i < sizeof(revs); i++) {
		open_responder();
		request(0x40, revs[i], NULL, 0);
		check_refused();
		one_initiator(false, 0x40, revs[i], NULL, 0, -IW_E_PROTO, 0);
	}
}

/* Each direction by its receiver's wish; what we send then has them, the first in front of everything. */
static void
test_M8(void **state)
{
	uint8_t got[64];

	(void)state;
	one_responder(0xd0, 2, "\0\x10\0\x10", 4, 0x50, "\0\x10\0\x10");
	one_responder(0xc0, 1, "", 0, 0x40, NULL);
	open_host(); /* we ask for them */
	v.attr.markers = true;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
	request(0x50, 2, "\0\x10\0\x10", 4);
	check_reply(0xd0, 2, "\0\x10\0\x10");
	close_all();
	open_initiator(true); /* the responder asks: the RTR has one */
	reply(0xd0, 2, "\x80\x10\x80\x10", 4);
	assert_int_equal(r.len, 24);
	memcpy(got, r.in, 24);
	assert_memory_equal(got, "\0\0\0\0\x00\x0e\xc1\x40", 8);
	check_answer(0, 0);
	one_initiator(false, 0xd0, 2, "\0\x10\0\x11", 4, -IW_E_PROTO, 0); /* M14 with a marker: checked below */
}

static void
test_M9(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	one_responder(0x10, 2, "\0\x10\0\x10", 4, 0x50, "\0\x10\0\x10"); /* we want it */
	for (int ours = 0; ours < 2; ours++) {
		for (int theirs = 0; theirs < 2; theirs++) {
			uint32_t n;

			open_host();
			v.attr.no_crc = !ours;
			victim_listen(&v);
			assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
			request(theirs ? 0x50 : 0x10, 2, "\0\x10\0\x10", 4);
			check_reply(ours || theirs ? 0x50 : 0x10, 2, "\0\x10\0\x10");
			raw_forget(&r);
			n = raw_fpdu(octets, &h, "12345678", 8);
			octets[n - 1] ^= 1; /* whoever asks for it gets it checked */
			raw_send(&r, octets, n);
			raw_run(&r, 5 * IW_MS);
			assert_int_equal(raw_terminate(&r), ours || theirs ? 0x2002 : 0);
			close_all();
		}
	}
}

static void
test_M10(void **state)
{
	(void)state;
	one_responder(0x7f, 2, "\0\x10\0\x10", 4, 0x50, "\0\x10\0\x10");
	one_responder(0x6f, 1, "", 0, 0x40, NULL);
	one_responder(0x5f, 1, "", 0, 0x40, NULL);
	one_initiator(false, 0x5f, 2, "\0\x10\0\x10", 4, 0, 0);
}

static void
test_M11(void **state)
{
	(void)state;
	for (uint16_t n = 0; n < 4; n++) {
		open_responder();
		request(0x50, 2, "\0\0\0", n);
		check_refused();
		one_initiator(false, 0x50, 2, "\0\0\0", n, -IW_E_PROTO, 0);
		one_initiator(false, 0x30, 2, "\0\0\0", n, -IW_E_CONNREFUSED, 0);
	}
}

static void
test_M12(void **state)
{
	(void)state;
	one_responder(0x40, 2, "", 0, 0x40, NULL);
	one_responder(0x40, 1, "", 0, 0x40, NULL);
	one_initiator(false, 0x40, 2, "", 0, -IW_E_PROTO, 0);
	one_initiator(false, 0x40, 1, "", 0, -IW_E_PROTO, 0);
	one_initiator(false, 0x60, 1, "", 0, -IW_E_CONNREFUSED, 0);
	one_initiator(false, 0x60, 7, "", 0, -IW_E_CONNREFUSED, 0);
}

static void
test_M13(void **state)
{
	(void)state;
	one_responder(0x50, 2, "\0\0\0\0", 4, 0x50, "\0\0\0\0");
	one_responder(0x50, 2, "\0\x01\0\x01", 4, 0x50, "\0\x01\0\x01");
	one_responder(0x50, 2, "\0\x10\0\x11", 4, 0x50, "\0\x10\0\x10");
	one_responder(0x50, 2, "\x3f\xfe\x3f\xfe", 4, 0x50, "\0\x10\0\x10");
	one_responder(0x50, 2, "\x3f\xff\x3f\xff", 4, 0x50, "\x3f\xff\x3f\xff");
	one_responder(0x50, 2, "\x3f\xff\0\x02", 4, 0x50, "\0\x02\x3f\xff");
	open_responder(); /* the raw values are the ULP's to see */
	request(0x50, 2, "\x3f\xfe\x3f\xff", 4);
	assert_int_equal(v.conn[0].request.ird, 0x3ffe);
	assert_int_equal(v.conn[0].request.ord, 0x3fff);
	close_all();
	one_initiator(false, 0x50, 2, "\x3f\xff\x3f\xff", 4, 0, 0);
	one_initiator(false, 0x50, 2, "\0\0\0\0", 4, 0, 0);
}

/* L2/E0/C6; when the peer wants markers, behind one. */
static void
test_M14(void **state)
{
	(void)state;
	one_initiator(false, 0x50, 2, "\0\x10\0\x11", 4, -IW_E_PROTO, 0x2006);
	one_initiator(false, 0x50, 2, "\0\x10\x3f\xfe", 4, -IW_E_PROTO, 0x2006);
	open_initiator(false);
	reply(0xd0, 2, "\0\x10\0\x11", 4);
	assert_int_equal(r.len, 32);
	assert_memory_equal(r.in, "\0\0\0\0\x00\x16\x41\x47", 8);
	assert_memory_equal(r.in + 24, "\x20\x06\0\0", 4);
	check_answer(-IW_E_PROTO, 0);
}

static void
test_M15(void **state)
{
	(void)state;
	one_initiator(true, 0x50, 2, "\x80\x10\0\x10", 4, -IW_E_PROTO, 0x2007);
	one_initiator(true, 0x50, 2, "\xc0\x10\0\x10", 4, -IW_E_PROTO, 0x2007); /* Send: not offered */
	one_initiator(true, 0x50, 2, "\0\x10\x80\x10", 4, -IW_E_PROTO, 0x2007); /* A not mirrored */
	one_initiator(true, 0x50, 2, "\x80\x10\x80\x10", 4, 0, 0);
	one_initiator(true, 0x50, 2, "\x80\x10\x40\x10", 4, 0, 0);
	one_responder(0x50, 2, "\xc0\x10\xc0\x10", 4, 0x50, "\x80\x10\x80\x10"); /* Write before Read */
	one_responder(0x50, 2, "\xc0\x10\x40\x10", 4, 0x50, "\x80\x10\x40\x10"); /* Read before Send */
	one_responder(0x50, 2, "\xc0\x10\0\x10", 4, 0x50, "\xc0\x10\0\x10");     /* Send */
	one_responder(0x50, 2, "\x80\x10\0\x10", 4, 0x50, "\x80\x10\x80\x10");   /* none: one of ours */
	one_responder(0x50, 2, "\x80\x10\x40\0", 4, 0x50, "\x80\x01\x40\x10");   /* Read: IRD at least 1 */
	one_responder(0x50, 2, "\x40\x10\xc0\x10", 4, 0x50, "\0\x10\0\x10");     /* A = 0: the others are ignored */
}

/* A local failure before the Reply: a reject, never a RST. */
static void
test_M16(void **state)
{
	(void)state;
	open_host();
	v.reject = true;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
	request(0x50, 2, "\0\x10\0\x10", 4);
	assert_int_equal(r.len, 24);
	assert_int_equal(r.in[16] & 0x30, 0x30);
	assert_true(r.bits & TCP_READY_FIN);
	assert_false(r.bits & TCP_READY_RST);
	close_all();
}

/* The RTR right behind the Reply, and FPDUs in the segment of the Reply (M5). */
static void
test_M17(void **state)
{
	struct ddp_hdr h = ddp_hdr_tagged(0, true, 1, 0);

	(void)state;
	open_responder();
	request(0x50, 2, "\x80\x10\x80\x10", 4);
	check_reply(0x50, 2, "\x80\x10\x80\x10");
	assert_false(v.conn[0].up); /* not before the RTR */
	raw_send(&r, octets, raw_fpdu(octets, &h, NULL, 0));
	raw_run(&r, IW_MS);
	assert_true(v.conn[0].up);
	close_all();
}

/* FIN or RST at each step: one event at the most, everything back (sim_fini). */
static void
test_M18(void **state)
{
	(void)state;
	for (uint32_t step = 0; step < 4; step++) {
		for (int rst = 0; rst < 2; rst++) {
			uint32_t n = raw_startup(octets, false, 0x50, 2, "\x80\x10\x80\x10", 4);

			open_responder();
			if (step > 0)
				raw_send(&r, octets, step == 1 ? 10 : n);
			raw_run(&r, step == 2 ? 25 * IW_US : IW_MS);
			if (rst)
				raw_rst(&r);
			else
				raw_fin(&r);
			raw_run(&r, 20 * IW_MS);
			if (step < 2)
				assert_int_equal(v.events, 0);
			close_all();
		}
	}
	for (int step = 0; step < 2; step++) {
		for (int rst = 0; rst < 2; rst++) {
			open_initiator(false);
			raw_startup(octets, true, 0x50, 2, "\0\x10\0\x10", 4);
			if (step)
				raw_send(&r, octets, 10);
			raw_run(&r, IW_MS);
			if (rst)
				raw_rst(&r);
			else
				raw_fin(&r);
			raw_run(&r, 20 * IW_MS);
			sim_run(s, 30 * IW_SEC);
			assert_int_equal(v.conn[0].events, 1);
			assert_int_not_equal(v.conn[0].status, 0);
			close_all();
		}
	}
}

/* More half-finished start-ups than ids: the oldest go, one that is in earnest gets through. */
static void
test_M19(void **state)
{
	enum { HALF = 200 };
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 256, .max_cm_ids = 16, .max_qps = 16};
	struct iw_addr remote = sim_addr(0, VICTIM_PORT), local = {.port = 0};
	uint32_t conn[HALF], in_use;

	(void)state;
	s = malloc(sizeof(*s));
	sim_init_params(s, 1, 2, &params);
	victim_init(&v, s, 0);
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
	for (uint32_t i = 0; i < HALF; i++) {
		assert_int_equal(tcp_open(s->host[1].engine->tcp, &local, &remote, NULL, 97, s->now_ns, &conn[i]), 0);
		raw_run(&r, 200 * IW_US);
	}
	in_use = mbufpool_in_use(s->host[0].data_pool);
	assert_true(in_use < HALF);
	raw_close(&r);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT));
	assert_true(raw_start(&r));
	for (uint32_t i = 0; i < HALF; i++)
		tcp_release(s->host[1].engine->tcp, conn[i], s->now_ns);
	close_all();
}

/* A = 1 and the first FPDU is no RTR; and a Send as RTR takes MSN 1 but none of our receives. */
static void
test_M20(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	open_responder();
	request(0x50, 2, "\x80\x10\x80\x10", 4);
	raw_send(&r, octets, raw_fpdu(octets, &h, "12345678", 8));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_true(v.conn[0].up);
	assert_int_equal(v.received, 1);
	close_all();
	open_responder();
	request(0x50, 2, "\xc0\x10\0\x10", 4);
	raw_send(&r, octets, raw_fpdu(octets, &h, NULL, 0));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_true(v.conn[0].up);
	assert_int_equal(v.received, 0);
	h.msn = 2;
	raw_send(&r, octets, raw_fpdu(octets, &h, "12345678", 8));
	raw_run(&r, IW_MS);
	victim_reap(&v);
	assert_int_equal(v.received, 1);
	close_all();
}

static void
test_M21(void **state)
{
	(void)state;
	for (int rev = 1; rev <= 2; rev++) {
		open_responder();
		if (rev == 1)
			request(0x40, 1, NULL, 0);
		else
			request(0x50, 2, "\0\0\0\0", 4);
		raw_forget(&r);
		raw_send(&r, octets, raw_read_req(octets, 1, 0, 0xdeadbeef, 1));
		raw_run(&r, IW_MS);
		assert_int_equal(r.len, 20);
		assert_memory_equal(r.in, "\x00\x0e\xc1\x42", 4);
		close_all();
	}
}

/* A bad first FPDU, at a responder that must not speak first: a Terminate all the same. */
static void
test_M22(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 1, 0);

	(void)state;
	for (int length = 0; length < 2; length++) {
		uint32_t n;

		open_responder();
		assert_true(raw_start(&r));
		n = raw_fpdu(octets, &h, "12345678", 8);
		if (length) {
			memset(octets, 0, 8);
			n = 8;
			mpa_hdr_crc_emit(octets + 4, 0x48674bc7); /* CRC32c of four zero octets */
		} else {
			octets[n - 1] ^= 0x80;
		}
		raw_send(&r, octets, n);
		raw_run(&r, 10 * IW_MS);
		assert_int_equal(raw_terminate(&r), length ? 0x2003 : 0x2002);
		assert_true(r.bits & TCP_READY_FIN);
		close_all();
	}
}

/* An argument is a filter: test_M1*. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_M1),  cmocka_unit_test(test_M2),  cmocka_unit_test(test_M3),
		cmocka_unit_test(test_M4),  cmocka_unit_test(test_M5),  cmocka_unit_test(test_M6),
		cmocka_unit_test(test_M7),  cmocka_unit_test(test_M8),  cmocka_unit_test(test_M9),
		cmocka_unit_test(test_M10), cmocka_unit_test(test_M11), cmocka_unit_test(test_M12),
		cmocka_unit_test(test_M13), cmocka_unit_test(test_M14), cmocka_unit_test(test_M15),
		cmocka_unit_test(test_M16), cmocka_unit_test(test_M17), cmocka_unit_test(test_M18),
		cmocka_unit_test(test_M19), cmocka_unit_test(test_M20), cmocka_unit_test(test_M21),
		cmocka_unit_test(test_M22),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
