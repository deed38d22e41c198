/* SPDX-License-Identifier: BSD-3-Clause */
#include "iw_addr.h"

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* Text in, text out (NULL: refused), scope. */
static void
test_parse_and_format(void **state)
{
	static const struct {
		const char *in, *out;
		uint32_t scope;
	} rows[] = {
		{"10.0.0.1", "10.0.0.1", 0},
		{"255.255.255.255", "255.255.255.255", 0},
		{"0.0.0.0", "0.0.0.0", 0},
		{"::ffff:10.0.0.1", "10.0.0.1", 0},
		{"::", "::", 0},
		{"2001:DB8:0:0:0:0:0:1", "2001:db8::1", 0}, /* RFC 5952 */
		/* RFC 5952 §4.2: not for one group, the longest run, the first of two, nothing but lower case */
		{"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1", 0},
		{"2001:0:0:1:0:0:0:1", "2001:0:0:1::1", 0},
		{"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1", 0},
		{"2001:0db8::0001", "2001:db8::1", 0},
		{"2001:db8::ABCD", "2001:db8::abcd", 0},
		{"fe80::1", "fe80::1", 0},
		{"fe80::1%0", "fe80::1%0", 1},
		{"fe80::1%65535", "fe80::1%65535", 65536},
		{"febf::1%7", "febf::1%7", 8},
		{"fe80::1%65536", NULL, 0},
		{"fe80::1%4294967296", NULL, 0},
		{"fe80::1%", NULL, 0},
		{"fe80::1%eth0", NULL, 0},
		{"fe80::1%-1", NULL, 0},
		{"2001:db8::1%0", NULL, 0}, /* a scope means something for link-local addresses only */
		{"10.0.0.1%0", NULL, 0},
		{"10.0.0", NULL, 0},
		{"10.0.0.256", NULL, 0},
		{"10.0.0.1 ", NULL, 0},
		{"", NULL, 0},
		{"localhost", NULL, 0},
		{"1:2:3:4:5:6:7:8:9", NULL, 0},
		{"0000000000000000000000000000000000000000000000000000::1", NULL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct iw_addr a = {.ip = {42}, .scope = 99, .port = 4711}, before = a;
		char text[IW_ADDR_TEXT];

		if (!rows[i].out) {
			assert_int_equal(iw_addr_parse(rows[i].in, &a), -IW_E_INVAL);
			assert_memory_equal(&a, &before, sizeof(a));
			continue;
		}
		assert_int_equal(iw_addr_parse(rows[i].in, &a), 0);
		assert_int_equal(a.port, 4711);
		assert_int_equal(a.scope, rows[i].scope);
		assert_ptr_equal(iw_addr_format(&a, text, sizeof(text)), text);
		assert_string_equal(text, rows[i].out);
	}
}

static void
test_nothing_to_parse(void **state)
{
	struct iw_addr a;

	(void)state;
	assert_int_equal(iw_addr_parse(NULL, &a), -IW_E_INVAL);
	assert_int_equal(iw_addr_parse("10.0.0.1", NULL), -IW_E_INVAL);
}

static void
test_format_of_the_longest_and_into_little(void **state)
{
	struct iw_addr a = {.scope = 65536};
	char text[IW_ADDR_TEXT], little[6] = "zzzzz", none = 'z';

	(void)state;
	memset(a.ip, 0xff, sizeof(a.ip));
	a.ip[0] = 0xfe;
	a.ip[1] = 0xbf;
	iw_addr_format(&a, text, sizeof(text));
	assert_string_equal(text, "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff%65535");
	iw_addr_format(&a, little, 5);
	assert_memory_equal(little, "febf\0z", 5);
	iw_addr_format(&a, &none, 0);
	assert_int_equal(none, 'z');
}

static void
test_v4_is_mapped(void **state)
{
	static const uint8_t want[16] = {[10] = 0xff, [11] = 0xff, [12] = 192, [13] = 0, [14] = 2, [15] = 1};
	struct iw_addr a = iw_addr_from_v4(0xc0000201, 80), six = {.ip = {0x20, 0x01, [15] = 1}};

	(void)state;
	assert_memory_equal(a.ip, want, 16);
	assert_int_equal(a.port, 80);
	assert_int_equal(a.scope, 0);
	assert_true(iw_addr_is_v4(&a));
	assert_int_equal(iw_addr_v4(&a), 0xc0000201);
	assert_false(iw_addr_is_v4(&six));
	assert_int_equal(iw_addr_v4(&six), 0);
}

static void
test_questions(void **state)
{
	struct iw_addr any6 = {.port = 1}, any4 = iw_addr_from_v4(0, 2), host = iw_addr_from_v4(1, 3), ll, ll2;

	(void)state;
	assert_true(iw_addr_is_any(&any6));
	assert_true(iw_addr_is_any(&any4));
	assert_false(iw_addr_is_any(&host));
	assert_int_equal(iw_addr_parse("fe80::5%1", &ll), 0);
	ll2 = ll;
	ll2.port = (uint16_t)(ll.port + 1);
	assert_true(iw_addr_eq_ip(&ll, &ll2));
	ll2.scope++;
	assert_false(iw_addr_eq_ip(&ll, &ll2));
	assert_false(iw_addr_eq_ip(&any4, &any6));
	assert_true(iw_addr_is_link_local(&ll));
	assert_false(iw_addr_is_link_local(&host));
	ll.ip[1] = 0xc0; /* fec0::/10 is not it */
	assert_false(iw_addr_is_link_local(&ll));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_and_format),
		cmocka_unit_test(test_nothing_to_parse),
		cmocka_unit_test(test_format_of_the_longest_and_into_little),
		cmocka_unit_test(test_v4_is_mapped),
		cmocka_unit_test(test_questions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
