/* SPDX-License-Identifier: BSD-3-Clause */
/* The room's face: the connection manager of one engine.  Owns the life of each connection; polls nothing and calls
 * nobody back: events stand in a list until lib/engine delivers them. */
#ifndef CM_H
#define CM_H

#include <iwarp/connect.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "env.h"
#include "rdmap_face.h"
#include "tcp_face.h"

struct cm; /* one engine's */

struct cm_params {
	uint32_t max_ids;
	uint32_t max_listeners;
	uint16_t ird, ord;     /* of ids whose attr leaves them open and that have no QP; 0: 16 */
	uint64_t reap_idle_ns; /* streams as old as this may be reset when places are short (RFC 5042 §6.4.2); 0: never
				*/
	uint64_t request_wait_ns, rtr_wait_ns, closing_ns, linger_ns; /* 0: 10 s, 10 s, 60 s, 3 s */
};

struct cm *cm_create(struct iw_env *env, struct tcp *tcp, struct rdmap *rdmap, const struct cm_params *params);
void cm_destroy_all(struct cm *cm, uint64_t now_ns); /* RST or reject for everybody, ids freed */
void cm_free(struct cm *cm);

/* The public calls; contracts in <iwarp/connect.h>; states x calls in docs/cm.md. */
iw_cm_id cm_id_create(struct cm *cm, iw_cm_handler handler, void *context);
int cm_id_destroy(struct cm *cm, iw_cm_id id, uint64_t now_ns);
int cm_listen(struct cm *cm, iw_cm_id id, const struct iw_addr *addr, int backlog);
int cm_connect(struct cm *cm, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp, const struct iw_cm_attr *attr,
	       uint64_t now_ns);
int cm_accept(struct cm *cm, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr, uint64_t now_ns);
int cm_reject(struct cm *cm, iw_cm_id id, const void *private_data, uint16_t private_len, uint64_t now_ns);
int cm_disconnect(struct cm *cm, iw_cm_id id, bool abrupt, uint64_t now_ns);
enum iw_cm_state cm_state(const struct cm *cm, iw_cm_id id);
/* Handler and context of an id in IDLE, which may then be destroyed to live on elsewhere.  -IW_E_STALE, -IW_E_INVAL. */
int cm_idle(const struct cm *cm, iw_cm_id id, iw_cm_handler *handler, void **context);
int cm_set_context(struct cm *cm, iw_cm_id id, void *context);
int cm_addrs(struct cm *cm, iw_cm_id id, struct iw_addr *local, struct iw_addr *peer);

/* What a stream cost so far.  -IW_E_STALE, -IW_E_NOTCONN. */
int cm_load(const struct cm *cm, iw_cm_id id, struct iw_cm_load *load);

/* The user destroys a QP or sets it to ERROR: what that means for the id that uses it.  Call before qp_destroy(). */
void cm_qp_gone(struct cm *cm, struct iw_qp *qp, uint64_t now_ns);

/* ---- fed by lib/engine ---- */

/* Every ready entry of tcp.  One with a stream (a QP's handle, set when start-up is over) goes to that QP first:
 * mpa_rx() on what is in order, consumed as it says; tcp_ready_again() when it stopped for its budget.  cm reads the
 * stream itself during start-up; afterwards it looks at FIN, RST, TIMEOUT, UNREACH and CLOSED only, and holds them
 * back, asking for another entry, while octets before them are still being taken (design: flushed before CLOSE). */
void cm_tcp_ready(struct cm *cm, const struct tcp_ready *ready, uint64_t now_ns);
/* An entry for this id comes soon: its memory is fetched.  Any handle will do. */
void cm_id_prefetch(const struct cm *cm, iw_cm_id id);
/* Every entry of rdmap's list, after what was filled has been appended (a FIN follows a Terminate).  A Terminate is
 * filled without a grant. */
void cm_qp_out(struct cm *cm, const struct rdmap_out *out, uint64_t now_ns);
void cm_tick(struct cm *cm, uint64_t now_ns);
uint64_t cm_deadline(const struct cm *cm);

/* Pops the next event for delivery.  ev's pointers are valid until the next call of cm_event_next() or
 * cm_event_done(). */
bool cm_event_next(struct cm *cm, iw_cm_id *id, struct iw_cm_event *ev, iw_cm_handler *handler, void **context);
/* The handler has returned `result`: other than 0 destroys the id. */
void cm_event_done(struct cm *cm, iw_cm_id id, int result, uint64_t now_ns);

struct iw_counter_list cm_counter_list(const struct cm *cm);
uint32_t cm_id_count(const struct cm *cm);
/* Up to max ids that users have, from slot *pos on (0: the first), which moves on; how many. */
uint32_t cm_id_list(const struct cm *cm, uint32_t *pos, iw_cm_id *ids, uint32_t max);

#endif
