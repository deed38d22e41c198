/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMMETRY_H
#define SYMMETRY_H

#include "world.h"

/* Two of a kind may be there at once, and nothing depends on which is which. */
bool symmetry_helps(const struct scenario *sc);

/* Exchanges names until the world is the one that stands for all that differ in names only. */
void symmetry_choose(struct world *w);

#endif
