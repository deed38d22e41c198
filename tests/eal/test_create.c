/* SPDX-License-Identifier: BSD-3-Clause */
/* Making an engine: every error of the contract with its line for the user, memory that is short at each place, ports
 * and pools that somebody else brought.  After a failure nothing is left, and the next try works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "ends.h"
#include "env.h"

static uint16_t port[2];
static struct iw_domain *domain;

static int
setup(void **state)
{
	(void)state;
	domain = iw_domain_create();
	return iw_wire_create("create", 1024, &port[0], &port[1]);
}

static int
teardown(void **state)
{
	(void)state;
	iw_wire_destroy(port[0], port[1]);
	return iw_domain_destroy(domain);
}

static struct iw_engine_params
good(void)
{
	/* Nobody takes from the other end of the wire: probes would stay there, and the pools with them. */
	return (struct iw_engine_params){.port_id = port[0],
					 .addr = ends_addr(0, 0),
					 .prefix_len = 24,
					 .max_conns = 16,
					 .num_mbufs = 2047,
					 .no_claim = true};
}

static void
assert_works(void)
{
	struct iw_engine_params params = good();
	char why[160] = "x";
	int err = 1;
	struct iw_engine *e = iw_engine_create(domain, &params, &err, why, sizeof(why));

	if (!e)
		fail_msg("%s", why);
	assert_string_equal(why, "");
	assert_true(iw_engine_poll(e) >= 0);
	assert_int_equal(iw_engine_destroy(e), 0);
}

enum wrong {
	NO_PORT,
	ANY_ADDRESS,
	NETWORK,
	BROADCAST,
	GROUP,
	LOOPBACK,
	GROUP6,
	LOOPBACK6,
	GROUP_BESIDE,
	GATEWAY,
	TWO_OF_IPV4,
	PREFIX,
	PREFIX6,
	MTU6,
	VLAN,
	AUTOCONF,
	MTU_SMALL,
	MTU_LARGE,
	QUEUE,
	POOLS,
	CONGESTION,
	DCTCP,
	WRONGS
};

static const struct {
	int err;
	const char *says;
} expected[WRONGS] = {
	[NO_PORT] = {-IW_E_NODEV, "--vdev"},
	[ANY_ADDRESS] = {-IW_E_INVAL, "address of its own"},
	[NETWORK] = {-IW_E_INVAL, "one host's"},
	[BROADCAST] = {-IW_E_INVAL, "one host's"},
	[GROUP] = {-IW_E_INVAL, "one host's"},
	[LOOPBACK] = {-IW_E_INVAL, "one host's"},
	[GROUP6] = {-IW_E_INVAL, "one host's"},
	[LOOPBACK6] = {-IW_E_INVAL, "one host's"},
	[GROUP_BESIDE] = {-IW_E_INVAL, "one host's"},
	[GATEWAY] = {-IW_E_INVAL, "gateway 192.0.3.1 is no other host on the link of 192.0.2.1/24"},
	[TWO_OF_IPV4] = {-IW_E_INVAL, "at most one IPv4 address"},
	[PREFIX] = {-IW_E_INVAL, "32 for IPv4"},
	[PREFIX6] = {-IW_E_INVAL, "128 for IPv6"},
	[MTU6] = {-IW_E_INVAL, "1280"},
	[VLAN] = {-IW_E_INVAL, "1 to 4094"},
	[AUTOCONF] = {-IW_E_INVAL, "needs the host path"},
	[MTU_SMALL] = {-IW_E_INVAL, "MTU"},
	[MTU_LARGE] = {-IW_E_INVAL, "MTU of 65535 does not fit"},
	[QUEUE] = {-IW_E_INVAL, "queue 0"},
	[POOLS] = {-IW_E_NOMEM, "hugepages"},
	[CONGESTION] = {-IW_E_INVAL, "no such congestion"},
	[DCTCP] = {-IW_E_INVAL, "data centre profile"},
};

