/* SPDX-License-Identifier: BSD-3-Clause */
#include "oracle_seen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define AREAS 64
#define GUARD 64 /* octets on each side, and the alignment */
#define GRANTS 8192
#define IDS 512
#define LEAK 6 /* octets of the secret in a row that nobody has by chance */

struct area {
	uint8_t *p;
	uint64_t len;
};

struct grant {
	struct iw_mr *mr;
	uint32_t stag; /* by a request: under this one; 0: by a call */
	uint8_t *p;
	uint64_t len;
};

/* O6: what an id has seen since it was made, or since its last CLOSE. */
struct seen {
	const struct cm *cm;
	iw_cm_id id;
	bool up, asked, accepted, connects, told, gone;
};

static struct {
	struct area area[AREAS];
	struct grant grant[GRANTS];
	struct seen seen[IDS];
	uint32_t areas, grants, ids;
	bool on;
} run;

/* Eight octets that differ. */
static const uint8_t secret[8] = {0xd3, 0x5e, 0x91, 0x7b, 0xe6, 0x2c, 0xa8, 0x4f};

const uint8_t *
oracle_secret(void)
{
	return secret;
}

/* ---- O3: memory ---- */

static void
refill(uint8_t *p, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		p[i] = secret[(uintptr_t)(p + i) & 7];
}

uint8_t *
oracle_memory(uint64_t len)
{
	struct area *a = &run.area[run.areas++];

	assert_true(run.areas <= AREAS);
	a->p = malloc(len);
	a->len = len;
	refill(a->p, len);
	return a->p;
}

uint8_t *
oracle_between(uint64_t len)
{
	uintptr_t p = (uintptr_t)oracle_memory(len + 3 * GUARD);

	return (uint8_t *)((p + 2 * GUARD - 1) & ~(uintptr_t)(GUARD - 1));
}

static void
check_range(const uint8_t *p, const uint8_t *end)
{
	for (; p < end && (uintptr_t)p & 7; p++)
		if (*p != secret[(uintptr_t)p & 7])
			fail_msg("O3: ungranted memory was written at %p", (const void *)p);
	for (; p + 8 <= end; p += 8)
		if (memcmp(p, secret, 8))
			fail_msg("O3: ungranted memory was written at %p", (const void *)p);
	for (; p < end; p++)
		if (*p != secret[(uintptr_t)p & 7])
			fail_msg("O3: ungranted memory was written at %p", (const void *)p);
}

/* The first granted octet at or behind p, and the end of what is granted there; both end: none. */
static const uint8_t *
next_grant(const uint8_t *p, const uint8_t *end, const uint8_t **to)
{
	const uint8_t *from = end;

	*to = end;
	for (uint32_t i = 0; i < run.grants; i++) {
		const struct grant *g = &run.grant[i];

		if (g->p + g->len <= p || g->p >= from)
			continue;
		from = g->p > p ? g->p : p;
		*to = g->p + g->len;
	}
	return from;
}

void
oracle_check_memory(void)
{
	for (uint32_t i = 0; i < run.areas; i++) {
		const uint8_t *p = run.area[i].p, *end = p + run.area[i].len;

		while (p < end) {
			const uint8_t *to, *from = next_grant(p, end, &to);

			check_range(p, from);
			p = to;
		}
	}
}

static bool
is_ours(const uint8_t *p)
{
	for (uint32_t i = 0; i < run.areas; i++)
		if (p >= run.area[i].p && p < run.area[i].p + run.area[i].len)
			return true;
	return false;
}

void
oracle_granted(struct iw_mr *mr, void *addr, uint64_t len)
{
	if (!run.on || !mr || !is_ours(addr))
		return;
	assert_true(run.grants < GRANTS);
	run.grant[run.grants++] = (struct grant){.mr = mr, .p = addr, .len = len};
}

void
oracle_mapped(const struct iw_fast_reg *reg)
{
	for (uint32_t i = 0; i < reg->num_iov; i++) {
		uint32_t n = run.grants;

		oracle_granted(reg->mr, reg->iov[i].addr, reg->iov[i].length);
		if (run.grants > n)
			run.grant[n].stag = reg->rkey;
	}
}

