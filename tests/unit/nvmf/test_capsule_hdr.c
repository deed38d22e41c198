/* SPDX-License-Identifier: BSD-3-Clause */
/* Expectations: NVM Express base 1.4 §4.2 and §4.4, NVMe over Fabrics 1.1 §2 and §3.3, and its RDMA binding; written
 * as octets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capsule_hdr.h"

static const uint8_t read_keyed[CAPSULE_COMMAND] = {
	0x02,        0x40, 0x34, 0x12, 0x01, 0x00, 0x00, 0x00, /* opcode, PSDT, CID, NSID */
	[24] = 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* address */
	[32] = 0x00, 0x10, 0x00, 0xdd, 0xcc, 0xbb, 0xaa, 0x4f, /* 4096 octets, key, invalidate */
	[40] = 0x11, 0,    0,    0,    0x22, 0,    0,    0,    7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, /* DW10..14 */
	[60] = 3};

static void
test_command(void **state)
{
	struct nvme_command c;
	uint8_t back[CAPSULE_COMMAND];

	(void)state;
	capsule_command_parse(read_keyed, &c);
	assert_int_equal(c.opcode, 2);
	assert_int_equal(c.fuse, 0);
	assert_true(c.sgl_used);
	assert_int_equal(c.cid, 0x1234);
	assert_int_equal(c.nsid, 1);
	assert_int_equal(c.fctype, 1);
	assert_int_equal(c.sgl.kind, SGL_KEYED_INV);
	assert_int_equal(c.sgl.addr, 0x0102030405060708);
	assert_int_equal(c.sgl.len, 4096);
	assert_int_equal(c.sgl.key, 0xaabbccdd);
	assert_int_equal(c.cdw10, 0x11);
	assert_int_equal(c.cdw11, 0x22);
	assert_int_equal(c.cdw12, 7);
	assert_int_equal(c.cdw13, 1);
	assert_int_equal(c.cdw14, 2);
	assert_int_equal(c.cdw15, 3);
	capsule_command_emit(&c, back);
	assert_memory_equal(back, read_keyed, sizeof(back));
}

static void
test_flags(void **state)
{
	static const struct {
		uint8_t flags, fuse;
		bool sgl;
	} rows[] = {{0x00, 0, false}, {0x40, 0, true}, {0x80, 0, false},
		    {0xc0, 0, false}, {0x41, 1, true}, {0x42, 2, true}};
	uint8_t raw[CAPSULE_COMMAND];
	struct nvme_command c;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(raw, read_keyed, sizeof(raw));
		raw[1] = rows[i].flags;
		capsule_command_parse(raw, &c);
		assert_int_equal(c.fuse, rows[i].fuse);
		assert_int_equal(c.sgl_used, rows[i].sgl);
	}
}

/* Every octet that may stand in the descriptor's last place. */
static void
test_sgl_kinds(void **state)
{
	uint8_t raw[CAPSULE_COMMAND];
	struct nvme_command c;

	(void)state;
	for (int id = 0; id < 256; id++) {
		enum sgl_kind want = id == 0x40   ? SGL_KEYED
				     : id == 0x4f ? SGL_KEYED_INV
				     : id == 1    ? SGL_CAPSULE
						  : SGL_UNKNOWN;

		memcpy(raw, read_keyed, sizeof(raw));
		raw[39] = (uint8_t)id;
		capsule_command_parse(raw, &c);
		assert_int_equal(c.sgl.kind, want);
	}
	memset(raw + 24, 0, 16);
	capsule_command_parse(raw, &c);
	assert_int_equal(c.sgl.kind, SGL_NONE);
	raw[24] = 1; /* an address, but no octets of it */
	capsule_command_parse(raw, &c);
	assert_int_equal(c.sgl.kind, SGL_NONE);
}

static void
test_offset(void **state)
{
	static const uint8_t sgl[16] = {0x00, 0x02, [8] = 0x00, 0x20, 0x00, 0x01, [15] = 0x01};
	uint8_t raw[CAPSULE_COMMAND] = {0}, back[CAPSULE_COMMAND];
	struct nvme_command c;

	(void)state;
	memcpy(raw + 24, sgl, sizeof(sgl));
	capsule_command_parse(raw, &c);
	assert_int_equal(c.sgl.kind, SGL_CAPSULE);
	assert_int_equal(c.sgl.addr, 512);
	assert_int_equal(c.sgl.len, 0x01002000); /* 32 bits of it, not 24 */
	capsule_command_emit(&c, back);
	assert_memory_equal(back + 24, sgl, sizeof(sgl));
}

