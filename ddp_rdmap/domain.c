/* SPDX-License-Identifier: BSD-3-Clause */
#include "domain.h"

#include <assert.h>
#include <iwarp/err.h>
#include <rte_pause.h>
#include <sodium.h>
#include <string.h>

#define NONE UINT32_MAX

/* Its address names the thread. */
static _Thread_local char domain_self;

/* The calling thread holds no pointer into the table: true whenever it is here. */
static void
report_own(struct iw_domain *d)
{
	for (uint32_t i = 0; i < DOMAIN_READERS; i++)
		if (__atomic_load_n(&d->reader[i].thread, __ATOMIC_RELAXED) == &domain_self)
			rte_rcu_qsbr_quiescent(d->rcu, i);
}

/* Another thread may hold the lock for a few writes only; still, whoever waits must not keep others waiting for
 * its engines. */
static void
lock(struct iw_domain *d)
{
	uint32_t free = 0;

	while (!__atomic_compare_exchange_n(&d->lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		free = 0;
		rte_pause();
	}
}

/* Pairs with the acquire in lock(). */
static void
unlock(struct iw_domain *d)
{
	__atomic_store_n(&d->lock, 0, __ATOMIC_RELEASE);
}

struct iw_domain *
domain_create(const uint8_t secret[IW_SECRET_LEN])
{
	struct iw_domain *d = iw_env_alloc(sizeof(*d));
	struct rte_rcu_qsbr *rcu = iw_env_alloc(rte_rcu_qsbr_get_memsize(DOMAIN_READERS));

	if (!d || !rcu || rte_rcu_qsbr_init(rcu, DOMAIN_READERS) ||
	    iw_pool_init(&d->pds, sizeof(struct iw_pd), DOMAIN_PDS)) {
		iw_env_free(d);
		iw_env_free(rcu);
		return NULL;
	}
	memcpy(d->env.secret, secret, IW_SECRET_LEN);
	d->rcu = rcu;
	d->head = d->tail = NONE;
	stag_perm_init(&d->perm, &d->env);
	return d;
}

int
iw_domain_destroy(struct iw_domain *d)
{
	if (!d)
		return -IW_E_INVAL;
	if (d->readers || d->pds.used || d->mrs)
		return -IW_E_BUSY;
	for (uint32_t i = 0; i < DOMAIN_CHUNKS; i++)
		iw_env_free(d->chunk[i]);
	iw_pool_fini(&d->pds);
	iw_env_free(d->rcu);
	sodium_memzero(d, sizeof(*d));
	iw_env_free(d);
	return 0;
}

int
domain_join(struct iw_domain *d, uint32_t *reader)
{
	uint32_t i = 0;

	lock(d);
	while (i < DOMAIN_READERS && d->reader[i].used)
		i++;
	if (i < DOMAIN_READERS) {
		d->reader[i].used = true;
		rte_rcu_qsbr_thread_register(d->rcu, i);
		d->readers++;
		*reader = i;
	}
	unlock(d);
	return i < DOMAIN_READERS ? 0 : -IW_E_NOMEM;
}

void
domain_leave(struct iw_domain *d, uint32_t reader)
{
	domain_quiescent(d, reader);
	lock(d);
	rte_rcu_qsbr_thread_unregister(d->rcu, reader);
	d->reader[reader].used = false;
	d->readers--;
	unlock(d);
}

/* Its store comes before any load from the table: pairs with the check in domain_wait(), which comes after the
 * unpublishing store.  Either the writer sees that somebody reads, or the reader sees the table without what was taken
 * out. */
void
domain_enter(struct iw_domain *d, uint32_t reader)
{
	if (__atomic_load_n(&d->reader[reader].thread, __ATOMIC_RELAXED) == &domain_self)
		return;
	__atomic_store_n(&d->reader[reader].thread, &domain_self, __ATOMIC_RELAXED);
	rte_rcu_qsbr_thread_online(d->rcu, reader);
}

void
domain_quiescent(struct iw_domain *d, uint32_t reader)
{
	if (!__atomic_load_n(&d->reader[reader].thread, __ATOMIC_RELAXED))
		return;
	rte_rcu_qsbr_thread_offline(d->rcu, reader);
	__atomic_store_n(&d->reader[reader].thread, NULL, __ATOMIC_RELAXED);
}

/* Waits for the turns that other threads are in, which depend on nobody: two threads in here report for each other. */
void
domain_wait(struct iw_domain *d)
{
	uint64_t token;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	token = rte_rcu_qsbr_start(d->rcu);
	report_own(d);
	while (!rte_rcu_qsbr_check(d->rcu, token, false)) {
		rte_pause();
		report_own(d);
	}
}

static struct iw_mr *
mr_at(struct iw_domain *d, uint32_t slot)
{
	return &d->chunk[slot >> DOMAIN_CHUNK_BITS][slot & (DOMAIN_CHUNK - 1)];
}

/* The next slot that was never used, NONE when there is none or memory is short. */
static uint32_t
fresh_slot(struct iw_domain *d)
{
	struct iw_mr *chunk;

	if (d->fresh == STAG_SLOTS)
		return NONE;
	if (!d->chunk[d->fresh >> DOMAIN_CHUNK_BITS]) {
		chunk = iw_env_alloc(sizeof(*chunk) * DOMAIN_CHUNK);
		if (!chunk)
			return NONE;
		__atomic_store_n(&d->chunk[d->fresh >> DOMAIN_CHUNK_BITS], chunk, __ATOMIC_RELEASE);
	}
	return d->fresh++;
}

static uint32_t
old_slot(struct iw_domain *d)
{
	uint32_t slot = d->head;

	if (slot == NONE)
		return NONE;
	d->head = mr_at(d, slot)->next;
	if (d->head == NONE)
		d->tail = NONE;
	return slot;
}

/* Fresh slots first, then the one that was free for longest: an STag comes back after STAG_SLOTS registrations
 * with another generation, and with the same one after 16 times as many. */
struct iw_mr *
domain_mr_get(struct iw_domain *d, uint32_t *slot)
{
	struct iw_mr *mr = NULL;

	lock(d);
	*slot = fresh_slot(d);
	if (*slot == NONE)
		*slot = old_slot(d);
	if (*slot != NONE) {
		mr = mr_at(d, *slot);
		mr->next = 0;
		mr->gen++;
		d->mrs++;
	}
	unlock(d);
	return mr;
}

void
domain_publish(struct iw_mr *mr)
{
	assert(!mr->valid);
	__atomic_store_n(&mr->valid, 1, __ATOMIC_RELEASE);
}

void
domain_unpublish(struct iw_mr *mr)
{
	__atomic_store_n(&mr->valid, 0, __ATOMIC_SEQ_CST);
}

void
domain_mr_put(struct iw_domain *d, struct iw_mr *mr)
{
	uint32_t slot = stag_slot(&d->perm, mr->stag);

	lock(d);
	assert(mr == mr_at(d, slot) && !mr->valid);
	/* `valid` is 0 and is not written: with an old STag engines look at it at any time.  `gen` stays. */
	memset(mr, 0, offsetof(struct iw_mr, valid));
	mr->next = NONE;
	if (d->tail == NONE)
		d->head = slot;
	else
		mr_at(d, d->tail)->next = slot;
	d->tail = slot;
	d->mrs--;
	unlock(d);
}

uint64_t
domain_draw(struct iw_domain *d)
{
	uint64_t v;

	lock(d);
	v = iw_env_draw(&d->env);
	unlock(d);
	return v;
}

uint64_t
domain_serial(struct iw_domain *d)
{
	return __atomic_add_fetch(&d->serial, 1, __ATOMIC_RELAXED);
}

void
domain_pd_use(struct iw_pd *pd, int n)
{
	__atomic_add_fetch(&pd->users, (uint32_t)n, __ATOMIC_RELAXED);
}

struct iw_pd *
iw_pd_create(struct iw_domain *domain)
{
	struct iw_pd *pd;
	uint32_t handle;

	if (!domain)
		return NULL;
	lock(domain);
	pd = iw_pool_get(&domain->pds, &handle);
	unlock(domain);
	if (!pd)
		return NULL;
	pd->handle = handle;
	pd->domain = domain;
	return pd;
}

int
domain_pd_check(const struct iw_pd *pd)
{
	if (!pd)
		return -IW_E_INVAL;
	return pd->domain ? 0 : -IW_E_STALE;
}

int
iw_pd_destroy(struct iw_pd *pd)
{
	int err = domain_pd_check(pd);
	struct iw_domain *d;

	if (err)
		return err;
	if (__atomic_load_n(&pd->users, __ATOMIC_RELAXED))
		return -IW_E_BUSY;
	d = pd->domain;
	lock(d);
	pd->domain = NULL;
	iw_pool_put(&d->pds, pd->handle);
	unlock(d);
	return 0;
}
