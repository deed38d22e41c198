/* SPDX-License-Identifier: BSD-3-Clause */
#include "script_pvt.h"

#include "iw_addr.h"
#include "mbufpool.h"

#define POLLS 64
#define BURST 64

uint8_t
script_octet(uint64_t place)
{
	uint64_t z = (place + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint8_t)(z >> 56);
}

/* ---- failures name the row ---- */

const char *
script_flag_text(uint8_t flags, char text[9])
{
	char *p = text;

	for (int i = 0; i < 8; i++)
		if (flags >> i & 1)
			*p++ = "FSRPAUEW"[i];
	*p = 0;
	return text;
}

const char *
script_seg_text(const struct script *x, const struct wire_seg *s, char *buf, size_t len)
{
	char flags[9];

	snprintf(buf, len, "<%s seq %u ack %u len %u wnd %u>", script_flag_text(s->flags, flags), s->seq - x->our_iss,
		 s->flags & A ? s->ack - x->iss : s->ack, s->len, s->wnd);
	return buf;
}

void
script_check(struct script *x, bool ok, const char *what, uint64_t is)
{
	if (!ok)
		ROW_FAIL(x, "%s: %llu", what, (unsigned long long)is);
}

const struct wire_seg *
script_peek(struct script *x, uint32_t n)
{
	if (n >= x->tail - x->head)
		ROW_FAIL(x, "only %u segments came out", x->tail - x->head);
	return &x->q[(x->head + n) % SCRIPT_QUEUE];
}

/* ---- the machine ---- */

static void
make_tcp(struct script *x, const struct tcp_params *params)
{
	struct tcp_params p = {.max_conns = 64, .max_listeners = 4, .max_timewait = 64, .max_ooo_mbufs = 2000};
	struct netif nif = wire_netif();

	x->net = net_create(&x->env, &nif, 16, x->now_ns);
	assert_non_null(x->net);
	x->tcp = tcp_create(&x->env, x->net, params ? params : &p, x->now_ns);
	assert_non_null(x->tcp);
}

const struct tcp_params script_small = {
	.max_conns = 64, .max_listeners = 4, .max_timewait = 64, .max_ooo_mbufs = 64, .rcv_buf = SMALL};

void
script_init(struct script *x, const struct tcp_params *params)
{
	script_init_secret(x, params, 7);
}

void
script_init_secret(struct script *x, const struct tcp_params *params, uint8_t secret)
{
	memset(x, 0, offsetof(struct script, q));
	x->head = x->tail = 0;
	x->now_ns = x->mark_ns = x->start_ns = start_ns();
	x->env.data_pool = mbufpool_create("data", 9216 + 128, 0);
	x->env.ctl_pool = mbufpool_create("ctl", 512, 0);
	memset(x->env.secret, secret, sizeof(x->env.secret));
	make_tcp(x, params);
	x->our_port = SCRIPT_PORT;
	x->wnd = 65535;
	script_next_peer(x, SCRIPT_PEER_PORT);
}

void
script_fini(struct script *x)
{
	tcp_destroy(x->tcp);
	net_destroy(x->net);
	mbufpool_destroy(x->env.data_pool);
	mbufpool_destroy(x->env.ctl_pool);
}

void
script_next_peer(struct script *x, uint16_t port)
{
	x->peer_port = port;
	x->iss = start_seq();
	x->our_iss = 0;
	x->peer_ts = x->our_ts = false;
	x->our_tsval = 0;
	x->bits = x->conn = 0;
	x->to_send = x->sent = x->got = 0;
	x->hold = false;
	x->head = x->tail = 0;
}

static void
check_text(struct script *x, const struct wire_seg *s)
{
	uint32_t place = s->seq - x->our_iss - !(s->flags & S);

	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i] != script_octet(place + i))
			ROW_FAIL(x, "octet %u of the text at seq %u is wrong", i, s->seq - x->our_iss);
}

static void
capture(struct script *x, struct rte_mbuf *m)
{
	struct wire_seg *s = &x->q[x->tail % SCRIPT_QUEUE];

	if (!wire_parse(m, s, x->buf))
		return;
	if (s->flags & S) {
		x->our_iss = s->seq;
		x->our_port = s->sport;
		x->our_ts = s->has_ts;
	}
	if (s->has_ts)
		x->our_tsval = s->tsval;
	if (s->len)
		check_text(x, s);
	s->data = NULL;
	x->at_ns[x->tail++ % SCRIPT_QUEUE] = x->now_ns;
	if (x->tail - x->head >= SCRIPT_QUEUE)
		ROW_FAIL(x, "a flood of segments");
}

