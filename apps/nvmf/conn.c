/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn.h"

#include <rte_common.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "flow.h"
#include "host.h"

#define KEEPALIVE_MS 30000            /* of TCP: a host without NVMe keep-alive may vanish, too */
#define CQ_DEPTH 4096                 /* at first */
#define HOST_NS UINT64_C(30000000000) /* what Linux gives a command, too */

/* The status of a reject (RDMA binding of NVMe over Fabrics).  "Invalid ORD" is for none: hosts do no Reads. */
enum { REJECT_LENGTH = 1, REJECT_RECFMT, REJECT_QID, REJECT_HSQSIZE, REJECT_HRQSIZE, REJECT_RESOURCES, REJECT_IRD };

static void
count(struct host_side *side, int more)
{
	__atomic_store_n(&side->num_conns, side->num_conns + more, __ATOMIC_RELAXED);
}

static void
link_conn(struct conn *c)
{
	c->back = &c->side->conns;
	c->next = c->side->conns;
	if (c->next)
		c->next->back = &c->next;
	c->side->conns = c;
	count(c->side, 1);
}

static void
unlink_conn(struct conn *c)
{
	*c->back = c->next;
	if (c->next)
		c->next->back = c->back;
	count(c->side, -1);
}

/* Completions of a connection at most: its receives, and twice as many Reads, Writes and Sends; queues are rounded up
 * to powers of two. */
static uint32_t
cq_room(const struct conn *c)
{
	return 3 * rte_align32pow2(c->depth);
}

static void
conn_free(struct conn *c)
{
	if (c->qp) {
		iw_qp_destroy(c->qp);
		c->side->cq_used -= cq_room(c);
	}
	if (c->mr)
		iw_mr_dereg(c->mr);
	if (c->capsules)
		munmap(c->capsules, c->capsules_len);
	free(c->requests);
	free(c);
}

static bool
conn_ended(const struct conn *c)
{
	return !c->open && c->posted == 0 && c->on_disk == 0;
}

static void
conn_end(struct conn *c)
{
	ctrl_detach(&c->side->target->ctrls, &c->q);
	flow_release(c);
	unlink_conn(c);
	conn_free(c);
}

/* It came to nothing.  What was posted is flushed, and then it ends as others do. */
static void
conn_drop(struct conn *c)
{
	if (c->posted == 0) {
		conn_free(c);
		return;
	}
	link_conn(c);
	iw_qp_set_error(c->qp);
	shard_mind(&c->side->shard);
}

static void
hang_up(struct conn *c)
{
	c->hung_up = queue_hung_up(&c->q);
	iw_cm_disconnect(c->side->engine, c->id, c->hung_up == HANG_UP_AT_ONCE);
}

/* A host may be alive, by TCP and by its other queues, and yet never get as far as Fabrics Connect, answer no Read, or
 * take no response: it does not keep what it holds. */
static bool
owes_too_long(const struct conn *c)
{
	uint64_t now = c->side->shard.now_ns, limit = c->side->host_timeout_ns;

	return (!c->q.ctrl && now - c->since_ns > limit) || (c->owed > 0 && now - c->owed_ns > limit);
}

static void
mind(struct conn *c)
{
	if (!c->open)
		return;
	if (owes_too_long(c))
		queue_hang_up(&c->q, HANG_UP_AT_ONCE);
	if (queue_hung_up(&c->q) > c->hung_up)
		hang_up(c);
}

void
conn_mind_all(struct host_side *side)
{
	struct conn *next;

	for (struct conn *c = side->conns; c; c = next) {
		next = c->next;
		side->minded++;
		mind(c);
		if (conn_ended(c))
			conn_end(c);
	}
}

int
conn_poll(struct host_side *side)
{
	int work = flow_poll(side);

	/* Acquire pairs with shard_mind(): what it was called for is seen.  What comes from now on is for the next
	 * turn. */
	if (__atomic_load_n(&side->shard.mind, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&side->shard.mind, false, __ATOMIC_ACQUIRE))
		conn_mind_all(side);
	flow_retry(side);
	return work;
}

static void
closed(struct conn *c)
{
	c->open = false;
	shard_mind(&c->side->shard);
	flow_stop(c);
	if (c->on_disk > 0)
		ctrl_drain(&c->side->target->ctrls, &c->q);
	else
		ctrl_detach(&c->side->target->ctrls, &c->q);
}

static bool
map_capsules(struct conn *c)
{
	c->capsule_len = CAPSULE_COMMAND + (c->q.qid == 0 ? EXEC_CAPSULE_ADMIN : EXEC_CAPSULE_DATA);
	c->capsules_len = (size_t)c->capsule_len * c->depth;
	c->capsules = mmap(NULL, c->capsules_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->capsules == MAP_FAILED)
		c->capsules = NULL;
	return c->capsules != NULL;
}

/* The CQ has room for one more. */
static bool
reserve(struct conn *c)
{
	struct host_side *side = c->side;

	if (side->cq_used + cq_room(c) <= side->cq_depth)
		return true;
	if (iw_cq_resize(side->cq, 2 * side->cq_depth) != 0)
		return false;
	side->cq_depth *= 2;
	return true;
}

