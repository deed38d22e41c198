/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cli.h"
#include "host.h"

static bool
is_set(const struct iw_addr *addr)
{
	static const uint8_t none[sizeof(addr->ip)];

	return memcmp(addr->ip, none, sizeof(none)) != 0;
}

bool
host_option_ip(struct host_options *options, const char *text)
{
	struct iw_engine_addr *more = &options->more[options->n_more];

	if (strcmp(text, "auto") == 0) {
		options->autoconf = options->has_ip = true;
		return true;
	}
	if (is_set(&options->ip) && options->n_more == IW_ENGINE_MORE_ADDRS) {
		cli_fail("--ip %s: at most %d addresses", text, IW_ENGINE_MORE_ADDRS + 1);
		return false;
	}
	if (is_set(&options->ip)) {
		options->n_more++;
		return cli_address_len("--ip", text, &more->ip, &more->prefix_len);
	}
	options->has_ip = cli_address_len("--ip", text, &options->ip, &options->prefix_len);
	return options->has_ip;
}

bool
host_option_gateway(struct host_options *options, const char *text)
{
	struct iw_addr addr, *gateway;

	if (!cli_address("--gw", text, &addr))
		return false;
	gateway = host_is_v4(&addr) ? &options->gateway : &options->gateway6;
	if (is_set(gateway)) {
		cli_fail("--gw %s: at most one for each family, IPv4 and IPv6", text);
		return false;
	}
	*gateway = addr;
	return true;
}

static bool
take_u16(const char *name, const char *text, uint16_t min, uint16_t max, uint16_t *out)
{
	uint64_t n;

	if (!cli_number(name, text, min, max, &n))
		return false;
	*out = (uint16_t)n;
	return true;
}

bool
host_option_idle(struct host_options *options, const char *text)
{
	uint64_t us;

	if (!cli_number("--idle-sleep", text, 1, 100000, &us))
		return false;
	options->idle_us = (uint32_t)us;
	return true;
}

bool
host_option(struct host_options *options, int opt, const char *port_name, const char *text)
{
	switch (opt) {
	case HOST_OPT_IP:
		return host_option_ip(options, text);
	case HOST_OPT_GW:
		return host_option_gateway(options, text);
	case HOST_OPT_VLAN:
		return take_u16("--vlan", text, 1, 4094, &options->vlan);
	case HOST_OPT_MTU:
		return take_u16("--mtu", text, 576, UINT16_MAX, &options->mtu);
	case HOST_OPT_IDLE:
		return host_option_idle(options, text);
	default:
		return take_u16(port_name, text, 0, UINT16_MAX, &options->port_id);
	}
}
