/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever sleeps on an eventfd is woken. */
#ifndef NOTIFY_H
#define NOTIFY_H

/* Adds 1 to it, without waiting: when its counter is full whoever reads it is awake anyway.  A descriptor that is none
 * is passed over. */
void notify_eventfd(int fd);

#endif
