/* SPDX-License-Identifier: BSD-3-Clause */
/* X5: what a port with RSS is told when several engines share it.  No driver without hardware takes a key, so the one
 * that says it has RSS is looked at over the shoulder, by the linker's --wrap. */
#include <iwarp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "ends.h"

#define NAME "net_null_hash_key"
#define STARTS 8
#define KEY 40 /* octets of Toeplitz' for two IPv6 addresses and ports */

static struct {
	uint8_t key[STARTS][KEY];
	uint64_t types[STARTS];
	uint32_t n;
} told;

int __real_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf);

int
__wrap_rte_eth_dev_configure(uint16_t port, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	assert_true(told.n < STARTS);
	if (conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS && rss->rss_key) {
		assert_int_equal(rss->rss_key_len, KEY);
		memcpy(told.key[told.n], rss->rss_key, KEY);
		told.types[told.n++] = rss->rss_hf;
	}
	return __real_rte_eth_dev_configure(port, rx, tx, conf);
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
	uint32_t bits = 0;
	uint16_t port;

	(void)state;
	assert_int_equal(rte_vdev_init(NAME, "no-rx=1"), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(NAME, &port), 0);
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

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_X5_hash_key_of_each_start)};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