void
script_frame(struct script *x, struct rte_mbuf *m)
{
	struct net_icmp_err err;
	struct net_pkt pkt;
	enum net_verdict v = net_rx(x->net, m, x->now_ns, &pkt, &err);

	if (v == NET_TCP)
		tcp_rx(x->tcp, m, &pkt, x->now_ns);
	else if (v == NET_ICMP_ERR)
		tcp_icmp_err(x->tcp, &err, x->now_ns);
	else if (v == NET_HOST)
		rte_pktmbuf_free(m);
}

static void
drain(struct script *x)
{
	struct rte_mbuf *out[BURST];
	uint32_t n;

	while ((n = net_drain(x->net, out, BURST)) > 0)
		for (uint32_t i = 0; i < n; i++) {
			struct rte_mbuf *answer = wire_neighbour_answer(x->env.data_pool, out[i]);

			x->frames++;
			capture(x, out[i]);
			rte_pktmbuf_free(out[i]);
			if (answer)
				script_frame(x, answer);
		}
}

static void
note_ready(struct script *x)
{
	struct tcp_ready r;

	while (tcp_ready_next(x->tcp, &r)) {
		if (r.bits & TCP_READY_UP) {
			x->conn = r.conn;
			if (r.listener && !x->no_adopt)
				tcp_adopt(x->tcp, r.conn, 1, &x->attr);
		}
		if (r.conn == x->conn)
			x->bits |= r.bits;
	}
}

static void
app_read(struct script *x, uint32_t max)
{
	struct iw_view views[TCP_PEEK_VIEWS];
	uint32_t n = x->conn ? tcp_rx_peek(x->tcp, x->conn, views, TCP_PEEK_VIEWS) : 0, done = 0;

	for (uint32_t i = 0; i < n && done < max; i++)
		for (uint32_t j = 0; j < views[i].len && done < max; j++, done++)
			if (iw_view_data(&views[i])[j] != script_octet(x->got + done))
				ROW_FAIL(x, "delivered octet %llu is wrong", (unsigned long long)(x->got + done));
	x->got += done;
	if (done)
		tcp_rx_consume(x->tcp, x->conn, done, x->now_ns);
}

static bool
app_append(struct script *x, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(x->env.data_pool);

	assert_non_null(m);
	m->data_off = TCP_HEADROOM;
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	for (uint32_t i = 0; i < len; i++)
		rte_pktmbuf_mtod(m, uint8_t *)[i] = script_octet(x->sent + i);
	if (tcp_tx_append(x->tcp, x->conn, m))
		return false;
	x->sent += len;
	x->to_send -= len;
	return true;
}

static void
app_push(struct script *x, uint32_t octets)
{
	uint32_t emss = tcp_tx_grant(x->tcp, x->conn).emss;

	for (x->to_send += octets; x->to_send;)
		if (!app_append(x, x->to_send < emss ? (uint32_t)x->to_send : emss))
			ROW_FAIL(x, "tcp_tx_append refused at %llu", (unsigned long long)x->sent);
}

/* Appends what the grant allows. */
static bool
app_write(struct script *x)
{
	struct tcp_grant g = {0};
	uint32_t done = 0;

	if (x->conn && x->to_send)
		g = tcp_tx_grant(x->tcp, x->conn);
	for (; done < g.segments && x->to_send; done++) {
		uint64_t len = x->record && x->record < g.emss ? x->record : g.emss;

		if (!app_append(x, (uint32_t)(len < x->to_send ? len : x->to_send)))
			break;
	}
	return done > 0;
}

static bool
poll_once(struct script *x)
{
	uint32_t before = x->frames;
	bool wrote;

	net_tick(x->net, x->now_ns);
	tcp_tick(x->tcp, x->now_ns);
	note_ready(x);
	if (!x->hold)
		app_read(x, UINT32_MAX);
	wrote = app_write(x);
	tcp_tx_emit(x->tcp, BURST, x->now_ns);
	drain(x);
	note_ready(x);
	return wrote || x->frames != before;
}

void
script_settle(struct script *x)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < POLLS && idle < 2; i++)
		idle = poll_once(x) ? 0 : idle + 1;
	if (idle < 2)
		ROW_FAIL(x, "it never comes to rest");
}

void
script_advance(struct script *x, uint64_t until_ns)
{
	script_settle(x);
	while (x->head == x->tail && x->now_ns < until_ns) {
		uint64_t next = iw_time_min(tcp_deadline(x->tcp), net_deadline(x->net));

		if (next <= x->now_ns)
			next = x->now_ns + 16 * IW_US;
		x->now_ns = iw_time_min(next, until_ns);
		script_settle(x);
	}
}

