/* SPDX-License-Identifier: BSD-3-Clause */
#include "params.h"

#include <iwarp/err.h>
#include <stdio.h>
#include <string.h>

#include "ipv4.h"
#include "iw_addr.h"

#define LINE 192

/* ---- own addresses ---- */

static uint32_t
bits_of(const struct iw_addr *ip)
{
	return iw_addr_is_v4(ip) ? 32 : 128;
}

/* All zeros behind the first bits of 16 octets. */
static bool
is_zero_behind(const uint8_t ip[16], uint32_t bits)
{
	for (uint32_t i = bits; i < 128; i++)
		if (ip[i / 8] & 0x80 >> i % 8)
			return false;
	return true;
}

/* No group, loopback or subnet-router anycast (RFC 4291 §2.5.3, §2.6.1, §2.7); /127 and /128 have no routers' address
 * (RFC 6164 §6). */
static bool
is_one_host6(const struct iw_addr *ip, uint8_t prefix_len)
{
	static const uint8_t loopback[sizeof(ip->ip)] = {[15] = 1};

	return ip->ip[0] != 0xff && memcmp(ip->ip, loopback, sizeof(loopback)) != 0 &&
	       (prefix_len >= 127 || !is_zero_behind(ip->ip, prefix_len));
}

/* No group, network, broadcast or loopback (RFC 1122 §3.2.1.3). */
static bool
is_one_host(const struct iw_addr *ip, uint8_t prefix_len)
{
	uint32_t v4 = iw_addr_v4(ip), bits = prefix_len < 32 ? UINT32_MAX >> prefix_len : 0;

	if (!iw_addr_is_v4(ip))
		return is_one_host6(ip, prefix_len);
	return !ipv4_is_reserved(v4) && (bits <= 1 || ((v4 & bits) != 0 && (v4 & bits) != bits));
}

static const char *
check_addrs(const struct iw_engine_params *p)
{
	static const char not_one[] = "an own address is one host's: no group, network, broadcast, anycast or loopback";
	uint32_t v4 = !iw_addr_is_any(&p->addr) && iw_addr_is_v4(&p->addr);

	if (p->n_more_addrs > IW_ENGINE_MORE_ADDRS || (p->n_more_addrs && !p->more_addrs))
		return "an engine has at most 8 addresses";
	if (iw_addr_is_any(&p->addr) && !p->n_more_addrs && !p->autoconf)
		return "an address of its own is needed";
	if (p->prefix_len > bits_of(&p->addr))
		return "the prefix is longer than the address (32 for IPv4, 128 for IPv6)";
	if (!iw_addr_is_any(&p->addr) && !is_one_host(&p->addr, p->prefix_len))
		return not_one;
	for (uint32_t i = 0; i < p->n_more_addrs; i++) {
		const struct iw_engine_addr *a = &p->more_addrs[i];

		v4 += iw_addr_is_v4(&a->ip);
		if (iw_addr_is_any(&a->ip) || a->prefix_len > bits_of(&a->ip))
			return "one of the further addresses or its prefix length is none";
		if (!is_one_host(&a->ip, a->prefix_len))
			return not_one;
	}
	return v4 > 1 ? "an engine has at most one IPv4 address" : NULL;
}

/* The i-th own address, counted from 0; false: there are fewer. */
static bool
own_at(const struct iw_engine_params *p, uint32_t i, struct iw_engine_addr *own)
{
	bool first = !iw_addr_is_any(&p->addr);

	if (i >= p->n_more_addrs + first)
		return false;
	*own = first && i == 0 ? (struct iw_engine_addr){p->addr, p->prefix_len} : p->more_addrs[i - first];
	return true;
}

/* ---- gateways ---- */

/* A prefix that is the whole address names no link: there the gateway is a neighbour because the user says so.  It may
 * be IPv6 routers' anycast address, but not an IPv4 network's or broadcast. */
