/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says on stdout or stderr while it is captured. */
#ifndef CAPTURE_H
#define CAPTURE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct capture {
	FILE *stream, *file;
	int saved;
	char text[8192];
};

static inline void
capture_begin(struct capture *c, FILE *stream)
{
	fflush(stream);
	c->stream = stream;
	c->file = tmpfile();
	c->saved = dup(fileno(stream));
	dup2(fileno(c->file), fileno(stream));
}

/* What was said since; lives until the next one. */
static inline const char *
capture_end(struct capture *c)
{
	size_t n;

	fflush(c->stream);
	dup2(c->saved, fileno(c->stream));
	close(c->saved);
	rewind(c->file);
	n = fread(c->text, 1, sizeof(c->text) - 1, c->file);
	c->text[n] = 0;
	fclose(c->file);
	return c->text;
}

#endif
