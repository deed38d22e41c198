/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows M1 to M13 of the start-up (RFC 5044 §7.1, RFC 6581), one test for each, with a whole engine on one side and
 * a peer made by hand on the other. */
#include "startup.h"

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
	(void)state;
	one_responder(0xd0, 2, "\0\x10\0\x10", 4, 0x50, "\0\x10\0\x10");
	one_responder(0xc0, 1, "", 0, 0x40, NULL);
	open_host(); /* we ask for them */
	v.attr.markers = true;
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
	request(0x50, 2, "\0\x10\0\x10", 4);
	check_reply(0xd0, 2, "\0\x10\0\x10");
	close_all();
	open_initiator(true); /* the responder asks: the RTR has one */
	reply(0xd0, 2, "\x80\x10\x80\x10", 4);
	assert_int_equal(r.len, 24);
	assert_memory_equal(r.in, "\0\0\0\0\x00\x0e\xc1\x40", 8);
	check_answer(0, 0);
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
			assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
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

/* An argument is a filter: test_M1*. */
int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_M1),  cmocka_unit_test(test_M2),  cmocka_unit_test(test_M3),
		cmocka_unit_test(test_M4),  cmocka_unit_test(test_M5),  cmocka_unit_test(test_M6),
		cmocka_unit_test(test_M7),  cmocka_unit_test(test_M8),  cmocka_unit_test(test_M9),
		cmocka_unit_test(test_M10), cmocka_unit_test(test_M11), cmocka_unit_test(test_M12),
		cmocka_unit_test(test_M13),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
