/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_active.h"

#include <iwarp/err.h>
#include <string.h>

#include "cm_attr.h"
#include "cm_close.h"
#include "cm_frame.h"
#include "cm_qp.h"
#include "iw_time.h"

#define CONNECT_TIMEOUT_NS (10 * IW_SEC)

static const struct iw_cm_attr defaults;

static uint64_t
or_default(uint64_t n, uint64_t unit_ns, uint64_t def_ns)
{
	return n ? n * unit_ns : def_ns;
}

static void
take_attr(struct cm_setup *s, const struct iw_cm_attr *a)
{
	cm_attr_take(s, a);
	s->local.revision = a->revision_1 ? 1 : 2;
	s->local.peer_to_peer = !a->no_peer_to_peer;
	s->once_more = !a->revision_1 && !a->require_peer_to_peer;
	s->connect_ns = or_default(a->connect_timeout_ms, IW_MS, CONNECT_TIMEOUT_NS);
	s->delay_ns = a->first_fpdu_delay_us * IW_US;
	s->tcp.syn_timeout_ns = s->connect_ns;
	if (a->private_len)
		memcpy(s->own, a->private_data, a->private_len);
}

/* The Request, ready to go. */
static bool
make_request(struct cm *cm, struct cm_setup *s, uint16_t private_len)
{
	mpa_neg_request(&s->local, s->own, private_len, &s->request);
	s->frame = cm_frame_startup(cm, &s->request);
	return s->frame != NULL;
}

static int
open_tcp(struct cm *cm, struct cm_id *id, const struct iw_addr *remote, uint16_t port, uint64_t now_ns)
{
	struct iw_addr local = {.port = port};
	struct cm_setup *s = cm_id_setup(cm, id);
	struct tcp_info info;
	int err = tcp_open(cm->tcp, &local, remote, &s->tcp, id->handle, now_ns, &id->conn);

	if (err)
		return err;
	if (tcp_conn_info(cm->tcp, id->conn, &info)) {
		id->local = info.local;
		id->peer = info.peer;
	}
	return 0;
}

static int
open_all(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, struct iw_qp *qp, const struct iw_cm_attr *a,
	 uint64_t now_ns)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	int err;

	take_attr(s, a);
	if (!cm_qp_depths(qp, &s->local.ird, &s->local.ord))
		return -IW_E_INVAL;
	if (!make_request(cm, s, a->private_len))
		return -IW_E_NOMEM;
	err = qp_bind(qp, id->handle);
	if (err)
		return err;
	err = open_tcp(cm, id, addr, a->local_port, now_ns);
	if (err)
		qp_unbind(qp);
	return err;
}

int
cm_active_open(struct cm *cm, struct cm_id *id, const struct iw_addr *addr, struct iw_qp *qp,
	       const struct iw_cm_attr *attr, uint64_t now_ns)
{
	const struct iw_cm_attr *a = attr ? attr : &defaults;
	struct cm_setup *s;
	int err = cm_attr_check(a);

	if (err)
		return err;
	if (!addr || !addr->port || !qp || !qp_is_free(qp))
		return -IW_E_INVAL;
	s = cm_id_setup_new(cm, id);
	if (!s)
		return -IW_E_NOMEM;
	err = open_all(cm, id, addr, qp, a, now_ns);
	if (err) {
		cm_id_setup_free(cm, id);
		return err;
	}
	id->qp = qp_handle(qp);
	id->want_tw = a->timewait_exit;
	cm->n.connects++;
	return 0;
}

bool
cm_active_request(struct cm *cm, struct cm_id *id)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct rte_mbuf *m = s->frame;

	s->frame = NULL;
	return cm_frame_send(cm, id, m);
}

bool
cm_active_retry(struct cm *cm, struct cm_id *id, uint64_t now_ns)
{
	struct cm_setup *s = cm_id_setup(cm, id);
	struct iw_addr remote = id->peer;

	cm_close_finish(cm, id, now_ns);
	cm->n.connects_rev1++;
	s->once_more = false;
	s->local.revision = 1;
	return make_request(cm, s, s->request.private_len) && open_tcp(cm, id, &remote, 0, now_ns) == 0;
}

void
cm_active_terminate(struct cm *cm, struct cm_id *id)
{
	const struct cm_setup *s = cm_id_setup(cm, id);
	enum rdmap_fault fault = s && s->fault != RDMAP_FAULT_NONE ? s->fault : RDMAP_FAULT_MPA_LOCAL;

	(void)cm_frame_send(cm, id, cm_frame_terminate(cm, fault, s && s->stream.tx_markers));
}
