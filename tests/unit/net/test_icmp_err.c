/* SPDX-License-Identifier: BSD-3-Clause */
#include "icmp_err.h"

#include "iw_addr.h"
#include "net_test.h"

#define OWN 0x0a000001

static struct rte_mempool *pool;
static struct net_counters counters;

static int
setup(void **state)
{
	(void)state;
	pool = mbufpool_create("icmp", TEST_MAX, 0);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	mbufpool_destroy(pool);
	return 0;
}

/* A segment of ours from port 0x1111 to 10.1.2.3 port 0x2222, sequence number 0x33445566; total length and checksum as
 * a router may leave them. */
#define QUOTE "45 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 1111 2222 33445566"

static enum icmp_kind
rx_cut(const struct bytes *in, uint32_t cut, struct net_icmp_err *err)
{
	struct rte_mbuf *m = packet_cut(pool, in->b, in->len, cut);
	enum icmp_kind kind = icmp_err_rx(OWN, m, 0, in->len, &counters, err);

	rte_pktmbuf_free(m);
	return kind;
}

static struct bytes
message(const char *octets)
{
	struct bytes b = hex(octets);

	if (b.len >= 4)
		slow_cksum_put(b.b, 0, b.len, 2);
	return b;
}

/* RFC 792, RFC 1122 §3.2.2.1 and §4.2.3.9, RFC 1191 §4, RFC 6633; spec tcp T32. */
static void
test_types_and_codes(void **state)
{
	enum { SOFT = NET_ICMP_SOFT, HARD = NET_ICMP_HARD, TOOBIG = NET_ICMP_TOOBIG };
	static const uint8_t unreachable[16] = {SOFT, SOFT, HARD, HARD, TOOBIG, SOFT, HARD, HARD,
						HARD, HARD, HARD, SOFT, SOFT,   HARD, HARD, HARD};

	(void)state;
	for (uint32_t type = 0; type < 256; type++)
		for (uint32_t code = 0; code < 256; code++) {
			struct bytes in = hex("00 00 0000 0000 0578" QUOTE);
			struct net_icmp_err err = {.seq = 1};
			enum icmp_kind want = ICMP_OTHER;
			bool known = (type == 3 && code < 16) || (type == 11 && code < 2) || (type == 12 && code < 3);

			in.b[0] = (uint8_t)type;
			in.b[1] = (uint8_t)code;
			slow_cksum_put(in.b, 0, in.len, 2);
			if (type == 3 || type == 4 || type == 5 || type == 11 || type == 12)
				want = known ? ICMP_ERROR : ICMP_DROP;
			memset(&counters, 0, sizeof(counters));
			assert_int_equal(rx_cut(&in, in.len, &err), want);
			if (want == ICMP_DROP)
				assert_int_equal(type == 4   ? counters.rx_icmp_source_quench
						 : type == 5 ? counters.rx_icmp_redirect
							     : counters.rx_icmp_unknown_code,
						 1);
			if (want != ICMP_ERROR)
				continue;
			assert_int_equal(counters.rx_icmp_err, 1);
			assert_int_equal(err.kind, type == 3 ? unreachable[code] : SOFT);
			assert_int_equal(err.mtu, type == 3 && code == 4 ? 0x578 : 0);
			assert_int_equal(err.seq, 0x33445566);
			assert_int_equal(iw_addr_v4(&err.local), OWN);
			assert_int_equal(err.local.port, 0x1111);
			assert_int_equal(iw_addr_v4(&err.remote), 0x0a010203);
			assert_int_equal(err.remote.port, 0x2222);
		}
}

static void
test_drops(void **state)
{
	static const struct {
		const char *octets;
		enum icmp_kind want;
		const uint64_t *counter;
	} rows[] = {
		{"03 03 0000 00000000" QUOTE, ICMP_ERROR, &counters.rx_icmp_err},
		/* more than 8 octets quoted; quoted options */
		{"03 03 0000 00000000" QUOTE "deadbeefdeadbeefdead", ICMP_ERROR, &counters.rx_icmp_err},
		{"03 03 0000 00000000 46 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 01010101 1111 2222 33445566",
		 ICMP_ERROR, &counters.rx_icmp_err},
		/* a first fragment still has the ports, a later one has not */
		{"03 03 0000 00000000 45 00 05dc 0000 2000 01 06 0000 0a000001 0a010203 1111 2222 33445566", ICMP_ERROR,
		 &counters.rx_icmp_err},
		{"03 03 0000 00000000 45 00 05dc 0000 0001 01 06 0000 0a000001 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000 65 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000 44 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000 48 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000 45 00 05dc 0000 4000 01 06 0000 0a000001 0a010203 1111 2222 334455", ICMP_DROP,
		 &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000", ICMP_DROP, &counters.rx_icmp_bad_quote},
		{"03 03 0000 00000000 45 00 05dc 0000 4000 01 06 0000 0a000009 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_not_ours},
		{"03 03 0000 00000000 45 00 05dc 0000 4000 01 11 0000 0a000001 0a010203 1111 2222 33445566", ICMP_DROP,
		 &counters.rx_icmp_not_tcp},
		{"03 03 0000 000000", ICMP_DROP, &counters.rx_icmp_short},
		{"", ICMP_DROP, &counters.rx_icmp_short},
		{"04 00 0000 00000000" QUOTE, ICMP_DROP, &counters.rx_icmp_source_quench},
		{"05 01 0000 0a0000fe" QUOTE, ICMP_DROP, &counters.rx_icmp_redirect},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bytes in = message(rows[i].octets);

		for (uint32_t cut = 0; cut <= in.len; cut++) {
			struct net_icmp_err err;

			memset(&counters, 0, sizeof(counters));
			assert_int_equal(rx_cut(&in, cut, &err), rows[i].want);
			assert_int_equal(*rows[i].counter, 1);
			if (rows[i].want == ICMP_ERROR)
				assert_int_equal(err.seq, 0x33445566);
		}
	}
}

/* The checksum counts, over all of the message and nothing behind it. */
static void
test_checksum(void **state)
{
	struct bytes in = message("03 03 0000 00000000" QUOTE "aabbcc");
	struct net_icmp_err err;
	struct rte_mbuf *m;

	(void)state;
	memset(&counters, 0, sizeof(counters));
	for (uint32_t i = 2; i < in.len; i++) {
		in.b[i] ^= 0x40;
		assert_int_equal(rx_cut(&in, 9, &err), ICMP_DROP);
		in.b[i] ^= 0x40;
	}
	assert_int_equal(counters.rx_icmp_cksum, in.len - 2);
	memset(in.b + in.len, 0xee, 5); /* padding */
	m = packet(pool, in.b, in.len + 5);
	assert_int_equal(icmp_err_rx(OWN, m, 0, in.len, &counters, &err), ICMP_ERROR);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_and_codes),
		cmocka_unit_test(test_drops),
		cmocka_unit_test(test_checksum),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
