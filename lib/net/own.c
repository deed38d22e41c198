/* SPDX-License-Identifier: BSD-3-Clause */
#include "own.h"

#include <string.h>

#include "iw_addr.h"

void
own_init(struct own_table *t)
{
	memset(t, 0, sizeof(*t));
	t->n = 1;
}

uint8_t
own_find(const struct own_table *t, const struct iw_addr *ip)
{
	for (uint32_t i = 1; i < t->n; i++)
		if (t->addr[i].state != OWN_NONE && iw_addr_eq_ip(&t->addr[i].ip, ip))
			return (uint8_t)i;
	return 0;
}

uint8_t
own_find6(const struct own_table *t, const uint8_t ip[16])
{
	for (uint32_t i = 1; i < t->n; i++)
		if (t->addr[i].family == OWN_V6 && memcmp(t->addr[i].ip.ip, ip, 16) == 0)
			return (uint8_t)i;
	return 0;
}

/* An entry that was never used, else one that is free: routes remember numbers, so a number comes back late. */
static uint8_t
free_number(struct own_table *t)
{
	if (t->n < OWN_MAX)
		return (uint8_t)t->n++;
	for (uint8_t i = 1; i < OWN_MAX; i++)
		if (t->addr[i].state == OWN_NONE)
			return i;
	return 0;
}

uint8_t
own_add(struct own_table *t, const struct iw_addr *ip, uint8_t prefix_len, bool claim, uint64_t at_ns)
{
	uint8_t number = own_find(t, ip) ? 0 : free_number(t);

	if (!number)
		return 0;
	t->addr[number] = (struct own_addr){.ip = *ip,
					    .prefix_len = prefix_len,
					    .state = claim ? OWN_TENTATIVE : OWN_READY,
					    .family = iw_addr_is_v4(ip) ? OWN_V4 : OWN_V6,
					    .at_ns = claim ? at_ns : IW_NEVER};
	t->addr[number].ip.port = 0;
	return number;
}

void
own_remove(struct own_table *t, uint8_t number)
{
	t->addr[number] = (struct own_addr){.state = OWN_NONE};
}

/* ---- the claim ---- */

static enum own_say
step(struct own_addr *a, uint64_t now_ns)
{
	if (own_is_claimed(a) && a->probes < OWN_PROBES) {
		a->probes++;
		a->at_ns = now_ns + OWN_PROBE_NS;
		return OWN_SAY_PROBE;
	}
	a->state = OWN_READY;
	a->announcements++;
	a->at_ns = a->announcements < OWN_ANNOUNCEMENTS ? now_ns + OWN_ANNOUNCE_NS : IW_NEVER;
	return OWN_SAY_ANNOUNCE;
}

static bool
is_waiting(const struct own_addr *a)
{
	return own_is_claimed(a) || own_is_ready(a);
}

enum own_say
own_due(struct own_table *t, uint64_t now_ns, uint8_t *number)
{
	for (uint32_t i = 1; i < t->n; i++)
		if (is_waiting(&t->addr[i]) && t->addr[i].at_ns <= now_ns) {
			*number = (uint8_t)i;
			return step(&t->addr[i], now_ns);
		}
	return OWN_SAY_NOTHING;
}

uint64_t
own_deadline(const struct own_table *t)
{
	uint64_t at = IW_NEVER;

	for (uint32_t i = 1; i < t->n; i++)
		if (is_waiting(&t->addr[i]))
			at = iw_time_min(at, t->addr[i].at_ns);
	return at;
}

bool
own_conflict(struct own_addr *a, const uint8_t mac[6], uint64_t now_ns)
{
	memcpy(a->conflict_mac, mac, 6);
	a->conflicts++;
	if (own_is_claimed(a)) {
		a->state = OWN_DUPLICATE;
		a->family = OWN_UNUSABLE;
	}
	if (a->state != OWN_READY || now_ns < a->defend_ns)
		return false;
	a->defend_ns = now_ns + OWN_DEFEND_NS;
	return true;
}

/* ---- choice ---- */

static uint32_t
common_bits(const uint8_t a[16], const uint8_t b[16])
{
	uint32_t i = 0;

	while (i < 128 && ((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1) == 0)
		i++;
	return i;
}

/* More is better. */
static uint32_t
fitness(const struct own_addr *a, const struct iw_addr *dst)
{
	uint32_t fit = 1 + common_bits(a->ip.ip, dst->ip);

	fit += a->deprecated ? 0 : 256;
	fit += own_is_ready(a) ? 512 : 0;
	fit += iw_addr_is_link_local(&a->ip) == iw_addr_is_link_local(dst) ? 1024 : 0;
	return fit;
}

uint8_t
own_source(const struct own_table *t, const struct iw_addr *dst, bool *duplicate)
{
	bool v4 = iw_addr_is_v4(dst);
	uint32_t best = 0;
	uint8_t number = 0;

	*duplicate = false;
	for (uint8_t i = 1; i < t->n; i++) {
		const struct own_addr *a = &t->addr[i];

		if (a->state == OWN_NONE || iw_addr_is_v4(&a->ip) != v4)
			continue;
		if (a->state == OWN_DUPLICATE) {
			*duplicate = true;
		} else if (fitness(a, dst) > best) {
			best = fitness(a, dst);
			number = i;
		}
	}
	return number;
}

bool
own_is_on_link6(const struct own_table *t, const uint8_t ip[16])
{
	if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80)
		return true;
	for (uint32_t i = 1; i < t->n; i++)
		if (t->addr[i].family == OWN_V6 && common_bits(t->addr[i].ip.ip, ip) >= t->addr[i].prefix_len)
			return true;
	return false;
}
