/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener, and in front of it a peer made by hand: each test program has one of it. */
#ifndef CMRAW_H
#define CMRAW_H

#include "cmsim.h"

static struct cmsim s;
static iw_cm_id listener;
static uint32_t conn;
static uint8_t got[2048];

static void
open_raw(const struct cm_params *params, int backlog)
{
	struct cmsim_opts o = {.raw_client = true};

	if (params)
		o.cm = *params;
	cmsim_open(&s, &o);
	listener = cmsim_listen(&s.h[1], backlog);
	conn = cmsim_raw_open(&s);
}

static uint32_t
requests(void)
{
	return cmsim_count(&s.h[1], IW_CM_CONNECT_REQUEST);
}

/* A good Request of revision 2 with A and "hi". */
static uint32_t
good(uint8_t *out)
{
	return cmsim_frame(out, false, 0x50, 2, 6, "\x80\x10\xc0\x10hi", 6);
}

static iw_cm_id
asked(uint32_t n)
{
	assert_int_equal(requests(), n + 1);
	return cmsim_nth(&s.h[1], IW_CM_CONNECT_REQUEST, n)->id;
}

#endif