/* Octets that no other registration covers are secret again. */
static void
take_back(const struct iw_mr *mr, uint32_t stag)
{
	oracle_check_memory();
	for (uint32_t i = 0; i < run.grants; i++) {
		struct grant g = run.grant[i];
		const uint8_t *p = g.p, *end = g.p + g.len;

		if (mr ? g.mr != mr : g.stag != stag)
			continue;
		run.grant[i--] = run.grant[--run.grants];
		while (p < end) {
			const uint8_t *to, *from = next_grant(p, end, &to);

			refill((uint8_t *)(uintptr_t)p, (uint64_t)(from - p));
			p = to;
		}
	}
}

void
oracle_ungranted(const struct iw_mr *mr)
{
	take_back(mr, 0);
}

void
oracle_invalidated(uint32_t stag)
{
	if (stag)
		take_back(NULL, stag);
}

/* ---- O4: frames ---- */

static void
scan(const uint8_t *p, uint32_t len)
{
	static uint8_t next[256]; /* what follows an octet of the secret */
	uint32_t in_a_row = 0;

	for (uint32_t k = 0; k < 8; k++)
		next[secret[k]] = secret[(k + 1) & 7];
	for (uint32_t i = 0; i + 1 < len; i++) {
		in_a_row = next[p[i]] && next[p[i]] == p[i + 1] ? in_a_row + 1 : 0;
		if (in_a_row >= LEAK - 1)
			fail_msg("O4: secret octets in a frame of %u at %u", len, i + 2 - LEAK);
	}
}

void
oracle_frame(const struct rte_mbuf *m)
{
	for (; m; m = m->next)
		scan(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m));
}

/* ---- O6: events ---- */

/* Those that were destroyed are forgotten, all but the last ones. */
static void
make_room(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < run.ids; i++)
		if (!run.seen[i].gone || i >= IDS / 2)
			run.seen[n++] = run.seen[i];
	run.ids = n;
	assert_true(run.ids < IDS);
}

static struct seen *
seen_of(const struct cm *cm, iw_cm_id id)
{
	for (uint32_t i = run.ids; i-- > 0;)
		if (run.seen[i].id == id && run.seen[i].cm == cm)
			return &run.seen[i];
	if (run.ids == IDS)
		make_room();
	run.seen[run.ids] = (struct seen){.cm = cm, .id = id};
	return &run.seen[run.ids++];
}

static void
forget(struct seen *s)
{
	*s = (struct seen){.cm = s->cm, .id = s->id};
}

static bool
is_allowed(struct seen *s, const struct iw_cm_event *ev)
{
	struct seen was = *s;

	switch (ev->type) {
	case IW_CM_CONNECT_REQUEST:
		s->asked = true;
		return !was.up && !was.asked && !was.connects;
	case IW_CM_CONNECT_REPLY:
		s->up = ev->status == 0;
		s->connects = false;
		return was.connects;
	case IW_CM_ESTABLISHED_EV:
		s->up = true;
		return !was.up && was.accepted;
	case IW_CM_DISCONNECT:
		s->told = true;
		return was.up && !was.told;
	case IW_CM_CLOSE:
		forget(s);
		return was.up;
	case IW_CM_TIMEWAIT_EXIT:
		return !was.up && !was.connects;
	}
	return false;
}

void
oracle_cm_event(const struct cm *cm, iw_cm_id id, const struct iw_cm_event *event)
{
	struct seen *s = seen_of(cm, id);

	if (s->gone || !is_allowed(s, event))
		fail_msg("O6: event %d of id %u is not allowed here", event->type, id);
}

void
oracle_cm_connects(const struct cm *cm, iw_cm_id id)
{
	struct seen *s = seen_of(cm, id);

	forget(s);
	s->connects = true;
}

void
oracle_cm_accepted(const struct cm *cm, iw_cm_id id)
{
	seen_of(cm, id)->accepted = true;
}

void
oracle_cm_destroyed(const struct cm *cm, iw_cm_id id)
{
	seen_of(cm, id)->gone = true;
}

/* ---- the run ---- */

void
oracle_begin(void)
{
	memset(&run, 0, sizeof(run));
	run.on = true;
	oracle_qp_begin();
}

void
oracle_end(void)
{
	oracle_check_memory();
	for (uint32_t i = 0; i < run.areas; i++)
		free(run.area[i].p);
	memset(&run, 0, sizeof(run));
}
