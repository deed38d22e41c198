/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests do with two hosts: QPs, work, looking at the log, common ways into a connection, peers made by hand. */
#include <stdio.h>

#include "cmsim.h"
#include "crc32c.h"
#include "iw_addr.h"

/* ---- QPs and work ---- */

struct iw_qp *
cmsim_qp(struct cmsim_host *h)
{
	struct iw_qp_attr attr = {.send_cq = h->cq, .recv_cq = h->cq, .sq_sig_all = true};
	int err = 0;
	struct iw_qp *qp = qp_create(h->rdmap, h->pd, &attr, &err);

	assert_int_equal(err, 0);
	return qp;
}

void
cmsim_qp_destroy(struct cmsim_host *h, struct iw_qp *qp)
{
	if (h->cm)
		cm_qp_gone(h->cm, qp, h->sim->now_ns);
	assert_int_equal(qp_owner(qp), 0);
	qp_destroy(qp);
	cmsim_poll_cq(h);
}

void
cmsim_post_recv(struct cmsim_host *h, struct iw_qp *qp, uint32_t n)
{
	struct iw_recv_wr wr = {.wr_id = 1};

	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(iw_post_recv(qp, &wr, NULL), 0);
		h->posted++;
	}
}

int
cmsim_post_send(struct cmsim_host *h, struct iw_qp *qp)
{
	struct iw_send_wr wr = {.wr_id = 2, .opcode = IW_WR_SEND, .flags = IW_SEND_SIGNALED};
	int err = iw_post_send(qp, &wr, NULL);

	h->posted += err == 0;
	return err;
}

void
cmsim_poll_cq(struct cmsim_host *h)
{
	struct iw_wc wc;

	while (iw_cq_poll(h->cq, &wc, 1) == 1) {
		h->completed++;
		h->recv_ok += wc.wr_id == 1 && wc.status == IW_WC_SUCCESS;
		h->send_ok += wc.wr_id == 2 && wc.status == IW_WC_SUCCESS;
	}
	assert_true(h->completed <= h->posted);
}

/* ---- the log ---- */

const struct cmsim_event *
cmsim_nth(const struct cmsim_host *h, enum iw_cm_event_type type, uint32_t n)
{
	for (uint32_t i = 0; i < h->logged; i++)
		if (h->log[i].ev.type == type && n-- == 0)
			return &h->log[i];
	return NULL;
}

uint32_t
cmsim_count(const struct cmsim_host *h, enum iw_cm_event_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->logged; i++)
		n += h->log[i].ev.type == type;
	return n;
}

const char *
cmsim_story(const struct cmsim_host *h, iw_cm_id id)
{
	static char text[512];
	size_t used = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < h->logged; i++) {
		const struct iw_cm_event *ev = &h->log[i].ev;
		bool status = ev->type == IW_CM_CONNECT_REPLY || ev->type == IW_CM_CLOSE;

		if (h->log[i].id != id || used >= sizeof(text))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
					 iw_cm_event_name(ev->type));
		if (status && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "(%s)",
						 ev->status ? iw_err_name(ev->status) + 5 : "0");
	}
	return text;
}

