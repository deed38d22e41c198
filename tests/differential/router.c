/* SPDX-License-Identifier: BSD-3-Clause */
#include "router.h"

#include <string.h>

#define ETH 14
#define IP4 20
#define IP6 40
#define ICMP 8
#define PROTO_TCP 6
#define PROTO_ICMP 1
#define PROTO_ICMP6 58
#define QUOTE 8 /* octets of TCP's header */

static const uint8_t router_mac[6] = {2, 0, 0, 0, 0, 0xfe};
static const uint8_t router_ip4[4] = {10, 0, 0, 254};
static const uint8_t router_ip6[16] = {0xfd, [15] = 0xfe};

static uint16_t
get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void
put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* RFC 1071. */
static uint16_t
cksum(uint32_t sum, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static bool
is_v6(const uint8_t *frame)
{
	return get16(frame + 12) == 0x86dd;
}

bool
router_is_tcp(const uint8_t *frame, uint32_t len, uint32_t *ip_len)
{
	const uint8_t *ip = frame + ETH;

	if (len >= ETH + IP6 + 20 && is_v6(frame)) {
		*ip_len = IP6 + get16(ip + 4);
		return ip[6] == PROTO_TCP;
	}
	if (len < ETH + IP4 + 20 || get16(frame + 12) != 0x0800)
		return false;
	*ip_len = get16(ip + 2);
	return ip[9] == PROTO_TCP;
}

static uint32_t
too_big4(const uint8_t *ip, uint16_t mtu, uint8_t *out)
{
	uint32_t len = IP4 + ICMP + IP4 + QUOTE;
	uint8_t *icmp = out + IP4;

	memset(out, 0, IP4 + ICMP);
	out[0] = 0x45;
	put16(out + 2, len);
	out[8] = 64;
	out[9] = PROTO_ICMP;
	memcpy(out + 12, router_ip4, 4);
	memcpy(out + 16, ip + 12, 4);
	put16(out + 10, cksum(0, out, IP4));
	icmp[0] = 3;
	icmp[1] = 4;
	put16(icmp + 6, mtu);
	memcpy(icmp + ICMP, ip, IP4 + QUOTE);
	put16(icmp + 2, cksum(0, icmp, len - IP4));
	return len;
}

static uint32_t
too_big6(const uint8_t *ip, uint16_t mtu, uint8_t *out)
{
	uint32_t len = ICMP + IP6 + QUOTE + 12, pseudo = len + PROTO_ICMP6;
	uint8_t *icmp = out + IP6;

	memset(out, 0, IP6 + ICMP);
	out[0] = 0x60;
	put16(out + 4, len);
	out[6] = PROTO_ICMP6;
	out[7] = 64;
	memcpy(out + 8, router_ip6, 16);
	memcpy(out + 24, ip + 8, 16);
	icmp[0] = 2;
	put16(icmp + 6, mtu);
	memcpy(icmp + ICMP, ip, IP6 + QUOTE + 12);
	for (uint32_t i = 8; i < 40; i += 2)
		pseudo += get16(out + i);
	put16(icmp + 2, cksum(pseudo, icmp, len));
	return IP6 + len;
}

uint32_t
router_too_big(const uint8_t *frame, uint16_t mtu, uint8_t answer[ROUTER_MAX])
{
	memcpy(answer, frame + 6, 6);
	memcpy(answer + 6, router_mac, 6);
	memcpy(answer + 12, frame + 12, 2);
	return ETH + (is_v6(frame) ? too_big6 : too_big4)(frame + ETH, mtu, answer + ETH);
}

bool
router_mark_ce(uint8_t *frame)
{
	uint8_t *ip = frame + ETH;

	if (is_v6(frame)) {
		if (!(ip[1] & 0x30))
			return false;
		ip[1] |= 0x30;
		return true;
	}
	if (!(ip[1] & 3))
		return false;
	ip[1] |= 3;
	put16(ip + 10, 0);
	put16(ip + 10, cksum(0, ip, (uint32_t)(ip[0] & 15) * 4));
	return true;
}
