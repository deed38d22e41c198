/* SPDX-License-Identifier: BSD-3-Clause */
/* What routers do to packets: too long for the next link (RFC 1191 §4, RFC 4443 §3.2), congestion (RFC 3168 §5). */
#ifndef ROUTER_H
#define ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#define ROUTER_MAX 144

/* The frame carries TCP; *ip_len is the length of its IP packet. */
bool router_is_tcp(const uint8_t *frame, uint32_t len, uint32_t *ip_len);

/* The router's answer to a TCP frame that does not fit, for its sender; returns octets. */
uint32_t router_too_big(const uint8_t *frame, uint16_t mtu, uint8_t answer[ROUTER_MAX]);

/* Marks the packet of a TCP frame CE; false: its sender has not set ECT. */
bool router_mark_ce(uint8_t *frame);

#endif
