/* SPDX-License-Identifier: BSD-3-Clause */
/* dpdk-iwarp: iWARP (RDMA over TCP) in user space, on any DPDK port.  Umbrella header.
 *
 * One thread polls one engine; everything that hangs off the engine (QPs, CQs, CM ids) is used from that
 * thread only, but for the exceptions named at each call.  The library starts no thread, installs no signal
 * handler, never prints and never exits. */
#ifndef IWARP_H
#define IWARP_H

#include <iwarp/connect.h>
#include <iwarp/engines.h>
#include <iwarp/err.h>
#include <iwarp/stats.h>
#include <iwarp/verbs.h>

#endif
