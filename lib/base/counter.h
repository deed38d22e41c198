/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters as data: a room writes one list
 *     #define TCP_COUNTERS(X) X(rx_segs) X(rx_bad_cksum)
 * and IW_COUNTERS(tcp_counters, TCP_COUNTERS) makes the struct of it, IW_COUNTER_NAMES(...) the table of names. */
#ifndef IW_COUNTER_H
#define IW_COUNTER_H

#include <stdint.h>

#define IW_COUNTER_FIELD(name) uint64_t name;
#define IW_COUNTERS(tag, LIST)         \
	struct tag {                   \
		LIST(IW_COUNTER_FIELD) \
	}
/* A static table of "prefix.name"; used inside a function that defines IW_COUNTER_PREFIX. */
#define IW_COUNTER_NAME(name) IW_COUNTER_PREFIX "." #name,

struct iw_counter_list {
	const char *const *names;
	const uint64_t *values;
	uint32_t n;
};

#endif
