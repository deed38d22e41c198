/* SPDX-License-Identifier: BSD-3-Clause */
/* A fuzz target without libFuzzer, for a build with any compiler:
 *     replay CHANGES CORPUS-FOLDER
 * runs every file of the folder, then so many seeded changes of them. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define FILES 512
#define SIZE 8192

static struct {
	uint8_t data[SIZE];
	size_t len;
} file[FILES];
static uint32_t files;
static uint64_t state = 1;

#pragma weak LLVMFuzzerCustomMutator

static uint32_t
draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return below ? (uint32_t)(state >> 33) % below : 0;
}

static size_t
change_once(uint8_t *data, size_t len, size_t max)
{
	uint32_t at = draw((uint32_t)len + 1), n = 1 + draw(8);

	switch (draw(6)) {
	case 0: /* insert */
		n = len + n > max ? (uint32_t)(max - len) : n;
		memmove(data + at + n, data + at, len - at);
		for (uint32_t i = 0; i < n; i++)
			data[at + i] = (uint8_t)draw(256);
		return len + n;
	case 1: /* delete */
		n = at + n > len ? (uint32_t)len - at : n;
		memmove(data + at, data + at + n, len - at - n);
		return len - n;
	case 2:
		if (at < len)
			data[at] ^= (uint8_t)(1 << draw(8));
		return len;
	case 3:
		if (at < len)
			data[at] = (uint8_t)(draw(2) ? 0xff : 0);
		return len;
	case 4:
		if (at < len)
			data[at] = (uint8_t)(data[at] + draw(5) - 2);
		return len;
	default:
		if (at < len)
			data[at] = (uint8_t)draw(256);
		return len;
	}
}

size_t
LLVMFuzzerMutate(uint8_t *data, size_t len, size_t max)
{
	for (uint32_t i = 1 + draw(4); i > 0; i--)
		len = change_once(data, len, max);
	return len;
}

static bool
load(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir)) && files < FILES) {
		char path[4096];
		FILE *f;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		f = fopen(path, "rb");
		if (!f)
			return false;
		file[files].len = fread(file[files].data, 1, SIZE, f);
		files++;
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return files > 0;
}

/* In a piece of memory of its own size, so that a read beyond shows. */
static void
run(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

int
main(int argc, char **argv)
{
	static uint8_t data[SIZE];

	if (argc != 3 || !load(argv[2])) {
		fprintf(stderr, "usage: %s CHANGES CORPUS-FOLDER (with files in it)\n", argv[0]);
		return 2;
	}
	for (uint32_t i = 0; i < files; i++)
		run(file[i].data, file[i].len);
	for (int i = 0; i < atoi(argv[1]); i++) {
		uint32_t from = draw(files);
		size_t len = file[from].len;

		memcpy(data, file[from].data, len);
		len = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(data, len, SIZE, draw(UINT32_MAX))
					      : LLVMFuzzerMutate(data, len, SIZE);
		run(data, len);
	}
	printf("%u files, %s changes\n", files, argv[1]);
	return 0;
}
