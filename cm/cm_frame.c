/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_frame.h"

#include <string.h>

#include "ddp_tx.h"
#include "len.h"
#include "rdmap_hdr.h"
#include "rdmap_ops.h"

_Static_assert(RTE_PKTMBUF_HEADROOM >= TCP_HEADROOM, "a fresh mbuf has room for TCP in front");

static struct rte_mbuf *
take(struct rte_mempool *pool, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m && rte_pktmbuf_tailroom(m) >= len)
		return m;
	rte_pktmbuf_free(m);
	return NULL;
}

static struct rte_mbuf *
make(struct cm *cm, uint32_t len)
{
	struct rte_mbuf *m = take(cm->env->ctl_pool, len);

	if (!m)
		m = take(cm->env->data_pool, len);
	if (!m)
		cm->n.no_mbuf++;
	return m;
}

struct rte_mbuf *
cm_frame_startup(struct cm *cm, const struct mpa_startup *frame)
{
	uint32_t len = mpa_hdr_startup_len(frame);
	struct rte_mbuf *m = make(cm, len);

	if (m)
		(void)mpa_hdr_startup_emit(frame, (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len), len);
	return m;
}

struct rte_mbuf *
cm_frame_terminate(struct cm *cm, enum rdmap_fault fault, bool markers)
{
	struct ddp_hdr ddp = ddp_hdr_untagged(RDMAP_OP_TERMINATE, true, 0, RDMAP_QN_TERMINATE, 1, 0);
	struct mpa_tx b = {.crc = true, .markers = markers};
	uint8_t body[RDMAP_HDR_TERM_MIN];
	struct wr_piece piece = {.p = body, .len = sizeof(body)};
	uint32_t len = mpa_tx_len(&b, DDP_HDR_UNTAGGED_LEN + sizeof(body));
	struct rte_mbuf *m = make(cm, len);
	struct rdmap_term term;

	if (!m)
		return NULL;
	rdmap_err_term(fault, NULL, 0, NULL, &term);
	(void)rdmap_hdr_term_emit(&term, body, sizeof(body));
	b.base = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	ddp_tx_segment(&b, &ddp, &piece, 1, piece.len);
	return m;
}

bool
cm_frame_send(struct cm *cm, const struct cm_id *id, struct rte_mbuf *m)
{
	return m && tcp_tx_append(cm->tcp, id->conn, m) == 0;
}

enum mpa_hdr_verdict
cm_frame_read(struct cm *cm, const struct cm_id *id, bool reply, struct mpa_startup *frame, uint8_t *data,
	      uint32_t *total, uint32_t *there)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint8_t octets[MPA_HDR_STARTUP_MAX];
	enum mpa_hdr_verdict verdict;
	uint32_t n = tcp_rx_peek(cm->tcp, id->conn, views, TCP_PEEK_VIEWS);

	*there = iw_view_total(views, n);
	n = iw_view_copy(views, n, 0, octets, iw_len_min(*there, sizeof(octets)));
	verdict = mpa_hdr_startup_parse(octets, n, reply, frame, total);
	if (verdict != MPA_HDR_OK)
		return verdict;
	if (frame->private_len)
		memcpy(data, frame->private_data, frame->private_len);
	frame->private_data = data;
	return verdict;
}
