/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry.h"

#include <pthread.h>
#include <rte_common.h>
#include <rte_telemetry.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iw_addr.h"
#include "port_engine.h"

#define MAX_STATS 512
#define MAX_IDS 256 /* of one answer */
#define WAIT_US 1000000u
#define LOOK_US 200u

/* ---- engines that are shown ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct iw_engine *shown[TELEMETRY_ENGINES];

static void register_commands(void);

static void
put(const struct iw_engine *old, struct iw_engine *e)
{
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < TELEMETRY_ENGINES; i++)
		if (shown[i] == old) {
			shown[i] = e;
			break;
		}
	pthread_mutex_unlock(&lock);
}

void
telemetry_add(struct iw_engine *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_commands);
	put(NULL, e);
}

void
telemetry_remove(const struct iw_engine *e)
{
	put(e, NULL);
}

/* ---- asking an engine ---- */

struct info {
	uint16_t port, queue;
	enum iw_steering steering;
	uint32_t ids, connections, half_open, timewait, n_addrs;
	struct iw_addr_info addrs[1 + IW_ENGINE_MORE_ADDRS];
};

struct id_info {
	int err, load_err; /* of the id; of its load: it may have no stream */
	enum iw_cm_state state;
	struct iw_addr local, peer;
	struct iw_cm_load load;
};

/* A question.  Who comes last frees it: the engine with the answer, or the thread that waited for it in vain. */
struct ask {
	void (*look)(struct iw_engine *e, struct ask *a);
	atomic_uint parted; /* one of the two has gone on */
	uint32_t number;    /* what is asked for: an id, or from where on */
	uint32_t n;
	union {
		struct iw_stat stats[MAX_STATS];
		struct info info;
		struct id_info id;
		iw_cm_id ids[MAX_IDS];
	};
};

static void
answer(struct iw_engine *e, void *arg)
{
	struct ask *a = arg;

	a->look(e, a);
	if (atomic_exchange(&a->parted, 1) != 0)
		free(a);
}

/* Posted under the lock: an engine that is shown is there, and runs what it was asked even when it is destroyed. */
static int
post(uint32_t engine, struct ask *a)
{
	int err = -IW_E_NODEV;

	pthread_mutex_lock(&lock);
	if (engine < TELEMETRY_ENGINES && shown[engine])
		err = iw_engine_call(shown[engine], answer, a);
	pthread_mutex_unlock(&lock);
	return err;
}

/* The answer, to be freed; NULL and *why. */
static struct ask *
ask(uint32_t engine, void (*look)(struct iw_engine *e, struct ask *a), uint32_t number, const char **why)
{
	struct ask *a = calloc(1, sizeof(*a));
	int err = -IW_E_NOMEM;

	if (a) {
		a->look = look;
		a->number = number;
		err = post(engine, a);
	}
	if (err) {
		free(a);
		*why = err == -IW_E_NODEV ? "there is no such engine: see /iwarp/list" : iw_err_text(err);
		return NULL;
	}
	for (uint32_t us = 0; us < WAIT_US; us += LOOK_US) {
		if (atomic_load(&a->parted))
			return a;
		usleep(LOOK_US);
	}
	if (atomic_exchange(&a->parted, 1) != 0)
		return a;
	*why = "the engine is not polled";
	return NULL;
}

/* ---- what the engine's thread looks at ---- */

static void
look_info(struct iw_engine *e, struct ask *a)
{
	const struct port_engine *p = e->port;
	int n = iw_engine_addrs(e, a->info.addrs, RTE_DIM(a->info.addrs));

	a->info.port = p->port.id;
	a->info.queue = p->port.queue;
	a->info.steering = iw_engines_steering(e);
	a->info.ids = cm_id_count(e->cm);
	a->info.connections = tcp_conn_count(e->tcp);
	a->info.half_open = tcp_syn_count(e->tcp);
	a->info.timewait = tcp_timewait_count(e->tcp);
	a->info.n_addrs = n > 0 ? RTE_MIN((uint32_t)n, RTE_DIM(a->info.addrs)) : 0;
}

