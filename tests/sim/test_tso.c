/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines whose NICs cut frames into segments (TSO): each segment that leaves is a whole number of FPDUs, transfers
 * arrive over bad lines as ever, and what is lost is sent again alone.  Runs for either family (IW_TEST_FAMILY). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ipv6_hdr.h"
#include "iw_time.h"
#include "mpa_hdr.h"
#include "stat_of.h"
#include "traffic.h"

#define STARTUP "MPA ID Re"

/* FPDUs, one behind the other, from the first octet to the last (RFC 5044 §4.1); the frames of the start-up are none.
 */
static void
check_fpdus(struct sim *s, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	bool v6 = p[12] == 0x86 && p[13] == 0xdd, v4 = p[12] == 8 && p[13] == 0;
	uint32_t l4 = v6 ? 54 : 34, end, at;

	if (!(v6 && p[20] == 6) && !(v4 && p[23] == 6))
		return;
	assert_int_equal(m->nb_segs, 1);
	end = v6 ? 54u + (uint32_t)(p[18] << 8 | p[19]) : 14u + (uint32_t)(p[16] << 8 | p[17]);
	at = l4 + (p[l4 + 12] >> 4) * 4u;
	if (end - at >= strlen(STARTUP) && memcmp(p + at, STARTUP, strlen(STARTUP)) == 0)
		return;
	while (at < end)
		at += fpdu_hdr_len(fpdu_hdr_length_parse(p + at));
	assert_int_equal(at, end);
	++*(uint64_t *)s->tap_context;
}

struct counts {
	uint64_t tso, segs, retrans;
};

static struct counts
one_run(uint64_t seed, const struct sim_wire *wire, const struct engine_params *params)
{
	struct iw_qp_attr attr = {.sq_depth = 16, .rq_depth = 64, .max_ird = 4, .max_ord = 4};
	struct sim *s = malloc(sizeof(*s));
	struct counts c = {0};
	uint64_t seen = 0;
	struct traffic t;
	struct pair p;

	sim_init_params(s, seed, 2, params);
	s->wire = *wire;
	s->tap = check_fpdus;
	s->tap_context = &seen;
	pair_init(&p, s, &attr);
	p.end[0].attr.connect_timeout_ms = 60000;
	traffic_init(&t, &p);
	assert_true(pair_connect(&p, 60 * IW_SEC));
	traffic_exchange(&t, 600 * IW_SEC);
	for (uint32_t i = 0; i < 2; i++) {
		c.tso += stat_of(s->host[i].engine, "tcp.tx_tso");
		c.segs += stat_of(s->host[i].engine, "tcp.tx_segs");
		c.retrans += stat_of(s->host[i].engine, "tcp.tx_retrans");
	}
	assert_true(pair_disconnect(&p, 300 * IW_SEC));
	traffic_check(&t);
	traffic_fini(&t);
	pair_fini(&p);
	sim_run(s, 400 * IW_SEC);
	sim_fini(s);
	free(s);
	assert_true(seen > 0);
	return c;
}

static struct engine_params
cutting(uint16_t mtu, uint16_t most)
{
	return (struct engine_params){.nif = {.mtu = mtu, .tx_ip_cksum = true, .tx_tcp_cksum = true, .tx_tso = most},
				      .max_conns = 256};
}

/* However many segments a frame may have, and whatever size the FPDUs are. */
static void
test_clean(void **state)
{
	static const uint16_t mtus[] = {1500, 576, 1281, 9000};
	static const struct sim_wire wire = {.delay_ns = 10 * IW_US};

	for (uint32_t i = 0; i < 8; i++) {
		struct engine_params params = cutting(mtus[i % 4], (uint16_t[]){64, 2, 3, 64}[i / 2]);
		struct counts c = one_run(i + 1, &wire, &params);

		assert_true(c.tso > 0 && c.retrans == 0);
	}
}

static void
test_bad_lines(void **state)
{
	static const struct sim_wire wires[] = {
		{.delay_ns = 100 * IW_US, .loss = 0.02},
		{.delay_ns = 1 * IW_MS, .jitter_ns = 500 * IW_US, .loss = 0.03, .dup = 0.03, .corrupt = 0.01}};

	for (uint32_t i = 0; i < 6; i++) {
		struct engine_params params = cutting(i & 1 ? 9000 : 1500, 64);
		struct counts c = one_run(i + 1, &wires[i / 3], &params);

		assert_true(c.tso > 0 && c.retrans > 0);
	}
}

/* A port that cuts up IPv4 only gets no other such frame, and one that has checksums only none at all. */
static void
test_fallback(void **state)
{
	static const struct sim_wire wire = {.delay_ns = 10 * IW_US};
	struct engine_params ipv4_only = cutting(1500, 64), none = cutting(1500, 0);

	ipv4_only.nif.tx_tso_ipv4_only = true;
	assert_int_equal(one_run(1, &wire, &ipv4_only).tso > 0, !sim_is_v6());
	assert_int_equal(one_run(1, &wire, &none).tso, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_fallback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
