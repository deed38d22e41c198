/* SPDX-License-Identifier: BSD-3-Clause */
/* Below TCP, in the family of the run; what the files of the codec share. */
#ifndef WIRE_IP_H
#define WIRE_IP_H

#include "wire.h"

#define WIRE_ETH 14

void wire_put16(uint8_t *p, uint32_t v);
void wire_put32(uint8_t *p, uint32_t v);
uint16_t wire_get16(const uint8_t *p);
uint32_t wire_get32(const uint8_t *p);

/* RFC 1071, octet by octet; over what is right it is 0. */
uint16_t wire_cksum(uint32_t sum, const uint8_t *p, uint32_t len);
uint32_t wire_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len);

uint32_t wire_ip_len(void); /* of the header */
/* Ethernet and IP headers in front of len octets. */
void wire_put_ip(uint8_t *p, uint32_t src, uint32_t dst, uint8_t proto, uint8_t ecn, uint32_t len);
/* Octets behind the headers, which fill s; 0: another protocol.  Fails the test when lengths or checksums are wrong. */
uint32_t wire_get_ip(const uint8_t *p, uint32_t len, uint8_t proto, struct wire_seg *s);

uint32_t wire_put_tcp(uint8_t *p, const struct wire_seg *s);
struct rte_mbuf *wire_frame_of(struct rte_mempool *mp, const uint8_t *p, uint32_t len);

#endif
