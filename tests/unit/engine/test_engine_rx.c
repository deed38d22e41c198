/* SPDX-License-Identifier: BSD-3-Clause */
/* The way up: what is not for TCP goes to the host path or is dropped and counted; octets come before the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cksum.h"
#include "iw_time.h"
#include "mbufpool.h"
#include "pair.h"
#include "raw.h"
#include "stat_of.h"

#define PINGS 5

static struct sim sim;
static struct pair pair;

/* An ICMP echo request from 192.0.2.9 for host 0 (RFC 792, RFC 791). */
static struct rte_mbuf *
echo_request(void)
{
	static const uint8_t frame[] = {2,    0, 0,   0,  0, 1, 2, 0, 0,    0,    0, 9, 0x08, 0x00,
					0x45, 0, 0,   28, 0, 0, 0, 0, 64,   1,    0, 0, 192,  0,
					2,    9, 192, 0,  2, 1, 8, 0, 0xf7, 0xff, 0, 0, 0,    0};
	struct rte_mbuf *m = rte_pktmbuf_alloc(sim.host[0].data_pool);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, sizeof(frame));
	uint32_t sum = 0;

	memcpy(p, frame, sizeof(frame));
	for (int i = 14; i < 34; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	sum = ~((sum & 0xffff) + (sum >> 16));
	p[24] = (uint8_t)(sum >> 8);
	p[25] = (uint8_t)sum;
	return m;
}

static void
test_host_path_with_and_without_room(void **state)
{
	/* Places lent for the host path; UINT32_MAX: none is asked for. */
	static const uint32_t places[] = {PINGS, 2, 0, UINT32_MAX};
	struct rte_mbuf *m[PINGS], *host[PINGS];

	(void)state;
	for (int i = 0; i < 4; i++) {
		uint32_t n = places[i], taken = n < PINGS ? n : PINGS;

		sim_init(&sim, 1, 1, 1500);
		for (int k = 0; k < PINGS; k++)
			m[k] = echo_request();
		if (n == UINT32_MAX) {
			engine_rx(sim.host[0].engine, m, PINGS, sim.now_ns, NULL, NULL);
			taken = 0;
		} else {
			engine_rx(sim.host[0].engine, m, PINGS, sim.now_ns, host, &n);
			assert_int_equal(n, taken);
		}
		assert_int_equal(stat_of(sim.host[0].engine, "engine.host_dropped"), PINGS - taken);
		for (uint32_t k = 0; k < taken; k++) {
			assert_ptr_equal(host[k], m[k]);
			rte_pktmbuf_free(host[k]);
		}
		/* What was dropped is free: sim_fini() looks. */
		sim_fini(&sim);
	}
}

static void
test_nothing_is_a_turn_too(void **state)
{
	uint32_t n = 3;
	struct rte_mbuf *host[3];

	(void)state;
	sim_init(&sim, 1, 1, 1500);
	engine_rx(sim.host[0].engine, NULL, 0, sim.now_ns, host, &n);
	assert_int_equal(n, 0);
	sim_fini(&sim);
}

/* Data and FIN of the same burst: the receive completes, then the close is seen. */
static void
test_octets_before_the_end(void **state)
{
	uint8_t memory[1000] = {7};
	struct iw_mr *mr[2];
	struct iw_sge sge = {(uintptr_t)memory, 500, 0};
	struct iw_recv_wr recv = {.sg_list = &sge, .num_sge = 1};
	struct iw_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IW_WR_SEND};
	struct iw_wc wc;

	(void)state;
	sim_init(&sim, 5, 2, 1500);
	pair_init(&pair, &sim, NULL);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	for (int i = 0; i < 2; i++)
		mr[i] = iw_mr_reg(pair.end[i].pd, memory, sizeof(memory), IW_LOCAL_WRITE, NULL);
	sge.addr += 500;
	sge.lkey = iw_mr_lkey(mr[1]);
	assert_int_equal(iw_post_recv(pair.end[1].qp, &recv, NULL), 0);
	sge.addr -= 500;
	sge.lkey = iw_mr_lkey(mr[0]);
	assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0);
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
	assert_int_equal(iw_cq_poll(pair.end[1].cq, &wc, 1), 1);
	assert_int_equal(wc.status, IW_WC_SUCCESS);
	assert_int_equal(wc.byte_len, 500);
	assert_int_equal(pair.end[1].last.status, 0);
	assert_int_equal(memory[500], 7);
	for (int i = 0; i < 2; i++)
		iw_mr_dereg(mr[i]);
	pair_fini(&pair);
	sim_fini(&sim);
}

