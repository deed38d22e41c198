/* SPDX-License-Identifier: BSD-3-Clause */
/* The fuzz target for capsules with some thousand seeded rows of commands, most of them nearly right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec.h"

#define ROWS 3000
#define RECORD (3 + CAPSULE_COMMAND)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t
draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

/* Mostly small numbers and powers of two, at times anything. */
static uint32_t
number(void)
{
	switch (draw(4)) {
	case 0:
		return draw(16);
	case 1:
		return 1u << draw(32);
	case 2:
		return ~draw(16);
	default:
		return draw(UINT32_MAX);
	}
}

static uint8_t
opcode(uint8_t where)
{
	static const uint8_t io[] = {0, 1, 2, 5, 8, 9, 0x7f}, admin[] = {2, 6, 8, 9, 0x0a, 0x0c, 0x18, 0x7f};

	if (draw(16) == 0)
		return (uint8_t)draw(256);
	return where == 1 ? io[draw(sizeof(io))] : admin[draw(sizeof(admin))];
}

static size_t
make(uint8_t *p)
{
	struct nvme_command c = {.cid = (uint16_t)draw(4), .nsid = draw(5)};
	uint32_t data = draw(3) ? 0 : draw(256);

	p[0] = (uint8_t)draw(3);
	p[1] = (uint8_t)(1 | draw(256));
	p[2] = (uint8_t)data;
	c.opcode = opcode(p[0]);
	c.sgl.kind = (enum sgl_kind)draw(5);
	c.sgl.addr = draw(2) ? number() : (uint64_t)number() << 32 | number();
	c.sgl.len = draw(2) ? 4096 : number();
	c.sgl.key = number();
	c.cdw10 = draw(2) ? draw(128) : number();
	c.cdw11 = draw(2) ? 0 : number();
	c.cdw12 = draw(2) ? draw(8) : number();
	c.cdw13 = draw(2) ? 0 : number();
	capsule_command_emit(&c, p + 3);
	if (draw(20) == 0)
		p[3 + draw(CAPSULE_COMMAND)] ^= (uint8_t)(1 << draw(8));
	data = data * 16 % 513;
	for (uint32_t i = 0; i < data; i++)
		p[RECORD + i] = i % 8 < 4 ? 0 : (uint8_t)draw(4);
	return RECORD + data;
}

static void
test_rows_of_commands(void **state)
{
	uint8_t *row = malloc(32 * (RECORD + 512));

	(void)state;
	for (int n = 0; n < ROWS; n++) {
		uint32_t commands = 1 + draw(20);
		size_t len = 0;

		for (uint32_t i = 0; i < commands; i++)
			len += make(row + len);
		assert_int_equal(LLVMFuzzerTestOneInput(row, len), 0);
	}
	free(row);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_of_commands)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
