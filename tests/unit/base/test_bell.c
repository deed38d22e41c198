/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sleeps is woken, who does not is left alone; and nothing that was left is slept over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bell.h"

#define ROUNDS 20000

static uint32_t notified;

static void
notify(int fd)
{
	__atomic_fetch_add(&notified, 1, __ATOMIC_RELAXED);
	if (fd >= 0)
		assert_int_equal(eventfd_write(fd, 1), 0);
}

static void
test_only_who_sleeps(void **state)
{
	struct iw_bell b = {.fd = -1, .notify = notify};

	(void)state;
	notified = 0;
	iw_bell_ring(NULL);
	iw_bell_ring(&b);
	assert_int_equal(notified, 0);
	iw_bell_set(&b, true);
	iw_bell_ring(&b);
	iw_bell_ring(&b);
	assert_int_equal(notified, 2);
	iw_bell_set(&b, false);
	iw_bell_ring(&b);
	assert_int_equal(notified, 2);
}

static struct iw_bell bell;
static uint32_t left;

static void *
leave(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		__atomic_fetch_add(&left, 1, __ATOMIC_RELEASE);
		iw_bell_ring(&bell);
	}
	return arg;
}

/* A bell that is missed once makes this wait for ever, and fail after 30 s. */
static void
test_nothing_is_slept_over(void **state)
{
	uint32_t taken = 0;
	pthread_t thread;

	(void)state;
	bell = (struct iw_bell){.fd = eventfd(0, EFD_NONBLOCK), .notify = notify};
	assert_int_equal(pthread_create(&thread, NULL, leave, NULL), 0);
	while (taken < ROUNDS) {
		struct pollfd fd = {.fd = bell.fd, .events = POLLIN};
		uint32_t now = __atomic_load_n(&left, __ATOMIC_ACQUIRE);
		eventfd_t rung;

		if (now != taken) {
			taken = now;
			continue;
		}
		iw_bell_set(&bell, true);
		if (__atomic_load_n(&left, __ATOMIC_ACQUIRE) == taken)
			assert_int_equal(poll(&fd, 1, 30000), 1);
		iw_bell_set(&bell, false);
		(void)!eventfd_read(bell.fd, &rung);
	}
	pthread_join(thread, NULL);
	close(bell.fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_only_who_sleeps),
					   cmocka_unit_test(test_nothing_is_slept_over)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
