/* SPDX-License-Identifier: BSD-3-Clause */
/* Every event with every status: what a peer made by hand does, word by word, and what our user is told.  Then the
 * races among them with each frame lost, doubled and late.
 *     test_cm_events [BAD_REQUESTS]   (default 1000) */
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

struct row {
	const char *name;
	struct iw_cm_attr attr; /* of connect */
	/* Words with 2 ms behind each.  By + : what the peer does comes at once; by & : all at the same instant. */
	const char *does;
	const char *told;
	uint32_t at_s; /* when the last of it is, in whole seconds */
};

#define P2P .require_peer_to_peer = true
#define PLAIN .no_peer_to_peer = true, .revision_1 = true

/* clang-format off */
static const struct row rows[] = {
	/* CONNECT_REQUEST: one for each whole Request. */
	{"Request",                         {P2P}, "ask",                     "REQUEST", 0},
	{"Request, octet by octet",         {P2P}, "ask-slowly",              "REQUEST", 0},
	{"Request, everything twice",       {P2P}, "twice ask",               "REQUEST", 0},
	{"half a Request, FIN",             {P2P}, "ask-half fin",            "", 0},
	{"half a Request, RST",             {P2P}, "ask-half rst",            "", 0},
	{"half a Request, then nothing",    {P2P}, "ask-half 11s ended",      "", 0},
	{"no Request",                      {P2P}, "ask-bad ended",           "", 0},
	{"FIN before accept",               {P2P}, "ask fin accept-late",     "REQUEST", 0},
	{"RST before accept",               {P2P}, "ask rst accept-late",     "REQUEST", 0},
	/* CONNECT_REPLY: exactly one, first. */
	{"Reply",                           {P2P}, "connect reply",           "REPLY(0)", 0},
	{"Reply, revision 1",               {PLAIN}, "connect reply-1",       "REPLY(0)", 0},
	{"RST to the SYN",                  {P2P}, "nobody",                  "REPLY(CONNREFUSED)", 0},
	{"reject",                          {P2P}, "connect reject",          "REPLY(CONNREFUSED no)", 0},
	{"reject with FIN",                 {P2P}, "connect reject+fin",      "REPLY(CONNREFUSED no)", 0},
	{"reject with RST",                 {P2P}, "connect reject+rst",      "REPLY(CONNREFUSED no)", 0},
	{"FIN before a Reply",              {P2P}, "connect fin",             "REPLY(CONNRESET)", 0},
	{"RST before a Reply",              {P2P}, "connect rst",             "REPLY(CONNRESET)", 0},
	{"FIN inside a Reply",              {.revision_1 = false}, "connect reply-half fin", "REPLY(CONNRESET)", 0},
	{"RST inside a Reply",              {.revision_1 = false}, "connect reply-half rst", "REPLY(CONNRESET)", 0},
	{"FIN, second attempt",             {.revision_1 = false}, "connect leave again reply-1", "REPLY(0)", 0},
	{"RST, second attempt",             {.revision_1 = false}, "connect rst again reply-1", "REPLY(0)", 0},
	{"second attempt is the last",      {.revision_1 = false}, "connect rst again rst",  "REPLY(CONNRESET)", 0},
	{"second attempt, same deadline",   {.revision_1 = false}, "connect 6s rst again 5s", "REPLY(TIMEDOUT)", 10},
	{"wrong key",                       {P2P}, "connect reply-key",       "REPLY(PROTO)", 0},
	{"wrong revision",                  {P2P}, "connect reply-revision",  "REPLY(PROTO)", 0},
	{"wrong length",                    {P2P}, "connect reply-length",    "REPLY(PROTO)", 0},
	{"wrong key, then RST",             {P2P}, "connect reply-key+rst",   "REPLY(PROTO)", 0},
	{"no agreement on the RTR",         {P2P}, "connect reply-no-rtr",    "REPLY(PROTO)", 0},
	{"simultaneous open",               {P2P, .local_port = LOCAL_PORT}, "nobody simultaneous ask", "REPLY(CONNREFUSED) REPLY(PROTO)", 0},
	{"silence before the SYN-ACK",      {P2P}, "nobody deaf connect-only 11s", "REPLY(CONNREFUSED) REPLY(TIMEDOUT)", 10},
	{"silence before the Reply",        {P2P}, "connect 11s",             "REPLY(TIMEDOUT)", 10},
	{"no neighbour",                    {P2P}, "connect-nowhere 9s",      "REPLY(HOSTUNREACH)", 0},
	{"hard ICMP error",                 {P2P}, "nobody deaf connect-only icmp-hard",     "REPLY(CONNREFUSED) REPLY(HOSTUNREACH)", 0},
	{"soft ICMP error",                 {P2P}, "nobody deaf connect-only icmp-soft 11s", "REPLY(CONNREFUSED) REPLY(TIMEDOUT)", 10},
	{"given up",                        {P2P}, "connect quit",            "REPLY(CONNABORTED)", 0},
	{"given up with the Reply there",   {P2P}, "connect reply&quit", "REPLY(CONNABORTED)", 0},
	/* ESTABLISHED: always before what ends it. */
	{"RTR by a Write",                  {P2P}, "ask accept write-0",      "REQUEST ESTABLISHED", 0},
	{"RTR by a Read",                   {P2P}, "ask accept read-0",       "REQUEST ESTABLISHED", 0},
	{"a Send first",                    {P2P}, "ask accept send",         "REQUEST ESTABLISHED", 0},
	{"no peer-to-peer",                 {P2P}, "ask-1 accept",            "REQUEST ESTABLISHED", 0},
	{"FIN before the RTR",              {P2P}, "ask accept fin",          "REQUEST ESTABLISHED DISCONNECT CLOSE(0)", 0},
	{"RST before the RTR",              {P2P}, "ask accept rst",          "REQUEST ESTABLISHED CLOSE(CONNRESET)", 0},
	{"Terminate before the RTR",        {P2P}, "ask accept terminate fin",    "REQUEST ESTABLISHED CLOSE(PROTO)", 0},
	{"bad FPDU before the RTR",         {P2P}, "ask accept bad-crc fin",  "REQUEST ESTABLISHED CLOSE(PROTO)", 0},
	{"FIN inside the RTR",              {P2P}, "ask accept half-fpdu fin","REQUEST ESTABLISHED CLOSE(CONNRESET)", 0},
	{"no RTR",                          {P2P}, "ask accept 11s",          "REQUEST ESTABLISHED CLOSE(TIMEDOUT)", 10},
	{"disconnect, then no RTR",         {P2P}, "ask accept quit 11s",     "REQUEST ESTABLISHED CLOSE(TIMEDOUT)", 10},
	{"disconnect, then the RTR",        {P2P}, "ask accept quit write-0 fin", "REQUEST ESTABLISHED CLOSE(0)", 0},
	/* DISCONNECT: at most one, and not after an own one. */
	{"FIN",                             {P2P}, "connect reply fin",       "REPLY(0) DISCONNECT CLOSE(0)", 0},
	{"Reply and FIN in one segment",    {P2P}, "connect reply+fin",       "REPLY(0) DISCONNECT CLOSE(0)", 0},
	{"Reply and RST in one breath",     {P2P}, "connect reply+rst",       "REPLY(0) CLOSE(CONNRESET)", 0},
	{"Reply, Send and FIN in one",      {PLAIN}, "connect reply-1+send+fin", "REPLY(0) DISCONNECT CLOSE(0)", 0},
	{"RTR and FIN",                     {P2P}, "ask accept write-0+fin",  "REQUEST ESTABLISHED DISCONNECT CLOSE(0)", 0},
	{"disconnect, then FIN",            {P2P}, "connect reply quit fin",  "REPLY(0) CLOSE(0)", 0},
	{"disconnect with FIN",             {P2P}, "connect reply fin&quit",  "REPLY(0) CLOSE(0)", 0},
	/* CLOSE: exactly one, the last. */
	{"RST",                             {P2P}, "connect reply rst",       "REPLY(0) CLOSE(CONNRESET)", 0},
	{"RST after our FIN",               {P2P}, "connect reply quit rst",  "REPLY(0) CLOSE(CONNRESET)", 0},
	{"RST to our FIN, the peer's first",{P2P}, "connect reply fin-rst",   "REPLY(0) DISCONNECT CLOSE(0)", 0},
	{"FIN inside a message",            {P2P}, "connect reply send-part fin", "REPLY(0) CLOSE(CONNRESET)", 0},
	{"FIN inside an FPDU",              {P2P}, "connect reply half-fpdu fin", "REPLY(0) CLOSE(CONNRESET)", 0},
	{"FIN with a Read outstanding",     {P2P}, "connect reply read fin",  "REPLY(0) CLOSE(CONNRESET)", 0},
	{"disconnect, FIN inside a message",{P2P}, "connect reply quit send-part fin", "REPLY(0) CLOSE(CONNRESET)", 0},
	{"user timeout",                    {P2P, .user_timeout_ms = 3000}, "connect reply mute work 9s", "REPLY(0) CLOSE(TIMEDOUT)", 3},
	{"keepalive",                       {P2P, .keepalive_ms = 1000, .user_timeout_ms = 3000}, "connect reply mute 99s", "REPLY(0) CLOSE(TIMEDOUT)", 0},
	{"CLOSING for 60 s",                {P2P}, "connect reply quit 61s",  "REPLY(0) CLOSE(TIMEDOUT)", 60},
	{"Terminate",                       {P2P}, "connect reply terminate fin", "REPLY(0) CLOSE(PROTO)", 0},
	{"Terminate and FIN",               {P2P}, "connect reply terminate+fin", "REPLY(0) CLOSE(PROTO)", 0},
	{"Terminate and RST",               {P2P}, "connect reply terminate+rst", "REPLY(0) CLOSE(PROTO)", 0},
	{"Terminate while closing",         {P2P}, "connect reply quit terminate fin", "REPLY(0) CLOSE(PROTO)", 0},
	{"we send a Terminate",             {P2P}, "connect reply bad-crc terminated fin", "REPLY(0) CLOSE(PROTO)", 0},
	{"nobody answers our Terminate",    {P2P}, "connect reply bad-crc 4s", "REPLY(0) CLOSE(PROTO)", 3},
	{"bad FPDU after our FIN",          {P2P}, "connect reply quit bad-crc ended", "REPLY(0) CLOSE(PROTO)", 0},
	{"abrupt disconnect",               {P2P}, "connect reply abort ended", "REPLY(0) CLOSE(CONNABORTED)", 0},
	{"QP destroyed",                    {P2P}, "connect reply drop ended", "REPLY(0) CLOSE(CONNABORTED)", 0},
	/* TIMEWAIT_EXIT: on request, for a record of its own. */
	{"TIME_WAIT ends",                  {P2P, .timewait_exit = true}, "connect reply quit fin 61s", "REPLY(0) CLOSE(0) TIMEWAIT_EXIT", 60},
	{"not asked for",                   {P2P}, "connect reply quit fin 61s", "REPLY(0) CLOSE(0)", 0},
	{"the peer has the record",         {P2P, .timewait_exit = true}, "connect reply fin 61s", "REPLY(0) DISCONNECT CLOSE(0)", 0},
	{"no record after RST",             {P2P, .timewait_exit = true}, "connect reply rst 61s", "REPLY(0) CLOSE(CONNRESET)", 0},
	{"listen cancels it",               {P2P, .timewait_exit = true}, "connect reply quit fin listen 61s", "REPLY(0) CLOSE(0)", 0},
	{"connect cancels it",              {P2P, .timewait_exit = true}, "connect reply quit fin nobody 61s", "REPLY(0) CLOSE(0) REPLY(CONNREFUSED)", 0},
	{"both close at once",              {P2P, .timewait_exit = true}, "connect reply quit&fin 61s", "REPLY(0) CLOSE(0) TIMEWAIT_EXIT", 60},
};
/* clang-format on */

