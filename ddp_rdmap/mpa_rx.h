/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of MPA: whole FPDUs out of a list of views (RFC 5044 §4.1, §6; design D5).  The face's mpa_rx() is
 * implemented here. */
#ifndef MPA_RX_H
#define MPA_RX_H

#include <stdbool.h>
#include <stdint.h>

#include "ddp_hdr.h"
#include "view.h"

/* Longest run of headers that is looked at in one piece: DDP header and Terminate, more than a Read Request. */
#define MPA_RX_HEAD (18 + 52)

/* One whole FPDU, its CRC checked. */
struct mpa_fpdu {
	const struct iw_view *views; /* it begins `off` octets into the first of them */
	uint32_t n, off;
	uint32_t ulpdu_len;
	uint32_t head_len;   /* octets at head: all of the ULPDU, or MPA_RX_HEAD of it */
	const uint8_t *head; /* the ULPDU's beginning in one piece: in place, or in buf */
	struct ddp_hdr ddp;
	bool wait; /* back-pressure: leave it in the stream */
	uint8_t buf[MPA_RX_HEAD];
};

#endif
