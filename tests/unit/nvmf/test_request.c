/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "request.h"

/* A request whose data is in elements of these lengths. */
static void
make(struct request *req, uint8_t *memory, const uint32_t *lens, int n)
{
	memset(req, 0, sizeof(*req));
	for (int i = 0; i < n; i++) {
		req->iov[i] = (struct iovec){memory, lens[i]};
		memory += lens[i];
		req->len += lens[i];
	}
	req->iovcnt = n;
}

static void
test_fill(void **state)
{
	static const uint32_t lens[] = {3, 4, 2};
	static const struct {
		uint32_t src_len;
		uint64_t offset;
		const char *want;
	} rows[] = {
		{9, 0, "abcdefghi"}, {12, 2, "cdefghijk"},  {5, 0, "abcde----"},          {5, 4, "e--------"},
		{5, 5, "---------"}, {5, 100, "---------"}, {5, UINT64_MAX, "---------"}, {5, UINT32_MAX, "---------"},
	};
	struct request req;
	uint8_t memory[9];

	(void)state;
	make(&req, memory, lens, 3);
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		memset(memory, 0xff, sizeof(memory));
		request_fill(&req, "abcdefghijkl", rows[n].src_len, rows[n].offset);
		for (int i = 0; i < 9; i++)
			assert_int_equal(memory[i], rows[n].want[i] == '-' ? 0 : rows[n].want[i]);
	}
}

static void
test_read(void **state)
{
	static const uint32_t lens[] = {3, 4, 2};
	uint8_t memory[9] = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'}, out[9];
	struct request req;

	(void)state;
	make(&req, memory, lens, 3);
	for (uint32_t at = 0; at <= 9; at++) {
		for (uint32_t len = 0; at + len <= 9; len++) {
			memset(out, 0, sizeof(out));
			request_read(&req, at, out, len);
			assert_memory_equal(out, memory + at, len);
		}
	}
}

static void
test_list(void **state)
{
	struct request r[3];
	struct request_list l;

	(void)state;
	request_list_init(&l);
	assert_null(request_list_take(&l));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++)
			request_list_add(&l, &r[i]);
		for (int i = 0; i < 3; i++)
			assert_ptr_equal(request_list_take(&l), &r[i]);
		assert_null(request_list_take(&l));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
