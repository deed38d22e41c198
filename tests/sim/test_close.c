/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that hangs up and ends: whichever frame of the goodbye is lost, the peer gets its CLOSE, given that the
 * program answers for LINGER after its own CLOSE (apps/common/host.c); and only then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "iw_time.h"
#include "pair.h"

#define LINGER (500 * IW_MS)
#define GOODBYE_FRAMES 8u

/* End 0 disconnects, the nth frame from there on is lost, and end 0's host is gone so long after its CLOSE: whether
 * end 1 has had CLOSE within ten seconds. */
static bool
hang_up(uint32_t nth, uint64_t linger)
{
	struct sim *s = malloc(sizeof(*s));
	struct pair p;
	bool closed;

	sim_init(s, nth, 2, 1500);
	s->wire.delay_ns = 20 * IW_US;
	pair_init(&p, s, NULL);
	assert_true(pair_connect(&p, 10 * IW_SEC));
	sim_run(s, 100 * IW_MS);
	s->drop_nth = nth;
	assert_int_equal(iw_cm_disconnect(p.end[0].engine, p.end[0].id, false), 0);
	assert_true(sim_until(s, &p.end[0].closed, 10 * IW_SEC));
	sim_run(s, linger);
	s->host[0].cut = true;
	closed = sim_until(s, &p.end[1].closed, 10 * IW_SEC);
	if (closed)
		assert_int_equal(p.end[1].last.status, 0);
	s->host[0].cut = false;
	pair_fini(&p);
	sim_run(s, 400 * IW_SEC);
	sim_fini(s);
	free(s);
	return closed;
}

static void
test_lingering_is_enough(void **state)
{
	for (uint32_t nth = 1; nth <= GOODBYE_FRAMES; nth++)
		if (!hang_up(nth, LINGER))
			fail_msg("no CLOSE when frame %u is lost", nth);
}

/* Without it the loss of one frame, the ACK of the peer's FIN, leaves the peer waiting. */
static void
test_lingering_is_needed(void **state)
{
	uint32_t left = 0;

	for (uint32_t nth = 1; nth <= GOODBYE_FRAMES; nth++)
		left += !hang_up(nth, 0);
	assert_true(left > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lingering_is_enough),
		cmocka_unit_test(test_lingering_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
