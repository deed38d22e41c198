/* SPDX-License-Identifier: BSD-3-Clause */
/* What a peer made by hand and our user do, as words that tests put in a row.  For one test file. */
#ifndef CM_WORDS_H
#define CM_WORDS_H

#include <iwarp/err.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cksum.h"
#include "iw_time.h"
#include "party.h"
#include "raw.h"

#define PORT 4420       /* ours */
#define PEER_PORT 4000  /* the peer's */
#define LOCAL_PORT 5555 /* where we connect from, when it matters */

static struct sim sim;
static struct party us;
static struct raw peer;
static uint8_t octets[2048];
static uint64_t told_at, begun_at;
static uint8_t last[256]; /* the start of the last frame of ours */
static bool in_call;
static bool faulty; /* a frame is lost, doubled or late */

/* ---- our user ---- */

/* Everything as the peer sent it. */
static void
check_request(const struct iw_cm_event *ev)
{
	struct iw_addr host = sim_addr4(1, 0);

	assert_memory_equal(ev->peer.ip, host.ip, 16);
	assert_int_equal(ev->local.port, PORT);
	assert_int_equal(ev->listener, us.listener);
	assert_int_equal(ev->private_len, 2);
	assert_memory_equal(ev->private_data, "hi", 2);
	assert_true(ev->crc);
	assert_int_equal(ev->peer_to_peer, ev->revision == 2);
	assert_int_equal(ev->ird, ev->revision == 2 ? 0x10 : 0x3fff);
	assert_int_equal(ev->ord, ev->revision == 2 ? 0x10 : 0x3fff);
}

static int
on_event(iw_cm_id id, const struct iw_cm_event *ev, void *context)
{
	assert_false(in_call);
	if (ev->type == IW_CM_CONNECT_REQUEST) {
		assert_int_equal(us.id, 0);
		us.id = id;
	}
	assert_int_equal(us.id, id);
	if (ev->type == IW_CM_CONNECT_REQUEST)
		check_request(ev);
	party_write_down(&us, ev);
	told_at = sim.now_ns;
	if (ev->type == IW_CM_CLOSE) {
		party_take_completions(&us);
		assert_int_equal(us.completed, us.posted);
	}
	return 0;
}

static int
call(enum cells_call what)
{
	int err;

	in_call = true;
	err = party_call(&us, what);
	in_call = false;
	return err;
}

static void
good_call(enum cells_call what)
{
	assert_int_equal(call(what), 0);
}

/* Lets time pass; the peer reads, if there is one. */
static void
pass(uint64_t ns)
{
	if (peer.in)
		raw_run(&peer, ns);
	else
		sim_run(&sim, ns);
}

static void
connect_to(uint32_t host, uint16_t port)
{
	if (!peer.in)
		raw_listen(&peer, &sim, 1, PEER_PORT);
	if (!us.id)
		us.id = iw_cm_create(us.e, on_event, &us);
	us.to = sim_addr4(host, port);
	good_call(CELLS_CONNECT);
}

/* ---- the peer's octets ---- */

static void
start_frame(bool reply, uint8_t flags, uint8_t rev, const char *pd, uint16_t len, uint32_t sent)
{
	uint32_t n = raw_startup(octets, reply, flags, rev, pd, len);

	raw_send(&peer, octets, sent < n ? sent : n);
}

static void
fpdu(struct ddp_hdr h, const void *payload, uint32_t len, uint32_t sent, uint8_t harm)
{
	uint32_t n = raw_fpdu(octets, &h, payload, len);

	octets[n - 1] ^= harm;
	raw_send(&peer, octets, sent < n ? sent : n);
}

static void
ask(uint32_t sent)
{
	if (!peer.conn)
		assert_true(raw_open(&peer, &sim, 1, 0, PORT));
	start_frame(false, 0x50, 2, "\x80\x10\xc0\x10hi", 6, sent);
}

/* A host unreachable or protocol unreachable about our last segment. */
static void
icmp(uint8_t code)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(sim.host[0].data_pool);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, 14 + 20 + 8 + 28);
	uint16_t sum;

	memset(p, 0, 14 + 20 + 8 + 28);
	memcpy(p, last + 6, 6);
	memcpy(p + 6, last, 6);
	p[12] = 8;
	memcpy(p + 14, (const uint8_t[]){0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1}, 10);
	memcpy(p + 26, last + 30, 4);
	memcpy(p + 30, last + 26, 4);
	sum = rte_cpu_to_be_16(iw_cksum_finish(iw_cksum_add(0, 0, p + 14, 20)));
	memcpy(p + 24, &sum, 2);
	p[34] = 3;
	p[35] = code;
	memcpy(p + 42, last + 14, 28);
	sum = rte_cpu_to_be_16(iw_cksum_finish(iw_cksum_add(0, 0, p + 34, 36)));
	memcpy(p + 36, &sum, 2);
	engine_rx(sim.host[0].engine, &m, 1, sim.now_ns, NULL, NULL);
}

