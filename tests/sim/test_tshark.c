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

/* Start-ups that come to nothing, in both revisions. */
static void
refuse(void)
{
	for (int revision = 1; revision <= 2; revision++) {
		pair_init(&p, s, NULL);
		p.reject = true;
		p.end[0].attr.revision_1 = revision == 1;
		assert_false(pair_connect(&p, 100 * IW_MS));
		assert_int_equal(p.end[0].last.status, -IW_E_CONNREFUSED);
		pair_fini(&p);
	}
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
	refuse();
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
	fclose(f);
}

#define FILTERS 32

/* tshark, its options behind those that are always the same. */
static FILE *
tshark(const char *options)
{
	char command[4096];

	snprintf(command, sizeof(command), "HOME=%s tshark -r %s -o tcp.check_checksum:TRUE %s 2>/dev/null", dir, pcap,
		 options);
	return popen(command, "r");
}

/* How many frames each filter finds: a table of which one line has frames and octets of each. */
static void
count_frames(const char *const *filter, uint32_t n, uint32_t *frames)
{
	char options[4000], line[4096];
	int len = snprintf(options, sizeof(options), "-q -z 'io,stat,0");
	bool found = false;
	FILE *f;

	for (uint32_t i = 0; i < n; i++)
		len += snprintf(options + len, sizeof(options) - (size_t)len, ",%s%s", filter[i], i + 1 < n ? "" : "'");
	assert_in_range(len, 1, sizeof(options) - 1);
	f = tshark(options);
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "<>");

		at = at ? strchr(at, '|') : NULL;
		for (uint32_t i = 0; at && i < n; i++) {
			frames[i] = (uint32_t)strtoul(at + 1, NULL, 10);
			at = strchr(at + 1, '|');
			at = at ? strchr(at + 1, '|') : NULL;
			found = i + 1 == n;
		}
	}
	assert_int_equal(pclose(f), 0);
	assert_true(found);
}

/* Every CRC is good. */
static void
check_crcs(void)
{
	uint32_t good = 0;
	char line[4096];
	FILE *f = tshark("-V -Y iwarp_mpa.fpdu");

	while (fgets(line, sizeof(line), f)) {
		assert_null(strstr(line, "Bad CRC32"));
		good += strstr(line, "Good CRC32") != NULL;
	}
	assert_int_equal(pclose(f), 0);
	assert_true(good > 15);
}

static void
look(bool markers)
{
	enum { MARKERS = 3 }; /* only when asked for; what stands before it never */
	static const char *const filters[] = {
		"_ws.malformed",
		"tcp.checksum.status == \"Bad\" || ip.checksum.status == \"Bad\"",
		"iwarp_mpa.bad_length",
		"iwarp_mpa.marker_fpduptr",
		"iwarp_mpa.req",
		"iwarp_mpa.rep",
		"iwarp_mpa.req && iwarp_mpa.rev == 1",
		"iwarp_mpa.rep && iwarp_mpa.rev == 1 && iwarp_mpa.rej_flag == 1",
		"iwarp_mpa.rep && iwarp_mpa.rev == 2 && iwarp_mpa.rej_flag == 1",
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

	const uint32_t n = sizeof(filters) / sizeof(filters[0]);
	uint32_t frames[FILTERS] = {0};

	assert_true(n <= FILTERS);
	record(markers);
	count_frames(filters, n, frames);
	for (uint32_t i = 0; i < n; i++) {
		bool wanted = i > MARKERS || (i == MARKERS && markers);

		if ((frames[i] > 0) != wanted)
			fail_msg("tshark sees %u of %s", frames[i], filters[i]);
	}
	assert_true(!markers || frames[MARKERS] > 5);
	check_crcs();
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
