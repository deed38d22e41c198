/* SPDX-License-Identifier: BSD-3-Clause */
/* `info`: what the ports and RDMA devices can do. */
#ifndef INFO_H
#define INFO_H

/* 0, or 1 after an error line. */
int info_print(void);

#endif
