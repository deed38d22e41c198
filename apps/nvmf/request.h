/* SPDX-License-Identifier: BSD-3-Clause */
/* One NVMe command on its way through the target, and the queue that it came by.  The transport (conn.c) fetches and
 * returns the data; what the command means is exec.c's. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "bdev.h"
#include "bufs.h"
#include "capsule_hdr.h"
#include "queue.h"
#include "subsys.h"

enum data_dir { DATA_NONE, DATA_FROM_HOST, DATA_TO_HOST };

struct request {
	struct request *next;
	struct queue *queue;
	bool under_way;          /* from its command to the completion of its response */
	uint32_t early;          /* octets of the next command, which came before that; 0: none */
	struct request *aborted; /* a list of those to be answered before (Abort, a reset of the controller) */
	const uint8_t *capsule;
	uint32_t capsule_len;
	struct nvme_command cmd;
	const struct exec_row *row;
	struct ns *ns; /* I/O commands */
	enum data_dir dir;
	uint32_t len; /* octets of data */
	struct iovec iov[BUFS_MAX];
	int iovcnt;
	bool in_place; /* iov is the capsule itself, not buffers */
	uint64_t result;
	uint16_t status; /* NVME_SC_*, as it goes into the response */
	/* I/O under way: */
	struct bdev_io io;
	struct iovec disk[BUFS_MAX]; /* Compare: what is on the disk */
	int diskcnt;
	uint32_t step; /* Dataset Management: the next range; Write Zeroes by writing: the next part */
};

/* Requests that wait, first come first served. */
struct request_list {
	struct request *first, **end;
};

void request_list_init(struct request_list *l);
void request_list_add(struct request_list *l, struct request *req);
/* NULL: it is empty. */
struct request *request_list_take(struct request_list *l);

/* Copies [offset, offset + req->len) of src into the data; what lies beyond src_len reads as zeroes. */
void request_fill(struct request *req, const void *src, uint32_t src_len, uint64_t offset);
/* Copies len octets at offset of the data to dst; offset + len <= req->len. */
void request_read(const struct request *req, uint32_t offset, void *dst, uint32_t len);

#endif
