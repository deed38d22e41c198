/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include "len.h"

uint32_t
iw_view_total(const struct iw_view *views, uint32_t n)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < n; i++)
		total += views[i].len;
	return total;
}

uint32_t
iw_view_copy(const struct iw_view *views, uint32_t n, uint32_t off, void *dst, uint32_t len)
{
	uint32_t done = 0;

	for (uint32_t i = 0; i < n && done < len; i++) {
		uint32_t part;

		if (off >= views[i].len) {
			off -= views[i].len;
			continue;
		}
		part = iw_len_min(views[i].len - off, len - done);
		memcpy((uint8_t *)dst + done, iw_view_data(&views[i]) + off, part);
		done += part;
		off = 0;
	}
	return done;
}

uint32_t
iw_view_slice(const struct iw_view *views, uint32_t n, uint32_t off, uint32_t len, struct iw_view *out, uint32_t max)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < n && len > 0; i++) {
		uint32_t part;

		if (off >= views[i].len) {
			off -= views[i].len;
			continue;
		}
		if (used == max)
			return 0;
		part = iw_len_min(views[i].len - off, len);
		out[used++] = (struct iw_view){.m = views[i].m, .off = views[i].off + off, .len = part};
		len -= part;
		off = 0;
	}
	return len == 0 ? used : 0;
}
