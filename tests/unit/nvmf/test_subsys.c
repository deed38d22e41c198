/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "subsys.h"

static void
test_names(void **state)
{
	static char longest[300];
	static const struct {
		const char *nqn;
		bool valid;
	} rows[] = {
		{"nqn.2014-08.org.nvmexpress:uuid:6f1a1f0e-54d1-4bd3-9d0c-5a3d5e2a7d10", true},
		{"nqn.2026-11.org.example:disk", true},
		{"", false},
		{"nqn.", false},
		{"nqn", false},
		{"iqn.2026-11.org.example", false},
		{"nqn.2026-11.org.example:\xc3\xa4\xc2\xb5", true}, /* UTF-8 */
		{"nqn.2026-11.org.example:a b", false},
		{"nqn.2026-11.org.example:a\ncontroller 1: gone", false},
		{"nqn.2026-11.org.example:\x1b[2J", false},
		{"nqn.2026-11.org.example:\x7f", false},
		{"nqn.2026-11.org.example:\xc2\x9b", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(subsys_nqn_valid(rows[i].nqn), rows[i].valid);
	memset(longest, 'x', 223);
	memcpy(longest, "nqn.", 4);
	assert_true(subsys_nqn_valid(longest));
	longest[223] = 'x';
	assert_false(subsys_nqn_valid(longest));
}

/* The same names make the same UUIDs, so a host knows a namespace again after a restart; others make others. */
static void
test_identity(void **state)
{
	static struct subsys a, b;
	struct ns *first, *second;

	(void)state;
	subsys_init(&a, "nqn.2026-11.org.example:a");
	subsys_init(&b, "nqn.2026-11.org.example:a");
	first = subsys_add_ns(&a, "/disk");
	second = subsys_add_ns(&a, "/disk");
	assert_memory_equal(first->uuid, subsys_add_ns(&b, "/disk")->uuid, 16);
	assert_memory_not_equal(first->uuid, second->uuid, 16);
	assert_string_equal(a.serial, b.serial);
	assert_int_equal(strlen(a.serial), 20);
	assert_int_equal(first->uuid[6] >> 4, 5); /* version 5, RFC 4122 §4.1.3 */
	subsys_init(&b, "nqn.2026-11.org.example:b");
	assert_memory_not_equal(first->uuid, subsys_add_ns(&b, "/disk")->uuid, 16);
}

static void
test_namespaces(void **state)
{
	static struct subsys s;

	(void)state;
	subsys_init(&s, "nqn.2026-11.org.example:a");
	for (uint32_t i = 1; i <= SUBSYS_NS_MAX; i++)
		assert_int_equal(subsys_add_ns(&s, "ram:1M")->nsid, i);
	assert_null(subsys_add_ns(&s, "ram:1M"));
	assert_null(subsys_ns(&s, 0));
	assert_int_equal(subsys_ns(&s, 1)->nsid, 1);
	assert_int_equal(subsys_ns(&s, SUBSYS_NS_MAX)->nsid, SUBSYS_NS_MAX);
	assert_null(subsys_ns(&s, SUBSYS_NS_MAX + 1));
	assert_null(subsys_ns(&s, UINT32_MAX));
}

/* One that cannot be opened: none is open. */
static void
test_open(void **state)
{
	static struct subsys s;
	char why[256];

	(void)state;
	subsys_init(&s, "nqn.2026-11.org.example:a");
	subsys_add_ns(&s, "ram:1M");
	assert_true(subsys_open(&s, 0, NULL, 0, why, sizeof(why)));
	assert_int_equal(s.ns[0].bdev[0]->size, 1 << 20);
	assert_true(subsys_open(&s, 1, NULL, 0, why, sizeof(why))); /* for another engine */
	assert_int_equal(s.ns[0].bdev[1]->size, 1 << 20);
	assert_ptr_not_equal(s.ns[0].bdev[1], s.ns[0].bdev[0]);
	subsys_close(&s, 1);
	subsys_close(&s, 0);
	assert_null(s.ns[0].bdev[0]);
	assert_null(s.ns[0].bdev[1]);
	subsys_add_ns(&s, "/nowhere/disk");
	assert_false(subsys_open(&s, 0, NULL, 0, why, sizeof(why)));
	assert_non_null(strstr(why, "/nowhere/disk: No such file"));
	assert_null(s.ns[0].bdev[0]);
}

static void
test_hosts(void **state)
{
	static struct subsys s;

	(void)state;
	subsys_init(&s, "nqn.2026-11.org.example:a");
	assert_true(subsys_allows(&s, "nqn.anyone"));
	s.host[s.num_hosts++] = "nqn.one";
	s.host[s.num_hosts++] = "nqn.two";
	assert_true(subsys_allows(&s, "nqn.two"));
	assert_false(subsys_allows(&s, "nqn.on"));
	assert_false(subsys_allows(&s, "nqn.ones"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_identity), cmocka_unit_test(test_namespaces),
		cmocka_unit_test(test_open),  cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