static void
look_stats(struct iw_engine *e, struct ask *a)
{
	int n = iw_engine_stats(e, a->stats, MAX_STATS);

	a->n = RTE_MIN((uint32_t)RTE_MAX(n, 0), (uint32_t)MAX_STATS);
}

static void
look_ids(struct iw_engine *e, struct ask *a)
{
	a->n = cm_id_list(e->cm, &a->number, a->ids, MAX_IDS);
}

static void
look_id(struct iw_engine *e, struct ask *a)
{
	a->id.state = iw_cm_state(e, a->number);
	a->id.err = iw_cm_addrs(e, a->number, &a->id.local, &a->id.peer);
	a->id.load_err = iw_cm_load(e, a->number, &a->id.load);
}

/* ---- answers, in EAL's telemetry thread ---- */

/* Up to two numbers of a command's parameters; how many there are. */
static uint32_t
numbers(const char *params, uint32_t *n)
{
	uint32_t count = 0;
	char *end;

	for (; params && *params && count < 2; params = *end == ',' ? end + 1 : end) {
		n[count] = (uint32_t)strtoul(params, &end, 10);
		if (end == params || (*end && *end != ','))
			return 0;
		count++;
	}
	return count;
}

static int
refuse(struct rte_tel_data *d, const char *why)
{
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_string(d, "error", why);
	return 0;
}

static struct ask *
asked(const char *params, uint32_t needs, void (*look)(struct iw_engine *e, struct ask *a), struct rte_tel_data *d)
{
	const char *why = needs > 1 ? "parameters: ENGINE,ID" : "parameter: ENGINE";
	uint32_t n[2] = {0};
	struct ask *a = numbers(params, n) >= needs ? ask(n[0], look, n[1], &why) : NULL;

	if (!a)
		refuse(d, why);
	return a;
}

static int
tell_list(const char *cmd, const char *params, struct rte_tel_data *d)
{
	rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < TELEMETRY_ENGINES; i++)
		if (shown[i])
			rte_tel_data_add_array_int(d, (int)i);
	pthread_mutex_unlock(&lock);
	return 0;
}

static void
tell_addrs(struct rte_tel_data *d, const struct info *i)
{
	static const char *const states[] = {"tentative", "ready", "duplicate"};
	struct rte_tel_data *list = rte_tel_data_alloc();
	char ip[IW_ADDR_TEXT], text[IW_ADDR_TEXT + 32];

	if (!list)
		return;
	rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
	for (uint32_t k = 0; k < i->n_addrs; k++) {
		snprintf(text, sizeof(text), "%s/%u %s", iw_addr_format(&i->addrs[k].ip, ip, sizeof(ip)),
			 i->addrs[k].prefix_len, states[i->addrs[k].state]);
		rte_tel_data_add_array_string(list, text);
	}
	rte_tel_data_add_dict_container(d, "addresses", list, 0);
}

static int
tell_info(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct ask *a = asked(params, 1, look_info, d);

	if (!a)
		return 0;
	rte_tel_data_start_dict(d);
	rte_tel_data_add_dict_int(d, "port", a->info.port);
	rte_tel_data_add_dict_int(d, "queue", a->info.queue);
	rte_tel_data_add_dict_string(d, "steering", iw_engines_steering_name(a->info.steering));
	tell_addrs(d, &a->info);
	rte_tel_data_add_dict_u64(d, "ids", a->info.ids);
	rte_tel_data_add_dict_u64(d, "connections", a->info.connections);
	rte_tel_data_add_dict_u64(d, "half_open", a->info.half_open);
	rte_tel_data_add_dict_u64(d, "time_wait", a->info.timewait);
	free(a);
	return 0;
}

/* Counters of the same room as the first one, into a dictionary of its name: one for all would be more than DPDK takes.
 * How many. */
static uint32_t
tell_room(struct rte_tel_data *d, const struct iw_stat *stats, uint32_t n)
{
	struct rte_tel_data *room = rte_tel_data_alloc();
	size_t len = strcspn(stats[0].name, ".");
	char name[32];
	uint32_t i;

	if (room)
		rte_tel_data_start_dict(room);
	for (i = 0; i < n && strncmp(stats[i].name, stats[0].name, len + 1) == 0; i++)
		if (room)
			rte_tel_data_add_dict_u64(room, stats[i].name + len + 1, stats[i].value);
	snprintf(name, sizeof(name), "%.*s", (int)len, stats[0].name);
	if (room)
		rte_tel_data_add_dict_container(d, name, room, 0);
	return i;
}

