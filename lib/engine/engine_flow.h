/* SPDX-License-Identifier: BSD-3-Clause */
/* What engine_rx.c, engine_tx.c and engine.c share: events that the way up left behind. */
#ifndef ENGINE_FLOW_H
#define ENGINE_FLOW_H

#include "engine_face.h"

/* Serves every connection on tcp's ready list once: octets to cm (start-up) or to the QP, then what ended. */
void engine_streams(struct iw_engine *e);

/* Hands what QPs report to cm. */
void engine_qp_outs(struct iw_engine *e);

#endif
