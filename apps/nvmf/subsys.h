/* SPDX-License-Identifier: BSD-3-Clause */
/* NVM subsystems and their namespaces, as the command line names them. */
#ifndef SUBSYS_H
#define SUBSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "bdev.h"
#include "capsule_hdr.h"
#include "queue.h"

#define SUBSYS_DISCOVERY "nqn.2014-08.org.nvmexpress.discovery"
#define SUBSYS_MAX 16
#define SUBSYS_NS_MAX 32
#define SUBSYS_HOSTS_MAX 32

struct ns {
	const char *spec; /* as given */
	uint32_t nsid;
	bool read_only;
	uint8_t uuid[16]; /* the same after a restart: made of the subsystem's name, the number and the spec */
	struct bdev *bdev[SHARD_MAX]; /* of each engine, on the same disk */
};

struct subsys {
	char nqn[CAPSULE_NQN];
	char serial[21];
	const char *host[SUBSYS_HOSTS_MAX]; /* none: any host may come */
	int num_hosts;
	struct ns ns[SUBSYS_NS_MAX]; /* nsid - 1 */
	uint32_t num_ns;
};

/* True when nqn has the form of a qualified name: "nqn.", something behind it, at most 223 octets in all, no blanks and
 * no control characters. */
bool subsys_nqn_valid(const char *nqn);

/* Starts a subsystem with nothing in it. */
void subsys_init(struct subsys *s, const char *nqn);
/* NULL: no room for another. */
struct ns *subsys_add_ns(struct subsys *s, const char *spec);
/* Opens every namespace for an engine, number 0 first; false after a line in why, with none open for it.  [base,
 * base+len): as for bdev_open(). */
bool subsys_open(struct subsys *s, uint32_t shard, void *base, size_t len, char *why, size_t why_len);
void subsys_close(struct subsys *s, uint32_t shard);

/* The namespace, or NULL when there is none of that number. */
struct ns *subsys_ns(struct subsys *s, uint32_t nsid);
bool subsys_allows(const struct subsys *s, const char *hostnqn);

#endif
