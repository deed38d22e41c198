/* SPDX-License-Identifier: BSD-3-Clause */
/* A start-up between a whole engine and a peer made by hand, for the rows M1 to M22; beside it a connection to somebody
 * else, who must not notice (O12). */
#ifndef STARTUP_H
#define STARTUP_H

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iw_time.h"
#include "mbufpool.h"
#include "mpa_hdr.h"
#include "oracle.h"
#include "pair.h"
#include "raw.h"
#include "victim.h"

static struct sim *s;
static struct victim v;
static struct raw r;
static struct pair control;
static uint8_t octets[70000];

static inline void
open_host(void)
{
	s = malloc(sizeof(*s));
	sim_init(s, 1, 3, 1500);
	pair_beside(&control, s);
	victim_init(&v, s, 0);
}

static inline void
close_all(void)
{
	raw_close(&r);
	pair_unharmed(&control);
	victim_fini(&v);
	sim_run(s, 200 * IW_SEC);
	sim_fini(s);
	free(s);
}

/* ---- we are the responder ---- */

static inline void
open_responder(void)
{
	open_host();
	victim_listen(&v);
	assert_true(raw_open(&r, s, 2, 0, VICTIM_PORT));
}

static inline void
request(uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len)
{
	raw_send(&r, octets, raw_startup(octets, false, flags, rev, pd, pd_len));
	raw_run(&r, 2 * IW_MS);
}

/* No Reply, no Terminate, no event, and the connection is gone. */
static inline void
check_refused(void)
{
	assert_int_equal(r.len, 0);
	assert_true(raw_ended(&r));
	assert_int_equal(v.events, 0);
	close_all();
}

/* The Reply's flags, revision and IRD/ORD words. */
static inline void
check_reply(uint8_t flags, uint8_t rev, const char *words)
{
	uint32_t pd = words ? 4 : 0;

	assert_int_equal(r.len, 20 + pd);
	assert_memory_equal(r.in, "MPA ID Rep Frame", 16);
	assert_int_equal(r.in[16], flags);
	assert_int_equal(r.in[17], rev);
	assert_int_equal(r.in[18] << 8 | r.in[19], pd);
	if (words)
		assert_memory_equal(r.in + 20, words, 4);
}

static inline void
one_responder(uint8_t flags, uint8_t rev, const char *pd, uint16_t pd_len, uint8_t want_flags, const char *want)
{
	open_responder();
	request(flags, rev, pd, pd_len);
	check_reply(want_flags, rev, want);
	close_all();
}

/* ---- we are the initiator ---- */

/* Its Request has come. */
static inline void
dial(bool p2p)
{
	v.attr.no_peer_to_peer = !p2p;
	v.attr.require_peer_to_peer = p2p; /* no second attempt */
	raw_listen(&r, s, 2, 4000);
	victim_connect(&v, 2, 4000);
	for (uint32_t i = 0; i < 1000 && !raw_accept(&r); i++)
		;
	assert_true(raw_await(&r, 24, IW_SEC));
	assert_memory_equal(r.in, "MPA ID Req Frame", 16);
	raw_forget(&r);
}

static inline void
open_initiator(bool p2p)
{
	open_host();
	dial(p2p);
}

static inline void
reply(uint8_t flags, uint8_t rev, const void *pd, uint16_t pd_len)
{
	raw_send(&r, octets, raw_startup(octets, true, flags, rev, pd, pd_len));
	raw_run(&r, 2 * IW_MS);
}

static inline void
check_answer(int status, uint32_t terminate)
{
	assert_int_equal(v.conn[0].events, 1);
	assert_int_equal(v.conn[0].last.type, IW_CM_CONNECT_REPLY);
	assert_int_equal(v.conn[0].status, status);
	assert_int_equal(raw_terminate(&r), terminate);
	close_all();
}

static inline void
one_initiator(bool p2p, uint8_t flags, uint8_t rev, const char *pd, uint16_t pd_len, int status, uint32_t terminate)
{
	open_initiator(p2p);
	reply(flags, rev, pd, pd_len);
	check_answer(status, terminate);
}

#endif
