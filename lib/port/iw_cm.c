/* SPDX-License-Identifier: BSD-3-Clause */
/* Public calls of <iwarp/engines.h> that make an id in another engine, whichever thread polls that: each is a letter
 * that iw_engine_call() takes there. */
#include "port_engine.h"

struct letter {
	iw_cm_handler handler;
	void *context;
	iw_cm_moved moved;
	/* listen only */
	iw_cm_listening listening;
	struct iw_addr addr;
	int backlog;
};

static int
post(struct iw_engine *to, void (*open)(struct iw_engine *engine, void *letter), const struct letter *text)
{
	struct letter *l = iw_env_alloc(sizeof(*l));
	int err;

	if (!l)
		return -IW_E_NOMEM;
	*l = *text;
	err = iw_engine_call(to, open, l);
	if (err)
		iw_env_free(l);
	return err;
}

static void
arrive(struct iw_engine *engine, void *letter)
{
	struct letter l = *(struct letter *)letter;

	iw_env_free(letter);
	l.moved(engine, iw_cm_create(engine, l.handler, l.context), l.context);
}

int
iw_cm_migrate(struct iw_engine *engine, iw_cm_id id, struct iw_engine *to, iw_cm_moved moved)
{
	struct letter l = {.moved = moved};
	int err;

	if (!engine || !to || !moved)
		return -IW_E_INVAL;
	err = cm_idle(engine->cm, id, &l.handler, &l.context);
	if (!err)
		err = post(to, arrive, &l);
	return err ? err : iw_cm_destroy(engine, id);
}

static void
begin(struct iw_engine *engine, void *letter)
{
	struct letter l = *(struct letter *)letter;
	iw_cm_id id = iw_cm_create(engine, l.handler, l.context);
	int err = id ? iw_cm_listen(engine, id, &l.addr, l.backlog) : -IW_E_NOMEM;

	iw_env_free(letter);
	if (err && id)
		iw_cm_destroy(engine, id);
	l.listening(engine, err ? 0 : id, err, l.context);
}

int
iw_cm_listen_all(struct iw_engine *const *engines, uint32_t n, const struct iw_addr *addr, int backlog,
		 iw_cm_handler handler, void *context, iw_cm_listening listening)
{
	struct letter l = {.handler = handler, .context = context, .listening = listening, .backlog = backlog};
	uint32_t asked = 0;

	if (!engines || n > INT32_MAX || !addr || addr->port == 0 || backlog < 1 || !handler || !listening)
		return -IW_E_INVAL;
	l.addr = *addr;
	while (asked < n && engines[asked] && post(engines[asked], begin, &l) == 0)
		asked++;
	return (int)asked;
}
