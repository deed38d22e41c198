/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK's telemetry says of engines, asked through its socket as dpdk-telemetry.py does. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_eal.h>

#include "ends.h"

#define MOST 16384 /* octets of an answer, by DPDK */

static struct ends s;

struct question {
	const char *text;
	char answer[MOST + 1];
	bool done;
};

static int
telemetry_socket(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char hello[1024];

	snprintf(to.sun_path, sizeof(to.sun_path), "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 || recv(fd, hello, sizeof(hello), 0) <= 0)
		return -1;
	return fd;
}

static void *
put_question(void *arg)
{
	struct question *q = arg;
	int fd = telemetry_socket();
	ssize_t n = -1;

	if (fd >= 0 && send(fd, q->text, strlen(q->text), 0) > 0)
		n = recv(fd, q->answer, MOST, 0);
	q->answer[n > 0 ? n : 0] = 0;
	close(fd);
	__atomic_store_n(&q->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The answer; meanwhile both engines are polled, if polls. */
static const char *
ask(const char *text, bool polls)
{
	static struct question q;
	pthread_t thread;

	q = (struct question){.text = text};
	assert_int_equal(pthread_create(&thread, NULL, put_question, &q), 0);
	while (polls && !__atomic_load_n(&q.done, __ATOMIC_ACQUIRE))
		ends_turns(&s, 1);
	pthread_join(thread, NULL);
	assert_int_not_equal(q.answer[0], 0);
	return q.answer;
}

static void
assert_says(const char *text, const char *what)
{
	const char *answer = ask(text, true);

	if (!strstr(answer, what))
		fail_msg("%s: '%s' is not in %s", text, what, answer);
}

/* ---- tests ---- */

static void
test_list(void **state)
{
	(void)state;
	assert_string_equal(ask("/iwarp/list", false), "{\"/iwarp/list\":null}"); /* not a command so far */
	ends_open(&s);
	assert_string_equal(ask("/iwarp/list", false), "{\"/iwarp/list\":[0,1]}");
	assert_int_equal(iw_engine_destroy(s.end[0].engine), 0);
	s.end[0].engine = NULL;
	assert_string_equal(ask("/iwarp/list", false), "{\"/iwarp/list\":[1]}");
	assert_says("/iwarp/info,0", "\"error\":\"there is no such engine");
	ends_close(&s);
	assert_string_equal(ask("/iwarp/list", false), "{\"/iwarp/list\":[]}");
}

static void
test_info(void **state)
{
	char port[32];

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	snprintf(port, sizeof(port), "\"port\":%u,", s.port[1]);
	assert_says("/iwarp/info,1", port);
	assert_says("/iwarp/info,1", "\"queue\":0,");
	assert_says("/iwarp/info,1", "\"steering\":\"one engine\"");
	assert_says("/iwarp/info,1", "\"addresses\":[\"192.0.2.2/24 ready\"]");
	assert_says("/iwarp/info,1", "\"ids\":2,\"connections\":1,\"half_open\":0,\"time_wait\":0");
	assert_says("/iwarp/info,0", "\"ids\":1,\"connections\":1,");
	ends_close(&s);
}

/* The number behind "name": in text, which ends at the next brace. */
static uint64_t
value_in(const char *text, const char *name)
{
	char quoted[96];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\":", name);
	at = strstr(text, quoted);
	if (!at || at > strchr(text, '}'))
		fail_msg("%s is not in %s", quoted, text);
	return strtoull(at + strlen(quoted), NULL, 10);
}

/* Every counter of the engine, with a value that it had while it was asked. */
static void
test_stats(void **state)
{
	static struct iw_stat before[512], after[512];
	const char *answer, *room;
	char text[64];
	int n;

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	n = iw_engine_stats(s.end[0].engine, before, 512);
	answer = ask("/iwarp/stats,0", true);
	assert_int_equal(iw_engine_stats(s.end[0].engine, after, 512), n);
	assert_in_range(n, 100, 512);
	for (int i = 0; i < n; i++) {
		int len = (int)strcspn(before[i].name, ".");

		snprintf(text, sizeof(text), "\"%.*s\":{", len, before[i].name);
		room = strstr(answer, text);
		assert_non_null(room);
		assert_in_range(value_in(room + 1 + len, before[i].name + len + 1), before[i].value, after[i].value);
	}
	assert_true(value_in(strstr(answer, "\"tcp\":{"), "established") > 0);
	ends_close(&s);
}

static void
test_ids(void **state)
{
	char text[64];

	(void)state;
	ends_open(&s);
	ends_connect(&s);
	snprintf(text, sizeof(text), "{\"ids\":[%u]}", s.end[0].id);
	assert_says("/iwarp/ids,0", text);
	assert_says("/iwarp/ids,0,1", "{\"ids\":[]}"); /* from there on */
	snprintf(text, sizeof(text), "/iwarp/id,0,%u", s.end[0].id);
	assert_says(text, "\"state\":\"ESTABLISHED\"");
	assert_says(text, "\"local\":\"192.0.2.1:");
	assert_says(text, "\"peer\":\"192.0.2.2:4420\"");
	assert_says(text, "\"rx_duplicates\":0");
	snprintf(text, sizeof(text), "/iwarp/id,1,%u", s.listener);
	assert_says(text, "\"state\":\"LISTENING\"");
	assert_null(strstr(ask(text, true), "rx_fpdus")); /* it has no stream */
	assert_says("/iwarp/id,0,77", "\"error\":\"there is no such id");
	ends_close(&s);
}

static void
test_parameters(void **state)
{
	static const char *const bad[] = {"/iwarp/info", "/iwarp/info,x", "/iwarp/info,1x", "/iwarp/stats,",
					  "/iwarp/ids,,1"};

	(void)state;
	ends_open(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_says(bad[i], "\"error\":\"parameter: ENGINE\"");
	assert_says("/iwarp/id,0", "\"error\":\"parameters: ENGINE,ID\"");
	assert_says("/iwarp/info,4294967295", "\"error\":\"there is no such engine");
	assert_says("/iwarp/info,64", "\"error\":\"there is no such engine");
	ends_close(&s);
}

/* A loop that does not poll is told from one that does, and the question that it finds later harms nobody. */
static void
test_not_polled(void **state)
{
	(void)state;
	ends_open(&s);
	for (int i = 0; i < 2; i++)
		assert_non_null(strstr(ask("/iwarp/info,0", false), "\"error\":\"the engine is not polled\""));
	ends_turns(&s, 10);
	assert_says("/iwarp/info,0", "\"connections\":0");
	ends_close(&s);
}

/* An engine that goes while it is asked: there is an answer of either kind. */
static void
test_destroyed_meanwhile(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct question q = {.text = "/iwarp/stats,0"};
		pthread_t thread;

		ends_open(&s);
		assert_int_equal(pthread_create(&thread, NULL, put_question, &q), 0);
		usleep((useconds_t)(i * 100));
		ends_close(&s);
		pthread_join(thread, NULL);
		if (!strstr(q.answer, "\"tcp\":{") && !strstr(q.answer, "there is no such engine"))
			fail_msg("%s", q.answer);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_stats),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_not_polled),
		cmocka_unit_test(test_destroyed_meanwhile),
	};

	(void)argc;
	ends_eal_shown(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
