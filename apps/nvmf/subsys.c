/* SPDX-License-Identifier: BSD-3-Clause */
#include "subsys.h"

#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#define NQN_MAX 223

/* Names of hosts are printed: what would write between the lines, or to the terminal, is in none. */
static bool
printable(const uint8_t *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0)) /* C1 in UTF-8 */
			return false;
	return true;
}

bool
subsys_nqn_valid(const char *nqn)
{
	return strncmp(nqn, "nqn.", 4) == 0 && nqn[4] != 0 && strlen(nqn) <= NQN_MAX && printable((const uint8_t *)nqn);
}

/* A UUID made of a name, version 5 (RFC 4122 §4.3). */
static void
uuid_of(const char *name, uint8_t out[16])
{
	uuid_generate_sha1(out, *uuid_get_template("url"), name, strlen(name));
}

void
subsys_init(struct subsys *s, const char *nqn)
{
	uint8_t uuid[16];

	memset(s, 0, sizeof(*s));
	snprintf(s->nqn, sizeof(s->nqn), "%s", nqn);
	uuid_of(nqn, uuid);
	for (int i = 0; i < 10; i++)
		snprintf(s->serial + 2 * i, 3, "%02x", uuid[i]);
}

struct ns *
subsys_add_ns(struct subsys *s, const char *spec)
{
	char name[CAPSULE_NQN + 4096 + 16];
	struct ns *ns;

	if (s->num_ns == SUBSYS_NS_MAX)
		return NULL;
	ns = &s->ns[s->num_ns++];
	*ns = (struct ns){.spec = spec, .nsid = s->num_ns};
	snprintf(name, sizeof(name), "%s/%u/%s", s->nqn, ns->nsid, spec);
	uuid_of(name, ns->uuid);
	return ns;
}

static struct bdev *
open_ns(const struct ns *ns, uint32_t shard, void *base, size_t len, char *why, size_t why_len)
{
	if (shard > 0)
		return bdev_share(ns->bdev[0], base, len, why, why_len);
	return bdev_open(ns->spec, ns->read_only, base, len, why, why_len);
}

bool
subsys_open(struct subsys *s, uint32_t shard, void *base, size_t len, char *why, size_t why_len)
{
	for (uint32_t i = 0; i < s->num_ns; i++) {
		s->ns[i].bdev[shard] = open_ns(&s->ns[i], shard, base, len, why, why_len);
		if (!s->ns[i].bdev[shard]) {
			subsys_close(s, shard);
			return false;
		}
	}
	return true;
}

void
subsys_close(struct subsys *s, uint32_t shard)
{
	for (uint32_t i = 0; i < s->num_ns; i++) {
		if (s->ns[i].bdev[shard])
			bdev_close(s->ns[i].bdev[shard]);
		s->ns[i].bdev[shard] = NULL;
	}
}

struct ns *
subsys_ns(struct subsys *s, uint32_t nsid)
{
	return nsid >= 1 && nsid <= s->num_ns ? &s->ns[nsid - 1] : NULL;
}

bool
subsys_allows(const struct subsys *s, const char *hostnqn)
{
	for (int i = 0; i < s->num_hosts; i++)
		if (strcmp(s->host[i], hostnqn) == 0)
			return true;
	return s->num_hosts == 0;
}
