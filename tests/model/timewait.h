/* SPDX-License-Identifier: BSD-3-Clause */
/* P8: TIME_WAIT lets in every SYN that RFC 6191 accepts, and no other. */
#ifndef TIMEWAIT_H
#define TIMEWAIT_H

#include "search.h"

#define TIMEWAIT_STATES 280000u /* pinned: records and SYNs */

/* Every record after every two segments, asked by every SYN; states: how many questions. */
void timewait_run(struct search_result *r);

/* A record that is asked by the SYN of a peer whose clock has gone on, as every ISN and timestamp of ours does. */
bool timewait_lets_in(void);

#endif
