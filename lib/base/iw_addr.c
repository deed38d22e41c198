/* SPDX-License-Identifier: BSD-3-Clause */
#include "iw_addr.h"

#include <arpa/inet.h>
#include <iwarp/err.h>
#include <stdio.h>
#include <string.h>

/* A scope in text is a port index of 16 bits. */
#define SCOPE_MAX (UINT32_C(1) + UINT16_MAX)

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

	if (!text || !addr || (!v4_parse(text, &a) && !v6_parse(text, &a)))
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
