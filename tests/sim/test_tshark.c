/* SPDX-License-Identifier: BSD-3-Clause */
/* A second opinion: tshark reads what an engine sends, every kind of frame, and finds nothing malformed. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "pair.h"
#include "pcap_out.h"

static struct sim *s;
static struct pair p;
static char dir[] = "/tmp/iw_tshark_XXXXXX";
static char pcap[64];

static void
tap(struct sim *sim, const struct rte_mbuf *m)
{
	pcap_out_frame(sim->tap_context, m, sim->now_ns);
}

static void
post(int end, uint8_t opcode, uint8_t flags, void *at, uint32_t len, uint32_t lkey, const void *to, uint32_t rkey)
{
	struct iw_sge sge = {.addr = (uintptr_t)at, .length = len, .lkey = lkey};
	struct iw_send_wr wr = {.sg_list = &sge,
				.num_sge = 1,
				.opcode = opcode,
				.flags = flags | IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)to,
				.rkey = rkey,
				.invalidate_rkey = rkey};

	assert_int_equal(iw_post_send(p.end[end].qp, &wr, NULL), 0);
	sim_run(s, IW_MS);
}

/* Without an SGE, or with a word for the old value. */
static void
post_wr(struct iw_send_wr wr, void *word, uint32_t lkey)
{
	struct iw_sge sge = {.addr = (uintptr_t)word, .length = 8, .lkey = lkey};

	wr.flags |= IW_SEND_SIGNALED;
	wr.sg_list = &sge;
	wr.num_sge = word != NULL;
	assert_int_equal(iw_post_send(p.end[0].qp, &wr, NULL), 0);
	sim_run(s, IW_MS);
}

/* RFC 7306: values that tshark is asked for. */
static void
converse_7306(uint8_t *a, uint32_t l, uint8_t *b, uint32_t r)
{
	post_wr((struct iw_send_wr){.opcode = IW_WR_IMM, .imm_data = 0x1122334455667788}, NULL, 0);
	post_wr((struct iw_send_wr){.opcode = IW_WR_IMM, .flags = IW_SEND_SOLICITED, .imm_data = 9}, NULL, 0);
	post_wr((struct iw_send_wr){.opcode = IW_WR_FETCH_ADD,
				    .remote_addr = (uintptr_t)b,
				    .rkey = r,
				    .atomic = {.data = 0x1234, .mask = 0x80}},
		a, l);
	post_wr(
		(struct iw_send_wr){
			.opcode = IW_WR_CMP_SWAP,
			.remote_addr = (uintptr_t)b,
			.rkey = r,
			.atomic = {.data = 0x5678, .mask = 0xffff, .compare = 0x2222, .compare_mask = 0xff}},
		a, l);
}

/* The four Sends, a Write, a Read, all of several segments; Immediate Data and atomics; and a Terminate that quotes a
 * Read Request. */
static void
converse(void)
{
	uint8_t *a = oracle_memory(8192), *b = oracle_memory(8192);
	struct iw_mr *ma = iw_mr_reg(p.end[0].pd, a, 8192, IW_LOCAL_WRITE, NULL);
	struct iw_mr *mb = iw_mr_reg(p.end[1].pd, b, 8192,
				     IW_REMOTE_READ | IW_REMOTE_WRITE | IW_REMOTE_ATOMIC | IW_LOCAL_WRITE, NULL);
	struct iw_mr *once[2] = {iw_mr_reg_qp(p.end[1].qp, b, 64, IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL),
				 iw_mr_reg_qp(p.end[1].qp, b, 64, IW_REMOTE_WRITE | IW_REMOTE_INVALIDATE, NULL)};
	uint32_t l = iw_mr_lkey(ma), r = iw_mr_rkey(mb);

	memset(a, 0x11, 8192);
	memset(b, 0x22, 8192);
	for (int i = 0; i < 6; i++) {
		struct iw_sge sge = {.addr = (uintptr_t)b, .length = 4096, .lkey = iw_mr_lkey(mb)};
		struct iw_recv_wr wr = {.sg_list = &sge, .num_sge = 1};

		assert_int_equal(iw_post_recv(p.end[1].qp, &wr, NULL), 0);
	}
	post(0, IW_WR_SEND, 0, a, 3001, l, NULL, 0);
	post(0, IW_WR_SEND, IW_SEND_SOLICITED, a, 1, l, NULL, 0);
	post(0, IW_WR_SEND_INV, 0, a, 100, l, NULL, iw_mr_rkey(once[0]));
	post(0, IW_WR_SEND_INV, IW_SEND_SOLICITED, a, 7, l, NULL, iw_mr_rkey(once[1]));
	post(0, IW_WR_RDMA_WRITE, 0, a, 4001, l, b, r);
	post(0, IW_WR_RDMA_READ, 0, a, 5003, l, b, r);
	converse_7306(a, l, b, r);
	post(0, IW_WR_RDMA_READ, 0, a, 64, l, b + 8192, r); /* beyond the end */
	sim_run(s, 10 * IW_MS);
	assert_true(p.end[0].last.term.valid || oracle_terminates() == 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_mr_dereg(once[i]), 0);
	assert_int_equal(iw_mr_dereg(ma), 0);
	assert_int_equal(iw_mr_dereg(mb), 0);
}

