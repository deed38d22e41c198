/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that the linker leads here (ld --wrap), so that every test that is linked with simdep is watched. */
#include "cm_face.h"
#include "oracle_seen.h"
#include "rdmap_face.h"

struct iw_mr *__real_iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err);
struct iw_mr *__wrap_iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err);
struct iw_mr *__real_iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err);
struct iw_mr *__wrap_iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err);
struct iw_mr *__real_iw_mr_reg_iov(struct iw_pd *pd, const struct iw_iov *iov, uint32_t n, uint64_t iova,
				   uint32_t access, int *err);
struct iw_mr *__wrap_iw_mr_reg_iov(struct iw_pd *pd, const struct iw_iov *iov, uint32_t n, uint64_t iova,
				   uint32_t access, int *err);
int __real_iw_post_srq_recv(struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);
int __wrap_iw_post_srq_recv(struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);
int __real_iw_srq_destroy(struct iw_srq *srq);
int __wrap_iw_srq_destroy(struct iw_srq *srq);
int __real_iw_mr_dereg(struct iw_mr *mr);
int __wrap_iw_mr_dereg(struct iw_mr *mr);
int __real_iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad);
int __wrap_iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad);
int __real_iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);
int __wrap_iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad);
int __real_iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max);
int __wrap_iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max);
int __real_iw_qp_destroy(struct iw_qp *qp);
int __wrap_iw_qp_destroy(struct iw_qp *qp);
uint32_t __real_rdmap_tx_fill(struct iw_qp *qp, struct rte_mbuf *m, uint32_t room, uint16_t *sum, uint64_t now_ns);
uint32_t __wrap_rdmap_tx_fill(struct iw_qp *qp, struct rte_mbuf *m, uint32_t room, uint16_t *sum, uint64_t now_ns);
bool __real_cm_event_next(struct cm *cm, iw_cm_id *id, struct iw_cm_event *ev, iw_cm_handler *handler, void **context);
bool __wrap_cm_event_next(struct cm *cm, iw_cm_id *id, struct iw_cm_event *ev, iw_cm_handler *handler, void **context);
void __real_cm_event_done(struct cm *cm, iw_cm_id id, int result, uint64_t now_ns);
void __wrap_cm_event_done(struct cm *cm, iw_cm_id id, int result, uint64_t now_ns);
int __real_cm_connect(struct cm *cm, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp,
		      const struct iw_cm_attr *attr, uint64_t now_ns);
int __wrap_cm_connect(struct cm *cm, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp,
		      const struct iw_cm_attr *attr, uint64_t now_ns);
int __real_cm_accept(struct cm *cm, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr, uint64_t now_ns);
int __wrap_cm_accept(struct cm *cm, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr, uint64_t now_ns);
int __real_cm_id_destroy(struct cm *cm, iw_cm_id id, uint64_t now_ns);
int __wrap_cm_id_destroy(struct cm *cm, iw_cm_id id, uint64_t now_ns);

struct iw_mr *
__wrap_iw_mr_reg(struct iw_pd *pd, void *addr, uint64_t len, uint32_t access, int *err)
{
	struct iw_mr *mr = __real_iw_mr_reg(pd, addr, len, access, err);

	oracle_granted(mr, addr, len);
	return mr;
}

struct iw_mr *
__wrap_iw_mr_reg_qp(struct iw_qp *qp, void *addr, uint64_t len, uint32_t access, int *err)
{
	struct iw_mr *mr = __real_iw_mr_reg_qp(qp, addr, len, access, err);

	oracle_granted(mr, addr, len);
	return mr;
}

struct iw_mr *
__wrap_iw_mr_reg_iov(struct iw_pd *pd, const struct iw_iov *iov, uint32_t n, uint64_t iova, uint32_t access, int *err)
{
	struct iw_mr *mr = __real_iw_mr_reg_iov(pd, iov, n, iova, access, err);

	for (uint32_t i = 0; mr && i < n; i++)
		oracle_granted(mr, iov[i].addr, iov[i].length);
	return mr;
}

