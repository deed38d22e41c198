/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls about QPs that concern more than their own room. */
#include "engine_face.h"

struct iw_qp *
iw_qp_create(struct iw_engine *engine, struct iw_pd *pd, const struct iw_qp_attr *attr, int *err)
{
	int ignored;

	if (!err)
		err = &ignored;
	*err = -IW_E_INVAL;
	if (!engine || !pd || !attr || !attr->send_cq || !attr->recv_cq)
		return NULL;
	return qp_create(engine->rdmap, pd, attr, err);
}

int
iw_qp_destroy(struct iw_qp *qp)
{
	int err = rdmap_qp_named(qp);
	struct iw_engine *e;

	if (err)
		return err;
	e = qp_engine(qp);
	cm_qp_gone(e->cm, qp, engine_now(e));
	qp_destroy(qp);
	return 0;
}

int
iw_qp_set_error(struct iw_qp *qp)
{
	int err = rdmap_qp_named(qp);
	struct iw_engine *e;

	if (err)
		return err;
	e = qp_engine(qp);
	cm_qp_gone(e->cm, qp, engine_now(e));
	qp_set_error(qp);
	return 0;
}
