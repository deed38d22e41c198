/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call in every state: at rest, from inside its own handler of every event, and from inside every handler of
 * another id; each gives exactly the result, the events of both sides and the segments that are promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cells.h"
#include "iw_time.h"
#include "sim.h"

static struct sim sim;
static uint32_t listened_to;
static char heard[8];
/* Segments that were heard of; who repeats them says nothing new. */
static uint64_t known[64];
static uint32_t known_n;

static bool
is_known(uint64_t segment)
{
	for (uint32_t i = 0; i < 64; i++)
		if (known[i] == segment)
			return true;
	known[known_n++ % 64] = segment;
	return false;
}

static void
hear(char what, uint32_t from, uint32_t seq)
{
	size_t n = strlen(heard);

	if (is_known((uint64_t)seq << 32 | from << 8 | (uint8_t)what) || from != listened_to)
		return;
	if (!strchr(heard, what) && n + 1 < sizeof(heard))
		heard[n] = what;
}

/* Whose MAC stands there; they end in 1, 2, ... */
static uint32_t
frame_host(const struct rte_mbuf *m, uint32_t at)
{
	return rte_pktmbuf_mtod(m, const uint8_t *)[at + 5] - 1u;
}

/* IPv4 without options between the first two hosts. */
static void
tap(struct sim *s, const struct rte_mbuf *m)
{
	uint8_t frame[94] = {0};
	uint32_t n = rte_pktmbuf_pkt_len(m) < sizeof(frame) ? rte_pktmbuf_pkt_len(m) : sizeof(frame), seq;
	uint32_t to = frame_host(m, 0), from = frame_host(m, 6);
	const uint8_t *tcp = frame + 14 + 20, *octets = rte_pktmbuf_read(m, 0, n, frame);

	if (octets != frame)
		memcpy(frame, octets, n);
	if (frame[12] != 8 || frame[13] != 0 || from > 1 || to != !from)
		return;
	seq = (uint32_t)tcp[4] << 24 | (uint32_t)tcp[5] << 16 | (uint32_t)tcp[6] << 8 | tcp[7];
	if (memcmp(tcp + (tcp[12] >> 4) * 4, "MPA ID Re", 9) == 0)
		hear('m', from, seq);
	if (tcp[13] & 1)
		hear('f', from, seq);
	if (tcp[13] & 4)
		hear('r', from, seq);
}

static void
listen_in(uint32_t host)
{
	listened_to = host;
	memset(heard, 0, sizeof(heard));
}

static const char *
what_was_heard(void)
{
	return heard;
}

static bool
until(bool (*done)(void))
{
	uint64_t end = sim.now_ns + 5 * IW_SEC;

	while (!done() && sim.now_ns < end)
		sim_step(&sim, end);
	return done();
}

static void
settle(void)
{
	sim_run(&sim, 300 * IW_MS);
}

static void
put_to_sleep(uint32_t host, bool asleep)
{
	sim_sleep(&sim, host, asleep);
}

static void
at_rest(void (*fn)(void), uint32_t host)
{
	fn();
}

static struct cells_net net = {.addr = sim_addr4,
			       .until = until,
			       .settle = settle,
			       .sleep = put_to_sleep,
			       .call = at_rest,
			       .listen_in = listen_in,
			       .heard = what_was_heard};

static void
open_net(void)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 32, .tcp.msl_ns = 50 * IW_MS};

	sim_init_params(&sim, 1, 3, &params);
	sim.tap = tap;
	for (int i = 0; i < 3; i++) {
		net.engine[i] = sim.host[i].engine;
		net.domain[i] = sim.host[i].domain;
	}
	cells_open(&net);
}

static void
close_net(void)
{
	cells_close();
	sim_run(&sim, 200 * IW_SEC);
	sim_fini(&sim); /* fails when anything is left */
}

/* Stages from..to - 1 and calls, each as a row of its own in the log of a verbose run. */
static void
sweep(uint32_t from, uint32_t to, uint32_t other)
{
	for (uint32_t stage = from; stage < to; stage++)
		for (uint32_t call = 0; call < CELLS_CALLS; call++) {
			if (getenv("IW_VERBOSE"))
				print_message("%s\n", cells_name((enum cells_stage)stage, (enum cells_call)call));
			cells_play((enum cells_stage)stage, (enum cells_call)call, (enum cells_stage)other);
		}
}

static void
test_at_rest(void **state)
{
	(void)state;
	open_net();
	sweep(0, CELLS_AT_REST, CELLS_NO_OTHER);
	close_net();
}

static void
test_in_own_handler(void **state)
{
	(void)state;
	open_net();
	sweep(CELLS_AT_REST, CELLS_STAGES, CELLS_NO_OTHER);
	close_net();
}

static void
test_in_handler_of_another(void **state)
{
	(void)state;
	open_net();
	for (uint32_t other = CELLS_AT_REST; other < CELLS_STAGES; other++)
		sweep(0, CELLS_AT_REST, other);
	close_net();
}

/* Whoever was shown lives on, in each stage, as if nothing had been. */
static void
test_without_listener(void **state)
{
	(void)state;
	open_net();
	cells_without_listener();
	for (uint32_t stage = 0; stage < CELLS_STAGES; stage++)
		if (cells_has_listener((enum cells_stage)stage))
			sweep(stage, stage + 1, CELLS_NO_OTHER);
	close_net();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_rest),
		cmocka_unit_test(test_in_own_handler),
		cmocka_unit_test(test_in_handler_of_another),
		cmocka_unit_test(test_without_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
