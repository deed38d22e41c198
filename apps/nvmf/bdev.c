/* SPDX-License-Identifier: BSD-3-Clause */
#include "bdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LEN 4096
#define BLOCK_SIZE 512

/* "64M" to octets; 0 when it is not a size. */
static uint64_t
parse_size(const char *text)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *text == '-')
		return 0;
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (n > UINT64_MAX >> shift)
			return 0;
		n <<= shift;
		end++;
	}
	return *end == 0 ? n : 0;
}

/* Cuts ",bs=N" off; 0 when N is not a block size. */
static uint32_t
take_block_size(char *spec)
{
	char *comma = strrchr(spec, ',');

	if (!comma || strncmp(comma, ",bs=", 4) != 0)
		return BLOCK_SIZE;
	*comma = 0;
	if (strcmp(comma + 4, "512") == 0)
		return 512;
	return strcmp(comma + 4, "4096") == 0 ? 4096 : 0;
}

static struct bdev *
open_ram(const char *text, uint32_t block_size, char *why, size_t why_len)
{
	uint64_t size = parse_size(text);
	struct bdev *b;

	if (size == 0 || size % block_size != 0) {
		snprintf(why, why_len, "ram:%s: not a size in blocks of %u, like ram:64M", text, block_size);
		return NULL;
	}
	b = bdev_ram_open(size, block_size);
	if (!b)
		snprintf(why, why_len, "ram:%s: no memory for it", text);
	return b;
}

struct bdev *
bdev_open(const char *spec, bool read_only, void *base, size_t len, char *why, size_t why_len)
{
	char path[PATH_LEN];
	uint32_t block_size;

	if (strlen(spec) >= sizeof(path)) {
		snprintf(why, why_len, "a path that is too long");
		return NULL;
	}
	memcpy(path, spec, strlen(spec) + 1);
	block_size = take_block_size(path);
	if (block_size == 0) {
		snprintf(why, why_len, "%s: bs= is 512 or 4096", spec);
		return NULL;
	}
	if (strncmp(path, "ram:", 4) == 0)
		return open_ram(path + 4, block_size, why, why_len);
	return bdev_uring_open(path, read_only, block_size, base, len, why, why_len);
}
