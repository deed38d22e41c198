/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA-capable NICs as rdma-core and the kernel show them (design D10). */
#ifndef NIC_H
#define NIC_H

#include <iwarp.h>

/* As iw_nic_list(), below another root than /sys (tests).  verbs: ask libibverbs too. */
int nic_list(const char *sys_root, bool verbs, struct iw_nic *nics, int max);

/* Behind the n that libibverbs has listed: netdevs that lack their provider, with the hint.  Returns the new number. */
int nic_add_missing(const char *sys_root, struct iw_nic *nics, int n, int max);

#endif