/* ---- words ---- */

/* Also when a SYN was lost. */
static void
await_request(void)
{
	for (int i = 0; i < 40000 && !raw_accept(&peer); i++)
		;
	assert_true(raw_await(&peer, 20, 4 * IW_SEC));
}

static void
do_connect(void)
{
	connect_to(1, PEER_PORT);
	await_request();
	raw_run(&peer, IW_MS);
	raw_forget(&peer);
}

static void
do_connect_only(void)
{
	connect_to(1, PEER_PORT);
}

static void
do_connect_nowhere(void)
{
	connect_to(7, PEER_PORT);
}

static void
do_nobody(void)
{
	connect_to(1, 7);
}

/* A second connection from us: revision 1 on another port. */
static void
do_again(void)
{
	await_request();
	assert_int_equal(peer.in[17], 1);
}

static void
do_simultaneous(void)
{
	struct iw_addr local = {.port = PEER_PORT + 1}, remote = sim_addr4(0, LOCAL_PORT);

	connect_to(1, PEER_PORT + 1);
	assert_int_equal(tcp_open(sim.host[1].engine->tcp, &local, &remote, NULL, 97, sim.now_ns, &peer.conn), 0);
}

static void
do_mute(void)
{
	sim.host[1].cut = true;
}

static void
do_deaf(void)
{
	sim.host[1].deaf = true;
}

static void
do_twice(void)
{
	sim.wire.dup = 1;
}

static void
do_icmp_hard(void)
{
	icmp(2);
}

static void
do_icmp_soft(void)
{
	icmp(1);
}

static void
do_ask(void)
{
	ask(99);
}

static void
do_ask_half(void)
{
	ask(15);
}

static void
do_ask_slowly(void)
{
	uint8_t request[26];
	uint32_t n = raw_startup(request, false, 0x50, 2, "\x80\x10\xc0\x10hi", 6);

	assert_true(raw_open(&peer, &sim, 1, 0, PORT));
	for (uint32_t i = 0; i < n; i++) {
		raw_send(&peer, request + i, 1);
		raw_run(&peer, IW_MS);
	}
}

static void
do_ask_bad(void)
{
	assert_true(raw_open(&peer, &sim, 1, 0, PORT));
	start_frame(true, 0x50, 2, "", 0, 99);
}

static void
do_ask_1(void)
{
	assert_true(raw_open(&peer, &sim, 1, 0, PORT));
	start_frame(false, 0x40, 1, "hi", 2, 99);
}

static void
do_reply(void)
{
	start_frame(true, 0x50, 2, "\x80\x10\x80\x10", 4, 99);
}

static void
do_reply_half(void)
{
	start_frame(true, 0x50, 2, "\x80\x10\x80\x10", 4, 15);
}

static void
do_reply_1(void)
{
	start_frame(true, 0x40, 1, "", 0, 99);
}

static void
do_reply_key(void)
{
	start_frame(false, 0x50, 2, "\x80\x10\x80\x10", 4, 99);
}

static void
do_reply_revision(void)
{
	start_frame(true, 0x50, 3, "\x80\x10\x80\x10", 4, 99);
}

static void
do_reply_length(void)
{
	raw_startup(octets, true, 0x50, 2, "", 0);
	octets[18] = 0x80;
	raw_send(&peer, octets, 20);
}

static void
do_reply_no_rtr(void)
{
	start_frame(true, 0x50, 2, "\x80\x10\0\x10", 4, 99);
}

static void
do_reject(void)
{
	start_frame(true, 0x70, 2, "\0\x10\0\x10no", 6, 99);
}

static void
do_write_0(void)
{
	fpdu(ddp_hdr_tagged(0, true, 0, 0), "", 0, 99, 0);
}

static void
do_read_0(void)
{
	raw_send(&peer, octets, raw_read_req(octets, 1, 0, 0, 0));
}

static void
do_send(void)
{
	fpdu(ddp_hdr_untagged(3, true, 0, 0, 1, 0), "", 0, 99, 0);
}

/* Of a message that the receive takes no octets of: what is cut is the message, not the FPDU. */
static void
do_send_part(void)
{
	fpdu(ddp_hdr_untagged(3, false, 0, 0, 1, 0), "", 0, 99, 0);
}

static void
do_half_fpdu(void)
{
	fpdu(ddp_hdr_untagged(3, true, 0, 0, 1, 0), "", 0, 11, 0);
}

static void
do_bad_crc(void)
{
	fpdu(ddp_hdr_tagged(0, true, 0, 0), "", 0, 99, 1);
}

/* Local catastrophic error (RFC 5040 §4.8). */
static void
do_terminate(void)
{
	fpdu(ddp_hdr_untagged(7, true, 0, 2, 1, 0), "\0\0\0\0", 4, 99, 0);
}

