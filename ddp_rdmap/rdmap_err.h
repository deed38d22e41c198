/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults found in what a peer sends, by name, and the Terminate that each gets (RFC 5040 §4.8, RFC 5041 §7.2,
 * RFC 5044 §8, RFC 6581 §8).  Several names may share one code: the code is the wire's, the name is ours. */
#ifndef RDMAP_ERR_H
#define RDMAP_ERR_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmap_hdr.h"

/* Which copies of the offending headers the Terminate asks for (RFC 5040 Fig. 10). */
enum rdmap_err_copies {
	RDMAP_ERR_NONE, /* M = D = R = 0 */
	RDMAP_ERR_MD,   /* length and DDP header */
	RDMAP_ERR_MDR   /* and the Read Request, when it is one */
};

/* X(name, layer, etype, code, copies) */
/* clang-format off */
#define RDMAP_FAULTS(X)                                                                                       \
	/* MPA: no headers, the FPDU cannot be trusted */                                                     \
	X(MPA_TCP_LOST,         2, 0, 0x01, NONE) /* TCP connection closed, terminated or lost */              \
	X(MPA_CRC,              2, 0, 0x02, NONE) /* F1 */                                                    \
	X(MPA_MARKER,           2, 0, 0x03, NONE) /* F2 */                                                    \
	X(MPA_LENGTH,           2, 0, 0x03, NONE) /* F3: ULPDU shorter than its headers; R9: 27 octets */      \
	X(MPA_STARTUP,          2, 0, 0x04, NONE) /* M1: invalid Request or Reply */                          \
	X(MPA_LOCAL,            2, 0, 0x05, NONE) /* M16: local catastrophic, enhanced set-up */              \
	X(MPA_IRD,              2, 0, 0x06, NONE) /* M14: Reply's ORD above our IRD */                        \
	X(MPA_RTR,              2, 0, 0x07, NONE) /* M15: no RTR in common */                                 \
	/* DDP */                                                                                             \
	X(DDP_LOCAL,            1, 0, 0x00, MD)   /* local catastrophic */                                    \
	X(DDP_T_STAG,           1, 1, 0x00, MD)   /* D2: unknown, wrong key, invalidated */                   \
	X(DDP_T_BOUNDS,         1, 1, 0x01, MD)   /* D4 */                                                    \
	X(DDP_T_STREAM,         1, 1, 0x02, MD)   /* D3: not of this stream or PD */                          \
	X(DDP_T_WRAP,           1, 1, 0x03, MD)   /* D5 */                                                    \
	X(DDP_T_VERSION,        1, 1, 0x04, NONE) /* D1: layout is not known to be ours */                    \
	X(DDP_T_ACCESS,         1, 1, 0x00, MD)   /* D6: no remote write right; DDP has no code of its own */ \
	X(DDP_U_QN,             1, 2, 0x01, MD)   /* D8 */                                                    \
	X(DDP_U_NO_BUFFER,      1, 2, 0x02, MD)   /* D9 */                                                    \
	X(DDP_U_MSN,            1, 2, 0x03, MD)   /* D10 */                                                   \
	X(DDP_U_MO,             1, 2, 0x04, MD)   /* D11 */                                                   \
	X(DDP_U_TOO_LONG,       1, 2, 0x05, MD)   /* D12, D13; R9: 29 octets */                               \
	X(DDP_U_VERSION,        1, 2, 0x06, NONE) /* D1 */                                                    \
	/* RDMAP */                                                                                           \
	X(RDMAP_LOCAL,          0, 0, 0x00, NONE) /* local catastrophic */                                    \
	X(RDMAP_VERSION,        0, 2, 0x05, NONE) /* R1 */                                                    \
	X(RDMAP_OPCODE,         0, 2, 0x06, MD)   /* R2: unknown opcode */                                    \
	X(RDMAP_TAGGED,         0, 2, 0x06, MD)   /* R3: T contradicts the opcode */                          \
	X(RDMAP_OPCODE_CHANGED, 0, 2, 0x06, MD)   /* D18: inside a message */                                 \
	X(RDMAP_INTERLEAVED,    0, 2, 0x06, MD)   /* D14: Write with Read Response */                         \
	X(RDMAP_STREAM,         0, 2, 0x07, MD)   /* catastrophic, this stream */                             \
	X(RDMAP_GLOBAL,         0, 2, 0x08, MD)   /* catastrophic, all streams */                             \
	X(RDMAP_UNSPECIFIED,    0, 2, 0xff, MD)                                                               \
	/* Read, at the source */                                                                             \
	X(READ_STAG,            0, 1, 0x00, MDR)  /* R6 */                                                    \
	X(READ_BOUNDS,          0, 1, 0x01, MDR)  /* R6 */                                                    \
	X(READ_ACCESS,          0, 1, 0x02, MDR)  /* R6: no remote read right */                              \
	X(READ_STREAM,          0, 1, 0x03, MDR)  /* R6: not of this stream or PD */                          \
	X(READ_WRAP,            0, 1, 0x04, MDR)  /* R6 */                                                    \
	X(READ_IRD,             1, 2, 0x02, MD)   /* R8: more Reads than IRD: no buffer on QN 1 */            \
	X(READ_NO_LAST,         0, 2, 0xff, MD)   /* R9: Read Request without L */                            \
	/* Read, at the sink */                                                                               \
	X(RESP_UNEXPECTED,      0, 2, 0x06, MD)   /* R4: nothing outstanding */                               \
	X(RESP_STAG,            1, 1, 0x00, MD)   /* R5: other STag */                                        \
	X(RESP_TO,              1, 1, 0x01, MD)   /* R5: other TO */                                          \
	X(RESP_TOO_LONG,        1, 1, 0x01, MD)   /* R5 */                                                    \
	X(RESP_TOO_SHORT,       1, 1, 0x01, MD)   /* R5: L too early */                                       \
	X(RESP_SINK_GONE,       1, 1, 0x00, MD)   /* R17 */                                                   \
	/* Send with Invalidate */                                                                            \
	X(INV_STAG,             0, 2, 0x09, MD)   /* R10: unknown, already invalid, shared, no right */       \
	X(INV_STREAM,           0, 1, 0x09, MD)   /* R10: of another PD or stream */                          \
	/* RFC 7306 (R16); what a Read's source can be, an atomic's place can be too */                       \
	X(ATOMIC_ALIGN,         0, 2, 0x07, MD)   /* memory is not aligned to 64 bits */                      \
	X(ATOMIC_CODE,          0, 2, 0x06, MD)   /* unknown AOpCode */                                       \
	X(ATOMIC_UNEXPECTED,    1, 2, 0x02, MD)   /* Atomic Response without request */                       \
	X(ATOMIC_ID,            0, 2, 0xff, MD)   /* with another request identifier */                       \
	X(ATOMIC_NO_LAST,       0, 2, 0xff, MD)   /* Request or Response without L */                         \
	X(IMM_LENGTH,           0, 2, 0xff, MD)   /* Immediate Data is not eight octets */
/* clang-format on */

enum rdmap_fault {
	RDMAP_FAULT_NONE, /* no fault: nothing is sent */
#define RDMAP_ERR_ENUM(name, layer, etype, code, copies) RDMAP_FAULT_##name,
	RDMAP_FAULTS(RDMAP_ERR_ENUM)
#undef RDMAP_ERR_ENUM
		RDMAP_FAULT_MAX
};

struct rdmap_err {
	const char *name;
	uint8_t layer, etype, code;
	uint8_t copies; /* enum rdmap_err_copies */
};

/* The row of a fault; asserts that it is one. */
const struct rdmap_err *rdmap_err_get(enum rdmap_fault fault);

/* Makes the Terminate of a fault.  ddp, ulpdu_len: header and ULPDU_Length of the offending segment, NULL when
 * there is none; read: the Read Request as it stands (offsets moved on by what was answered), NULL unless the
 * segment is one.  Only the copies that the fault asks for are taken. */
void rdmap_err_term(enum rdmap_fault fault, const struct ddp_hdr *ddp, uint16_t ulpdu_len,
		    const struct rdmap_read_req *read, struct rdmap_term *term);

#endif
