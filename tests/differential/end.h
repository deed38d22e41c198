/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a connection: the kernel's TCP behind a TAP device in a network namespace of its own, or ours.  Host 0 has
 * 10.0.0.1 and fd00::1, host 1 has .2 and ::2.  Frames are copied in and out: it has no memory in common with the
 * other end. */
#ifndef END_H
#define END_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

#define END_PORT 4420
#define END_CLIENT_PORT 3333
#define END_FDS 2

#define END_LAZY_NS 2000000 /* between two readings of a lazy end ... */
#define END_LAZY_BUF 32768  /* ... whose receive buffer is so large that it fills meanwhile */

struct end;

struct end_config {
	int host;
	bool v6, listens; /* else IPv4, connects */
	bool lazy;        /* its application reads seldom: the window closes again and again */
};

struct end_kind {
	const char *name;
	/* NULL: said why on stderr. */
	struct end *(*open)(const struct end_config *config, uint64_t now_ns);
	void (*close)(struct end *e);
	/* The next frame that it sends; 0: none now. */
	uint32_t (*take)(struct end *e, uint8_t *frame, uint32_t max);
	void (*give)(struct end *e, const uint8_t *frame, uint32_t len, uint64_t now_ns);
	/* Its application and its timers have their turn. */
	void (*turn)(struct end *e, uint64_t now_ns);
	/* When it wants the next one; what it waits for meanwhile (returns how many). */
	uint64_t (*deadline)(const struct end *e);
	uint32_t (*fds)(const struct end *e, struct pollfd fd[END_FDS]);
	/* Everything it has sent is acknowledged, and both sides have closed. */
	bool (*is_over)(struct end *e);
};

struct end {
	const struct end_kind *kind;
	struct stream stream;
	struct end_config config;
	uint64_t read_ns; /* a lazy one reads again */
};

extern const struct end_kind end_kernel, end_own;

/* A lazy end's turn to read; then the next one is due END_LAZY_NS later. */
bool end_may_read(struct end *e, uint64_t now_ns);

/* Whether this process may make namespaces and TAP devices; else the reason. */
const char *end_kernel_missing(void);

#endif
