/* SPDX-License-Identifier: BSD-3-Clause */
#include "passes.h"

#include <string.h>

#include "crc32c.h"
#include "sum.h"

struct check
passes_copy(void *to, const void *from, uint32_t n, bool crc)
{
	struct check c = {0};

	if (crc) {
		c.crc = iw_crc32c_copy_sum(IW_CRC32C_INIT, to, from, n, &c.sum);
		return c;
	}
	memcpy(to, from, n);
	c.sum = iw_sum(to, n);
	return c;
}

struct check
passes_check(void *to, const void *from, uint32_t n, bool crc)
{
	struct check c = {0};

	if (crc)
		c.crc = iw_crc32c_sum(IW_CRC32C_INIT, from, n, &c.sum);
	else
		c.sum = iw_sum(from, n);
	memcpy(to, from, n);
	return c;
}
