/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify.h"

#include <stdint.h>
#include <unistd.h>

void
notify_eventfd(int fd)
{
	const uint64_t one = 1;

	/* EAGAIN: it is full.  Anything else is the caller's: there is nobody to tell. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}