/* ---- ICMP errors ---- */

#define ETH 14
#define IP 20
#define FLAGS (ETH + IP + 13)
#define SYN 0x02

static uint8_t syns[2][2048]; /* the SYN of host 0, the SYN-ACK of host 1 */
static uint32_t syn_lens[2];

static void
keep_syns(struct sim *s, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t from;

	(void)s;
	if (m->data_len <= FLAGS || p[12] != 8 || p[13] != 0 || p[ETH + 9] != 6 || !(p[FLAGS] & SYN))
		return;
	from = (p[FLAGS] & 0x10) != 0;
	syn_lens[from] = m->data_len;
	memcpy(syns[from], p, m->data_len);
	sim.host[0].cut = from;
}

static struct rte_mbuf *
frame_of(const uint8_t *octets, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(sim.host[0].data_pool);

	memcpy(rte_pktmbuf_append(m, (uint16_t)len), octets, len);
	return m;
}

/* Protocol unreachable (RFC 792) about the SYN. */
static struct rte_mbuf *
unreachable(void)
{
	uint8_t p[ETH + IP + 8 + 28] = {0};
	uint16_t sum;

	memcpy(p, syns[0] + 6, 6);
	memcpy(p + 6, syns[0], 6);
	p[12] = 8;
	memcpy(p + ETH, (const uint8_t[]){0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1}, 10);
	memcpy(p + ETH + 12, syns[0] + ETH + 16, 4);
	memcpy(p + ETH + 16, syns[0] + ETH + 12, 4);
	sum = rte_cpu_to_be_16(iw_cksum_finish(iw_cksum_add(0, 0, p + ETH, IP)));
	memcpy(p + ETH + 10, &sum, 2);
	p[ETH + IP] = 3;
	p[ETH + IP + 1] = 2;
	memcpy(p + ETH + IP + 8, syns[0] + ETH, 28);
	sum = rte_cpu_to_be_16(iw_cksum_finish(iw_cksum_add(0, 0, p + ETH + IP, 36)));
	memcpy(p + ETH + IP + 2, &sum, 2);
	return frame_of(p, sizeof(p));
}

/* A hard error ends a connection before its SYN is answered and never later: in one burst, the order counts. */
static void
test_segments_before_an_icmp_error(void **state)
{
	char text[256];

	(void)state;
	if (sim_is_v6())
		return;
	for (int error_first = 0; error_first < 2; error_first++) {
		struct rte_mbuf *m[2];

		sim_init(&sim, 8, 2, 1500);
		sim.tap = keep_syns;
		syn_lens[1] = 0;
		pair_init(&pair, &sim, NULL);
		assert_false(pair_connect(&pair, 500 * IW_MS));
		sim.tap = NULL;
		assert_true(syn_lens[1] > 0);
		m[error_first] = frame_of(syns[1], syn_lens[1]);
		m[!error_first] = unreachable();
		sim.host[0].cut = false;
		engine_rx(sim.host[0].engine, m, 2, sim.now_ns, NULL, NULL);
		sim_run(&sim, 500 * IW_MS);
		assert_string_equal(pair_history(&pair, 0, text, sizeof(text)),
				    error_first ? "REPLY(IW_E_HOSTUNREACH)" : "REPLY");
		pair_fini(&pair);
		sim_run(&sim, 100 * IW_MS);
		sim_fini(&sim);
	}
}