static struct iw_engine_params
bad(enum wrong wrong)
{
	static struct iw_engine_addr second;
	struct iw_engine_params p = good();

	static const char *const no_host[WRONGS] = {
		[NETWORK] = "192.0.2.0",  [BROADCAST] = "192.0.2.255", [GROUP] = "224.0.0.1",
		[LOOPBACK] = "127.0.0.1", [GROUP6] = "ff02::1",        [LOOPBACK6] = "::1",
	};

	second = (struct iw_engine_addr){ends_addr(1, 0), 24};
	if (wrong == NO_PORT)
		p.port_id = 31;
	else if (wrong == ANY_ADDRESS)
		memset(&p.addr, 0, sizeof(p.addr));
	else if (no_host[wrong])
		iw_addr_parse(no_host[wrong], &p.addr);
	else if (wrong == GROUP_BESIDE)
		iw_addr_parse("ff02::1", &second.ip), p.more_addrs = &second, p.n_more_addrs = 1;
	else if (wrong == GATEWAY)
		iw_addr_parse("192.0.3.1", &p.gateway);
	else if (wrong == TWO_OF_IPV4)
		p.more_addrs = &second, p.n_more_addrs = 1;
	else if (wrong == PREFIX)
		p.prefix_len = 33;
	else if (wrong == PREFIX6)
		iw_addr_parse("2001:db8::1", &p.addr), p.prefix_len = 129;
	else if (wrong == MTU6)
		iw_addr_parse("2001:db8::1", &p.addr), p.mtu = 1279;
	else if (wrong == VLAN)
		p.vlan = 4095;
	else if (wrong == AUTOCONF)
		p.autoconf = p.no_host_path = true;
	else if (wrong == MTU_SMALL)
		p.mtu = 575;
	else if (wrong == MTU_LARGE)
		p.mtu = 65535;
	else if (wrong == CONGESTION)
		p.congestion = (enum iw_congestion)(IW_CONGESTION_DCTCP + 1);
	else if (wrong == DCTCP)
		p.congestion = IW_CONGESTION_DCTCP;
	else if (wrong == QUEUE)
		p.queue = 1;
	else
		p.num_mbufs = 200000000;
	return p;
}

static void
test_errors(void **state)
{
	struct iw_engine_params params = good();
	char why[160];
	int err;

	(void)state;
	for (int i = 0; i < WRONGS; i++) {
		params = bad((enum wrong)i);
		err = 0;
		assert_null(iw_engine_create(domain, &params, &err, why, sizeof(why)));
		if (err != expected[i].err || !strstr(why, expected[i].says) || strchr(why, '\n'))
			fail_msg("case %d: %s, '%s'", i, iw_err_name(err), why);
		/* Nobody needs to ask. */
		assert_null(iw_engine_create(domain, &params, NULL, NULL, 0));
		/* A short line is cut, not overrun. */
		memset(why, 'x', sizeof(why));
		assert_null(iw_engine_create(domain, &params, NULL, why, 8));
		assert_int_equal(strlen(why), 7);
		assert_int_equal(why[8], 'x');
		assert_works();
	}
	params = good();
	assert_null(iw_engine_create(NULL, &params, &err, why, sizeof(why)));
	assert_int_equal(err, -IW_E_INVAL);
	assert_null(iw_engine_create(domain, NULL, &err, NULL, 0));
	assert_int_equal(err, -IW_E_INVAL);
	assert_int_equal(iw_engine_destroy(NULL), -IW_E_INVAL);
	assert_int_equal(iw_engine_poll(NULL), -IW_E_INVAL);
}

/* A second engine on a port that is in use is refused, and the first does not notice. */
static void
test_port_in_use(void **state)
{
	struct iw_engine_params params = good();
	struct iw_port_info info;
	struct iw_engine *e;
	char why[160];
	int err;

	(void)state;
	e = iw_engine_create(domain, &params, &err, why, sizeof(why));
	assert_non_null(e);
	assert_null(iw_engine_create(domain, &params, &err, why, sizeof(why)));
	assert_int_equal(err, -IW_E_PORT);
	assert_string_not_equal(why, "");
	assert_int_equal(iw_port_info_get(port[0], &info), 0);
	assert_true(info.link_up);
	assert_true(iw_engine_poll(e) >= 0);
	assert_int_equal(iw_engine_destroy(e), 0);
	assert_works();
}

