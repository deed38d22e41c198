/* SPDX-License-Identifier: BSD-3-Clause */
/* Several engines on one port. */
#include "port_engine.h"
#include "team.h"

int
iw_engines_create(struct iw_domain *domain, const struct iw_engine_params *params, uint32_t n,
		  struct iw_engine **engines, char *why, size_t why_len)
{
	return port_engine_create(domain, params, n, engines, why, why_len);
}

enum iw_steering
iw_engines_steering(const struct iw_engine *engine)
{
	const struct port_engine *p = engine ? engine->port : NULL;

	return p && p->team ? team_steering(p->team) : IW_STEERING_NONE;
}

const char *
iw_engines_steering_name(enum iw_steering steering)
{
	switch (steering) {
	case IW_STEERING_NONE:
		return "one engine";
	case IW_STEERING_RSS:
		return "RSS";
	case IW_STEERING_FLOW:
		return "flow rules";
	case IW_STEERING_PORT:
		return "the port's own";
	case IW_STEERING_SOFTWARE:
		return "hand-over in software";
	}
	return "unknown";
}
