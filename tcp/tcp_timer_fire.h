/* SPDX-License-Identifier: BSD-3-Clause */
/* What the timers of a connection do when they are due; tcp_timer.h arms them. */
#ifndef TCP_TIMER_FIRE_H
#define TCP_TIMER_FIRE_H

#include "tcp_conn_obj.h"

/* What is due: acts on it and arms the rest.  The object may have ended afterwards; the caller settles it. */
void tcp_timer_fire(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

#endif
