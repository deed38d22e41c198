/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user may ask n engines for, before anything is made. */
#ifndef PARAMS_H
#define PARAMS_H

#include <iwarp/engines.h>
#include <stddef.h>
#include <stdint.h>

/* 0, or -IW_E_INVAL and a line for the user in why[why_len], which is cut (NULL: none is wanted). */
int params_check(const struct iw_engine_params *p, uint32_t n, char *why, size_t why_len);

#endif
