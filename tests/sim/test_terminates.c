/* SPDX-License-Identifier: BSD-3-Clause */
/* What users hear of Terminates, and what a peer is told of a Read that was partly answered: a whole engine against a
 * peer made by hand. */
#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "oracle.h"
#include "raw.h"
#include "rdmap_hdr.h"
#include "victim.h"

#define READS 16u

static struct sim *s;
static struct victim v;
static struct raw r;
static uint8_t octets[8192];
static struct iw_async_event told;
static uint32_t tellings;
static bool told_late; /* behind CLOSE, whose handler may have destroyed the QP */

static void
on_async(struct iw_engine *engine, const struct iw_async_event *event, void *context)
{
	(void)engine;
	(void)context;
	told = *event;
	tellings++;
	told_late = v.conn[0].closed;
}

static void
open_world(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 8, 2, 1500);
	victim_init(&v, s, 0);
	v.recvs = 2;
	tellings = 0;
	assert_int_equal(iw_engine_set_async(v.engine, on_async, NULL), 0);
	victim_listen(&v);
	assert_true(raw_open(&r, s, 1, 0, VICTIM_PORT) && raw_start(&r));
}

static void
close_world(void)
{
	raw_close(&r);
	victim_close(&v);
}

/* Of the peer: handed up once in the asynchronous event and once in CLOSE, behind the flush; nothing but FIN goes
 * back. */
static void
one_received(const char *body, uint32_t len, struct iw_terminate want)
{
	struct ddp_hdr h = ddp_hdr_untagged(7, true, 0, 2, 1, 0);

	open_world();
	raw_send(&r, octets, raw_fpdu(octets, &h, body, len));
	raw_run(&r, IW_MS);
	assert_int_equal(tellings, 1);
	assert_int_equal(told.type, IW_ASYNC_QP_TERMINATE);
	assert_ptr_equal(told.qp, v.conn[0].qp);
	assert_memory_equal(&told.term, &want, sizeof(want));
	assert_false(v.conn[0].closed);
	assert_true(r.bits & TCP_READY_FIN);
	raw_fin(&r);
	raw_run(&r, 10 * IW_MS);
	victim_reap(&v);
	assert_int_equal(v.flushed, 2);
	assert_true(v.conn[0].closed);
	assert_int_equal(v.conn[0].status, -IW_E_PROTO);
	assert_memory_equal(&v.conn[0].last.term, &want, sizeof(want));
	assert_int_equal(r.len, 0);
	assert_int_equal(tellings, 1);
	close_world();
}

#define COPY "\0\x1a\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0"
#define RECEIVED(body, ...) one_received(body, sizeof(body) - 1, (struct iw_terminate){.valid = true, __VA_ARGS__})

static void
test_R11_told(void **state)
{
	(void)state;
	RECEIVED("\x20\x02\0\0", .layer = 2, .code = 2);
	RECEIVED("\x12\x02\xc0\0" COPY, .layer = 1, .etype = 2, .code = 2);
	RECEIVED("\x01\xff\0\0", .etype = 1, .code = 0xff);
	/* Linux' siw: the halves of octet 0, and the bits of octet 2 from the other end */
	RECEIVED("\x21\x02\x03\0" COPY, .layer = 1, .etype = 2, .code = 2, .nibbles_swapped = true);
}

static void
test_R12_told(void **state)
{
	(void)state;
	RECEIVED("", .malformed = true);
	RECEIVED("\x12\x02\xc0\0\0\x1a", .layer = 1, .etype = 2, .code = 2, .malformed = true);
}

/* After our FIN no Terminate can go: a fault ends the stream at once, and who destroys the QP at CLOSE has heard why.
 */
static void
test_told_before_close(void **state)
{
	struct ddp_hdr h = ddp_hdr_untagged(3, true, 0, 0, 5, 0); /* the first Send is number 1 */

	(void)state;
	open_world();
	assert_int_equal(iw_cm_disconnect(v.engine, v.conn[0].id, false), 0);
	raw_run(&r, 10 * IW_MS);
	assert_int_equal(tellings, 0);
	raw_send(&r, octets, raw_fpdu(octets, &h, "late", 4));
	raw_run(&r, 10 * IW_MS);
	victim_reap(&v);
	assert_int_equal(tellings, 1);
	assert_int_equal(told.type, IW_ASYNC_QP_FATAL);
	assert_false(told_late);
	assert_true(v.conn[0].closed);
	assert_int_equal(v.conn[0].status, -IW_E_PROTO);
	close_world();
}

/* The copy of the Read Request shows what is still owed (RFC 5040 §4.8); its DDP header is the Request's. */
static void
test_R6_partly_answered(void **state)
{
	uint64_t base, fpdus;
	struct rdmap_read_req req;
	uint32_t n = 0, data = 0, done, reads;
	const uint8_t *t;

	(void)state;
	open_world();
	base = (uintptr_t)victim_at(&v, VICTIM_RO);
	for (uint32_t k = 0; k < READS; k++)
		n += raw_read_req(octets + n, k + 1, VICTIM_MR, iw_mr_rkey(v.mr[VICTIM_RO]), base);
	raw_send(&r, octets, n);
	fpdus = oracle_fpdus();
	for (uint32_t i = 0; i < 1000 && oracle_fpdus() == fpdus; i++)
		sim_step(s, s->now_ns + IW_US);
	assert_int_equal(iw_mr_dereg(v.mr[VICTIM_RO]), 0);
	v.mr[VICTIM_RO] = NULL;
	raw_run(&r, IW_SEC);
	t = raw_find_terminate(&r);
	assert_non_null(t);
	for (const uint8_t *p = r.in; p < t; p += 2 + (p[0] << 8 | p[1]) + (-(2 + (p[0] << 8 | p[1])) & 3) + 4)
		data += (uint32_t)(p[0] << 8 | p[1]) - 14;
	reads = data / VICTIM_MR;
	done = data % VICTIM_MR;
	assert_in_range(done, 1, VICTIM_MR - 1);
	assert_memory_equal(t, "\0\x46\x41\x47", 4); /* 18 + 4 + 2 + 18 + 28 */
	assert_memory_equal(t + 20, "\x01\x00\xe0\0\0\x2e\x41\x41\0\0\0\0\0\0\0\1\0\0\0", 19);
	assert_int_equal(t[39], reads + 1); /* MSN */
	assert_memory_equal(t + 40, "\0\0\0\0", 4);
	assert_true(rdmap_hdr_read_req_parse(t + 44, 28, &req));
	assert_int_equal(req.size, VICTIM_MR - done);
	assert_int_equal(req.sink_stag, 0x51515151);
	assert_int_equal(req.sink_to, 0x5252 + done);
	assert_int_equal(req.src_to, base + done);
	assert_int_equal(tellings, 1);
	assert_int_equal(told.type, IW_ASYNC_QP_FATAL);
	assert_true(told.term.valid && told.term.sent && told.term.etype == 1);
	close_world();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_R11_told),
		cmocka_unit_test(test_R12_told),
		cmocka_unit_test(test_R6_partly_answered),
		cmocka_unit_test(test_told_before_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
