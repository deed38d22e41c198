/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's three timers, all of a QP:
 *   fpdu   an FPDU has begun to arrive and is not finished
 *   nudge  an initiator has heard nothing since its first octets: a peer that lost a wake-up needs another
 *          segment
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

/* An initiator that has begun, and heard nothing. */
static uint64_t
nudge_at(const struct iw_qp *qp)
{
	if (qp->burst_at == IW_NEVER || qp->nudges >= NUDGES || qp->rx_begun)
		return IW_NEVER;
	return iw_time_after(qp->burst_at, nudge_after[qp->nudges]);
}

/* The wheel is armed for the earlier one and looks again when it fires: moving a deadline on costs nothing. */
void
qp_timer_arm(struct iw_qp *qp)
{
	uint64_t at = iw_time_min(iw_time_min(qp->fpdu_at, nudge_at(qp)), qp->wait_at);

	if (at != IW_NEVER && (!iw_wheel_is_armed(&qp->timer) || at < qp->timer.at_ns))
		iw_wheel_arm(&qp->rdmap->wheel, &qp->timer, at);
}

/* The burst, or the nudge before. */
static uint64_t
last_call(const struct iw_qp *qp)
{
	return qp->nudges == 0 ? qp->burst_at : qp->burst_at + nudge_after[qp->nudges - 1];
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
	if (!qp->initiator || qp->rx_begun || qp->nudges >= NUDGES)
		return;
	if (qp->burst_at != IW_NEVER) {
		qp->woken = qp->woken || now_ns > last_call(qp) + BURST_NS;
		return;
	}
	qp->burst_at = now_ns;
	qp_timer_arm(qp);
}

/* Whatever else was sent since has woken the peer already. */
static void
nudge(struct iw_qp *qp)
{
	if (!qp->woken) {
		qp->tx.nudge_due = true;
		rdmap_run_add(qp);
	}
	qp->woken = false;
	qp->nudges++;
}

void
qp_timer_due(struct iw_qp *qp, uint64_t now_ns)
{
	if (now_ns >= nudge_at(qp))
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