/* Each allocation of the engine fails once. */
static void
test_memory_short_at_each_place(void **state)
{
	struct iw_engine_params params = good();
	struct iw_engine *e = NULL;
	size_t before;
	uint32_t fuse;
	char why[160];
	int err;

	(void)state;
	assert_works();
	before = ends_heap_in_use();
	for (fuse = 1; fuse < 500; fuse++) {
		iw_env_alloc_fuse = fuse;
		e = iw_engine_create(domain, &params, &err, why, sizeof(why));
		if (iw_env_alloc_fuse != 0)
			break;
		/* What is left out without harm: the host path. */
		if (e) {
			assert_true(iw_engine_poll(e) >= 0);
			assert_int_equal(iw_engine_destroy(e), 0);
			continue;
		}
		assert_int_equal(err, -IW_E_NOMEM);
		assert_string_not_equal(why, "");
		assert_int_equal(ends_heap_in_use(), before);
	}
	iw_env_alloc_fuse = 0;
	assert_true(fuse > 15 && fuse < 500);
	assert_non_null(e);
	assert_int_equal(iw_engine_destroy(e), 0);
	assert_int_equal(ends_heap_in_use(), before);
}

static void
test_come_and_go(void **state)
{
	size_t before;

	(void)state;
	assert_works();
	before = ends_heap_in_use();
	for (int i = 0; i < 50; i++)
		assert_works();
	assert_int_equal(ends_heap_in_use(), before);
}

/* Port and pools of the embedder: used, and left as they were. */
static void
test_port_of_the_embedder(void **state)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("own", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_eth_conf conf = {.rxmode.mtu = 1500};
	struct iw_engine_params params = good();
	struct iw_port_info info;
	struct iw_engine *e;
	char why[160];
	int err;

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port[0], 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port[0], 0, 512, rte_socket_id(), NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port[0], 0, 512, rte_socket_id(), NULL), 0);
	assert_int_equal(rte_eth_dev_start(port[0]), 0);
	params.port_is_started = true;
	params.data_pool = params.ctl_pool = pool;
	e = iw_engine_create(domain, &params, &err, why, sizeof(why));
	if (!e)
		fail_msg("%s", why);
	assert_true(iw_engine_poll(e) >= 0);
	assert_int_equal(iw_engine_destroy(e), 0);
	assert_int_equal(iw_port_info_get(port[0], &info), 0);
	assert_true(info.link_up);
	assert_int_equal(rte_mempool_avail_count(pool), 2047);
	assert_int_equal(rte_eth_dev_stop(port[0]), 0);
	rte_mempool_free(pool);
	assert_works();
}

/* The packet pool of an engine, whatever its number. */
static void
note_data_pool(struct rte_mempool *pool, void *arg)
{
	if (strncmp(pool->name, "iwdata", 6) == 0)
		*(uint32_t *)arg = pool->size;
}

/* Nobody asked for a number of mbufs: each descriptor has one, also of rings that nobody asked for, and all that a pool
 * has without rings is left for the streams. */
static void
test_rings_have_their_mbufs(void **state)
{
	static const uint16_t rings[][2] = {{0, 0}, {512, 2048}};
	static const uint32_t least[] = {8191 + 1024 + 1024, 8191 + 512 + 2048};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct iw_engine_params params = good();
		uint32_t mbufs = 0;
		struct iw_engine *e;

		params.num_mbufs = 0;
		params.rx_ring = rings[i][0];
		params.tx_ring = rings[i][1];
		e = iw_engine_create(domain, &params, NULL, NULL, 0);
		assert_non_null(e);
		rte_mempool_walk(note_data_pool, &mbufs);
		assert_true(mbufs >= least[i]);
		assert_int_equal(iw_engine_destroy(e), 0);
	}
}

