/* SPDX-License-Identifier: BSD-3-Clause */
/* X9: a header is parsed once.  Led here by ld --wrap, each parser that mpa_rx() calls leaves nothing of what it has
 * read: octets of a packet that others may still write to (RFC 5042 §5.4; the in-process wire hands on the sender's own
 * mbufs) are overwritten behind it.  Who looks at them again finds something else. */
#include "once.h"

#include <string.h>

#include "rdmap_face.h"
#include "rdmap_hdr.h"

static bool inside;
static uint32_t overwritten;

uint32_t
once_overwritten(void)
{
	return overwritten;
}

static void
overwrite(const void *p, uint32_t n, uint32_t len)
{
	if (!inside || n == 0)
		return;
	memset((void *)(uintptr_t)p, 0xee, n < len ? n : len);
	overwritten++;
}

struct mpa_rx_result __real_mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget,
				   uint64_t now_ns);
struct mpa_rx_result __wrap_mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget,
				   uint64_t now_ns);

struct mpa_rx_result
__wrap_mpa_rx(struct iw_qp *qp, const struct iw_view *views, uint32_t n, uint32_t budget, uint64_t now_ns)
{
	struct mpa_rx_result r;

	inside = true;
	r = __real_mpa_rx(qp, views, n, budget, now_ns);
	inside = false;
	return r;
}

#define ONCE(name, type, len)                                       \
	bool __real_##name(const uint8_t *p, uint32_t n, type *to); \
	bool __wrap_##name(const uint8_t *p, uint32_t n, type *to); \
	bool __wrap_##name(const uint8_t *p, uint32_t n, type *to)  \
	{                                                           \
		bool ok = __real_##name(p, n, to);                  \
                                                                    \
		overwrite(p, n, len);                               \
		return ok;                                          \
	}
ONCE(ddp_hdr_parse, struct ddp_hdr, ok ? to->hdr_len : 0)
ONCE(rdmap_hdr_read_req_parse, struct rdmap_read_req, RDMAP_HDR_READ_REQ_LEN)
ONCE(rdmap_hdr_atomic_req_parse, struct rdmap_atomic_req, RDMAP_HDR_ATOMIC_REQ_LEN)
ONCE(rdmap_hdr_atomic_resp_parse, struct rdmap_atomic_resp, RDMAP_HDR_ATOMIC_RESP_LEN)
ONCE(rdmap_hdr_imm_parse, uint64_t, RDMAP_HDR_IMM_LEN)

void __real_rdmap_hdr_term_parse(const uint8_t *p, uint32_t n, struct rdmap_term *t);
void __wrap_rdmap_hdr_term_parse(const uint8_t *p, uint32_t n, struct rdmap_term *t);

void
__wrap_rdmap_hdr_term_parse(const uint8_t *p, uint32_t n, struct rdmap_term *t)
{
	__real_rdmap_hdr_term_parse(p, n, t);
	overwrite(p, n, RDMAP_HDR_TERM_MAX);
}
