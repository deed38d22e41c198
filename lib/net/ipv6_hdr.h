/* SPDX-License-Identifier: BSD-3-Clause */
/* Octets of an IPv6 header and of the extension headers (RFC 8200 §3, §4). */
#ifndef IPV6_HDR_H
#define IPV6_HDR_H

#include <stdbool.h>
#include <stdint.h>

#define IPV6_HDR_LEN 40
#define IPV6_HOP_LIMIT 64
#define IPV6_MTU_MIN 1280 /* RFC 8200 §5 */
#define IPV6_EXT_MIN 8    /* octets of an extension header that are always there */

/* Next-header values that are no upper layer. */
enum ipv6_ext_kind {
	IPV6_EXT_HOP_BY_HOP = 0,
	IPV6_EXT_ROUTING = 43,
	IPV6_EXT_FRAGMENT = 44,
	IPV6_EXT_ESP = 50,
	IPV6_EXT_AUTH = 51,
	IPV6_EXT_NONE = 59,
	IPV6_EXT_DEST_OPTIONS = 60,
	IPV6_EXT_MOBILITY = 135,
	IPV6_EXT_HIP = 139,
	IPV6_EXT_SHIM6 = 140
};

struct ipv6_hdr {
	uint8_t version;
	uint8_t ecn; /* RFC 3168: 0..3 */
	uint8_t next, hop_limit;
	uint16_t payload_len; /* extension headers are in it */
	uint32_t flow;        /* label, 20 bits */
	uint8_t src[16], dst[16];
};

/* The fixed part; false: cut short.  Nothing is judged. */
bool ipv6_hdr_parse(const uint8_t *p, uint32_t len, struct ipv6_hdr *h);

/* Writes IPV6_HDR_LEN octets; version is 6. */
void ipv6_hdr_emit(uint8_t *p, const struct ipv6_hdr *h);

/* Another length in such a header. */
void ipv6_hdr_set_payload_len(uint8_t *p, uint16_t payload_len);

/* The first octets of an extension header of one kind. */
struct ipv6_ext {
	uint8_t next;
	uint32_t len;          /* octets of the whole header */
	uint8_t segments_left; /* routing */
	bool fragment;         /* fragment header: there are others */
};

/* false: fewer than IPV6_EXT_MIN octets. */
bool ipv6_hdr_ext_parse(const uint8_t *p, uint32_t len, uint8_t kind, struct ipv6_ext *e);

/* The options of a hop-by-hop or destination options header of len octets, header included (RFC 8200 §4.2): true when
 * each may be skipped by who does not know it, false when one may not, or when they do not fit. */
bool ipv6_hdr_options_skippable(const uint8_t *p, uint32_t len);

#endif