int
__wrap_iw_post_srq_recv(struct iw_srq *srq, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad)
{
	const struct iw_recv_wr *stop = NULL;
	int err = __real_iw_post_srq_recv(srq, wr, &stop);

	oracle_posted_srq(srq, wr, stop);
	if (bad)
		*bad = stop;
	return err;
}

int
__wrap_iw_srq_destroy(struct iw_srq *srq)
{
	int err = __real_iw_srq_destroy(srq);

	if (err == 0)
		oracle_srq_destroyed(srq);
	return err;
}

int
__wrap_iw_mr_dereg(struct iw_mr *mr)
{
	int err = __real_iw_mr_dereg(mr);

	if (err == 0)
		oracle_ungranted(mr);
	return err;
}

int
__wrap_iw_post_send(struct iw_qp *qp, const struct iw_send_wr *wr, const struct iw_send_wr **bad)
{
	const struct iw_send_wr *stop = NULL;
	int err = __real_iw_post_send(qp, wr, &stop);

	oracle_posted_send(qp, wr, stop);
	if (bad)
		*bad = stop;
	return err;
}

int
__wrap_iw_post_recv(struct iw_qp *qp, const struct iw_recv_wr *wr, const struct iw_recv_wr **bad)
{
	const struct iw_recv_wr *stop = NULL;
	int err = __real_iw_post_recv(qp, wr, &stop);

	oracle_posted_recv(qp, wr, stop);
	if (bad)
		*bad = stop;
	return err;
}

int
__wrap_iw_cq_poll(struct iw_cq *cq, struct iw_wc *wc, int max)
{
	int n = __real_iw_cq_poll(cq, wc, max);

	for (int i = 0; i < n; i++)
		oracle_completed(&wc[i]);
	return n;
}

int
__wrap_iw_qp_destroy(struct iw_qp *qp)
{
	int err = __real_iw_qp_destroy(qp);

	if (err == 0)
		oracle_qp_destroyed(qp);
	return err;
}

uint32_t
__wrap_rdmap_tx_fill(struct iw_qp *qp, struct rte_mbuf *m, uint32_t room, uint16_t *sum, uint64_t now_ns)
{
	uint32_t n = __real_rdmap_tx_fill(qp, m, room, sum, now_ns);

	oracle_filled(qp, m, n);
	return n;
}

bool
__wrap_cm_event_next(struct cm *cm, iw_cm_id *id, struct iw_cm_event *ev, iw_cm_handler *handler, void **context)
{
	bool any = __real_cm_event_next(cm, id, ev, handler, context);

	if (any)
		oracle_cm_event(cm, *id, ev);
	return any;
}

/* A handler that does not return 0 destroys its id. */
void
__wrap_cm_event_done(struct cm *cm, iw_cm_id id, int result, uint64_t now_ns)
{
	if (result)
		oracle_cm_destroyed(cm, id);
	__real_cm_event_done(cm, id, result, now_ns);
}

int
__wrap_cm_connect(struct cm *cm, iw_cm_id id, const struct iw_addr *addr, struct iw_qp *qp,
		  const struct iw_cm_attr *attr, uint64_t now_ns)
{
	int err = __real_cm_connect(cm, id, addr, qp, attr, now_ns);

	if (err == 0)
		oracle_cm_connects(cm, id);
	return err;
}

int
__wrap_cm_accept(struct cm *cm, iw_cm_id id, struct iw_qp *qp, const struct iw_cm_attr *attr, uint64_t now_ns)
{
	int err = __real_cm_accept(cm, id, qp, attr, now_ns);

	if (err == 0)
		oracle_cm_accepted(cm, id);
	return err;
}

int
__wrap_cm_id_destroy(struct cm *cm, iw_cm_id id, uint64_t now_ns)
{
	int err = __real_cm_id_destroy(cm, id, now_ns);

	if (err == 0)
		oracle_cm_destroyed(cm, id);
	return err;
}
