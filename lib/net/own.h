/* SPDX-License-Identifier: BSD-3-Clause */
/* Our addresses on one port, both families: which there are, whether they may be used, and the claim: asking whether
 * somebody has one (RFC 5227 §2.1, RFC 4862 §5.4), telling everybody (RFC 5227 §2.3, RFC 4861 §7.2.6), defending.
 *
 *     TENTATIVE --3 probes, 100 ms apart, nobody objects--> READY --2 announcements, 2 s apart--> READY
 *         |                                                   |
 *         +--somebody has it or asks for it--> DUPLICATE      +--somebody claims it: announced again, at most
 *                                                                every 10 s (RFC 5227 §2.4 (c)); stays READY
 *
 * Decides only; net_own.c sends. */
#ifndef OWN_H
#define OWN_H

#include <iwarp/addr.h>
#include <stdbool.h>
#include <stdint.h>

#include "iw_time.h"

#define OWN_MAX 16 /* entries; number 0 is none */
#define OWN_PROBES 3
#define OWN_PROBE_NS (100 * IW_MS)
#define OWN_ANNOUNCEMENTS 2
#define OWN_ANNOUNCE_NS (2 * IW_SEC)
#define OWN_DEFEND_NS (10 * IW_SEC)

enum own_state { OWN_NONE, OWN_TENTATIVE, OWN_READY, OWN_DUPLICATE };

/* How packets from an address are made; one that may not be used has none. */
enum own_family { OWN_UNUSABLE, OWN_V4, OWN_V6, OWN_FAMILIES };

struct own_addr {
	struct iw_addr ip; /* port 0 */
	uint8_t prefix_len;
	uint8_t state;  /* enum own_state */
	uint8_t family; /* enum own_family */
	uint8_t probes, announcements;
	bool deprecated; /* not for new connections when there is another (RFC 4862 §5.5.4) */
	uint8_t conflict_mac[6];
	uint32_t conflicts;
	uint64_t at_ns;     /* of the next probe or announcement */
	uint64_t defend_ns; /* not before */
};

struct own_table {
	struct own_addr addr[OWN_MAX];
	uint32_t n; /* entries ever used, number 0 counted */
};

void own_init(struct own_table *t);

/* Enters an address; claim: TENTATIVE, its first probe at at_ns; else READY and silent.  The number, or 0 when the
 * table is full or it is there already. */
uint8_t own_add(struct own_table *t, const struct iw_addr *ip, uint8_t prefix_len, bool claim, uint64_t at_ns);
void own_remove(struct own_table *t, uint8_t number);

/* The number of an address in any state; 0: not there. */
uint8_t own_find(const struct own_table *t, const struct iw_addr *ip);

/* The number of an IPv6 address that is used or still claimed; 0: not there, or somebody else's. */
uint8_t own_find6(const struct own_table *t, const uint8_t ip[16]);

enum own_say { OWN_SAY_NOTHING, OWN_SAY_PROBE, OWN_SAY_ANNOUNCE };
/* The next thing that is due to be said, and about which address. */
enum own_say own_due(struct own_table *t, uint64_t now_ns, uint8_t *number);
uint64_t own_deadline(const struct own_table *t);

/* Somebody else (mac) has or wants the address.  True: announce it now. */
bool own_conflict(struct own_addr *a, const uint8_t mac[6], uint64_t now_ns);

/* The best source for dst (RFC 6724 §5 rules 2, 3 and 8; scopes are compared as link-local or not); one that may be
 * used now before one that is still claimed.  0: none that may be used; *duplicate then says that there is one but for
 * its being somebody else's. */
uint8_t own_source(const struct own_table *t, const struct iw_addr *dst, bool *duplicate);

/* dst lies in the prefix of a usable IPv6 address, or is link-local. */
bool own_is_on_link6(const struct own_table *t, const uint8_t ip[16]);

/* ---- inline ---- */

static inline bool
own_is_ready(const struct own_addr *a)
{
	return a->state == OWN_READY;
}

/* Whether somebody has it is still being asked. */
static inline bool
own_is_claimed(const struct own_addr *a)
{
	return a->state == OWN_TENTATIVE;
}

#endif