static struct sim sim;
static struct party us;
static struct raw peer;
static uint8_t octets[2048];
static uint64_t told_at, begun_at;
static uint8_t last[256]; /* the start of the last frame of ours */
static bool in_call;
static bool faulty; /* a frame is lost, doubled or late */
static uint32_t bad_requests = 1000;

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
play(const struct row *row)
{
	char text[128], *breath, *rest;

	snprintf(text, sizeof(text), "%s", row->does);
	for (breath = strtok_r(text, " ", &rest); breath; breath = strtok_r(NULL, " ", &rest)) {
		say_all(breath);
		pass(2 * IW_MS);
	}
}

/* ---- rows ---- */

static void
tap(struct sim *s, const struct rte_mbuf *m)
{
	if (rte_pktmbuf_mtod(m, const uint8_t *)[11] == 1)
		memcpy(last, rte_pktmbuf_mtod(m, const uint8_t *), 14 + 20 + 8);
}

static void
open_net(uint32_t burst)
{
	struct engine_params params = {.nif.mtu = 1500, .max_conns = 32};

	sim_init_params(&sim, 1, 2, &params);
	sim.burst = burst;
	sim.tap = tap;
	party_open(&us, sim.host[0].engine, sim.host[0].domain, 0);
	us.peer = &us;
	us.listener = party_listen(&us, on_event, PORT);
}

