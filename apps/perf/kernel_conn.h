/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's TCP, connected and closed over loopback: what a connection costs without iWARP. */
#ifndef KERNEL_CONN_H
#define KERNEL_CONN_H

#include "conn_times.h"

#define KERNEL_CONN_MOST 5000 /* connections: few of the ephemeral ports, which TIME_WAIT keeps and it would search */

/* t->count connections, at most at_once of them open, with the passive side on lcore.  False after an error line. */
bool kernel_conn_run(struct conn_times *t, uint32_t at_once, unsigned lcore);
void kernel_conn_print(struct conn_times *t);

#endif
