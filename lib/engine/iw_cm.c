/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls of <iwarp/connect.h>: check arguments, call the room. */
#include "engine_face.h"
#include "iw_addr.h"

iw_cm_id
iw_cm_create(struct iw_engine *engine, iw_cm_handler handler, void *context)
{
	return engine ? cm_id_create(engine->cm, handler, context) : 0;
}

int
iw_cm_destroy(struct iw_engine *engine, iw_cm_id id)
{
	return engine ? cm_id_destroy(engine->cm, id, engine_now(engine)) : -IW_E_INVAL;
}

int
iw_cm_listen(struct iw_engine *engine, iw_cm_id id, const struct iw_addr *addr, int backlog)
{
	if (!engine || !addr || backlog < 1)
		return -IW_E_INVAL;
	return cm_listen(engine->cm, id, addr, backlog);
}

/* It lives, here: an id finds its QP by a handle, which names another one on another engine. */
static int
check_qp(const struct iw_engine *engine, const struct iw_qp *qp)
{
	int err = rdmap_qp_named(qp);

	if (err)
		return err;
	return qp_engine(qp) == engine ? 0 : -IW_E_INVAL;
}

int
iw_cm_connect(struct iw_engine *engine, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp,
	      const struct iw_cm_attr *attr)
{
	int err;

	if (!engine || !addr || !qp || addr->port == 0)
		return -IW_E_INVAL;
	err = check_qp(engine, qp);
	if (err)
		return err;
	if (iw_addr_is_any(addr))
		return -IW_E_HOSTUNREACH; /* nobody's */
	return cm_connect(engine->cm, id, addr, qp, attr, engine_now(engine));
}

int
iw_cm_accept(struct iw_engine *engine, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr)
{
	int err;

	if (!engine || !qp)
		return -IW_E_INVAL;
	err = check_qp(engine, qp);
	if (err)
		return err;
	return cm_accept(engine->cm, id, qp, attr, engine_now(engine));
}

int
iw_cm_reject(struct iw_engine *engine, iw_cm_id id, const void *private_data, uint16_t private_len)
{
	return engine ? cm_reject(engine->cm, id, private_data, private_len, engine_now(engine)) : -IW_E_INVAL;
}

int
iw_cm_disconnect(struct iw_engine *engine, iw_cm_id id, bool abrupt)
{
	return engine ? cm_disconnect(engine->cm, id, abrupt, engine_now(engine)) : -IW_E_INVAL;
}

enum iw_cm_state
iw_cm_state(struct iw_engine *engine, iw_cm_id id)
{
	return engine ? cm_state(engine->cm, id) : IW_CM_IDLE;
}

int
iw_cm_set_context(struct iw_engine *engine, iw_cm_id id, void *context)
{
	return engine ? cm_set_context(engine->cm, id, context) : -IW_E_INVAL;
}

int
iw_cm_load(struct iw_engine *engine, iw_cm_id id, struct iw_cm_load *load)
{
	return engine && load ? cm_load(engine->cm, id, load) : -IW_E_INVAL;
}

int
iw_cm_addrs(struct iw_engine *engine, iw_cm_id id, struct iw_addr *local, struct iw_addr *peer)
{
	return engine ? cm_addrs(engine->cm, id, local, peer) : -IW_E_INVAL;
}
