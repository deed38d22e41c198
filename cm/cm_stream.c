/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_stream.h"

#include "cm_qp.h"
#include "cm_step.h"

void
cm_stream_look(struct cm *cm, iw_cm_id handle, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);
	struct iw_qp *qp = id && id->started ? cm_id_qp(cm, id) : NULL;
	enum cm_event ev;

	if (!qp)
		return;
	ev = cm_qp_failure(qp);
	if (ev != CM_EVENT_MAX)
		cm_step_event(cm, id, ev, now_ns);
}

/* Are there octets before the end that the QP may still take?  Those that stay where they are from one turn to the next
 * are the beginning of an FPDU that has no end.  A FIN also waits for the user to post receives (back-pressure); what
 * is over without one does not. */
static bool
must_wait(struct cm *cm, struct cm_id *id, uint32_t bit)
{
	struct iw_qp *qp = cm_id_qp(cm, id);
	uint32_t left;

	if (!cm_fsm_is_streaming(&id->st) || !qp)
		return false;
	left = tcp_rx_pending(cm->tcp, id->conn);
	if (left == 0 || (left == id->held_at && !(bit == TCP_READY_FIN && cm_qp_waits(qp))))
		return false;
	id->held_at = left;
	return true;
}

static void
hold(struct cm *cm, struct cm_id *id, uint32_t bits)
{
	struct iw_qp *qp = cm_id_qp(cm, id);

	id->held |= bits;
	if (!qp || bits & ~(uint32_t)TCP_READY_FIN || !cm_qp_waits(qp)) /* else RX_RESUME comes */
		tcp_ready_again(cm->tcp, id->conn);
}

void
cm_stream_ends(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns)
{
	static const struct {
		uint32_t bit;
		enum cm_event ev;
	} ends[] = {{TCP_READY_FIN, CM_EV_FIN},
		    {TCP_READY_RST, CM_EV_RST},
		    {TCP_READY_TIMEOUT, CM_EV_TIMEOUT},
		    {TCP_READY_UNREACH, CM_EV_UNREACH},
		    {TCP_READY_CLOSED, CM_EV_CLOSED}};
	struct cm_id *id = cm_id_at(cm, handle);
	uint32_t conn = id ? id->conn : 0, left = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		left |= bits & ends[i].bit;
	for (size_t i = 0; left && i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!(left & ends[i].bit))
			continue;
		id = cm_id_at(cm, handle);
		if (!id || !id->conn || id->conn != conn)
			return;
		if (must_wait(cm, id, ends[i].bit)) {
			hold(cm, id, left);
			return;
		}
		cm_step_event(cm, id, ends[i].ev, now_ns);
		id = cm_id_at(cm, handle);
		if (id && id->again) {
			id->again = false;
			hold(cm, id, left);
			return;
		}
		left &= ~ends[i].bit;
	}
}

void
cm_stream_out(struct cm *cm, iw_cm_id handle, uint32_t bits, uint64_t now_ns)
{
	static const struct {
		uint32_t bit;
		enum cm_event ev;
	} outs[] = {{RDMAP_OUT_FIRST_FPDU, CM_EV_FIRST_FPDU},
		    {RDMAP_OUT_TERM_SENT | RDMAP_OUT_TERM_RECV, CM_EV_TERM},
		    {RDMAP_OUT_FATAL, CM_EV_FATAL},
		    {RDMAP_OUT_DRAINED, CM_EV_DRAINED}};

	for (size_t i = 0; i < sizeof(outs) / sizeof(outs[0]); i++) {
		struct cm_id *id = cm_id_at(cm, handle);

		if (id && id->started && bits & outs[i].bit)
			cm_step_event(cm, id, outs[i].ev, now_ns);
	}
}
