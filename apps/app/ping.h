/* SPDX-License-Identifier: BSD-3-Clause */
/* `ping`: rping on the wire.  Each round the client sends the advert of its source, the server Reads it and answers;
 * the client sends the advert of its sink, the server Writes it and answers.  16-octet Sends both ways. */
#ifndef PING_H
#define PING_H

#include "options.h"

/* Exit code: 0 when every round and every close went well. */
int ping_server(const struct options *o);
int ping_client(const struct options *o);

#endif
