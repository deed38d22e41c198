/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 3168 §6.1; RFC 8257 §3.2.  The wire is looked at below TCP: codepoints are in the IP header. */
#include "tcpscript.h"

#include "tcp_ecn.h"

#define SEG 1000u

static void
ecn_init(struct script *x, uint8_t cc)
{
	script_init(x);
	x->sim.h[0].tcp->params.no_ecn = false;
	x->sim.h[0].tcp->params.cc = cc;
}

static void
answer_syn(struct script *x, uint8_t flags)
{
	struct tcp_seg seg = script_seg(x, TCP_SYN | TCP_ACK | flags, SCRIPT_ISS, x->our_iss + 1);

	script_syn_options(x, &seg);
	script_in_seg(x, &seg, 0);
	x->seq = SCRIPT_ISS + 1;
}

static void
open_ecn(struct script *x, uint8_t cc, uint8_t answer)
{
	struct iw_addr local = {.port = 2222}, remote = x->sim.h[1].nif.addr;

	ecn_init(x, cc);
	remote = x->sim.h[1].nif.addr;
	remote.port = SCRIPT_PEER_PORT;
	x->our_port = 2222;
	assert_int_equal(tcp_open(x->sim.h[0].tcp, &local, &remote, NULL, 5, x->sim.now_ns, &x->conn), 0);
	script_poll(x);
	assert_int_equal(x->out[x->n - 1].flags, TCP_SYN | TCP_ECE | TCP_CWR);
	answer_syn(x, answer);
	script_skip(x);
}

static bool
agreed(struct script *x)
{
	return tcp_conn_has(script_conn(x), TCP_CONN_ECN);
}

/* §6.1.1: only ECE alone on the SYN-ACK agrees. */
static void
test_open(void **state)
{
	static const struct {
		uint8_t answer;
		bool agreed;
	} t[] = {{0, false}, {TCP_ECE, true}, {TCP_ECE | TCP_CWR, false}, {TCP_CWR, false}};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct script x;

		open_ecn(&x, TCP_CC_CUBIC, t[i].answer);
		assert_int_equal(agreed(&x), t[i].agreed);
		script_fini(&x);
	}
}

/* §6.1.1.1: the SYN that nobody answered asks no more, and a late ECE agrees to nothing. */
static void
test_syn_falls_back(void **state)
{
	struct iw_addr local = {.port = 2222}, remote;
	struct script x;

	ecn_init(&x, TCP_CC_CUBIC);
	remote = x.sim.h[1].nif.addr;
	remote.port = SCRIPT_PEER_PORT;
	x.our_port = 2222;
	assert_int_equal(tcp_open(x.sim.h[0].tcp, &local, &remote, NULL, 5, x.sim.now_ns, &x.conn), 0);
	script_poll(&x);
	script_wait(&x, 1100 * IW_MS);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.out[1].flags, TCP_SYN);
	answer_syn(&x, TCP_ECE);
	assert_false(agreed(&x));
	script_fini(&x);
}

/* A listener agrees to a SYN with both flags. */
static void
test_listen(void **state)
{
	static const struct {
		uint8_t syn, syn_ack;
		bool no_ecn;
	} t[] = {{0, 0, false}, {TCP_ECE | TCP_CWR, TCP_ECE, false}, {TCP_ECE, 0, false}, {TCP_ECE | TCP_CWR, 0, true}};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct script x;
		struct tcp_seg seg;

		ecn_init(&x, TCP_CC_CUBIC);
		x.sim.h[0].tcp->params.no_ecn = t[i].no_ecn;
		script_listen(&x, 4);
		seg = script_seg(&x, TCP_SYN | t[i].syn, SCRIPT_ISS, 0);
		script_syn_options(&x, &seg);
		script_in_seg(&x, &seg, 0);
		assert_int_equal(script_out(&x).flags, TCP_SYN | TCP_ACK | t[i].syn_ack);
		script_fini(&x);
	}
}

/* ---- the receiver ---- */

static uint8_t
echo_of_next_ack(struct script *x)
{
	struct tcp_seg seg = script_out(x);

	script_skip(x);
	return seg.flags & TCP_ECE;
}

/* The peer's net marks what it sends: text with this codepoint and these flags. */
static void
text(struct script *x, uint8_t codepoint, uint8_t flags)
{
	struct tcp_seg seg = script_seg(x, TCP_ACK | flags, x->seq, x->ack);

	x->ecn = codepoint;
	script_in_seg(x, &seg, 10);
	x->ecn = 0;
	x->seq += 10;
}

/* §6.1.3: ECE on every ACK from CE to CWR; CWR speaks of what was before it. */
static void
test_echo(void **state)
{
	struct script x;

	open_ecn(&x, TCP_CC_CUBIC, TCP_ECE);
	text(&x, TCP_ECN_ECT_0, 0);
	assert_int_equal(echo_of_next_ack(&x), 0);
	text(&x, TCP_ECN_CE, 0);
	assert_int_equal(echo_of_next_ack(&x), TCP_ECE);
	text(&x, TCP_ECN_ECT_0, 0);
	assert_int_equal(echo_of_next_ack(&x), TCP_ECE);
	text(&x, TCP_ECN_CE, TCP_CWR);
	assert_int_equal(echo_of_next_ack(&x), TCP_ECE);
	text(&x, TCP_ECN_ECT_0, TCP_CWR);
	assert_int_equal(echo_of_next_ack(&x), 0);
	script_fini(&x);
	open_ecn(&x, TCP_CC_CUBIC, 0); /* not agreed on: nothing is echoed */
	text(&x, TCP_ECN_CE, 0);
	assert_int_equal(echo_of_next_ack(&x), 0);
	script_fini(&x);
}

