/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains for tests that open thousands of worlds: one that was put back, empty, is as new for who asks with the same
 * secret.  Making one takes longer than most of what is done with it. */
#ifndef DOMAINS_H
#define DOMAINS_H

#include "domain.h"

struct iw_domain *domains_get(const uint8_t secret[IW_SECRET_LEN]);
/* Fails the test when something of it is left. */
void domains_put(struct iw_domain *domain);

#endif
