/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace.h"

#include <stddef.h>

#include "env.h"
#include "len.h"
#include "ring.h"

#define TRACE_MAX (1u << 20)

struct iw_trace {
	uint32_t mask;
	uint64_t written;
	struct iw_trace_record record[];
};

struct iw_trace *
iw_trace_create(uint32_t n)
{
	uint32_t size = iw_ring_size(iw_len_min(n, TRACE_MAX));
	struct iw_trace *trace = iw_env_alloc(sizeof(*trace) + (size_t)size * sizeof(trace->record[0]));

	if (trace)
		trace->mask = size - 1;
	return trace;
}

void
iw_trace_destroy(struct iw_trace *trace)
{
	iw_env_free(trace);
}

void
iw_trace_put(struct iw_trace *trace, uint64_t now_ns, enum iw_trace_event event, uint32_t object, uint32_t a,
	     uint32_t b)
{
	if (!trace)
		return;
	trace->record[trace->written++ & trace->mask] =
		(struct iw_trace_record){.now_ns = now_ns, .object = object, .event = event, .a = a, .b = b};
}

uint32_t
iw_trace_count(const struct iw_trace *trace)
{
	if (!trace)
		return 0;
	return trace->written > trace->mask ? trace->mask + 1 : (uint32_t)trace->written;
}

const struct iw_trace_record *
iw_trace_at(const struct iw_trace *trace, uint32_t i)
{
	uint32_t count = iw_trace_count(trace);

	return i < count ? &trace->record[(trace->written - count + i) & trace->mask] : NULL;
}

static const char *const names[IW_TRACE_EVENT_MAX][3] = {
#define ROW(name, a, b) [IW_TRACE_##name] = {#name, a, b},
	IW_TRACE_EVENTS(ROW)};

const char *
iw_trace_name(uint32_t event)
{
	return event < IW_TRACE_EVENT_MAX ? names[event][0] : "?";
}

const char *
iw_trace_value_name(uint32_t event, uint32_t which)
{
	return event < IW_TRACE_EVENT_MAX && which < 2 ? names[event][1 + which] : "?";
}
