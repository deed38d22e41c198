/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <iwarp/err.h>
#include <string.h>

#include "cm_step.h"

/* Private data outlives whatever the handler does to the id: it is copied. */
static void
fill_private(struct cm *cm, struct iw_cm_event *ev, const struct mpa_startup *frame)
{
	cm->told_len = frame->private_len;
	if (cm->told_len)
		memcpy(cm->told_data, frame->private_data, cm->told_len);
	ev->private_data = cm->told_len ? cm->told_data : NULL;
	ev->private_len = cm->told_len;
}

/* CONNECT_REQUEST: everything as the peer sent it. */
static void
fill_request(struct cm *cm, struct iw_cm_event *ev, const struct cm_setup *s)
{
	bool enhanced = s->request.enhanced;

	ev->listener = s->asked;
	fill_private(cm, ev, &s->request);
	ev->ird = enhanced ? s->request.ird : MPA_HDR_NOT_NEGOTIATED;
	ev->ord = enhanced ? s->request.ord : MPA_HDR_NOT_NEGOTIATED;
	ev->revision = s->request.rev;
	ev->peer_to_peer = s->request.peer_to_peer;
	ev->crc = s->request.crc;
}

/* CONNECT_REPLY: as agreed; of an attempt that failed, the private data of a reject. */
static void
fill_reply(struct cm *cm, struct iw_cm_event *ev, const struct cm_setup *s)
{
	ev->revision = s->request.rev;
	if (s->reply.reply && (ev->status == 0 || ev->status == -IW_E_CONNREFUSED))
		fill_private(cm, ev, &s->reply);
	if (ev->status)
		return;
	ev->ird = s->stream.ird;
	ev->ord = s->stream.ord;
	ev->peer_to_peer = s->stream.rtr != QP_RTR_NONE;
	ev->crc = s->stream.crc;
}

static void
fill(struct cm *cm, const struct cm_id *id, struct iw_cm_event *ev)
{
	const struct cm_setup *s = cm_id_setup(cm, id);

	ev->local = id->local;
	ev->peer = id->peer;
	switch (ev->type) {
	case IW_CM_CONNECT_REQUEST:
		fill_request(cm, ev, s);
		break;
	case IW_CM_CONNECT_REPLY:
		fill_reply(cm, ev, s);
		break;
	case IW_CM_CLOSE:
		if (ev->status == -IW_E_PROTO)
			ev->term = id->term;
		break;
	case IW_CM_ESTABLISHED_EV:
	case IW_CM_DISCONNECT:
	case IW_CM_TIMEWAIT_EXIT:
		break;
	}
}

bool
cm_event_next(struct cm *cm, iw_cm_id *handle, struct iw_cm_event *ev, iw_cm_handler *handler, void **context)
{
	struct iw_link *l = iw_list_pop(&cm->events);
	struct cm_id *id;
	int type;

	assert(!cm->telling);
	if (!l)
		return false;
	id = iw_list_entry(l, struct cm_id, event_link);
	memset(ev, 0, sizeof(*ev));
	type = cm_fsm_tell(&id->st, &ev->status);
	assert(type >= 0);
	ev->type = (enum iw_cm_event_type)type;
	fill(cm, id, ev);
	cm->telling = id->handle;
	cm->n.events++;
	*handle = id->handle;
	*handler = id->handler;
	*context = id->context;
	cm_id_trim(cm, id);
	return true;
}

void
cm_event_done(struct cm *cm, iw_cm_id handle, int result, uint64_t now_ns)
{
	struct cm_id *id = cm_id_at(cm, handle);

	assert(cm->telling == handle);
	cm->telling = 0;
	cm->now_ns = now_ns;
	if (id)
		cm_step_event(cm, id, result ? CM_EV_DESTROY : CM_EV_DONE, now_ns);
}

const char *
iw_cm_event_name(int type)
{
	switch ((enum iw_cm_event_type)type) {
	case IW_CM_CONNECT_REQUEST:
		return "CONNECT_REQUEST";
	case IW_CM_CONNECT_REPLY:
		return "CONNECT_REPLY";
	case IW_CM_ESTABLISHED_EV:
		return "ESTABLISHED";
	case IW_CM_DISCONNECT:
		return "DISCONNECT";
	case IW_CM_CLOSE:
		return "CLOSE";
	case IW_CM_TIMEWAIT_EXIT:
		return "TIMEWAIT_EXIT";
	}
	return "unknown";
}