static bool
holds(const struct iw_engine_addr *own, const struct iw_addr *ip)
{
	uint32_t behind = bits_of(ip) - own->prefix_len;
	uint8_t differs[sizeof(ip->ip)];

	if (behind == 0)
		return true;
	for (size_t i = 0; i < sizeof(differs); i++)
		differs[i] = own->ip.ip[i] ^ ip->ip[i];
	for (uint32_t i = 128 - behind; i < 128; i++)
		differs[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
	return is_zero_behind(differs, 0) && is_one_host(ip, iw_addr_is_v4(ip) ? own->prefix_len : 128);
}

/* Another host on the link, where its station is asked for (RFC 1122 §3.3.1.1).  A link-local address is there;
 * prefixes that routers are to advertise are not known yet. */
static const char *
check_gateway(const struct iw_engine_params *p, const struct iw_addr *gw, char line[LINE])
{
	char text[IW_ADDR_TEXT], own_text[IW_ADDR_TEXT];
	bool v4 = iw_addr_is_v4(gw), on_link = !v4 && (iw_addr_is_link_local(gw) || p->autoconf), is_own = false;
	struct iw_engine_addr own, near = {.prefix_len = 0};

	for (uint32_t i = 0; own_at(p, i, &own); i++) {
		if (iw_addr_is_v4(&own.ip) != v4)
			continue;
		near = own;
		is_own = is_own || memcmp(own.ip.ip, gw->ip, sizeof(gw->ip)) == 0;
		on_link = on_link || holds(&own, gw);
	}
	iw_addr_format(gw, text, sizeof(text));
	iw_addr_format(&near.ip, own_text, sizeof(own_text));
	if (!is_one_host(gw, bits_of(gw)))
		snprintf(line, LINE, "gateway %s is no host's address", text);
	else if (iw_addr_is_any(&near.ip) && (v4 || !p->autoconf))
		snprintf(line, LINE, "gateway %s: there is no own address of its family", text);
	else if (!on_link || is_own)
		snprintf(line, LINE, "gateway %s is no other host on the link of %s/%u", text, own_text,
			 near.prefix_len);
	else
		return NULL;
	return line;
}

static const char *
check_gateways(const struct iw_engine_params *p, char line[LINE])
{
	const char *what = iw_addr_is_any(&p->gateway) ? NULL : check_gateway(p, &p->gateway, line);

	if (what || iw_addr_is_any(&p->gateway6))
		return what;
	if (iw_addr_is_v4(&p->gateway6) || (!iw_addr_is_any(&p->gateway) && !iw_addr_is_v4(&p->gateway)))
		return "there is one gateway for each family: gateway6 is of IPv6, beside one of IPv4";
	return check_gateway(p, &p->gateway6, line);
}

/* ---- the rest ---- */

static bool
speaks_v6(const struct iw_engine_params *p)
{
	bool v6 = p->autoconf || (!iw_addr_is_any(&p->addr) && !iw_addr_is_v4(&p->addr));

	for (uint32_t i = 0; i < p->n_more_addrs; i++)
		v6 = v6 || !iw_addr_is_v4(&p->more_addrs[i].ip);
	return v6;
}

static const char *
check_rest(const struct iw_engine_params *p)
{
	if (p->mtu && p->mtu < 1280 && speaks_v6(p))
		return "IPv6 needs an MTU of at least 1280";
	if (p->mtu && p->mtu < 576)
		return "an MTU below 576 is of no use";
	if (p->vlan > 4094)
		return "a VLAN is a number from 1 to 4094";
	if (p->autoconf && p->no_host_path)
		return "IPv6 autoconfiguration needs the host path";
	if ((uint32_t)p->congestion > IW_CONGESTION_DCTCP)
		return "there is no such congestion control";
	if (p->congestion == IW_CONGESTION_DCTCP && !p->profile_datacenter)
		return "DCTCP is for the data centre profile only";
	return NULL;
}

static const char *
check_count(const struct iw_engine_params *p, uint32_t n)
{
	if (n == 0 || n > IW_MAX_ENGINES)
		return "a port has from 1 to 64 engines";
	return n > 1 && p->autoconf ? "IPv6 autoconfiguration is for an engine that has its port alone" : NULL;
}

int
params_check(const struct iw_engine_params *p, uint32_t n, char *why, size_t why_len)
{
	char line[LINE];
	const char *what = check_addrs(p);

	if (!what)
		what = check_gateways(p, line);
	if (!what)
		what = check_rest(p);
	if (!what)
		what = check_count(p, n);
	if (!what)
		return 0;
	if (why && why_len)
		snprintf(why, why_len, "%s", what);
	return -IW_E_INVAL;
}
