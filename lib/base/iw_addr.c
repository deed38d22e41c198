/* SPDX-License-Identifier: BSD-3-Clause */
#include "iw_addr.h"

#include <arpa/inet.h>
#include <iwarp/err.h>
#include <stdio.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

/* A scope in text is a port index of 16 bits. */
#define SCOPE_MAX (UINT32_C(1) + UINT16_MAX)

bool
iw_addr_is_v4(const struct iw_addr *a)
{
	return memcmp(a->ip, mapped, sizeof(mapped)) == 0;
}

uint32_t
iw_addr_v4(const struct iw_addr *a)
{
	const uint8_t *p = a->ip + sizeof(mapped);

	return iw_addr_is_v4(a) ? (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3] : 0;
}

struct iw_addr
iw_addr_from_v4(uint32_t ip, uint16_t port)
{
	struct iw_addr a = {.port = port};

	memcpy(a.ip, mapped, sizeof(mapped));
	for (int i = 0; i < 4; i++)
		a.ip[12 + i] = (uint8_t)(ip >> (24 - 8 * i));
	return a;
}

bool
iw_addr_is_any(const struct iw_addr *a)
{
	static const uint8_t any[16];

	return memcmp(a->ip, any, sizeof(any)) == 0 || (iw_addr_is_v4(a) && iw_addr_v4(a) == 0);
}

bool
iw_addr_is_link_local(const struct iw_addr *a)
{
	return a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
}

bool
iw_addr_eq_ip(const struct iw_addr *a, const struct iw_addr *b)
{
	return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0 && a->scope == b->scope;
}

/* A port index in decimal, as scope; 0 when it is none. */
static uint32_t
scope_parse(const char *text)
{
	uint32_t v = 0;

	if (*text == '\0')
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		v = v * 10 + (uint32_t)(*text - '0');
		if (v >= SCOPE_MAX)
			return 0;
	}
	return v + 1;
}

static bool
v4_parse(const char *text, struct iw_addr *addr)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	*addr = iw_addr_from_v4(ntohl(in.s_addr), 0);
	return true;
}

static bool
v6_parse(const char *text, struct iw_addr *addr)
{
	const char *percent = strchr(text, '%');
	size_t len = percent ? (size_t)(percent - text) : strlen(text);
	char ip[INET6_ADDRSTRLEN];

	if (len >= sizeof(ip))
		return false;
	memcpy(ip, text, len);
	ip[len] = '\0';
	if (inet_pton(AF_INET6, ip, addr->ip) != 1)
		return false;
	addr->scope = percent ? scope_parse(percent + 1) : 0;
	return percent ? iw_addr_is_link_local(addr) && addr->scope != 0 : true;
}

int
iw_addr_parse(const char *text, struct iw_addr *addr)
{
	struct iw_addr a;

	if (!v4_parse(text, &a) && !v6_parse(text, &a))
		return -IW_E_INVAL;
	a.port = addr->port;
	*addr = a;
	return 0;
}

const char *
iw_addr_format(const struct iw_addr *addr, char *buf, size_t len)
{
	char ip[INET6_ADDRSTRLEN];

	inet_ntop(iw_addr_is_v4(addr) ? AF_INET : AF_INET6, iw_addr_is_v4(addr) ? addr->ip + 12 : addr->ip, ip,
		  sizeof(ip));
	if (addr->scope)
		snprintf(buf, len, "%s%%%u", ip, (unsigned)(addr->scope - 1));
	else
		snprintf(buf, len, "%s", ip);
	return buf;
}