static void
close_net(void)
{
	party_close(&us);
	sim_run(&sim, 200 * IW_SEC);
	sim_fini(&sim);
}

/* The language of events, whatever is lost: one CONNECT_REPLY, first; ESTABLISHED before what ends it. */
static bool
is_legal(const char *told)
{
	static const char *const legal[] = {"",
					    "REQUEST",
					    "REPLY(CONNREFUSED)",
					    "REPLY(CONNREFUSED no)",
					    "REPLY(CONNRESET)",
					    "REPLY(PROTO)",
					    "REPLY(TIMEDOUT)"};
	static const char *const begins[] = {"REPLY(0)", "REQUEST ESTABLISHED"};
	static const char *const ends[] = {"", " DISCONNECT", " DISCONNECT CLOSE(", " CLOSE("};

	for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
		if (!strcmp(told, legal[i]))
			return true;
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(begins[i]);

		for (size_t k = 0; !strncmp(told, begins[i], n) && k < 4; k++)
			if (k < 2 ? !strcmp(told + n, ends[k])
				  : !strncmp(told + n, ends[k], strlen(ends[k])) &&
					    strrchr(told, '(') == told + n + strlen(ends[k]) - 1)
				return true;
	}
	return false;
}

static uint32_t
run_row(const struct row *row)
{
	uint32_t bad = 0;
	uint64_t s;

	us.attr = row->attr;
	sim_run(&sim, IW_US); /* engines know what time it is */
	begun_at = told_at = sim.now_ns;
	play(row);
	s = (told_at - begun_at) / IW_SEC;
	if (faulty ? !is_legal(us.story) : strcmp(us.story, row->told)) {
		print_error("%s: \"%s\", not \"%s\"\n", row->name, us.story, row->told);
		bad++;
	}
	if (!faulty && row->at_s && s != row->at_s) {
		print_error("%s: after %u s, not %u\n", row->name, (unsigned)s, row->at_s);
		bad++;
	}
	sim.host[1].cut = sim.host[1].deaf = false;
	sim.wire.dup = 0;
	sim.drop_nth = sim.dup_nth = sim.late_nth = 0;
	if (peer.in)
		raw_close(&peer);
	party_clear(&us);
	sim_run(&sim, 100 * IW_SEC);
	return bad;
}

