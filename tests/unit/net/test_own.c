/* SPDX-License-Identifier: BSD-3-Clause */
#include "own.h"

#include "iw_addr.h"
#include "net6_test.h"

static struct own_table t;
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};

static struct iw_addr
parse(const char *text)
{
	struct iw_addr a = {.port = 0};

	assert_int_equal(iw_addr_parse(text, &a), 0);
	return a;
}

static uint8_t
add(const char *text, uint8_t prefix_len, bool claim)
{
	struct iw_addr a = parse(text);

	return own_add(&t, &a, prefix_len, claim, 0);
}

/* RFC 5227 §2.1, §2.3 and RFC 4862 §5.4 in their order: three probes, then two announcements. */
static void
test_claim(void **state)
{
	static const struct {
		uint64_t at_ns;
		enum own_say say;
		enum own_state after;
	} steps[] = {
		{0, OWN_SAY_PROBE, OWN_TENTATIVE},           {100 * IW_MS, OWN_SAY_PROBE, OWN_TENTATIVE},
		{200 * IW_MS, OWN_SAY_PROBE, OWN_TENTATIVE}, {300 * IW_MS, OWN_SAY_ANNOUNCE, OWN_READY},
		{2300 * IW_MS, OWN_SAY_ANNOUNCE, OWN_READY},
	};
	uint8_t n, number = 0;

	(void)state;
	own_init(&t);
	n = add("192.0.2.1", 24, true);
	assert_int_equal(n, 1);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(own_deadline(&t), steps[i].at_ns);
		if (steps[i].at_ns)
			assert_int_equal(own_due(&t, steps[i].at_ns - 1, &number), OWN_SAY_NOTHING);
		assert_int_equal(own_due(&t, steps[i].at_ns, &number), steps[i].say);
		assert_int_equal(number, n);
		assert_int_equal(t.addr[n].state, steps[i].after);
	}
	assert_int_equal(own_deadline(&t), IW_NEVER);
	assert_int_equal(own_due(&t, IW_NEVER - 1, &number), OWN_SAY_NOTHING);
}

static void
test_conflicts(void **state)
{
	uint8_t a, b, number;

	(void)state;
	own_init(&t);
	a = add("192.0.2.1", 24, true);
	b = add("fe80::1", 64, false);
	assert_int_equal(own_due(&t, 0, &number), OWN_SAY_PROBE);
	assert_false(own_conflict(&t.addr[a], mac, 50)); /* before use: given up, silently, for ever */
	assert_int_equal(t.addr[a].state, OWN_DUPLICATE);
	assert_int_equal(t.addr[a].family, OWN_UNUSABLE);
	assert_memory_equal(t.addr[a].conflict_mac, mac, 6);
	assert_int_equal(own_due(&t, IW_NEVER - 1, &number), OWN_SAY_NOTHING);
	assert_false(own_conflict(&t.addr[a], mac, 100));
	/* RFC 5227 §2.4 (c): in use: defended once in ten seconds. */
	assert_true(own_conflict(&t.addr[b], mac, 100));
	assert_false(own_conflict(&t.addr[b], mac, 100 + 10 * IW_SEC - 1));
	assert_true(own_conflict(&t.addr[b], mac, 100 + 10 * IW_SEC));
	assert_int_equal(t.addr[b].state, OWN_READY);
	assert_int_equal(t.addr[b].conflicts, 3);
}