static int
tell_stats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct ask *a = asked(params, 1, look_stats, d);

	if (!a)
		return 0;
	rte_tel_data_start_dict(d);
	for (uint32_t i = 0; i < a->n;)
		i += tell_room(d, a->stats + i, a->n - i);
	free(a);
	return 0;
}

static int
tell_ids(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct ask *a = asked(params, 1, look_ids, d);
	struct rte_tel_data *list = a ? rte_tel_data_alloc() : NULL;

	if (list) {
		rte_tel_data_start_array(list, RTE_TEL_U64_VAL);
		for (uint32_t i = 0; i < a->n; i++)
			rte_tel_data_add_array_u64(list, a->ids[i]);
		rte_tel_data_start_dict(d);
		rte_tel_data_add_dict_container(d, "ids", list, 0);
		if (a->n == MAX_IDS)
			rte_tel_data_add_dict_u64(d, "next", a->number);
	}
	free(a);
	return 0;
}

static void
tell_load(struct rte_tel_data *d, const struct iw_cm_load *l)
{
	rte_tel_data_add_dict_u64(d, "idle_ms", l->idle_ms);
	rte_tel_data_add_dict_u64(d, "rx_fpdus", l->rx_fpdus);
	rte_tel_data_add_dict_u64(d, "rx_small_fpdus", l->rx_small_fpdus);
	rte_tel_data_add_dict_u64(d, "rx_split_fpdus", l->rx_split_fpdus);
	rte_tel_data_add_dict_u64(d, "rx_out_of_order", l->rx_out_of_order);
	rte_tel_data_add_dict_u64(d, "rx_duplicates", l->rx_duplicates);
	rte_tel_data_add_dict_u64(d, "rx_outside_window", l->rx_outside_window);
	rte_tel_data_add_dict_u64(d, "rx_duplicate_acks", l->rx_duplicate_acks);
	rte_tel_data_add_dict_u64(d, "retransmits", l->retransmits);
}

static void
tell_addr(struct rte_tel_data *d, const char *name, const struct iw_addr *addr)
{
	char ip[IW_ADDR_TEXT], text[IW_ADDR_TEXT + 16];

	snprintf(text, sizeof(text), iw_addr_is_v4(addr) ? "%s:%u" : "[%s]:%u", iw_addr_format(addr, ip, sizeof(ip)),
		 addr->port);
	rte_tel_data_add_dict_string(d, name, text);
}

static int
tell_id(const char *cmd, const char *params, struct rte_tel_data *d)
{
	struct ask *a = asked(params, 2, look_id, d);

	if (a && a->id.err)
		refuse(d, "there is no such id: see /iwarp/ids");
	if (a && !a->id.err) {
		rte_tel_data_start_dict(d);
		rte_tel_data_add_dict_string(d, "state", iw_cm_state_name(a->id.state));
		tell_addr(d, "local", &a->id.local);
		tell_addr(d, "peer", &a->id.peer);
		if (!a->id.load_err)
			tell_load(d, &a->id.load);
	}
	free(a);
	return 0;
}

static void
register_commands(void)
{
	static const struct {
		const char *name;
		telemetry_cb tell;
		const char *help;
	} commands[] = {
		{"/iwarp/list", tell_list, "Numbers of the iWARP engines"},
		{"/iwarp/info", tell_info, "Port, addresses and connections. Parameter: ENGINE"},
		{"/iwarp/stats", tell_stats, "All counters. Parameter: ENGINE"},
		{"/iwarp/ids", tell_ids, "Connection manager ids. Parameters: ENGINE[,NEXT]"},
		{"/iwarp/id", tell_id, "State, addresses and load of one. Parameters: ENGINE,ID"},
	};

	for (uint32_t i = 0; i < RTE_DIM(commands); i++)
		rte_telemetry_register_cmd(commands[i].name, commands[i].tell, commands[i].help);
}