static void
test_port_info(void **state)
{
	struct iw_port_info info;

	(void)state;
	assert_int_equal(iw_port_info_get(port[1], &info), 0);
	assert_string_equal(info.name, "net_ring_create_b");
	assert_string_equal(info.driver, "net_ring");
	assert_false(info.link_up);
	assert_true(info.max_rx_queues >= 1 && info.max_tx_queues >= 1);
	assert_int_equal(iw_port_info_get(31, &info), -IW_E_NODEV);
	assert_int_equal(iw_port_info_get(UINT16_MAX, &info), -IW_E_NODEV);
	assert_int_equal(iw_port_info_get(port[0], NULL), -IW_E_INVAL);
}

/* Started for the look, and stopped: an engine can use it afterwards.  Of one that is in use, as it is. */
static void
test_probe(void **state)
{
	struct iw_engine_params params = good();
	struct iw_port_info info;
	struct iw_engine *e;

	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(&info, 0, sizeof(info));
		assert_int_equal(iw_port_probe(port[0], 100, &info), 0);
		assert_true(info.link_up);
		assert_string_equal(info.driver, "net_ring");
		assert_int_equal(iw_port_info_get(port[0], &info), 0);
		assert_false(info.link_up);
		assert_works();
	}
	e = iw_engine_create(domain, &params, NULL, NULL, 0);
	assert_non_null(e);
	assert_int_equal(iw_port_probe(port[0], 100, &info), 0);
	assert_true(info.link_up);
	assert_int_equal(iw_port_info_get(port[0], &info), 0);
	assert_true(info.link_up);
	assert_true(iw_engine_poll(e) >= 0);
	assert_int_equal(iw_engine_destroy(e), 0);
	assert_int_equal(iw_port_probe(31, 0, &info), -IW_E_NODEV);
	assert_int_equal(iw_port_probe(port[0], 0, NULL), -IW_E_INVAL);
}

/* An MTU of 0 is the port's: of a driver that takes the kernel's it is what the administrator has set. */
static void
test_mtu_of_the_port(void **state)
{
	struct rte_eth_conf conf = {.rxmode.mtu = 9000};
	struct iw_engine_params params = good();
	struct iw_port_info info;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct iw_engine *e;

		assert_int_equal(rte_eth_dev_configure(port[0], 1, 1, &conf), 0);
		e = iw_engine_create(domain, &params, NULL, NULL, 0);
		assert_non_null(e);
		assert_int_equal(iw_port_info_get(port[0], &info), 0);
		assert_int_equal(info.mtu, conf.rxmode.mtu);
		assert_int_equal(iw_engine_destroy(e), 0);
		conf.rxmode.mtu = RTE_ETHER_MTU;
	}
}

static void
test_wire_errors(void **state)
{
	char name[64];
	uint16_t a, b;
	size_t before;

	(void)state;
	assert_int_equal(iw_wire_create(NULL, 1024, &a, &b), -IW_E_INVAL);
	assert_int_equal(iw_wire_create("w", 1024, NULL, &b), -IW_E_INVAL);
	assert_int_equal(iw_wire_create("w", 1024, &a, NULL), -IW_E_INVAL);
	assert_int_equal(iw_wire_create("w", 0, &a, &b), -IW_E_INVAL);
	assert_int_equal(iw_wire_create("w", 1000, &a, &b), -IW_E_INVAL);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = 0;
	before = ends_heap_in_use();
	assert_int_equal(iw_wire_create(name, 1024, &a, &b), -IW_E_NOMEM);
	/* The name is taken. */
	assert_int_equal(iw_wire_create("create", 1024, &a, &b), -IW_E_NOMEM);
	assert_int_equal(ends_heap_in_use(), before);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(iw_wire_create("w", 64, &a, &b), 0);
		iw_wire_destroy(a, b);
	}
	assert_works();
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_come_and_go),
		cmocka_unit_test(test_memory_short_at_each_place),
		cmocka_unit_test(test_rings_have_their_mbufs),
		cmocka_unit_test(test_port_info),
		cmocka_unit_test(test_port_of_the_embedder),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_mtu_of_the_port),
		cmocka_unit_test(test_wire_errors),
	};

	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
