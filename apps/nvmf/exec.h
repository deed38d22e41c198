/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command means.  The transport asks in this order:
 *
 *     exec_plan()    is it allowed here, which way does its data go, how long is it; exec_check_sgl(): where is it
 *     (data from the host is fetched)
 *     exec_run()     does it, or starts it
 *     exec_resume()  after each part of it that the disk did
 *     (data to the host, then the response)
 *
 * No room here knows how capsules travel. */
#ifndef EXEC_H
#define EXEC_H

#include "ctrl.h"

#define EXEC_DATA_MAX (BUFS_CHUNK * BUFS_MAX) /* MDTS, 1 MiB */
#define EXEC_CAPSULE_DATA 8192u               /* in-capsule data of an I/O queue */
#define EXEC_CAPSULE_ADMIN 1024u              /* of an admin queue: Linux sends Connect's data so */

enum exec_result {
	EXEC_DONE, /* status, result and data are set */
	EXEC_DISK, /* request->io is under way */
	EXEC_HELD  /* an Asynchronous Event Request: until there is something to tell */
};

/* What the target has; one for the process, and but for the controllers nothing of it changes while it serves. */
struct target {
	struct subsys subsys[SUBSYS_MAX];
	int num_subsys;
	struct ctrls ctrls;
	char trsvcid[8]; /* port, as the discovery log has it */
};

/* Queues that may carry a command. */
enum { ON_IO = 1, ON_ADMIN = 2, ON_DISCOVERY = 4, ON_ANY_ADMIN = ON_ADMIN | ON_DISCOVERY };

struct exec_row {
	uint8_t opcode;
	uint8_t where;
	enum data_dir dir;
	/* Sets req->len and req->ns; returns a status. NULL: no data. */
	uint16_t (*plan)(struct target *t, struct request *req);
	enum exec_result (*run)(struct target *t, struct request *req);
	enum exec_result (*resume)(struct target *t, struct request *req); /* NULL: it never starts disk I/O */
	bool twice;                                                        /* needs room for its data a second time */
};

/* 0, or the status to answer with. */
uint16_t exec_plan(struct target *t, struct request *req);
/* After it: 0, or the status that says why the data cannot be where the SGL has it.  Behind it, data in the capsule is
 * inside the capsule, and the host's memory is as long as req->len; it may be longer (Identify says so: SGLS bit 18;
 * Linux sends each Dataset Management so). */
uint16_t exec_check_sgl(const struct request *req);
enum exec_result exec_run(struct target *t, struct request *req);
enum exec_result exec_resume(struct target *t, struct request *req);

/* The tables, each ended by a row without run. */
extern const struct exec_row exec_fabrics[], exec_admin[], exec_io[];

/* Finishes a request: a status that a retry would not change, and one that it may. */
enum exec_result exec_fail(struct request *req, uint16_t status);
enum exec_result exec_fail_retry(struct request *req, uint16_t status);
enum exec_result exec_ok(struct request *req);

/* The host wants the blocks on stable storage before the answer (FUA of Read, Write, Compare and Write Zeroes). */
static inline bool
exec_fua(const struct request *req)
{
	return (req->cmd.cdw12 >> 30 & 1) != 0;
}

/* The disk of its namespace, as its engine has it. */
static inline struct bdev *
exec_disk(const struct request *req)
{
	return req->ns->bdev[req->queue->shard->number];
}

/* Starts disk I/O on req->ns: EXEC_DISK, or what resume says when it was done at once. */
enum exec_result exec_start(struct target *t, struct request *req, enum bdev_op op, uint64_t offset, uint64_t len);
/* Finishes a request by the result of its disk I/O. */
enum exec_result exec_disk_done(struct request *req);

/* The two large answers (identify.c, log_page.c). */
uint16_t identify_plan(struct target *t, struct request *req);
enum exec_result identify_run(struct target *t, struct request *req);
uint16_t log_page_plan(struct target *t, struct request *req);
enum exec_result log_page_run(struct target *t, struct request *req);

/* Text fields of NVMe are filled with spaces, not ended by NUL. */
void exec_pad(char *to, size_t len, const char *text);

#endif
