/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's three timers, all of a QP:
 *   fpdu   an FPDU has begun to arrive and is not finished (errors.md §3.4)
 *   nudge  an initiator has heard nothing since its first octets: a peer that lost a wake-up needs another
 *          segment (peers.md 13)
 *   wait   back-pressure: a Send has found no receive, and waits for one to be posted */
#include "qp_timer.h"

#include "iw_time.h"
#include "qp.h"
#include "rdmap_ctx.h"

#define RECV_WAIT (30 * IW_SEC)
#define NUDGES 3
/* Fills this close to each other are one burst. */
#define BURST_NS IW_MS

static const uint64_t nudge_after[NUDGES] = {5 * IW_MS, 20 * IW_MS, 80 * IW_MS};

/* The wheel is armed for the earlier one and looks again when it fires: moving a deadline on costs nothing. */
void
qp_timer_arm(struct iw_qp *qp)
{
	uint64_t at = iw_time_min(iw_time_min(qp->fpdu_at, qp->nudge_at), qp->wait_at);

	if (at != IW_NEVER && (!iw_wheel_is_armed(&qp->timer) || at < qp->timer.at_ns))
		iw_wheel_arm(&qp->rdmap->wheel, &qp->timer, at);
}

void
qp_timer_wait(struct iw_qp *qp, uint64_t now_ns)
{
	qp->wait_at = iw_time_after(now_ns, qp->recv_wait_ms ? qp->recv_wait_ms * IW_MS : RECV_WAIT);
	qp_timer_arm(qp);
}

/* The FPDU is looked at once more, with its headers for the Terminate (D9). */
static void
wait_over(struct iw_qp *qp)
{
	qp->wait_at = IW_NEVER;
	qp->rx_waits = false;
	qp->wait_over = true;
	qp_out(qp, RDMAP_OUT_RX_RESUME);
}

void
qp_timer_sent(struct iw_qp *qp, uint64_t now_ns)
{
	qp->sent_at = now_ns;
	if (qp->burst_at != IW_NEVER || !qp->initiator || qp->rx_begun)
		return;
	qp->burst_at = now_ns;
	qp->nudge_at = iw_time_after(now_ns, nudge_after[0]);
	qp_timer_arm(qp);
}

/* Nothing since the burst, or since the nudge before: else what was sent has woken the peer already. */
static void
nudge(struct iw_qp *qp)
{
	uint64_t since = qp->nudges == 0 ? qp->burst_at : qp->burst_at + nudge_after[qp->nudges - 1];

	if (qp->sent_at <= since + BURST_NS) {
		qp->tx.nudge_due = true;
		rdmap_run_add(qp);
	}
	qp->nudges++;
	qp->nudge_at = qp->nudges < NUDGES ? qp->burst_at + nudge_after[qp->nudges] : IW_NEVER;
}

void
qp_timer_due(struct iw_qp *qp, uint64_t now_ns)
{
	if (now_ns >= qp->nudge_at)
		nudge(qp);
	if (now_ns >= qp->fpdu_at) {
		qp->fpdu_at = IW_NEVER;
		qp->rdmap->count.n.rx_stalled++;
		qp_event(qp, QP_EV_FATAL);
	}
	if (now_ns >= qp->wait_at)
		wait_over(qp);
	qp_timer_arm(qp);
}
