/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain is made before any engine, so its secret is drawn here. */
#include <iwarp/verbs.h>
#include <sodium.h>

#include "dma.h"
#include "domain.h"
#include "secret.h"

struct iw_domain *
iw_domain_create(void)
{
	uint8_t secret[IW_SECRET_LEN];
	struct iw_domain *d = NULL;

	if (secret_fill(secret, sizeof(secret)) == 0)
		d = domain_create(secret);
	if (d)
		d->is_mapped = dma_is_mapped;
	sodium_memzero(secret, sizeof(secret));
	return d;
}
