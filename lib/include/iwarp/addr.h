/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_ADDR_H
#define IWARP_ADDR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An address.  IPv4 is kept in the IPv4-mapped form ::ffff:a.b.c.d. */
struct iw_addr {
	uint8_t ip[16];
	uint32_t scope; /* IPv6 link-local: port index + 1; else 0 */
	uint16_t port;  /* host order */
};

/* "10.0.0.1", "fe80::1%0": text to address (port untouched) and back.  parse: 0 or -IW_E_INVAL (also NULL).
 * format: writes at most len octets with the NUL, returns buf. */
int iw_addr_parse(const char *text, struct iw_addr *addr);
#define IW_ADDR_TEXT 64
const char *iw_addr_format(const struct iw_addr *addr, char *buf, size_t len);

#ifdef __cplusplus
}
#endif

#endif
