/* SPDX-License-Identifier: BSD-3-Clause */
#include "request.h"

#include <assert.h>
#include <string.h>

void
request_list_init(struct request_list *l)
{
	l->first = NULL;
	l->end = &l->first;
}

void
request_list_add(struct request_list *l, struct request *req)
{
	req->next = NULL;
	*l->end = req;
	l->end = &req->next;
}

struct request *
request_list_take(struct request_list *l)
{
	struct request *req = l->first;

	if (req) {
		l->first = req->next;
		if (!l->first)
			l->end = &l->first;
	}
	return req;
}

static void
fill_part(uint8_t *to, uint32_t len, const uint8_t *src, uint32_t src_len, uint64_t at)
{
	uint32_t there = at < src_len ? src_len - (uint32_t)at : 0;

	if (there > len)
		there = len;
	if (there > 0)
		memcpy(to, src + at, there);
	memset(to + there, 0, len - there);
}

void
request_fill(struct request *req, const void *src, uint32_t src_len, uint64_t offset)
{
	if (offset > src_len)
		offset = src_len;
	for (int i = 0; i < req->iovcnt; i++) {
		fill_part(req->iov[i].iov_base, (uint32_t)req->iov[i].iov_len, src, src_len, offset);
		offset += req->iov[i].iov_len;
	}
}

void
request_read(const struct request *req, uint32_t offset, void *dst, uint32_t len)
{
	uint8_t *to = dst;

	assert(offset <= req->len && len <= req->len - offset);
	for (int i = 0; i < req->iovcnt && len > 0; i++) {
		uint32_t have = (uint32_t)req->iov[i].iov_len, part;

		if (offset >= have) {
			offset -= have;
			continue;
		}
		part = have - offset < len ? have - offset : len;
		memcpy(to, (const uint8_t *)req->iov[i].iov_base + offset, part);
		to += part;
		len -= part;
		offset = 0;
	}
}
