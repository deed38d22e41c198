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

#define NQN "nqn.2026-11.org.example:disk"
#define HOST "nqn.2026-11.org.example:host"
#define BLOCKS 4096 /* of the first namespace: 2 MiB in blocks of 512 */
#define BUF 1048576
#define SPECIFIC(sc) (NVME_SCT_CMD_SPECIFIC << NVME_SCT_SHIFT | (sc))
#define MEDIA(sc) (NVME_SCT_MEDIA << NVME_SCT_SHIFT | (sc))
#define STATUS 0x7ff        /* without "do not retry" */
#define ENDS_PATIENCE 20000 /* turns */

struct nvmf_ends {
	struct target target;
	struct server server;
	struct host far, near;
	struct iw_pd *pd;
	struct initiator admin, io;
	int cntlid;
	uint8_t *buf; /* the host's memory, BUF octets */
	struct iw_mr *mr, *read_only_mr;
};

extern struct nvmf_ends ends;

/* Set-up and tear-down of a test.  Without files: two RAM namespaces and a subsystem that is for another host.  At the
 * end everything must be back, and the octets around the host's memory untouched. */
int nvmf_ends_open(void **state);
int nvmf_ends_close(void **state);
/* The same with these namespaces in the one subsystem. */
void nvmf_ends_open_with(const char *const *spec, int n);

void nvmf_ends_turns(int n);
/* Turns until *flag is set; fails when it takes too long. */
void nvmf_ends_await(const bool *flag);
void nvmf_ends_hang_up(struct initiator *i);
/* Starts a queue; up or ended afterwards. */
void nvmf_ends_start(struct initiator *i, uint16_t qid, uint16_t depth, const uint8_t *private);
/* The admin queue with its controller enabled; the same and an I/O queue. */
void nvmf_ends_admin(void);
void nvmf_ends_io(void);
/* One command; its status. */
uint16_t nvmf_ends_call(struct initiator *i, struct nvme_command c, const void *data, uint32_t len, uint64_t *result);
/* Sends what is in raw, whatever it is. */
int nvmf_ends_send_raw(struct initiator *i, const uint8_t *raw, uint32_t len);
/* The host's memory; a command on blocks of namespace 1. */
struct sgl nvmf_ends_keyed(uint32_t len);
struct nvme_command nvmf_ends_command(uint8_t opcode, uint32_t lba, uint32_t blocks, struct sgl sgl);
void nvmf_ends_fill(uint8_t *p, uint32_t len, uint32_t seed);

#endif