static void
sweep(uint32_t burst)
{
	uint32_t bad = 0;

	open_net(burst);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *only = getenv("IW_ROW");

		if (only && strcmp(only, rows[i].name))
			continue;
		if (getenv("IW_VERBOSE"))
			print_message("%s\n", rows[i].name);
		bad += run_row(&rows[i]);
	}
	close_net();
	assert_int_equal(bad, 0);
}

/* ---- the same with faults ---- */

/* Races by name that need a peer made by hand. */
static const char *const races[] = {
	"FIN before a Reply",
	"RST before a Reply",
	"FIN inside a Reply",
	"wrong key, then RST",
	"reject with RST",
	"half a Request, FIN",
	"half a Request, RST",
	"FIN before accept",
	"RST before accept",
	"FIN before the RTR",
	"RST before the RTR",
	"Terminate before the RTR",
	"bad FPDU before the RTR",
	"Reply and RST in one breath",
	"Reply and FIN in one segment",
	"Terminate and RST",
	"RST after our FIN",
};

static bool
is_race(const struct row *row)
{
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++)
		if (!strcmp(races[i], row->name))
			return true;
	return false;
}

static void
sweep_faults(uint32_t burst)
{
	uint32_t n = 0;

	open_net(burst);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t k = 3; is_race(&rows[i]) && k < 3 * 10; k++) {
			struct row row = rows[i];

			n += k == 3;
			sim.drop_nth = k % 3 == 0 ? k / 3 : 0;
			sim.dup_nth = k % 3 == 1 ? k / 3 : 0;
			sim.late_nth = k % 3 == 2 ? k / 3 : 0;
			faulty = true;
			assert_int_equal(run_row(&row), 0);
			faulty = false;
		}
	close_net();
	assert_int_equal(n, sizeof(races) / sizeof(races[0]));
}

static void
test_races_in_bursts_of_1(void **state)
{
	(void)state;
	sweep_faults(1);
}

static void
test_races_in_bursts_of_32(void **state)
{
	(void)state;
	sweep_faults(32);
}

/* A bad Request, then the end, again and again: nothing is left of it. */
static void
test_bad_requests(void **state)
{
	(void)state;
	open_net(32);
	us.attr = rows[0].attr;
	for (uint32_t i = 0; i < bad_requests; i++) {
		sim_run(&sim, IW_US);
		assert_true(raw_open(&peer, &sim, 1, 0, PORT));
		start_frame(i & 1, 0x50, i & 1 ? 2 : 9, "", 0, 99);
		if (i & 2)
			raw_fin(&peer);
		raw_run(&peer, 200 * IW_US);
		assert_true(raw_ended(&peer));
		raw_close(&peer);
		sim_run(&sim, 100 * IW_US);
		assert_string_equal(us.story, "");
		assert_int_equal(cm_id_count(us.e->cm), 1); /* the listener */
	}
	close_net();
}

static void
test_bursts_of_1(void **state)
{
	(void)state;
	sweep(1);
}

static void
test_bursts_of_32(void **state)
{
	(void)state;
	sweep(32);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts_of_1),          cmocka_unit_test(test_bursts_of_32),
		cmocka_unit_test(test_races_in_bursts_of_1), cmocka_unit_test(test_races_in_bursts_of_32),
		cmocka_unit_test(test_bad_requests),
	};

	if (argc > 1)
		bad_requests = (uint32_t)strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