/* RFC 8257 §3.2, figure 1: ECE tells of the last text; a change is told at once. */
static void
test_dctcp_echo(void **state)
{
	struct script x;

	open_ecn(&x, TCP_CC_DCTCP, TCP_ECE);
	script_conn(&x)->rcvbuf.quick = 0;
	text(&x, TCP_ECN_CE, 0);
	assert_true(tcp_conn_has(script_conn(&x), TCP_CONN_ACK_NOW));
	assert_int_equal(echo_of_next_ack(&x), TCP_ECE);
	text(&x, TCP_ECN_CE, 0);
	assert_false(tcp_conn_has(script_conn(&x), TCP_CONN_ACK_NOW));
	assert_int_equal(echo_of_next_ack(&x), TCP_ECE);
	text(&x, TCP_ECN_ECT_0, 0);
	assert_true(tcp_conn_has(script_conn(&x), TCP_CONN_ACK_NOW));
	assert_int_equal(echo_of_next_ack(&x), 0);
	script_fini(&x);
}

/* RFC 8257 §3.6; RFC 3168 §6.1.1 forbids it elsewhere. */
static void
test_syn_mark(void **state)
{
	static const struct {
		uint8_t cc, flags, codepoint;
	} rows[] = {
		{TCP_CC_CUBIC, TCP_SYN | TCP_ECE | TCP_CWR, TCP_ECN_NOT_ECT},
		{TCP_CC_CUBIC, TCP_SYN | TCP_ACK | TCP_ECE, TCP_ECN_NOT_ECT},
		{TCP_CC_DCTCP, TCP_SYN | TCP_ECE | TCP_CWR, TCP_ECN_ECT_0},
		{TCP_CC_DCTCP, TCP_SYN | TCP_ACK | TCP_ECE, TCP_ECN_ECT_0},
		{TCP_CC_DCTCP, TCP_SYN, TCP_ECN_NOT_ECT},
		{TCP_CC_DCTCP, TCP_SYN | TCP_ACK, TCP_ECN_NOT_ECT},
	};
	static struct tcp tcp;

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tcp.params.cc = rows[i].cc;
		assert_int_equal(tcp_ecn_syn_mark(&tcp, rows[i].flags), rows[i].codepoint);
	}
}

/* ---- the sender ---- */

static void
ack(struct script *x, uint32_t record, uint8_t flags)
{
	script_in(x, TCP_ACK | flags, x->seq, x->our_iss + 1 + record * SEG, 0);
	script_poll(x);
}

/* §6.1.2: once a round trip; CWR on the next new data, once; ECT(0) on new data only (§6.1.4, §6.1.5). */
static void
test_sender(void **state)
{
	struct script x;
	struct tcp_conn *c;

	open_ecn(&x, TCP_CC_CUBIC, TCP_ECE);
	c = script_conn(&x);
	c->fl->cc.cwnd = 20 * SEG;
	for (uint32_t i = 0; i < 20; i++)
		script_send(&x, i * SEG, SEG);
	script_skip(&x);
	assert_int_equal(x.last_ecn, TCP_ECN_ECT_0);
	ack(&x, 1, TCP_ECE);
	assert_int_equal(c->fl->cc.cwnd, 14 * SEG);
	ack(&x, 2, TCP_ECE);
	assert_int_equal(c->fl->cc.cwnd, 14 * SEG);
	ack(&x, 18, TCP_ECE);
	assert_int_equal(c->fl->cc.cwnd, 14 * SEG); /* nor does ECE let it grow */
	script_skip(&x);
	script_send(&x, 20 * SEG, SEG);
	script_send(&x, 21 * SEG, SEG);
	assert_int_equal(script_out(&x).flags & TCP_CWR, TCP_CWR);
	assert_int_equal(script_out(&x).flags & TCP_CWR, 0);
	ack(&x, 20, TCP_ECE); /* up to there it is no news */
	assert_int_equal(c->fl->cc.cwnd, 14 * SEG);
	ack(&x, 21, TCP_ECE);
	assert_true(c->fl->cc.cwnd < 14 * SEG);
	assert_int_equal(script_counter(&x, "tcp.ecn_reduced"), 2);
	script_wait(&x, 210 * IW_MS); /* a retransmission */
	assert_true(script_counter(&x, "tcp.tx_retrans") > 0);
	assert_int_equal(x.last_ecn, TCP_ECN_NOT_ECT);
	script_fini(&x);
}

/* A loss in the same round trip is the same congestion: CWR goes out for it too. */
static void
test_cwr_after_loss(void **state)
{
	struct script x;

	open_ecn(&x, TCP_CC_CUBIC, TCP_ECE);
	script_send(&x, 0, SEG);
	script_skip(&x);
	script_wait(&x, 210 * IW_MS);
	script_skip(&x);
	ack(&x, 1, TCP_ECE);
	assert_int_equal(script_counter(&x, "tcp.ecn_reduced"), 0);
	script_send(&x, SEG, SEG);
	assert_int_equal(script_out(&x).flags & TCP_CWR, TCP_CWR);
	script_fini(&x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),           cmocka_unit_test(test_syn_falls_back),
		cmocka_unit_test(test_listen),         cmocka_unit_test(test_echo),
		cmocka_unit_test(test_dctcp_echo),     cmocka_unit_test(test_sender),
		cmocka_unit_test(test_cwr_after_loss), cmocka_unit_test(test_syn_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
