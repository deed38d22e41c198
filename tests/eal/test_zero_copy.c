/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and Writes without a copy on real ports: which can, which cannot, and memory that DPDK is told of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "ends.h"
#include "port_lend.h"
#include "stat_of.h"

#define PAGE 4096
#define LEN (32u * PAGE)
#define PIECES 512

static struct ends s;

/* ---- what drivers say ---- */

static struct {
	bool pretend;
	enum rte_iova_mode iova;
	int cleanup; /* what rte_eth_tx_done_cleanup() gives */
	uint32_t cleanups;
} driver;

enum rte_iova_mode __real_rte_eal_iova_mode(void);
enum rte_iova_mode __wrap_rte_eal_iova_mode(void);
int __real_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n);
int __wrap_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n);

enum rte_iova_mode
__wrap_rte_eal_iova_mode(void)
{
	return driver.pretend ? driver.iova : __real_rte_eal_iova_mode();
}

int
__wrap_rte_eth_tx_done_cleanup(uint16_t port, uint16_t queue, uint32_t n)
{
	driver.cleanups++;
	return driver.pretend ? driver.cleanup : __real_rte_eth_tx_done_cleanup(port, queue, n);
}

static void
post(const uint8_t *from, const struct iw_mr *mr, uint8_t opcode)
{
	struct iw_sge sge = {(uintptr_t)from, LEN, iw_mr_lkey(mr)};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)s.end[1].area,
				.rkey = iw_mr_rkey(s.end[1].mr)};

	assert_int_equal(iw_post_send(s.end[0].qp, &wr, NULL), 0);
}

/* A wire of rings hands mbufs across, which the other end reads when it likes: copied, as ever. */
static void
test_wire_copies(void **state)
{
	struct iw_mr *mr;
	uint8_t *p;
	int err;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	assert_false(iw_engine_zero_copy(s.end[0].engine));
	p = rte_malloc(NULL, LEN, PAGE);
	memset(p, 'x', LEN);
	mr = iw_mr_reg(s.end[0].pd, p, LEN, IW_ZERO_COPY, &err); /* EAL's own needs no map */
	assert_non_null(mr);
	post(p, mr, IW_WR_RDMA_WRITE);
	ends_reap(&s, 0, 1);
	assert_int_equal(stat_of(s.end[0].engine, "rdmap.tx_lent"), 0);
	assert_true(stat_of(s.end[0].engine, "rdmap.tx_lent_crc") > LEN / 1500);
	assert_int_equal(iw_mr_dereg(mr), 0);
	rte_free(p);
	ends_close(&s);
}

static void
test_why_not(void **state)
{
	struct iw_engine_params params;
	struct iw_engine *e;
	char why[128];
	int err;

	(void)state;
	ends_open(&s);
	params = ends_params(&s, 0);
	assert_int_equal(iw_engine_destroy(s.end[0].engine), 0);
	s.end[0].engine = NULL;
	params.zero_copy = true;
	e = iw_engine_create(s.end[0].domain, &params, &err, why, sizeof(why));
	assert_non_null(e);
	assert_non_null(strstr(why, "zero copy is not possible, data is copied: its frames are handed on, not read"));
	assert_int_equal(iw_engine_destroy(e), 0);
	ends_close(&s);
}

static void
test_dma_map(void **state)
{
	uint8_t *p = aligned_alloc(PAGE, LEN);
	struct iw_domain *d = iw_domain_create();
	struct iw_pd *pd = iw_pd_create(d);
	struct iw_mr *mr;
	int err;

	(void)state;
	assert_int_equal(iw_dma_map(NULL, LEN), -IW_E_INVAL);
	assert_int_equal(iw_dma_map(p, 0), -IW_E_INVAL);
	assert_int_equal(iw_dma_map(p + 8, PAGE), -IW_E_INVAL);
	assert_int_equal(iw_dma_map(p, PAGE + 8), -IW_E_INVAL);
	assert_int_equal(iw_dma_unmap(p, LEN), -IW_E_INVAL);
	assert_null(iw_mr_reg(pd, p, LEN, IW_ZERO_COPY, &err));
	assert_int_equal(err, -IW_E_NOTSUP);
	assert_int_equal(iw_dma_map(p, LEN - PAGE), 0);
	assert_int_equal(iw_dma_map(p, LEN - PAGE), -IW_E_BUSY);
	assert_null(iw_mr_reg(pd, p, LEN - PAGE + 1, IW_ZERO_COPY, &err));
	assert_int_equal(err, -IW_E_NOTSUP);
	mr = iw_mr_reg(pd, p + 1, LEN - PAGE - 1, IW_ZERO_COPY, &err);
	assert_non_null(mr);
	assert_int_equal(iw_mr_dereg(mr), 0);
	assert_int_equal(iw_dma_unmap(p, PAGE), -IW_E_INVAL); /* not a part of it */
	assert_int_equal(iw_dma_unmap(p, LEN - PAGE), 0);
	assert_null(iw_mr_reg(pd, p, PAGE, IW_ZERO_COPY, &err));
	assert_int_equal(iw_pd_destroy(pd), 0);
	assert_int_equal(iw_domain_destroy(d), 0);
	free(p);
}