/* RFC 6724 §5 rules 2, 3 and 8. */
static void
test_source(void **state)
{
	static const struct {
		const char *dst, *src; /* NULL: none */
	} rows[] = {
		{"192.0.2.9", "192.0.2.1"},
		{"198.51.100.1", "192.0.2.1"},
		{"fe80::9", "fe80::1"},
		{"2001:db8:1::9", "2001:db8:1::1"},
		{"2001:db8:2::9", "2001:db8:2::1"},
		{"2001:db8:3::9", "2001:db8:2::1"},
		{"fd00::1", "2001:db8:1::1"},
	};
	struct iw_addr dst;
	uint8_t n;
	bool duplicate;

	(void)state;
	own_init(&t);
	add("192.0.2.1", 24, false);
	add("fe80::1", 64, false);
	add("2001:db8:1::1", 64, false);
	n = add("2001:db8:2::1", 64, false);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct iw_addr want = parse(rows[i].src);
		uint8_t got;

		dst = parse(rows[i].dst);
		got = own_source(&t, &dst, &duplicate);
		if (!got || !iw_addr_eq_ip(&t.addr[got].ip, &want))
			fail_msg("row %zu", i);
		assert_false(duplicate);
	}
	t.addr[n].deprecated = true;
	dst = parse("2001:db8:2::9");
	assert_int_equal(own_source(&t, &dst, &duplicate), n - 1);
	own_init(&t);
	assert_int_equal(own_source(&t, &dst, &duplicate), 0);
	add("2001:db8:1::1", 64, true);
	own_conflict(&t.addr[1], mac, 1);
	assert_int_equal(own_source(&t, &dst, &duplicate), 0);
	assert_true(duplicate);
}

static void
test_table(void **state)
{
	struct iw_addr a = parse("2001:db8::1");

	(void)state;
	own_init(&t);
	assert_int_equal(own_find(&t, &a), 0);
	for (int i = 1; i < OWN_MAX; i++) {
		a.ip[15] = (uint8_t)i;
		assert_int_equal(own_add(&t, &a, 64, false, 0), i);
		assert_int_equal(own_add(&t, &a, 64, false, 0), 0); /* there already */
	}
	a.ip[15] = 99;
	assert_int_equal(own_add(&t, &a, 64, false, 0), 0); /* full */
	own_remove(&t, 5);
	assert_int_equal(own_add(&t, &a, 64, false, 0), 5);
	assert_int_equal(own_find(&t, &a), 5);
	/* a number that routes may remember comes back late */
	own_init(&t);
	add("2001:db8::1", 64, false);
	own_remove(&t, 1);
	assert_int_equal(add("2001:db8::2", 64, false), 2);
}

static void
test_on_link(void **state)
{
	(void)state;
	own_init(&t);
	add("2001:db8:1::1", 64, false);
	add("2001:db8:2:1::1", 128, false);
	assert_true(own_is_on_link6(&t, hex("fe80 0000 0000 0000 0000 0000 0000 0077").b));
	assert_true(own_is_on_link6(&t, hex("2001 0db8 0001 0000 ffff ffff ffff ffff").b));
	assert_false(own_is_on_link6(&t, hex("2001 0db8 0001 0001 0000 0000 0000 0001").b));
	assert_false(own_is_on_link6(&t, hex("2001 0db8 0002 0001 0000 0000 0000 0002").b));
	assert_false(own_is_on_link6(&t, hex(FAR6).b));
	/* neither the prefix of IPv4, nor of an address that is gone or somebody else's */
	add("192.0.2.1", 24, false);
	assert_false(own_is_on_link6(&t, hex("0000 0000 0000 0000 0000 0000 0000 0005").b));
	own_remove(&t, 1);
	assert_false(own_is_on_link6(&t, hex("2001 0db8 0001 0000 ffff ffff ffff ffff").b));
	/* the ends of fe80::/10 */
	assert_true(own_is_on_link6(&t, hex("febf ffff 0000 0000 0000 0000 0000 0001").b));
	assert_false(own_is_on_link6(&t, hex("fec0 0000 0000 0000 0000 0000 0000 0001").b));
	assert_false(own_is_on_link6(&t, hex("fe7f ffff 0000 0000 0000 0000 0000 0001").b));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claim), cmocka_unit_test(test_conflicts), cmocka_unit_test(test_source),
		cmocka_unit_test(test_table), cmocka_unit_test(test_on_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
