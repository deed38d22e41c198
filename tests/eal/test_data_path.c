/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing on the data path allocates memory or takes a lock.  The functions that would are this program's own: they
 * count while a connection that is warm carries Writes, Reads and Sends of all sizes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_malloc.h>

#include "ends.h"

#define ROUNDS 10000
#define WARM_ROUNDS 1000
#define DEPTH 16 /* requests under way */
#define HALF (ENDS_AREA / 2)

/* The C library's own names behind the ones that are taken over here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

static bool counting;
static uint32_t allocations, locks;

static void
note(uint32_t *counter)
{
	*counter += counting;
}

static void *
next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

void *
malloc(size_t size)
{
	note(&allocations);
	return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	note(&allocations);
	return __libc_calloc(n, size);
}

void *
realloc(void *p, size_t size)
{
	note(&allocations);
	return __libc_realloc(p, size);
}

void *
aligned_alloc(size_t align, size_t size)
{
	note(&allocations);
	return __libc_memalign(align, size);
}

int
posix_memalign(void **out, size_t align, size_t size)
{
	note(&allocations);
	*out = __libc_memalign(align, size);
	return *out ? 0 : ENOMEM;
}

void
free(void *p)
{
	note(&allocations);
	__libc_free(p);
}

void *
rte_malloc_socket(const char *type, size_t size, unsigned align, int socket)
{
	note(&allocations);
	return ((void *(*)(const char *, size_t, unsigned, int))next("rte_malloc_socket"))(type, size, align, socket);
}

void
rte_free(void *p)
{
	note(&allocations);
	((void (*)(void *))next("rte_free"))(p);
}

int
pthread_mutex_lock(pthread_mutex_t *mutex)
{
	note(&locks);
	return ((int (*)(pthread_mutex_t *))next("pthread_mutex_lock"))(mutex);
}

int
pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	note(&locks);
	return ((int (*)(pthread_mutex_t *))next("pthread_mutex_trylock"))(mutex);
}

int
pthread_spin_lock(pthread_spinlock_t *lock)
{
	note(&locks);
	return ((int (*)(pthread_spinlock_t *))next("pthread_spin_lock"))(lock);
}

int
pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	note(&locks);
	return ((int (*)(pthread_rwlock_t *))next("pthread_rwlock_rdlock"))(lock);
}

int
pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	note(&locks);
	return ((int (*)(pthread_rwlock_t *))next("pthread_rwlock_wrlock"))(lock);
}

static void
count(bool on)
{
	if (on)
		allocations = locks = 0;
	__atomic_store_n(&counting, on, __ATOMIC_SEQ_CST);
}

/* That these are the functions that everybody calls. */
static void
test_the_counters_count(void **state)
{
	void *volatile p;
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int err;

	count(true);
	p = malloc(1);
	free(p);
	p = strdup("allocated inside the C library");
	free(p);
	p = rte_malloc_socket(NULL, 64, 0, SOCKET_ID_ANY);
	rte_free(p);
	err = pthread_mutex_lock(&mutex);
	err |= pthread_mutex_unlock(&mutex);
	count(false);
	assert_int_equal(err, 0);
	assert_int_equal(allocations, 6);
	assert_true(locks >= 1);
}

static void
post(struct ends *s, uint8_t opcode, uint64_t i)
{
	static const uint32_t sizes[] = {8, 64, 1500, 4096, 0, 65536, 1, 20000};
	struct end *from = &s->end[0], *to = &s->end[1];
	uint32_t size = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
	bool is_read = opcode == IW_WR_RDMA_READ;
	struct iw_sge mine = {(uintptr_t)from->area + (is_read ? HALF : 0), size, iw_mr_lkey(from->mr)};
	struct iw_sge theirs = {(uintptr_t)to->area + HALF, size, iw_mr_lkey(to->mr)};
	struct iw_recv_wr receive = {.sg_list = &theirs, .num_sge = 1};
	struct iw_send_wr wr = {.sg_list = &mine,
				.num_sge = 1,
				.opcode = opcode,
				.flags = IW_SEND_SIGNALED,
				.remote_addr = (uintptr_t)to->area + (is_read ? 0 : HALF),
				.rkey = iw_mr_rkey(to->mr)};

	if (opcode == IW_WR_SEND)
		assert_int_equal(iw_post_recv(to->qp, &receive, NULL), 0);
	assert_int_equal(iw_post_send(from->qp, &wr, NULL), 0);
}

static void
carry(struct ends *s, uint8_t opcode, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i += DEPTH) {
		for (uint32_t k = 0; k < DEPTH; k++)
			post(s, opcode, i + k);
		ends_reap(s, 0, DEPTH);
		if (opcode == IW_WR_SEND)
			ends_reap(s, 1, DEPTH);
	}
}

static void
test_no_allocation_and_no_lock(void **state)
{
	static const uint8_t opcodes[] = {IW_WR_RDMA_WRITE, IW_WR_RDMA_READ, IW_WR_SEND};
	static struct ends s;

	ends_open(&s);
	memset(s.end[0].area, 0x5a, HALF);
	memset(s.end[1].area, 0xa5, HALF);
	ends_connect(&s);
	for (int i = 0; i < 3; i++)
		carry(&s, opcodes[i], WARM_ROUNDS);
	count(true);
	for (int i = 0; i < 3; i++)
		carry(&s, opcodes[i], ROUNDS);
	count(false);
	assert_int_equal(allocations, 0);
	assert_int_equal(locks, 0);
	assert_memory_equal(s.end[1].area + HALF, s.end[0].area, 65536);
	assert_memory_equal(s.end[0].area + HALF, s.end[1].area, 65536);
	ends_close(&s);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_counters_count),
		cmocka_unit_test(test_no_allocation_and_no_lock),
	};

	(void)argc;
	ends_eal(argv[0]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
