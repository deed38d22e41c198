/* SPDX-License-Identifier: BSD-3-Clause */
#include "secret.h"

#include <iwarp/err.h>
#include <stdint.h>
#include <sys/random.h>

int
secret_fill(void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n <= 0)
			return -IW_E_NODEV;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
