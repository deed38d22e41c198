/* SPDX-License-Identifier: BSD-3-Clause */
/* Which gateways an engine takes: other hosts on its link.  Own addresses that are no host's.  All other lines are
 * checked through creation, in tests/eal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <iwarp/err.h>

#include "params.h"

struct row {
	const char *own, *second; /* ADDRESS/LENGTH; NULL: none */
	const char *gateway, *gateway6;
	bool autoconf;
	const char *says; /* NULL: it is taken */
};

static struct iw_engine_addr
address(const char *text)
{
	struct iw_engine_addr a = {.prefix_len = 0};
	const char *slash = text ? strchr(text, '/') : NULL;
	char ip[IW_ADDR_TEXT] = "";

	if (!text)
		return a;
	memcpy(ip, text, slash ? (size_t)(slash - text) : strlen(text));
	assert_int_equal(iw_addr_parse(ip, &a.ip), 0);
	a.prefix_len = slash ? (uint8_t)strtoul(slash + 1, NULL, 10) : 0;
	return a;
}

static void
check(const struct row *r)
{
	struct iw_engine_addr own = address(r->own), second = address(r->second);
	struct iw_engine_params p = {.addr = own.ip,
				     .prefix_len = own.prefix_len,
				     .more_addrs = &second,
				     .n_more_addrs = r->second != NULL,
				     .gateway = address(r->gateway).ip,
				     .gateway6 = address(r->gateway6).ip,
				     .autoconf = r->autoconf};
	char why[200] = "";
	int err = params_check(&p, 1, why, sizeof(why));

	if (err != (r->says ? -IW_E_INVAL : 0) || !strstr(why, r->says ? r->says : ""))
		fail_msg("%s %s gateway %s %s: %d, '%s'", r->own, r->second ? r->second : "-",
			 r->gateway ? r->gateway : "-", r->gateway6 ? r->gateway6 : "-", err, why);
}

#define FAR(gateway, own) "gateway " gateway " is no other host on the link of " own

static void
test_gateway(void **state)
{
	static const struct row rows[] = {
		{.own = "10.0.0.1/24", .gateway = "10.0.0.254"},
		{.own = "10.0.0.1/24", .gateway = "10.0.1.254", .says = FAR("10.0.1.254", "10.0.0.1/24")},
		{.own = "10.0.0.1/9", .gateway = "10.127.255.254"},
		{.own = "10.0.0.1/9", .gateway = "10.128.0.1", .says = FAR("10.128.0.1", "10.0.0.1/9")},
		{.own = "10.0.0.1/24", .gateway = "10.0.0.1", .says = FAR("10.0.0.1", "10.0.0.1/24")},
		{.own = "10.0.0.1/24", .gateway = "10.0.0.0", .says = FAR("10.0.0.0", "10.0.0.1/24")},
		{.own = "10.0.0.1/24", .gateway = "10.0.0.255", .says = FAR("10.0.0.255", "10.0.0.1/24")},
		{.own = "10.0.0.1/24", .gateway = "224.0.0.1", .says = "gateway 224.0.0.1 is no host's address"},
		/* a point-to-point link (RFC 3021); a host whose provider gives it no link's prefix */
		{.own = "10.0.0.2/31", .gateway = "10.0.0.3"},
		{.own = "10.0.0.2/31", .gateway = "10.0.0.4", .says = FAR("10.0.0.4", "10.0.0.2/31")},
		{.own = "10.0.0.1/32", .gateway = "192.0.2.1"},
		{.own = "10.0.0.1/0", .gateway = "192.0.2.1"},
		{.own = "2001:db8::2/64", .gateway = "10.0.0.254", .says = "no own address of its family"},
		{.autoconf = true, .gateway = "10.0.0.254", .says = "no own address of its family"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

static void
test_gateway6(void **state)
{
	static const struct row rows[] = {
		{.own = "2001:db8::2/64", .gateway = "fe80::1"},
		{.own = "2001:db8::2/64", .gateway6 = "fe80::1"},
		{.own = "2001:db8::2/64", .gateway = "2001:db8::1"},
		{.own = "2001:db8::2/64", .gateway = "2001:db8::"}, /* all routers of the link */
		{.own = "2001:db8::2/64", .gateway = "2001:db8::2", .says = FAR("2001:db8::2", "2001:db8::2/64")},
		{.own = "2001:db8::2/64",
		 .gateway = "2001:db8:0:1::1",
		 .says = FAR("2001:db8:0:1::1", "2001:db8::2/64")},
		{.own = "2001:db8::2/128", .gateway = "2001:db8:0:1::1"},
		{.own = "2001:db8::2/64", .second = "fd00::2/64", .gateway = "fd00::1"},
		{.own = "fd00::2/64", .second = "2001:db8::2/64", .gateway = "fd00::1"},
		{.own = "2001:db8::2/64", .gateway = "ff02::2", .says = "gateway ff02::2 is no host's address"},
		/* the router tells of its prefix later */
		{.autoconf = true, .gateway = "2001:db8:0:1::1"},
		{.own = "10.0.0.1/24", .gateway = "10.0.0.254", .gateway6 = "fe80::1", .autoconf = true},
		{.own = "10.0.0.1/24", .second = "fd00::2/64", .gateway = "10.0.0.254", .gateway6 = "fd00::1"},
		{.own = "10.0.0.1/24", .gateway6 = "fe80::1", .says = "no own address of its family"},
		{.own = "10.0.0.1/24", .gateway6 = "10.0.0.254", .says = "one gateway for each family"},
		{.own = "fd00::2/64",
		 .gateway = "fd00::1",
		 .gateway6 = "fe80::1",
		 .says = "one gateway for each family"},
		{.own = "10.0.0.1/24",
		 .second = "fd00::2/64",
		 .gateway = "10.0.0.254",
		 .gateway6 = "fd01::1",
		 .says = FAR("fd01::1", "fd00::2/64")},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

/* RFC 4291 §2.6.1: a prefix with nothing behind it is all its routers'.  /127 and /128 have none (RFC 6164 §6). */
static void
test_subnet_router_anycast(void **state)
{
	static const struct row rows[] = {
		{.own = "2001:db8::/64", .says = "one host's"},
		{.own = "2001:db8::4/126", .says = "one host's"},
		{.own = "fe80::/64", .says = "one host's"},
		{.own = "2001:db8::8000:0:0:0/65", .says = "one host's"},
		{.own = "2001:db8::8000:0:0:0/64"},
		{.own = "2001:db8::4/127"},
		{.own = "2001:db8::/128"},
		{.own = "2001:db8::1/64", .second = "fd00::/48", .says = "one host's"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gateway),
		cmocka_unit_test(test_gateway6),
		cmocka_unit_test(test_subnet_router_anycast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