static void
test_response(void **state)
{
	static const uint8_t raw[CAPSULE_RESPONSE] = {0x01, 0x02, [7] = 0x80, 0x05, 0x00, 0x03,
						      0x00, 0x34, 0x12,       0x04, 0x80};
	struct nvme_response r;
	uint8_t back[CAPSULE_RESPONSE];

	(void)state;
	capsule_response_parse(raw, &r);
	assert_int_equal(r.result, 0x8000000000000201);
	assert_int_equal(r.sq_head, 5);
	assert_int_equal(r.sq_id, 3);
	assert_int_equal(r.cid, 0x1234);
	assert_int_equal(r.status, 0x4002); /* "do not retry", invalid field; the phase bit is not of it */
	capsule_response_emit(&r, back);
	assert_memory_equal(back, raw, sizeof(raw));
}

static void
test_connect_data(void **state)
{
	uint8_t raw[CAPSULE_CONNECT_DATA] = {[0] = 0x11, [15] = 0x22, [16] = 0xff, [17] = 0xfe};
	struct connect_data d;
	uint8_t back[CAPSULE_CONNECT_DATA];

	(void)state;
	memcpy(raw + 256, "nqn.a", 5);
	memcpy(raw + 512, "nqn.b", 5);
	assert_int_equal(capsule_connect_parse(raw, &d), 0);
	assert_int_equal(d.hostid[0], 0x11);
	assert_int_equal(d.hostid[15], 0x22);
	assert_int_equal(d.cntlid, 0xfeff);
	assert_string_equal(d.subnqn, "nqn.a");
	assert_string_equal(d.hostnqn, "nqn.b");
	capsule_connect_emit(&d, back);
	assert_memory_equal(back, raw, sizeof(raw));
	memset(raw + 256, 'x', 256); /* a name without an end */
	assert_int_equal(capsule_connect_parse(raw, &d), 256);
	raw[256] = 0;
	memset(raw + 512, 'x', 256);
	assert_int_equal(capsule_connect_parse(raw, &d), 512);
}

static void
test_private_data(void **state)
{
	static const uint8_t request[CAPSULE_PRIVATE] = {0, 0, 1, 0, 0x80, 0, 0x7f};
	static const uint8_t accept[CAPSULE_PRIVATE] = {0, 0, 0x80};
	static const uint8_t reject[CAPSULE_PRIVATE_REJECT] = {0, 0, 6};
	uint8_t raw[CAPSULE_PRIVATE];
	struct private_request r;

	(void)state;
	capsule_private_parse(request, &r);
	assert_int_equal(r.recfmt, 0);
	assert_int_equal(r.qid, 1);
	assert_int_equal(r.hrqsize, 128);
	assert_int_equal(r.hsqsize, 127);
	capsule_private_emit(&r, raw);
	assert_memory_equal(raw, request, sizeof(raw));
	capsule_private_accept_emit(128, raw);
	assert_memory_equal(raw, accept, sizeof(raw));
	capsule_private_reject_emit(6, raw);
	assert_memory_equal(raw, reject, CAPSULE_PRIVATE_REJECT);
}

static void
test_dsm_range(void **state)
{
	static const uint8_t raw[CAPSULE_DSM_RANGE] = {9, 9, 9, 9, 1, 2, 0, 0, 3, 4, [15] = 5};
	struct dsm_range r = capsule_dsm_parse(raw);

	(void)state;
	assert_int_equal(r.blocks, 0x201);
	assert_int_equal(r.lba, 0x0500000000000403);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),      cmocka_unit_test(test_flags),
		cmocka_unit_test(test_sgl_kinds),    cmocka_unit_test(test_offset),
		cmocka_unit_test(test_response),     cmocka_unit_test(test_connect_data),
		cmocka_unit_test(test_private_data), cmocka_unit_test(test_dsm_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