static void
record(bool markers)
{
	FILE *f = pcap_out_open(pcap);

	assert_non_null(f);
	s = malloc(sizeof(*s));
	sim_init(s, 5, 2, 1500);
	s->tap = tap;
	s->tap_context = f;
	pair_init(&p, s, NULL);
	p.end[0].attr.markers = p.end[1].attr.markers = markers;
	p.end[0].attr.private_data = "private";
	p.end[0].attr.private_len = 7;
	assert_true(pair_connect(&p, 10 * IW_SEC));
	converse();
	sim_run(s, 10 * IW_SEC);
	pair_fini(&p);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
	fclose(f);
}

/* How many lines tshark prints for a filter. */
static uint32_t
lines(const char *filter)
{
	char command[512], line[1024];
	uint32_t n = 0;
	FILE *f;

	snprintf(command, sizeof(command), "HOME=%s tshark -r %s -o tcp.check_checksum:TRUE -Y '%s' 2>/dev/null", dir,
		 pcap, filter);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f))
		n++;
	assert_int_equal(pclose(f), 0);
	return n;
}

static void
look(bool markers)
{
	static const char *const kinds[] = {
		"iwarp_mpa.req",
		"iwarp_mpa.rep",
		"iwarp_rdma.opcode == 0",
		"iwarp_rdma.opcode == 1",
		"iwarp_rdma.opcode == 2",
		"iwarp_rdma.opcode == 3",
		"iwarp_rdma.opcode == 4",
		"iwarp_rdma.opcode == 5",
		"iwarp_rdma.opcode == 6",
		"iwarp_rdma.opcode == 7",
		"iwarp_rdma.terminate",
		/* RFC 7306; both atomics with every field in its place, and what was there before */
		"iwarp_rdma.opcode == 8",
		"iwarp_rdma.opcode == 9",
		"iwarp_rdma.opcode == 10",
		"iwarp_rdma.opcode == 11",
		"iwarp_rdma.atomic.opcode == 0 && iwarp_rdma.atomic.add_data == 0x1234 && iwarp_rdma.atomic.add_mask "
		"== 0x80",
		"iwarp_rdma.atomic.opcode == 2 && iwarp_rdma.atomic.swap_data == 0x5678 && "
		"iwarp_rdma.atomic.swap_mask == 0xffff && iwarp_rdma.atomic.compare_data == 0x2222 && "
		"iwarp_rdma.atomic.compare_mask == 0xff",
		"iwarp_rdma.atomic.original_remote_data_value == 0x1111111111111111",
	};

	record(markers);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (lines(kinds[i]) == 0)
			fail_msg("tshark sees no %s", kinds[i]);
	assert_int_equal(lines("_ws.malformed"), 0);
	assert_int_equal(lines("tcp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\""), 0);
	assert_int_equal(lines("iwarp_mpa.bad_length"), 0);
	if (markers)
		assert_true(lines("iwarp_mpa.marker_fpduptr") > 5);
}

static void
need_tshark(void)
{
	if (system("command -v tshark >/dev/null")) {
		print_message("tshark is not there\n");
		skip();
	}
}

static void
test_every_kind(void **state)
{
	(void)state;
	need_tshark();
	look(false);
}

static void
test_every_kind_with_markers(void **state)
{
	(void)state;
	need_tshark();
	look(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_every_kind_with_markers),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(pcap, sizeof(pcap), "%s/frames.pcap", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(pcap);
	rmdir(dir);
	return failed;
}
