/* SPDX-License-Identifier: BSD-3-Clause */
/* What libibverbs shows. */
#ifndef NIC_VERBS_H
#define NIC_VERBS_H

#include <iwarp.h>

/* Fills up to max; returns the number found, -IW_E_NOTSUP when built without rdma-core. */
int nic_verbs_list(struct iw_nic *nics, int max);

#endif
