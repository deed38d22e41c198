/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole FPDU as it lies in the received packets (RFC 5044 §4.1). */
#ifndef MPA_FPDU_H
#define MPA_FPDU_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmap_hdr.h"
#include "view.h"

/* Longest run of headers that is looked at in one piece: DDP header and Terminate, more than a Read Request. */
#define MPA_FPDU_HEAD (18 + 52)

/* One whole FPDU, its CRC checked. */
struct mpa_fpdu {
	const struct iw_view *views; /* it begins `off` octets into the first of them */
	uint32_t n, off;
	bool aligned; /* an FPDU began where that view does: its others, too, where whoever made it looks for them */
	uint32_t ulpdu_len;
	uint32_t head_len;   /* octets at head: all of the ULPDU, or MPA_FPDU_HEAD of it */
	const uint8_t *head; /* the ULPDU's beginning in one piece: in place, or in buf */
	struct ddp_hdr ddp;
	struct rdmap_read_req read; /* has_read: of a Read Request */
	bool has_read;
	bool wait; /* back-pressure: leave it in the stream */
	uint8_t buf[MPA_FPDU_HEAD];
};

#endif
