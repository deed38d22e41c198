/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port is told, looked at by the linker's --wrap: X5, the key of its hash when several engines share it (no
 * driver without hardware takes one; this one says so); and what becomes of a port that refuses. */
#include <errno.h>
#include <iwarp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring_elem.h>

#include "ends.h"

#define NAME "net_null_told"
#define STARTS 8
#define KEY 40 /* octets of Toeplitz' for two IPv6 addresses and ports */

static struct {
	uint8_t key[STARTS][KEY];
	uint64_t types[STARTS];
	uint32_t n;
	bool refuse;
} told;

int __real_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);

int
__wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	if (told.refuse)
		return -EIO;
	assert_true(told.n < STARTS);
	if (conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS && rss->rss_key) {
		assert_int_equal(rss->rss_key_len, KEY);
		memcpy(told.key[told.n], rss->rss_key, KEY);
		told.types[told.n++] = rss->rss_hf;
	}
	return __real_rte_eth_dev_configure(port, rx, tx, conf);
}

/* ---- memory of DPDK's that is short at each place ---- */

static uint32_t fuse, failed; /* the n-th from now fails; how many have */

static bool
is_short(void)
{
	bool now = fuse && --fuse == 0;

	failed += now;
	return now;
}

struct rte_ring *__real_rte_ring_create_elem(const char *name, unsigned size, unsigned n, int socket, unsigned flags);
struct rte_ring *__wrap_rte_ring_create_elem(const char *name, unsigned size, unsigned n, int socket, unsigned flags);
struct rte_mempool *__real_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache, uint16_t priv,
						   uint16_t room, int socket);
struct rte_mempool *__wrap_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache, uint16_t priv,
						   uint16_t room, int socket);

struct rte_ring *
__wrap_rte_ring_create_elem(const char *name, unsigned size, unsigned n, int socket, unsigned flags)
{
	return is_short() ? NULL : __real_rte_ring_create_elem(name, size, n, socket, flags);
}

struct rte_mempool *
__wrap_rte_pktmbuf_pool_create(const char *name, unsigned n, unsigned cache, uint16_t priv, uint16_t room, int socket)
{
	return is_short() ? NULL : __real_rte_pktmbuf_pool_create(name, n, cache, priv, room, socket);
}

static void
count_zone(const struct rte_memzone *zone, void *n)
{
	(void)zone;
	++*(uint32_t *)n;
}

static uint32_t
zones(void)
{
	uint32_t n = 0;

	rte_memzone_walk(count_zone, &n);
	return n;
}

static uint16_t
add_port(void)
{
	uint16_t port;

	memset(&told, 0, sizeof(told));
	assert_int_equal(rte_vdev_init(NAME, "no-rx=1"), 0);
	assert_int_equal(iw_port_find(NAME, &port), 0);
	return port;
}

static void
start_and_stop(uint16_t port, uint32_t engines)
{
	struct iw_domain *domain = iw_domain_create();
	struct iw_engine_params params = {.port_id = port,
					  .addr = ends_addr(0, 0),
					  .prefix_len = 24,
					  .max_conns = 16,
					  .num_mbufs = 2047,
					  .no_claim = true};
	struct iw_engine *e[2];
	char why[160];

	if (iw_engines_create(domain, &params, engines, e, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	for (uint32_t i = 0; i < engines; i++)
		assert_int_equal(iw_engine_destroy(e[i]), 0);
	assert_int_equal(iw_domain_destroy(domain), 0);
}

/* Ports that lead to one engine cannot be worked out from a key that is known, nor be learnt for the next start. */
static void
test_X5_hash_key_of_each_start(void **state)
{
	uint16_t port = add_port();
	uint32_t bits = 0;

	(void)state;
	start_and_stop(port, 1);
	assert_int_equal(told.n, 0); /* one engine has all there is */
	for (uint32_t i = 0; i < STARTS; i++)
		start_and_stop(port, 2);
	assert_int_equal(told.n, STARTS);
	for (uint32_t i = 0; i < STARTS; i++) {
		assert_true(told.types[i] & RTE_ETH_RSS_NONFRAG_IPV4_TCP);
		for (uint32_t k = 0; k < i; k++)
			assert_memory_not_equal(told.key[i], told.key[k], KEY);
		for (uint32_t at = 0; at < KEY; at++)
			bits += (uint32_t)__builtin_popcount(told.key[i][at]);
	}
	/* Half of them, six standard deviations either way. */
	assert_in_range(bits, STARTS * KEY * 4 - 152, STARTS * KEY * 4 + 152);
	assert_int_equal(rte_vdev_uninit(NAME), 0);
}

/* What is known without starting it is told all the same. */
static void
test_port_that_cannot_start(void **state)
{
	uint16_t port = add_port(), none;
	struct iw_port_info info = {.max_rx_queues = 0};
	const struct rte_memzone *taken;

	(void)state;
	told.refuse = true;
	assert_int_equal(iw_port_probe(port, 0, &info), -IW_E_PORT);
	assert_string_equal(info.driver, "net_null");
	assert_true(info.max_rx_queues > 0);
	told.refuse = false;
	/* Somebody has the name of its pool. */
	taken = rte_memzone_reserve("MP_iwprobe_0", 64, SOCKET_ID_ANY, 0);
	assert_int_equal(port, 0);
	assert_non_null(taken);
	assert_int_equal(iw_port_probe(port, 0, &info), -IW_E_NOMEM);
	assert_int_equal(rte_memzone_free(taken), 0);
	assert_int_equal(iw_port_probe(port, 0, &info), 0);
	assert_int_equal(rte_vdev_uninit(NAME), 0);
	assert_int_equal(iw_port_find(NAME, &none), -IW_E_NODEV);
	assert_int_equal(iw_port_find(NULL, &none), -IW_E_INVAL);
	assert_int_equal(iw_port_find(NAME, NULL), -IW_E_INVAL);
}

/* Pools, rings of calls and rings between three engines of which two have no queue of their own: each of them fails
 * once, and then nothing is left and the next try works. */
static void
test_short_at_each_place(void **state)
{
	struct iw_domain *domain = iw_domain_create();
	struct iw_engine_params params = {
		.addr = ends_addr(0, 0), .prefix_len = 24, .max_conns = 16, .num_mbufs = 2047, .no_claim = true};
	uint32_t before = 0, n = 0;
	struct iw_engine *e[3];
	uint16_t there;
	char why[160];
	int err = -1;

	(void)state;
	memset(&told, 0, sizeof(told));
	assert_int_equal(iw_wire_create("told", 64, &params.port_id, &there), 0);
	for (failed = 0; err != 0; n++) {
		uint32_t burnt = failed;

		fuse = n; /* not at all in the first round: what stays from one time to the next is there then */
		err = iw_engines_create(domain, &params, 3, e, why, sizeof(why));
		if (err == 0)
			for (uint32_t i = 0; i < 3; i++)
				assert_int_equal(iw_engine_destroy(e[i]), 0);
		if (n == 0) {
			assert_int_equal(err, 0);
			before = zones();
			err = -1;
			continue;
		}
		assert_int_equal(err, failed > burnt ? -IW_E_NOMEM : 0);
		assert_int_equal(zones(), before);
	}
	fuse = 0;
	assert_int_equal(failed, n - 2);
	assert_true(failed >= 3 + 3 * 2 + 2); /* rings of calls, rings both ways, pools */
	iw_wire_destroy(params.port_id, there);
	assert_int_equal(iw_domain_destroy(domain), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_port_that_cannot_start),
					   cmocka_unit_test(test_short_at_each_place),
					   cmocka_unit_test(test_X5_hash_key_of_each_start)};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
