/* SPDX-License-Identifier: BSD-3-Clause */
/* Every event with every status: what a peer made by hand does, word by word, and what our user is told.  Then the
 * races among them with each frame lost, doubled and late.
 *     test_cm_events [BAD_REQUESTS]   (default 10000) */
#include "cm_words.h"

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

#define AT_ONCE 16

static uint32_t bad_requests = 10000;

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
					    "REPLY(TIMEDOUT)",
					    "REPLY(CONNABORTED)"};
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
	play(row->does);
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
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t frames = sim.sent;

		if (!is_race(&rows[i]))
			continue;
		n++;
		assert_int_equal(run_row(&rows[i]), 0);
		frames = sim.sent - frames;
		for (uint32_t k = 3; k < 3 * (frames + 1); k++) {
			sim.drop_nth = k % 3 == 0 ? k / 3 : 0;
			sim.dup_nth = k % 3 == 1 ? k / 3 : 0;
			sim.late_nth = k % 3 == 2 ? k / 3 : 0;
			faulty = true;
			assert_int_equal(run_row(&rows[i]), 0);
			faulty = false;
		}
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

/* One of each kind: not a Request at all, a Reply instead, a revision that is none, more private data than may be. */
static void
ask_badly(struct raw *r, uint32_t kind)
{
	static const struct {
		bool reply;
		uint8_t rev;
		uint16_t private_len;
	} kinds[] = {{false, 9, 0}, {true, 2, 0}, {false, 0, 0}, {false, 2, 600}};
	uint8_t frame[20 + 600], data[600] = {0};
	uint32_t n = raw_startup(frame, kinds[kind].reply, 0x50, kinds[kind].rev, data, kinds[kind].private_len);

	raw_send(r, frame, n);
}

/* A bad Request, then the end, again and again: nothing is left of it. */
static void
test_bad_requests(void **state)
{
	static struct raw peers[AT_ONCE];

	(void)state;
	open_net(32);
	us.attr = rows[0].attr;
	for (uint32_t done = 0; done < bad_requests; done += AT_ONCE) {
		sim_run(&sim, IW_US);
		for (uint32_t i = 0; i < AT_ONCE; i++)
			raw_dial(&peers[i], &sim, 1, 0, PORT);
		raw_run(&peers[0], IW_MS);
		for (uint32_t i = 0; i < AT_ONCE; i++) {
			assert_true(peers[i].bits & TCP_READY_UP);
			ask_badly(&peers[i], i % 4);
			if (i & 4)
				raw_fin(&peers[i]);
		}
		raw_run(&peers[0], 200 * IW_US);
		for (uint32_t i = 0; i < AT_ONCE; i++) {
			assert_true(raw_ended(&peers[i]));
			raw_close(&peers[i]);
		}
		sim_run(&sim, 100 * IW_US);
		assert_string_equal(us.story, "");
		assert_int_equal(cm_id_count(us.e->cm), 1); /* the listener */
		assert_int_equal(tcp_conn_count(us.e->tcp), 0);
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
