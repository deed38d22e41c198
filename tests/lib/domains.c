/* SPDX-License-Identifier: BSD-3-Clause */
#include "domains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 8

static struct iw_domain *kept[KEPT];
static uint32_t next;

struct iw_domain *
domains_get(const uint8_t secret[IW_SECRET_LEN])
{
	for (int i = 0; i < KEPT; i++)
		if (kept[i] && !memcmp(kept[i]->env.secret, secret, IW_SECRET_LEN)) {
			struct iw_domain *d = kept[i];

			kept[i] = NULL;
			return d;
		}
	return domain_create(secret);
}

/* As domain_create() has left it; what was never used stays untouched. */
static void
renew(struct iw_domain *d)
{
	for (uint32_t slot = 0; slot < d->fresh; slot++)
		memset(&d->chunk[slot / DOMAIN_CHUNK][slot % DOMAIN_CHUNK], 0, sizeof(struct iw_mr));
	d->fresh = 0;
	d->head = d->tail = UINT32_MAX;
	d->env.draws = 0;
	d->serial = 0;
}

void
domains_put(struct iw_domain *d)
{
	if (d->readers || d->mrs || d->pds.used) {
		fprintf(stderr, "domain: %u engines, %u registrations, %u PDs are left\n", d->readers, d->mrs,
			d->pds.used);
		abort();
	}
	renew(d);
	if (kept[next])
		iw_domain_destroy(kept[next]);
	kept[next] = d;
	next = (next + 1) % KEPT;
}