enum tcp_state
script_state(struct script *x)
{
	struct tcp_info info;

	/* A handle that was not released shows TIME_WAIT for ever; the record is what lives. */
	if (tcp_conn_info(x->tcp, x->conn, &info) && info.state != TCP_CLOSED && info.state != TCP_TIME_WAIT)
		return info.state;
	return tcp_timewait_count(x->tcp) ? TCP_TIME_WAIT : TCP_CLOSED;
}

uint64_t
script_counter(struct script *x, const char *name)
{
	struct iw_counter_list list = tcp_counter_list(x->tcp);

	for (uint32_t i = 0; i < list.n; i++)
		if (strcmp(list.names[i] + strlen("tcp."), name) == 0)
			return list.values[i];
	ROW_FAIL(x, "no counter %s", name);
	return 0;
}

/* ---- rows: in ---- */

static void
options_in(struct script *x, const struct script_row *r, struct wire_seg *s)
{
	uint32_t block[WIRE_SACKS][2];
	uint8_t n = 0, opt = s->flags & S ? r->opt & (uint8_t)~r->no_opt : 0;
	uint32_t clock = start_tick() + 1000 + (uint32_t)((x->now_ns - x->start_ns) / IW_MS) + (uint32_t)r->ts_add;

	if (s->flags & S && r->opt)
		x->peer_ts = opt & O_TS;
	if (opt & O_MSS)
		wire_opt_mss(s, r->mss ? r->mss : 1460);
	if (opt & O_SACK)
		wire_opt_sack_ok(s);
	if ((opt | r->opt) & O_TS || (x->peer_ts && x->our_ts && !(r->no_opt & O_TS)))
		wire_opt_ts(s, r->tsval ? start_tick() + r->tsval : clock,
			    r->tsecr       ? r->tsecr
			    : s->flags & A ? x->our_tsval
					   : 0);
	if (opt & O_WS)
		wire_opt_ws(s, r->ws ? r->ws : 7);
	for (; n < WIRE_SACKS && r->sack[n][1]; n++)
		for (uint32_t k = 0; k < 2; k++)
			block[n][k] = x->our_iss + r->sack[n][k];
	if (n)
		wire_opt_sack(s, block, n);
	for (uint32_t i = 0; i < r->raw_len; i++)
		s->opt[s->opt_len++] = (uint8_t)r->raw[i];
}

static void
segment_in(struct script *x, const struct script_row *r, uint32_t seq)
{
	struct wire_seg s = {.src = r->src ? r->src : WIRE_PEER,
			     .dst = WIRE_US,
			     .sport = r->sport ? r->sport : x->peer_port,
			     .dport = r->dport ? r->dport : x->our_port,
			     .seq = x->iss + seq,
			     .ack = r->abs_ack     ? r->ack
				    : r->flags & A ? x->our_iss + r->ack
						   : 0,
			     .flags = r->flags,
			     .wnd = r->wnd0  ? 0
				    : r->wnd ? r->wnd
					     : x->wnd,
			     .urp = r->urp,
			     .ecn = r->ecn,
			     .len = r->len,
			     .data = x->buf,
			     .data_offset = r->data_offset,
			     .bad_cksum = r->bad_cksum};

	for (uint32_t i = 0; i < r->len; i++)
		x->buf[i] = (uint8_t)(script_octet((uint32_t)(seq - !(r->flags & S) + i)) ^ (r->other ? 0xff : 0));
	options_in(x, r, &s);
	script_frame(x, wire_build(x->env.data_pool, &s));
}

static void
must_be_empty(struct script *x)
{
	char text[120];

	if (x->head != x->tail)
		ROW_FAIL(x, "not expected: %s", script_seg_text(x, &x->q[x->head % SCRIPT_QUEUE], text, sizeof(text)));
}

void
script_in(struct script *x, const struct script_row *r)
{
	for (uint32_t i = 0; i < (r->n ? r->n : 1); i++)
		segment_in(x, r, r->seq + i * r->len);
	if (!r->burst)
		script_settle(x);
}

static void
row_icmp(struct script *x, const struct script_row *r)
{
	struct wire_seg sent = {.src = WIRE_US,
				.dst = WIRE_PEER,
				.sport = x->our_port,
				.dport = x->peer_port,
				.seq = x->our_iss + r->seq,
				.flags = A,
				.len = 100};

	script_frame(x, wire_icmp(x->env.data_pool, r->type, r->code, r->word, &sent, 8));
	script_settle(x);
}

/* ---- rows: the application ---- */

static void
row_listen(struct script *x, const struct script_row *r)
{
	struct iw_addr any = {.port = SCRIPT_PORT};
	int err = tcp_listen(x->tcp, &any, r->n, 9, &x->listener);

	if (err)
		ROW_FAIL(x, "tcp_listen: %d", err);
	x->our_port = SCRIPT_PORT;
}

