/* SPDX-License-Identifier: BSD-3-Clause */
/* The storage target and an initiator, both in one thread over an in-process wire. */
#ifndef NVMF_ENDS_H
#define NVMF_ENDS_H

#include <nvme/types.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host.h"
#include "initiator.h"
#include "serve.h"

#define NVMF_PORT 4420
#define NQN "nqn.2026-11.org.example:disk"
#define HOST "nqn.2026-11.org.example:host"
#define BLOCKS 4096 /* of the first namespace: 2 MiB in blocks of 512 */
#define DISK (BLOCKS * 512)
#define BUF 1048576
#define SPECIFIC(sc) (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | (sc))
#define MEDIA(sc) (NVME_SCT_MEDIA << NVME_SCT_SHIFT | (sc))
#define STATUS 0x7ff /* without "do not retry" */

struct nvmf_ends {
	struct target target;
	struct server server;
	struct host far, near;
	struct iw_pd *pd;
	struct initiator admin, io;
	int cntlid;
	uint8_t *buf; /* the host's memory, BUF octets */
	struct iw_mr *mr;
	uint8_t disk[DISK]; /* what nvmf_ends_fill_disk() put on namespace 1 */
};

extern struct nvmf_ends ends;

/* Set-up and tear-down of a test.  Without files: two RAM namespaces and a subsystem that is for another host.  At the
 * end everything must be back, and the octets around the host's memory untouched. */
int nvmf_ends_open(void **state);
int nvmf_ends_close(void **state);
/* The same with these namespaces in the one subsystem, and a target of so many engines, which this thread polls all. */
void nvmf_ends_open_with(const char *const *spec, int n, uint32_t engines);

void nvmf_ends_turns(int n);
/* When a test gives up: 10 s from now.  One turn; false: it is time to. */
uint64_t nvmf_ends_deadline(void);
bool nvmf_ends_turn(uint64_t deadline);
/* Turns until *flag is set, until so many connections of hosts are left, or until n responses are there; they fail
 * when it takes too long. */
void nvmf_ends_await(const bool *flag);
void nvmf_ends_await_conns(int num);
int nvmf_ends_conns(void);
/* The number of the engine that has this queue of a controller. */
uint32_t nvmf_ends_engine_of(int cntlid, uint16_t qid);
void nvmf_ends_await_responses(struct initiator *i, struct nvme_response *r, int n);
/* A file for a namespace: its name and descriptor; -1: no direct I/O in that folder, or no io_uring here. */
int nvmf_ends_make_file(const char *folder, off_t len, char *path, size_t path_len);
void nvmf_ends_hang_up(struct initiator *i);
/* A controller's two queues, of any host: admin is enabled, io (if any) has that many entries. */
int nvmf_ends_connect(struct initiator *admin, struct initiator *io, const char *host, uint16_t depth);
/* Starts a queue, with the right private data if attr is NULL; up or ended afterwards. */
void nvmf_ends_start(struct initiator *i, uint16_t qid, uint16_t depth, const struct iw_cm_attr *attr);
/* The same, at any TCP port, and without a turn. */
void nvmf_ends_begin(struct initiator *i, uint16_t at, uint16_t qid, uint16_t depth, const struct iw_cm_attr *attr);
/* The admin queue with its controller enabled; the same and an I/O queue. */
void nvmf_ends_admin(void);
void nvmf_ends_io(void);
/* What asks for a shutdown (CC.SHN), the state of the controller (CSTS), and how far the shutdown is (CSTS.SHST). */
struct nvme_command nvmf_ends_shutdown(void);
uint64_t nvmf_ends_csts(void);
uint64_t nvmf_ends_shst(void);
/* One command; its status. */
uint16_t nvmf_ends_call(struct initiator *i, struct nvme_command c, const void *data, uint32_t len, uint64_t *result);
/* Sends what is in raw, whatever it is. */
int nvmf_ends_send_raw(struct initiator *i, const uint8_t *raw, uint32_t len);
/* The host's memory; a command on blocks of namespace 1. */
struct sgl nvmf_ends_keyed(uint32_t len);
struct nvme_command nvmf_ends_command(uint8_t opcode, uint32_t lba, uint32_t blocks, struct sgl sgl);
/* Puts a pattern on namespace 1; later: neither it nor the host's memory was written. */
void nvmf_ends_fill_disk(void);
void nvmf_ends_untouched(void);
void nvmf_ends_fill(uint8_t *p, uint32_t len, uint32_t seed);

#endif