static void
do_fin(void)
{
	raw_fin(&peer);
}

static void
do_rst(void)
{
	raw_rst(&peer);
}

/* And waits for the next connection. */
static void
do_leave(void)
{
	raw_fin(&peer);
	tcp_release(sim.host[1].engine->tcp, peer.conn, sim.now_ns);
	peer.conn = 0;
}

/* Our FIN is under way to it when it resets. */
static void
do_fin_rst(void)
{
	raw_fin(&peer);
	sim_run(&sim, sim.wire.delay_ns + 6 * IW_US);
	raw_rst(&peer);
}

/* With a fault the Request may come late, or not at all, and the end before it is told. */
static int
accept_it(void)
{
	for (int i = 0; i < 1000 && !us.id; i++)
		raw_run(&peer, IW_MS);
	return faulty && !us.id ? -IW_E_CONNRESET : call(CELLS_ACCEPT);
}

static void
do_accept(void)
{
	int err = accept_it();

	assert_true(err == 0 || (faulty && err == -IW_E_CONNRESET));
}

static void
do_accept_late(void)
{
	int err = accept_it();

	assert_true(err == -IW_E_CONNRESET || (faulty && err == 0));
	if (err && us.id)
		assert_int_equal(iw_cm_state(us.e, us.id), IW_CM_IDLE);
}

static void
do_quit(void)
{
	good_call(CELLS_DISCONNECT);
}

static void
do_abort(void)
{
	good_call(CELLS_ABORT);
}

static void
do_drop(void)
{
	good_call(CELLS_QP_DESTROY);
}

static void
do_listen(void)
{
	good_call(CELLS_LISTEN);
}

static void
do_work(void)
{
	party_post(&us, IW_WR_SEND, 100);
}

static void
do_read(void)
{
	party_post(&us, IW_WR_RDMA_READ, 100);
}

static void
check_ended(void)
{
	assert_true(raw_ended(&peer));
}

static void
check_terminated(void)
{
	assert_int_not_equal(raw_terminate(&peer), 0);
}

static const struct {
	const char *word;
	void (*does)(void);
} words[] = {
	{"connect", do_connect},
	{"connect-only", do_connect_only},
	{"connect-nowhere", do_connect_nowhere},
	{"nobody", do_nobody},
	{"again", do_again},
	{"simultaneous", do_simultaneous},
	{"mute", do_mute},
	{"deaf", do_deaf},
	{"twice", do_twice},
	{"icmp-hard", do_icmp_hard},
	{"icmp-soft", do_icmp_soft},
	{"ask", do_ask},
	{"ask-half", do_ask_half},
	{"ask-slowly", do_ask_slowly},
	{"ask-bad", do_ask_bad},
	{"ask-1", do_ask_1},
	{"reply", do_reply},
	{"reply-half", do_reply_half},
	{"reply-1", do_reply_1},
	{"reply-key", do_reply_key},
	{"reply-revision", do_reply_revision},
	{"reply-length", do_reply_length},
	{"reply-no-rtr", do_reply_no_rtr},
	{"reject", do_reject},
	{"write-0", do_write_0},
	{"read-0", do_read_0},
	{"send", do_send},
	{"send-part", do_send_part},
	{"half-fpdu", do_half_fpdu},
	{"bad-crc", do_bad_crc},
	{"terminate", do_terminate},
	{"fin", do_fin},
	{"rst", do_rst},
	{"leave", do_leave},
	{"fin-rst", do_fin_rst},
	{"accept", do_accept},
	{"accept-late", do_accept_late},
	{"quit", do_quit},
	{"abort", do_abort},
	{"drop", do_drop},
	{"listen", do_listen},
	{"work", do_work},
	{"read", do_read},
	{"ended", check_ended},
	{"terminated", check_terminated},
};

/* "11s" passes that long. */
static void
say(const char *word)
{
	char *unit;
	unsigned long n = strtoul(word, &unit, 10);

	if (n && !strcmp(unit, "s")) {
		pass(n * IW_SEC);
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].word, word)) {
			words[i].does();
			return;
		}
	fail_msg("no word \"%s\"", word);
}

/* While our engine sleeps what comes is collected. */
static void
say_all(char *breath)
{
	char *word, *rest;
	bool at_once = strchr(breath, '+');

	sim_sleep(&sim, 0, at_once);
	for (word = strtok_r(breath, "+&", &rest); word; word = strtok_r(NULL, "+&", &rest)) {
		say(word);
		if (at_once)
			sim_run(&sim, 20 * IW_US);
	}
	sim_sleep(&sim, 0, false);
}

static void
play(const char *does)
{
	char text[128], *breath, *rest;

	snprintf(text, sizeof(text), "%s", does);
	for (breath = strtok_r(text, " ", &rest); breath; breath = strtok_r(NULL, " ", &rest)) {
		say_all(breath);
		pass(2 * IW_MS);
	}
}

#endif
