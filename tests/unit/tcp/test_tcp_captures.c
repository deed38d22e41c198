/* SPDX-License-Identifier: BSD-3-Clause */
/* Every TCP header of tests/captures, which two Linux hosts wrote: it is parsed, and the same octets come out when what
 * was parsed is emitted again (RFC 9293 §3.1; options as in RFC 7323 appendix A, which Linux follows as we do). */
#include <rte_ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mbufpool.h"
#include "tcp_hdr.h"

#define ROOM 9728
#define FILE_HEADER 24
#define RECORD_HEADER 16

static struct rte_mempool *pool;
static uint8_t frame[ROOM];

struct tally {
	uint32_t segments, syns, sacks, stamped;
};

/* Where TCP begins in the frame, and how long it is; 0: another protocol. */
static uint32_t
find_tcp(uint32_t *l4_len)
{
	const uint8_t *ip = frame + 14;

	if (frame[12] == 0x08 && frame[13] == 0x00 && ip[9] == 6) {
		*l4_len = (uint32_t)(ip[2] << 8 | ip[3]) - 4u * (ip[0] & 15);
		return 14 + 4u * (ip[0] & 15);
	}
	if (frame[12] == 0x86 && frame[13] == 0xdd && ip[6] == 6) {
		*l4_len = (uint32_t)(ip[4] << 8 | ip[5]);
		return 14 + 40;
	}
	return 0;
}

static void
check_segment(uint32_t len, uint32_t l4_off, uint32_t l4_len, struct tally *t)
{
	struct rte_mbuf *in = rte_pktmbuf_alloc(pool), *out = rte_pktmbuf_alloc(pool);
	const uint8_t *theirs = frame + l4_off;
	struct tcp_seg seg;
	uint8_t ours[TCP_HDR_MAX];
	uint32_t n;

	memcpy(rte_pktmbuf_append(in, (uint16_t)len), frame, len);
	assert_int_equal(tcp_hdr_parse(in, l4_off, l4_len, &seg), TCP_HDR_OK);
	assert_int_equal(seg.hdr_len + seg.len, l4_len);
	n = tcp_hdr_push(out, &seg);
	assert_int_equal(n, seg.hdr_len);
	memcpy(ours, rte_pktmbuf_mtod(out, void *), n);
	memcpy(ours + 16, theirs + 16, 2); /* the checksum comes later */
	assert_memory_equal(ours, theirs, n);
	t->segments++;
	t->syns += (seg.flags & TCP_SYN) != 0;
	t->sacks += seg.n_sack != 0;
	t->stamped += seg.has_ts;
	rte_pktmbuf_free(in);
	rte_pktmbuf_free(out);
}

static void
check_file(const char *name, struct tally *t)
{
	uint8_t head[FILE_HEADER];
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), CAPTURES_DIR "/%s.pcap", name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("cannot read %s", path);
	assert_int_equal(fread(head, 1, FILE_HEADER, f), FILE_HEADER);
	while (fread(head, 1, RECORD_HEADER, f) == RECORD_HEADER) {
		uint32_t len = (uint32_t)(head[8] | head[9] << 8), l4_len = 0, l4_off; /* little-endian, below 64 KiB */

		assert_true(head[10] == 0 && head[11] == 0 && len >= 14 && len <= ROOM - RTE_PKTMBUF_HEADROOM);
		assert_int_equal(fread(frame, 1, len, f), len);
		l4_off = find_tcp(&l4_len);
		if (l4_off)
			check_segment(len, l4_off, l4_len, t);
	}
	fclose(f);
}

static void
test_headers_of_linux(void **state)
{
	static const char *const files[] = {"rping",     "rping-crc",           "rping-p2p",
					    "rping-gso", "rping-ipv6",          "write_bw",
					    "read_bw",   "siw-initiator-cases", "siw-responder-errors"};
	struct tally all = {0};

	(void)state;
	pool = mbufpool_create("captures", ROOM, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct tally t = {0};

		check_file(files[i], &t);
		if (t.segments < 20 || t.syns < 2)
			fail_msg("%s: %u segments, %u SYNs", files[i], t.segments, t.syns);
		all.segments += t.segments;
		all.sacks += t.sacks;
		all.stamped += t.stamped;
	}
	printf("%u segments, %u with SACK blocks, %u with timestamps\n", all.segments, all.sacks, all.stamped);
	assert_true(all.stamped > all.segments / 2);
	mbufpool_destroy(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_headers_of_linux)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
