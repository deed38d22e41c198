/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RDMAP_RX_H
#define RDMAP_RX_H

#include "mpa_fpdu.h"
#include "qp_obj.h"

/* A whole FPDU whose CRC is right: judges, places, completes, or ends the stream.  f->wait: it was not taken. */
void rdmap_rx(struct iw_qp *qp, struct mpa_fpdu *f);

/* A segment without payload that is not its message's last (D17). */
void rdmap_rx_empty(struct iw_qp *qp);

#endif
