/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CROWD_H
#define CROWD_H

#include "moves.h"

#define CROWD_MOVES 3

/* Others do something that can be felt; false: they cannot now. */
bool crowd_move(struct world *w, uint8_t h, uint8_t what);

/* Seen from each part of the world by itself, was that step one that a crowd explains? */
void crowd_check(const struct world *before, const struct world *now, const struct move *m);

#endif
