/* SPDX-License-Identifier: BSD-3-Clause */
/* Random octets from the operating system. */
#ifndef SECRET_H
#define SECRET_H

#include <stddef.h>

/* 0, or -IW_E_NODEV when the system has none to give. */
int secret_fill(void *buf, size_t len);

#endif
