/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection posts for its requests. */
#ifndef FLOW_POST_H
#define FLOW_POST_H

#include "flow.h"

/* Work request ids: where the request is and, in the bits that its alignment leaves, what was posted for it. */
enum { WR_RECV, WR_READ, WR_WRITE, WR_SEND };
#define FLOW_POST_KIND 3u

/* Posts something for the request.  False, and the connection is to be hung up: it could not be.
 *
 * A post fails when the QP has left RTS: CLOSE is on its way then, and ends the request.  Whatever else makes it fail,
 * the host would wait for this command in vain. */

/* The receive for the next command. */
bool flow_post_recv(struct conn *c, struct request *req);
/* The RDMA Read of the host's data, into its buffers. */
bool flow_post_read(struct conn *c, struct request *req);
/* The response, and before it, in one chain, the data: either both go or none. */
bool flow_post_response(struct conn *c, struct request *req);

#endif