/* A request has a Read, or a Write and a Send, in the send queue. */
static bool
create_qp(struct conn *c)
{
	struct host_side *side = c->side;
	struct iw_qp_attr attr = {.send_cq = side->cq,
				  .recv_cq = side->cq,
				  .sq_depth = 2 * c->depth,
				  .rq_depth = c->depth,
				  .max_ord = FLOW_READS,
				  .context = c};

	if (reserve(c))
		c->qp = iw_qp_create(side->engine, side->pd, &attr, NULL);
	if (c->qp)
		side->cq_used += cq_room(c);
	return c->qp != NULL;
}

static bool
open_objects(struct conn *c)
{
	c->requests = calloc(c->depth, sizeof(*c->requests));
	if (!c->requests || !map_capsules(c))
		return false;
	c->mr = iw_mr_reg(c->side->pd, c->capsules, c->capsules_len, IW_LOCAL_WRITE, NULL);
	return c->mr && create_qp(c) && flow_start(c);
}

static struct conn *
conn_new(struct host_side *side, const struct private_request *r)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->side = side;
	c->q.shard = &side->shard;
	c->q.qid = r->qid;
	c->q.size = (uint16_t)(r->hsqsize + 1);
	c->depth = c->q.size;
	c->since_ns = side->shard.now_ns;
	request_list_init(&c->no_read);
	if (open_objects(c))
		return c;
	conn_drop(c);
	return NULL;
}

static int
check_private(const struct iw_cm_event *event, struct private_request *r)
{
	if (event->private_len < CAPSULE_PRIVATE)
		return REJECT_LENGTH;
	capsule_private_parse(event->private_data, r);
	if (r->recfmt != 0)
		return REJECT_RECFMT;
	if (r->qid > CTRL_IO_QUEUES)
		return REJECT_QID;
	if (r->hsqsize == 0 || r->hsqsize >= CTRL_QUEUE_SIZE)
		return REJECT_HSQSIZE;
	if (r->hrqsize == 0)
		return REJECT_HRQSIZE;
	return event->ird == 0 ? REJECT_IRD : 0; /* it would never answer a Read */
}

static int
reject(struct host_side *side, iw_cm_id id, int why)
{
	uint8_t raw[CAPSULE_PRIVATE_REJECT];

	capsule_private_reject_emit((uint16_t)why, raw);
	iw_cm_reject(side->engine, id, raw, sizeof(raw));
	iw_cm_destroy(side->engine, id);
	return 0;
}

static int
accept_conn(struct conn *c, iw_cm_id id)
{
	uint8_t raw[CAPSULE_PRIVATE];
	struct iw_cm_attr attr = {.private_data = raw,
				  .private_len = sizeof(raw),
				  .no_crc = c->side->no_crc,
				  .keepalive_ms = KEEPALIVE_MS};

	capsule_private_accept_emit((uint16_t)c->depth, raw);
	c->id = id;
	iw_cm_set_context(c->side->engine, id, c);
	if (iw_cm_accept(c->side->engine, id, c->qp, &attr) != 0) {
		conn_drop(c);
		return 1; /* destroys the id */
	}
	c->open = true;
	link_conn(c);
	return 0;
}

/* An IPv6 scope is ours alone: the host has one of its own. */
static void
name_address(struct queue *q, const struct iw_addr *local)
{
	struct iw_addr addr = *local;

	addr.scope = 0;
	iw_addr_format(&addr, q->traddr, sizeof(q->traddr));
	q->adrfam = host_is_v4(&addr) ? 1 : 2;
}

static int
requested(struct host_side *side, iw_cm_id id, const struct iw_cm_event *event)
{
	struct private_request r;
	int why = check_private(event, &r);
	struct conn *c;

	if (why != 0)
		return reject(side, id, why);
	c = conn_new(side, &r);
	if (c) {
		c->max_reads = event->ird < FLOW_READS ? event->ird : FLOW_READS;
		name_address(&c->q, &event->local);
	}
	return c ? accept_conn(c, id) : reject(side, id, REJECT_RESOURCES);
}

int
conn_event(iw_cm_id id, const struct iw_cm_event *event, void *context)
{
	struct conn *c = context;

	if (event->type == IW_CM_CONNECT_REQUEST)
		return requested(context, id, event); /* the listener's context */
	if (event->type == IW_CM_DISCONNECT && c->hung_up == HANG_NOT) {
		queue_hang_up(&c->q, HANG_UP);
		hang_up(c);
	}
	if (event->type == IW_CM_CLOSE || (event->type == IW_CM_ESTABLISHED_EV && event->status != 0)) {
		closed(c);
		iw_cm_destroy(c->side->engine, id);
	}
	return 0;
}

void
conn_close_all(struct host_side *side, bool at_once)
{
	for (struct conn *c = side->conns; c; c = c->next) {
		enum hang_up how = at_once ? HANG_UP_AT_ONCE : HANG_UP;

		if (!c->open || c->hung_up >= how)
			continue;
		queue_hang_up(&c->q, how);
		hang_up(c);
	}
}

bool
conn_open_side(struct host_side *side)
{
	side->host_timeout_ns = HOST_NS;
	side->cq_depth = CQ_DEPTH;
	side->cq = iw_cq_create(side->engine, side->cq_depth, NULL, NULL);
	return side->cq != NULL;
}

void
conn_close_side(struct host_side *side)
{
	if (side->cq)
		iw_cq_destroy(side->cq);
	side->cq = NULL;
}

bool
conn_idle(const struct host_side *side)
{
	return __atomic_load_n(&side->num_conns, __ATOMIC_RELAXED) == 0;
}