uint64_t
cmsim_counter(const struct cmsim_host *h, const char *name)
{
	struct iw_counter_list list = cm_counter_list(h->cm);

	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i], name) == 0)
			return list.values[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* ---- ways into a connection ---- */

void
cmsim_ask(struct cmsim *s, struct cmsim_pair *p, const struct iw_cm_attr *active)
{
	uint32_t asked = cmsim_count(&s->h[1], IW_CM_CONNECT_REQUEST);

	if (!p->listener)
		p->listener = cmsim_listen(&s->h[1], 8);
	p->qa = cmsim_qp(&s->h[0]);
	p->qb = cmsim_qp(&s->h[1]);
	p->a = cmsim_id(&s->h[0]);
	assert_int_equal(cmsim_connect(&s->h[0], p->a, p->qa, active), 0);
	for (uint32_t i = 0; i < 100 && cmsim_count(&s->h[1], IW_CM_CONNECT_REQUEST) == asked; i++)
		cmsim_run(s, 20 * IW_US);
	assert_int_equal(cmsim_count(&s->h[1], IW_CM_CONNECT_REQUEST), asked + 1);
	p->b = cmsim_nth(&s->h[1], IW_CM_CONNECT_REQUEST, asked)->id;
}

void
cmsim_pair(struct cmsim *s, struct cmsim_pair *p, const struct iw_cm_attr *active, const struct iw_cm_attr *passive)
{
	cmsim_ask(s, p, active);
	assert_int_equal(cmsim_accept(&s->h[1], p->b, p->qb, passive), 0);
	cmsim_run(s, 50 * IW_MS);
	assert_int_equal(cm_state(s->h[0].cm, p->a), IW_CM_ESTABLISHED);
	assert_int_equal(cm_state(s->h[1].cm, p->b), IW_CM_ESTABLISHED);
}

/* ---- peers made by hand ---- */

uint32_t
cmsim_raw_listen(struct cmsim *s)
{
	struct iw_addr any = {.port = CMSIM_PORT};
	uint32_t listener = 0;

	assert_int_equal(tcp_listen(s->h[1].tcp, &any, 8, 99, &listener), 0);
	return listener;
}

uint32_t
cmsim_raw_accept(struct cmsim *s)
{
	struct tcp_ready r;

	for (uint32_t i = 0; i < 100; i++) {
		cmsim_run(s, 100 * IW_US);
		while (tcp_ready_next(s->h[1].tcp, &r))
			if (r.bits & TCP_READY_UP) {
				tcp_adopt(s->h[1].tcp, r.conn, 98, NULL);
				return r.conn;
			}
	}
	fail_msg("nobody came");
	return 0;
}

uint32_t
cmsim_raw_open(struct cmsim *s)
{
	struct iw_addr to = cmsim_addr(s, 1), from = {.port = 0};
	uint32_t conn = 0;

	assert_int_equal(tcp_open(s->h[0].tcp, &from, &to, NULL, 97, s->now_ns, &conn), 0);
	cmsim_run(s, 1 * IW_MS);
	assert_true(cmsim_raw_bits(&s->h[0]) & TCP_READY_UP);
	return conn;
}

void
cmsim_raw_send(struct cmsim_host *h, uint32_t conn, const void *octets, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(h->env.data_pool);

	memcpy(rte_pktmbuf_append(m, (uint16_t)len), octets, len);
	assert_int_equal(tcp_tx_append(h->tcp, conn, m), 0);
}

uint32_t
cmsim_raw_recv(struct cmsim_host *h, uint32_t conn, uint8_t *out, uint32_t max)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n = tcp_rx_peek(h->tcp, conn, views, TCP_PEEK_VIEWS);

	n = iw_view_copy(views, n, 0, out, max);
	tcp_rx_consume(h->tcp, conn, n, h->sim->now_ns);
	return n;
}

uint32_t
cmsim_raw_bits(struct cmsim_host *h)
{
	struct tcp_ready r;
	uint32_t bits = 0;

	while (tcp_ready_next(h->tcp, &r))
		bits |= r.bits;
	return bits;
}

/* ---- octets ---- */

uint32_t
cmsim_frame(uint8_t *out, bool reply, uint8_t flags, uint8_t rev, uint16_t pd_len, const void *pd, uint32_t pd_n)
{
	memcpy(out, reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
	out[16] = flags;
	out[17] = rev;
	out[18] = (uint8_t)(pd_len >> 8);
	out[19] = (uint8_t)pd_len;
	if (pd_n)
		memcpy(out + 20, pd, pd_n);
	return 20 + pd_n;
}

uint32_t
cmsim_fpdu(uint8_t *out, uint32_t msn, uint32_t len)
{
	uint32_t ulpdu = 18 + len, covered = 2 + ulpdu + (-(2 + ulpdu) & 3), crc;

	memset(out, 0, covered);
	out[0] = (uint8_t)(ulpdu >> 8);
	out[1] = (uint8_t)ulpdu;
	out[2] = 0x41; /* untagged, last, DDP version 1 */
	out[3] = 0x43; /* RDMAP version 1, Send */
	out[14] = (uint8_t)(msn >> 8);
	out[15] = (uint8_t)msn;
	memset(out + 20, 0x5a, len);
	crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, out, covered));
	for (int i = 0; i < 4; i++)
		out[covered + (uint32_t)i] = (uint8_t)(crc >> (8 * i));
	return covered + 4;
}
