/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without rdma-core. */
#include "nic_verbs.h"

int
nic_verbs_list(struct iw_nic *nics, int max)
{
	return -IW_E_NOTSUP;
}