/* DPDK has room for so many pieces of memory that are not its own. */
static void
test_too_many_maps(void **state)
{
	uint8_t *p = aligned_alloc(PAGE, (size_t)PIECES * PAGE);
	uint32_t n = 0;

	(void)state;
	while (n < PIECES && iw_dma_map(p + (size_t)n * PAGE, PAGE) == 0)
		n++;
	assert_true(n > 8 && n < PIECES);
	assert_int_equal(iw_dma_map(p + (size_t)n * PAGE, PAGE), -IW_E_NOMEM);
	while (n-- > 0)
		assert_int_equal(iw_dma_unmap(p + (size_t)n * PAGE, PAGE), 0);
	free(p);
}

static void
test_which_ports(void **state)
{
	static const uint64_t segs = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	static const struct {
		const char *name;
		uint64_t offloads;
		enum rte_iova_mode iova;
		int cleanup;
		const char *why_not; /* NULL: it can */
	} rows[] = {
		{"net_ice", segs, RTE_IOVA_VA, 0, NULL},
		{"net_ice", segs, RTE_IOVA_PA, 0, "physical addresses"},
		{"net_ice", segs, RTE_IOVA_VA, -ENOTSUP, "what it has sent"},
		{"net_ice", 0, RTE_IOVA_VA, 0, "several segments"},
		{"net_tap", segs, RTE_IOVA_PA, -ENOTSUP, NULL},
		{"net_memif", segs, RTE_IOVA_PA, -ENOTSUP, NULL},
		{"net_af_packet", 0, RTE_IOVA_VA, -ENOTSUP, "several segments"},
		{"net_ring", segs, RTE_IOVA_VA, 0, "handed on"},
	};
	struct rte_eth_txconf conf = {.tx_rs_thresh = 32};

	(void)state;
	driver.pretend = true;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		struct rte_eth_dev_info info = {.driver_name = rows[i].name};
		const char *why_not;

		driver.iova = rows[i].iova;
		driver.cleanup = rows[i].cleanup;
		why_not = port_lend_why_not(0, &info, rows[i].offloads);
		assert_int_equal(why_not != NULL, rows[i].why_not != NULL);
		if (why_not)
			assert_non_null(strstr(why_not, rows[i].why_not));
		assert_int_equal(port_lend_keeps(&info), i < 4 || i == 7);
	}
	driver.pretend = false;
	port_lend_ask(&conf);
	assert_int_equal(conf.tx_rs_thresh, 1);
	conf.tx_rs_thresh = 0; /* the driver's own business */
	port_lend_ask(&conf);
	assert_int_equal(conf.tx_rs_thresh, 0);
}

int __real_rte_dev_dma_map(struct rte_device *dev, void *addr, uint64_t iova, size_t len);
int __wrap_rte_dev_dma_map(struct rte_device *dev, void *addr, uint64_t iova, size_t len);
int __real_rte_dev_dma_unmap(struct rte_device *dev, void *addr, uint64_t iova, size_t len);
int __wrap_rte_dev_dma_unmap(struct rte_device *dev, void *addr, uint64_t iova, size_t len);

/* Ports that map: how many have, and which one cannot. */
static uint32_t mapped, fuse;

int
__wrap_rte_dev_dma_map(struct rte_device *dev, void *addr, uint64_t iova, size_t len)
{
	if (!fuse)
		return __real_rte_dev_dma_map(dev, addr, iova, len);
	assert_int_equal(iova, (uintptr_t)addr);
	if (--fuse == 0) {
		rte_errno = EIO;
		return -1;
	}
	mapped++;
	return 0;
}

int
__wrap_rte_dev_dma_unmap(struct rte_device *dev, void *addr, uint64_t iova, size_t len)
{
	if (!mapped)
		return __real_rte_dev_dma_unmap(dev, addr, iova, len);
	mapped--;
	return 0;
}

/* The second port cannot: the first one does not keep it either. */
static void
test_port_refuses(void **state)
{
	uint8_t *p = aligned_alloc(PAGE, LEN);

	(void)state;
	ends_open(&s);
	fuse = 2;
	assert_int_equal(iw_dma_map(p, LEN), -IW_E_PORT);
	assert_int_equal(mapped, 0);
	fuse = 9;
	assert_int_equal(iw_dma_map(p, LEN), 0);
	assert_int_equal(mapped, 2);
	assert_int_equal(iw_dma_unmap(p, LEN), 0);
	assert_int_equal(mapped, 0);
	fuse = 0;
	free(p);
	ends_close(&s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_copies),  cmocka_unit_test(test_why_not),
		cmocka_unit_test(test_dma_map),      cmocka_unit_test(test_too_many_maps),
		cmocka_unit_test(test_port_refuses), cmocka_unit_test(test_which_ports),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
