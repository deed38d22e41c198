/* SPDX-License-Identifier: BSD-3-Clause */
/* Making frames: header, checksum, hand-over to net.  Decides nothing about when or whether. */
#ifndef TCP_OUT_H
#define TCP_OUT_H

#include <stdint.h>

#include "net_face.h"
#include "tcp_conn_obj.h"
#include "tcp_hdr.h"

/* What new data of a connection has in common in one turn.  All zero: nothing was sent yet. */
struct tcp_out_train {
	struct net_head head;
	struct tcp_hdr_form form;
	uint32_t pseudo; /* sum of the pseudo header, without a length */
};

/* One record, for the first time or again.  0; -IW_E_NOMEM: no mbuf, nothing has changed.  A frame that net cannot
 * take counts as sent: it is lost like on the wire. */
int tcp_out_rec(struct tcp *tcp, struct tcp_conn *c, struct tcp_txq_rec *rec, struct tcp_out_train *train,
		uint64_t now_ns);

/* n new records (at least 1, all with data), *sent of them: where the port cuts frames into segments, as few frames as
 * may be (each record is a segment of its own all the same).  As above; *sent of them have gone. */
int tcp_out_run(struct tcp *tcp, struct tcp_conn *c, uint32_t n, struct tcp_out_train *train, uint64_t now_ns,
		uint32_t *sent);

/* <SEQ=SND.NXT><ACK=RCV.NXT><CTL=ACK> with SACK blocks.  As above. */
int tcp_out_ack(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* The first octet of a record that the window does not let go (RFC 9293 §3.8.6.1).  As above. */
int tcp_out_probe(struct tcp *tcp, struct tcp_conn *c, const struct tcp_txq_rec *rec, uint64_t now_ns);

/* <SEQ=SND.UNA-1><ACK=RCV.NXT><CTL=ACK>, which the peer must answer (RFC 9293 §3.8.4).  As above. */
int tcp_out_keepalive(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* <SEQ=SND.NXT><ACK=RCV.NXT><CTL=RST,ACK>; lost when no mbuf is left. */
void tcp_out_rst(struct tcp *tcp, struct tcp_conn *c, uint64_t now_ns);

/* Answers without a connection: *seg with ports and everything filled in, from local to remote. */
void tcp_out_seg(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote, const struct tcp_seg *seg,
		 uint64_t now_ns);

/* The SYN-ACK of a connection that does not exist yet: local and remote with their ports; offers what *syn offers. */
void tcp_out_syn_ack(struct tcp *tcp, const struct iw_addr *local, const struct iw_addr *remote,
		     const struct tcp_seg *syn, uint32_t iss, uint32_t tsval, uint64_t now_ns);

/* An ACK, wholly filled in, to the sender of *pkt, within the limit for this peer (tcp_limit.h). */
void tcp_out_bare_ack(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *ack, uint64_t now_ns);

/* The RST for a segment that nobody wants (RFC 9293 §3.10.7.1); nothing for one that is a RST itself.  _refuse: within
 * the limit for this peer. */
void tcp_out_rst_for(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg, uint64_t now_ns);
void tcp_out_refuse(struct tcp *tcp, const struct net_pkt *pkt, const struct tcp_seg *seg, uint64_t now_ns);

/* What our SYN says: MSS for our link. */
uint16_t tcp_out_own_mss(const struct tcp *tcp, const struct iw_addr *remote);

/* The shift for our windows, offered in each SYN. */
uint8_t tcp_out_wscale(const struct tcp *tcp);
/* What a SYN-ACK advertises: never scaled (RFC 7323 §2.2). */
uint32_t tcp_out_first_window(const struct tcp *tcp);

#endif
