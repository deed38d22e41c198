/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as mbufs: octets of RFC 5044 §7.1.1, RFC 6581 §6 and RFC 5040 §4.8, room for TCP in front, pools that are
 * empty or too small. */
#include "cm_frame.h"

#include "cmsim.h"

static struct cmsim s;

static void
test_startup(void **state)
{
	struct mpa_startup f = {.reply = true,
				.crc = true,
				.enhanced = true,
				.rev = 2,
				.peer_to_peer = true,
				.rtr_write = true,
				.ird = 3,
				.ord = 4};
	struct rte_mbuf *m;

	(void)state;
	cmsim_open(&s, NULL);
	f.private_data = (const uint8_t *)"abc";
	f.private_len = 3;
	m = cm_frame_startup(s.h[0].cm, &f);
	assert_non_null(m);
	assert_int_equal(m->pool == s.h[0].env.ctl_pool, true);
	assert_int_equal(rte_pktmbuf_data_len(m), 27);
	assert_true(rte_pktmbuf_headroom(m) >= TCP_HEADROOM);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *),
			    "MPA ID Rep Frame\x50\x02\x00\x07\x80\x03\x80\x04"
			    "abc",
			    27);
	rte_pktmbuf_free(m);
	cmsim_close(&s);
}

/* A peer that wants markers gets the first one in front of it, inside the CRC (RFC 5044 §4.3). */
static void
test_M14_terminate_with_a_marker(void **state)
{
	static const uint8_t want[] = {0, 0, 0, 0, 0x00, 0x16, 0x41, 0x47};
	struct rte_mbuf *m;
	const uint8_t *p;
	uint32_t crc;

	(void)state;
	cmsim_open(&s, NULL);
	m = cm_frame_terminate(s.h[0].cm, RDMAP_FAULT_MPA_IRD, true);
	assert_non_null(m);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(rte_pktmbuf_data_len(m), 32);
	assert_memory_equal(p, want, sizeof(want));
	crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, p, 28));
	assert_int_equal(p[28] | p[29] << 8 | p[30] << 16 | (uint32_t)p[31] << 24, crc);
	rte_pktmbuf_free(m);
	cmsim_close(&s);
}

/* RFC 5040 §4.8, its order of bits, with the CRC of RFC 5044. */
static void
test_terminate(void **state)
{
	static const uint8_t want[24] = {0x00, 0x16, 0x41, 0x47, 0, 0, 0, 0, 0, 0,    0,
					 2,    0,    0,    0,    1, 0, 0, 0, 0, 0x20, 0x06};
	struct rte_mbuf *m;
	const uint8_t *p;
	uint32_t crc;

	(void)state;
	cmsim_open(&s, NULL);
	m = cm_frame_terminate(s.h[0].cm, RDMAP_FAULT_MPA_IRD, false);
	assert_non_null(m);
	p = rte_pktmbuf_mtod(m, const uint8_t *);
	assert_int_equal(rte_pktmbuf_data_len(m), 28);
	assert_memory_equal(p, want, sizeof(want));
	crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, p, 24));
	assert_int_equal(p[24] | p[25] << 8 | p[26] << 16 | (uint32_t)p[27] << 24, crc);
	rte_pktmbuf_free(m);
	cmsim_close(&s);
}

static void
test_pools(void **state)
{
	static uint8_t data[512];
	struct mpa_startup f = {.rev = 1, .private_data = data, .private_len = 512};
	struct rte_mempool *small = mbufpool_create("small", 64, 0), *ctl;
	struct rte_mbuf *m;

	(void)state;
	cmsim_open(&s, NULL);
	mbufpool_set_fuse(s.h[0].env.ctl_pool, 1);
	m = cm_frame_startup(s.h[0].cm, &f);
	assert_ptr_equal(m->pool, s.h[0].env.data_pool);
	rte_pktmbuf_free(m);
	mbufpool_set_fuse(s.h[0].env.ctl_pool, 1);
	mbufpool_set_fuse(s.h[0].env.data_pool, 1);
	assert_null(cm_frame_startup(s.h[0].cm, &f));
	assert_int_equal(cmsim_counter(&s.h[0], "cm.no_mbuf"), 1);
	ctl = s.h[0].env.ctl_pool;
	s.h[0].env.ctl_pool = small; /* too small for this frame */
	m = cm_frame_startup(s.h[0].cm, &f);
	assert_ptr_equal(m->pool, s.h[0].env.data_pool);
	assert_int_equal(rte_pktmbuf_data_len(m), 532);
	rte_pktmbuf_free(m);
	s.h[0].env.ctl_pool = ctl;
	mbufpool_destroy(small);
	cmsim_close(&s);
}

/* The longest frame, an octet in each segment: the answer is the same at every length, nothing is consumed. */
static void
test_read(void **state)
{
	uint8_t octets[600], pd[512], data[MPA_HDR_PD_MAX];
	struct mpa_startup f;
	uint32_t n, total, there, conn;
	struct cm_id *id;

	(void)state;
	for (uint32_t i = 0; i < sizeof(pd); i++)
		pd[i] = (uint8_t)(i * 7);
	n = cmsim_frame(octets, true, 0x40, 1, 512, pd, 512);
	octets[n] = 0x77; /* the first FPDU */
	cmsim_open(&s, &(struct cmsim_opts){.raw_server = true});
	cmsim_raw_listen(&s);
	id = cm_id_at(s.h[0].cm, cmsim_id(&s.h[0]));
	assert_int_equal(cmsim_connect(&s.h[0], id->handle, cmsim_qp(&s.h[0]), NULL), 0);
	conn = cmsim_raw_accept(&s);
	id->st.phase = CM_OPEN; /* so that nobody else reads it */
	for (uint32_t i = 0; i <= n; i++) {
		cmsim_raw_send(&s.h[1], conn, octets + i, 1);
		cmsim_run(&s, 150 * IW_US);
		if (i + 1 < n)
			assert_int_equal(cm_frame_read(s.h[0].cm, id, true, &f, data, &total, &there), MPA_HDR_NEED);
	}
	assert_int_equal(cm_frame_read(s.h[0].cm, id, true, &f, data, &total, &there), MPA_HDR_OK);
	assert_int_equal(total, 532);
	assert_int_equal(there, 533);
	assert_int_equal(f.private_len, 512);
	assert_memory_equal(f.private_data, pd, 512);
	assert_int_equal(tcp_rx_pending(s.h[0].tcp, id->conn), 533);
	assert_int_equal(cm_frame_read(s.h[0].cm, id, false, &f, data, &total, &there), MPA_HDR_BAD_KEY);
	cmsim_close(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_startup),
		cmocka_unit_test(test_terminate),
		cmocka_unit_test(test_M14_terminate_with_a_marker),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
