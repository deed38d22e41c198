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

struct end;

struct end_kind {
	const char *name;
	/* An end of host number `host`; v6: it talks IPv6; listens: else it connects.  NULL: said why on stderr. */
	struct end *(*open)(int host, bool v6, bool listens, uint64_t now_ns);
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
	bool v6, listens;
};

extern const struct end_kind end_kernel, end_own;

/* Whether this process may make namespaces and TAP devices; else the reason. */
const char *end_kernel_missing(void);

#endif
