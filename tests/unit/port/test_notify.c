/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static void
test_adds_one(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t v = 0;

	(void)state;
	assert_true(fd >= 0);
	notify_eventfd(fd);
	notify_eventfd(fd);
	assert_int_equal(read(fd, &v, sizeof(v)), sizeof(v));
	assert_int_equal(v, 2);
	assert_int_equal(read(fd, &v, sizeof(v)), -1); /* nothing else was written */
	close(fd);
}

/* A full counter stays readable; a descriptor that was closed is the caller's mistake, not a crash. */
static void
test_full_and_closed(void **state)
{
	int fd = eventfd(0, EFD_NONBLOCK);
	uint64_t v = UINT64_MAX - 1;

	(void)state;
	assert_int_equal(write(fd, &v, sizeof(v)), sizeof(v));
	notify_eventfd(fd);
	assert_int_equal(read(fd, &v, sizeof(v)), sizeof(v));
	assert_true(v == UINT64_MAX - 1);
	close(fd);
	notify_eventfd(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_adds_one), cmocka_unit_test(test_full_and_closed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
