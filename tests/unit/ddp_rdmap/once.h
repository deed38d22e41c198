/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ONCE_H
#define ONCE_H

#include <stdint.h>

/* How many headers were overwritten behind their parser. */
uint32_t once_overwritten(void);

#endif
