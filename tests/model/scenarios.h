/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "world.h"

extern const struct scenario scenarios[];
extern const uint32_t scenarios_n;

#endif
