/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_attr.h"

#include <iwarp/err.h>

#include "iw_time.h"

int
cm_attr_check_private(const void *data, uint16_t len, bool enhanced)
{
	if (len && !data)
		return -IW_E_INVAL;
	return len > mpa_hdr_private_max(enhanced) ? -IW_E_TOOBIG : 0;
}

int
cm_attr_check(const struct iw_cm_attr *a)
{
	if (a->require_peer_to_peer && (a->no_peer_to_peer || a->revision_1))
		return -IW_E_INVAL;
	return cm_attr_check_private(a->private_data, a->private_len, !a->revision_1);
}

void
cm_attr_take(struct cm_setup *s, const struct iw_cm_attr *a)
{
	s->local.crc = !a->no_crc;
	s->local.markers = a->markers;
	s->local.no_ird_ord = a->no_ird_ord;
	s->local.ird = a->ird;
	s->local.ord = a->ord;
	s->back_pressure = a->recv_back_pressure;
	s->recv_wait_ms = a->recv_wait_ms;
	s->tcp = (struct tcp_attr){.user_timeout_ns = a->user_timeout_ms * IW_MS,
				   .keepalive_ns = a->keepalive_ms * IW_MS};
}