static void
row_open(struct script *x, const struct script_row *r)
{
	struct iw_addr local = {.port = (uint16_t)r->len}, remote = wire_addr(WIRE_PEER, x->peer_port);
	int err = tcp_open(x->tcp, &local, &remote, &x->attr, 5, x->now_ns, &x->conn);

	if (err)
		ROW_FAIL(x, "tcp_open: %d", err);
	script_settle(x);
}

static void
row_read(struct script *x, const struct script_row *r)
{
	if (r->len)
		app_read(x, r->len);
	else
		x->hold = false;
	script_settle(x);
}

static void
row_ready(struct script *x, const struct script_row *r)
{
	if ((x->bits & r->ready) != r->ready || (x->bits & r->not_ready))
		ROW_FAIL(x, "ready bits 0x%x, must have 0x%x, must not have 0x%x", x->bits, r->ready, r->not_ready);
	x->bits = 0;
}

static void
row_skip(struct script *x, const struct script_row *r)
{
	uint64_t end = x->mark_ns + r->dt;

	do {
		x->head = x->tail;
		script_advance(x, end);
	} while (x->now_ns < end);
	x->head = x->tail;
}

static void
row_check(struct script *x, const struct script_row *r)
{
	static const char *const names[] = {"CLOSED",      "LISTEN",     "SYN_SENT",   "SYN_RCVD",
					    "ESTABLISHED", "FIN_WAIT_1", "FIN_WAIT_2", "CLOSE_WAIT",
					    "CLOSING",     "LAST_ACK",   "TIME_WAIT"};

	if (r->what == ROW_STATE && script_state(x) != (enum tcp_state)r->n)
		ROW_FAIL(x, "state %s, not %s", names[script_state(x)], names[r->n]);
	if (r->what == ROW_GOT && x->got != r->len)
		ROW_FAIL(x, "%llu octets were delivered, not %u", (unsigned long long)x->got, r->len);
	if (r->what == ROW_COUNT && tcp_conn_count(x->tcp) != r->n)
		ROW_FAIL(x, "%u connections, not %u", tcp_conn_count(x->tcp), r->n);
	if (r->what == ROW_COUNTER && script_counter(x, r->name) != r->n)
		ROW_FAIL(x, "%s is %llu, not %u", r->name, (unsigned long long)script_counter(x, r->name), r->n);
	if (r->what == ROW_READY)
		row_ready(x, r);
}

static void
row_app(struct script *x, const struct script_row *r)
{
	if (r->what == ROW_SEND && r->other)
		app_push(x, r->len);
	else if (r->what == ROW_SEND)
		x->to_send += r->len;
	else if (r->what == ROW_HOLD)
		x->hold = true;
	else if (r->what == ROW_CLOSE)
		tcp_close(x->tcp, x->conn, x->now_ns);
	else if (r->what == ROW_ABORT)
		tcp_abort(x->tcp, x->conn, x->now_ns);
	else if (r->what == ROW_RELEASE)
		tcp_release(x->tcp, x->conn, x->now_ns);
	script_settle(x);
}

static void
play_row(struct script *x, const struct script_row *r)
{
	static void (*const play[])(struct script *, const struct script_row *) = {
		[ROW_IN] = script_in,      [ROW_OUT] = script_out, [ROW_SKIP] = row_skip,   [ROW_LISTEN] = row_listen,
		[ROW_OPEN] = row_open,     [ROW_SEND] = row_app,   [ROW_HOLD] = row_app,    [ROW_READ] = row_read,
		[ROW_CLOSE] = row_app,     [ROW_ABORT] = row_app,  [ROW_RELEASE] = row_app, [ROW_STATE] = row_check,
		[ROW_READY] = row_check,   [ROW_GOT] = row_check,  [ROW_COUNT] = row_check, [ROW_ICMP] = row_icmp,
		[ROW_COUNTER] = row_check, [ROW_CALL] = NULL,      [ROW_QUIET] = NULL};

	x->row = r;
	if (r->what == ROW_OUT) {
		script_out(x, r);
		return;
	}
	if (r->what != ROW_SKIP) {
		if (r->dt && x->head == x->tail)
			script_advance(x, x->mark_ns + r->dt);
		if (r->what <= ROW_READ || r->what == ROW_ICMP)
			must_be_empty(x);
	}
	if (r->what == ROW_CALL)
		r->fn(x);
	else if (play[r->what])
		play[r->what](x, r);
	x->mark_ns = x->now_ns;
}

void
script_play(struct script *x, const char *name, const struct script_row *rows, uint32_t n)
{
	x->name = name;
	x->mark_ns = x->now_ns;
	for (uint32_t i = 0; i < n; i++)
		play_row(x, &rows[i]);
	script_settle(x);
	must_be_empty(x);
}