static void
hear_syn_ack(struct sim *s, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	if (p[12] == 8 && p[13] == 0 && p[ETH + 9] == 6 && p[FLAGS] & SYN && p[FLAGS] & 0x10)
		sim_sleep(s, 1, true);
}

static int
nobody_asks(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	fail_msg("%s", iw_cm_event_name(event->type));
	return 0;
}

/* One entry of TCP's says that a connection is there and that it has ended: both are seen. */
static void
test_end_with_the_handshake(void **state)
{
	struct iw_addr at = sim_addr(1, PAIR_PORT);
	struct iw_engine *e;
	struct raw raw;
	iw_cm_id id;

	(void)state;
	if (sim_is_v6())
		return;
	sim_init(&sim, 9, 2, 1500);
	sim.burst = 32;
	e = sim.host[1].engine;
	id = iw_cm_create(e, nobody_asks, NULL);
	assert_int_equal(iw_cm_listen(e, id, &at, 1), 0);
	sim.tap = hear_syn_ack;
	raw_dial(&raw, &sim, 0, 1, PAIR_PORT);
	raw_run(&raw, 10 * IW_MS);
	raw_fin(&raw);
	raw_run(&raw, 10 * IW_MS);
	assert_true(sim.host[1].asleep);
	sim.tap = NULL;
	sim_sleep(&sim, 1, false);
	raw_run(&raw, 10 * IW_MS);
	assert_int_equal(stat_of(e, "cm.drop_request_gone"), 1);
	assert_int_equal(iw_cm_destroy(e, id), 0);
	raw_close(&raw);
	sim_run(&sim, 100 * IW_MS);
	sim_fini(&sim);
}

/* ---- budgets ---- */

#define WRITES 600u /* of nothing: they fit in the first window */

static uint32_t
fpdus_received(void)
{
	struct iw_cm_load load;

	assert_int_equal(iw_cm_load(pair.end[1].engine, pair.end[1].id, &load), 0);
	return load.rx_fpdus;
}

/* More FPDUs than one turn may serve arrive together, and then nothing more: the next turns take the rest. */
static void
test_more_than_a_turn_serves(void **state)
{
	struct iw_qp_attr attr = {.sq_depth = WRITES};
	struct iw_send_wr wr = {.opcode = IW_WR_RDMA_WRITE};
	uint32_t before;

	(void)state;
	sim_init(&sim, 6, 2, 1500);
	pair_init(&pair, &sim, &attr);
	assert_true(pair_connect(&pair, 5 * IW_SEC));
	sim_run(&sim, IW_SEC);
	before = fpdus_received();
	sim.burst = 32;
	sim_sleep(&sim, 1, true);
	for (uint32_t i = 0; i < WRITES; i++)
		assert_int_equal(iw_post_send(pair.end[0].qp, &wr, NULL), 0);
	sim_run(&sim, 2 * IW_MS);
	sim.host[0].cut = true;
	sim_sleep(&sim, 1, false);
	while (fpdus_received() == before)
		sim_step(&sim, sim.now_ns + IW_MS);
	assert_in_range(fpdus_received() - before, 256, WRITES - 1);
	sim_run(&sim, IW_MS);
	assert_int_equal(fpdus_received() - before, WRITES);
	sim.host[0].cut = false;
	assert_true(pair_disconnect(&pair, 5 * IW_SEC));
	pair_fini(&pair);
	sim_fini(&sim);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host_path_with_and_without_room),
		cmocka_unit_test(test_nothing_is_a_turn_too),
		cmocka_unit_test(test_octets_before_the_end),
		cmocka_unit_test(test_segments_before_an_icmp_error),
		cmocka_unit_test(test_end_with_the_handshake),
		cmocka_unit_test(test_more_than_a_turn_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
