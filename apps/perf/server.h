/* SPDX-License-Identifier: BSD-3-Clause */
/* The end that answers. */
#ifndef SERVER_H
#define SERVER_H

#include "host.h"
#include "options.h"

struct server;

/* Listens; NULL after an error line.  Before the loop begins, so that a client in the same process finds it. */
struct server *server_create(const struct options *o, const struct host *host);
/* One turn of it, for who has both ends on one lcore. */
void server_turn(struct server *v);
/* Serves one client until it hangs up; exit code.  May run on another lcore than server_create(). */
int server_run(struct server *v);
/* Makes server_run() end soon, from another lcore: its client will not come. */
void server_stop(struct server *v);
void server_destroy(struct server *v);

#endif
