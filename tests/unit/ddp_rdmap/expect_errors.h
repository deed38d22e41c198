/* SPDX-License-Identifier: BSD-3-Clause */
/* What each malformed FPDU must get: the rows F1 to F9, D1 to D18, R1 to R18 of the error tables, without markers (F2)
 * and without RFC 7306 (R16).  Written from the tables and the RFCs, not from the code.  A row is a world, some FPDUs
 * of the peer in one burst, and an outcome.  Not rows, but for who runs them: F1   every bit of an FPDU: flip it in
 * turn; in ULPDU_Length it may come out as F3, or as an FPDU that never ends. F8   every row again with the octets cut
 * at every place, and one octet at a time: the same outcome. B4   every row with a fault in its first FPDU is also the
 * first FPDU of the connection. D13  a message of more than 2^32 - 1 octets, D17 endless empty segments, R15 a
 * Terminate due in mid-message. After a Terminate nothing more is sent, placed or completed with success; whatever is
 * outstanding is flushed. */
#ifndef EXPECT_ERRORS_H
#define EXPECT_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crc32c.h"

/* ---- the world of a row: CRC on, IRD 2, no receive, no Read outstanding, unless it says otherwise ---- */

#define EXPECT_IRD 2
#define EXPECT_MR_LEN 4096  /* of every registration */
#define EXPECT_READ_LEN 100 /* of our own outstanding Read, to the base of EXPECT_SINK */

enum expect_stag {
	EXPECT_NO_STAG,  /* 0 on the wire */
	EXPECT_RW,       /* registered for this PD, remote read and write */
	EXPECT_RO,       /* the same, remote read only */
	EXPECT_WO,       /* the same, remote write only */
	EXPECT_OTHER_PD, /* remote read and write, but of another PD */
	EXPECT_UNKNOWN,  /* an index that was never used */
	EXPECT_BAD_KEY,  /* EXPECT_RW with another key octet; base as EXPECT_RW */
	EXPECT_GONE,     /* was EXPECT_RW-like, deregistered since */
	EXPECT_SINK,     /* of our own Read: local write */
	EXPECT_STAGS
};

struct expect_world {
	uint32_t stag[EXPECT_STAGS];
	uint64_t base[EXPECT_STAGS]; /* TO of the first octet */
};

enum expect_setup {
	EXPECT_CRC_OFF = 1 << 0,
	EXPECT_READ = 1 << 1,      /* a Read of ours is outstanding */
	EXPECT_SINK_GONE = 1 << 2, /* and its sink was deregistered since */
	EXPECT_OUR_FIN = 1 << 3,   /* our FIN has gone out */
	EXPECT_MSN_WRAP = 1 << 4,  /* QN 0 of the receive side stands before MSN 0xffffffff (test hook) */
	EXPECT_PEER_FIN = 1 << 5   /* the peer's FIN follows the octets */
};

/* ---- an FPDU ---- */

enum expect_crc { EXPECT_CRC_GOOD, EXPECT_CRC_GARBAGE };

struct expect_read {
	uint32_t size;
	enum expect_stag src;
	int64_t src_to; /* from the base; absolute when src_abs */
	bool src_abs;
};

struct expect_fpdu {
	uint8_t ddp, rdmap; /* control octets */
	enum expect_stag stag;
	int64_t to; /* tagged: from the base of stag; absolute when to_abs */
	bool to_abs;
	uint32_t qn, msn, mo;           /* untagged */
	uint32_t payload;               /* octets behind the DDP header: pattern */
	const struct expect_read *read; /* or a Read Request body of 28 octets, */
	int body_change;                /* made so much longer or shorter */
	const char *body;               /* or these octets, `payload` of them */
	uint32_t cut_ulpdu;             /* 1 + n: only the first n octets of the ULPDU, and ULPDU_Length says so */
	uint32_t flip;      /* 1 + n: bit n of the FPDU (0x80 of octet 0 is bit 0) is inverted after the CRC */
	uint32_t flip_tail; /* 1 + n: the same, counted back from the FPDU's last bit */
	enum expect_crc crc;
	uint8_t pad;      /* value of the pad octets */
	uint32_t missing; /* the last n octets never come */
};

/* ---- the outcome ---- */

enum expect_outcome {
	EXPECT_ACCEPT,    /* all of it; the stream goes on */
	EXPECT_TERMINATE, /* a Terminate, then FIN */
	EXPECT_TERM_IN,   /* a Terminate was received: to ERROR, event with its reason, no Terminate back, FIN */
	EXPECT_RESET      /* no Terminate: flushed, RST */
};

struct expect_row {
	const char *name; /* row of the table */
	const char *what;
	unsigned setup;
	uint32_t recvs, recv_len; /* receives posted, and octets of each */
	struct expect_fpdu fpdu[4];
	uint32_t n; /* FPDUs */
	enum expect_outcome outcome;
	uint8_t layer, etype, code; /* TERMINATE; TERM_IN: as read (malformed and all 0: not said) */
	bool md, r;                 /* header copies: M and D, R */
	uint8_t fault_at;           /* the FPDU whose header is copied; 0: the last, else its number from 1 */
	uint8_t alt_layer, alt_etype, alt_code; /* also right, when any is not 0; then with the last one's header */
	bool malformed;                         /* TERM_IN: reason "malformed" */
	bool placed;        /* may octets of the faulty FPDU be in memory?  Nothing of a later one ever is */
	uint32_t received;  /* receives that complete with success */
	uint32_t responses; /* Read Responses owed and sent */
};

/* Shorthands for the rows. */
#define EXPECT_UNTAGGED(d, o, q, m, off, len) \
	.ddp = (d), .rdmap = (o), .qn = (q), .msn = (m), .mo = (off), .payload = (len)
#define EXPECT_TAGGED(d, o, s, t, len) .ddp = (d), .rdmap = (o), .stag = EXPECT_##s, .to = (t), .payload = (len)
#define EXPECT_SEND(m, off, len) EXPECT_UNTAGGED(0x41, 0x43, 0, m, off, len)
#define EXPECT_SEND_PART(m, off, len) EXPECT_UNTAGGED(0x01, 0x43, 0, m, off, len)
#define EXPECT_WRITE(s, t, len) EXPECT_TAGGED(0xc1, 0x40, s, t, len)
#define EXPECT_WRITE_PART(s, t, len) EXPECT_TAGGED(0x81, 0x40, s, t, len)
#define EXPECT_RESP(s, t, len) EXPECT_TAGGED(0xc1, 0x42, s, t, len)
#define EXPECT_RESP_PART(s, t, len) EXPECT_TAGGED(0x81, 0x42, s, t, len)
#define EXPECT_REQ(...)                     \
	.read = &(const struct expect_read) \
	{                                   \
		__VA_ARGS__                 \
	}
#define EXPECT_READ_OF(m, ...) EXPECT_UNTAGGED(0x41, 0x41, 1, m, 0, 0), EXPECT_REQ(__VA_ARGS__)
#define EXPECT_TERM_MSG(m, off, octets) EXPECT_UNTAGGED(0x41, 0x47, 2, m, off, sizeof(octets) - 1), .body = octets

#define EXPECT_FAULT(l, e, c) .outcome = EXPECT_TERMINATE, .layer = (l), .etype = (e), .code = (c)
#define EXPECT_FAULT_MD(l, e, c) EXPECT_FAULT(l, e, c), .md = true
#define EXPECT_FAULT_MDR(l, e, c) EXPECT_FAULT_MD(l, e, c), .r = true
#define EXPECT_OK(n_recv) .outcome = EXPECT_ACCEPT, .received = (n_recv)

/* clang-format off */
static const struct expect_row expect_rows[] = {
	/* ---- F1: CRC, L2/E0/C2 without copies; nothing of this FPDU placed ---- */
	{"F1", "control octet", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip = 1 + 8 * 2 + 1}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "STag of a Write", 0, 0, 0, {{EXPECT_WRITE(RW, 0, 16), .flip = 1 + 8 * 4 + 31}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "TO of a Write", 0, 0, 0, {{EXPECT_WRITE(RW, 0, 16), .flip = 1 + 8 * 8 + 58}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "MSN", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip = 1 + 8 * 12 + 31}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "payload", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip = 1 + 8 * 20 + 77}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "pad", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip_tail = 1 + 8 * 4}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "CRC field, first bit", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip_tail = 1 + 31}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "CRC field, last bit", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .flip_tail = 1}}, 1, EXPECT_FAULT(2, 0, 0x02)},
	{"F1", "nothing behind it is placed", 0, 2, 64, {{EXPECT_SEND(1, 0, 8)}, {EXPECT_WRITE(RW, 0, 16), .crc = EXPECT_CRC_GARBAGE}, {EXPECT_SEND(2, 0, 8)}},
	 3, EXPECT_FAULT(2, 0, 0x02), .fault_at = 2, .received = 1},
	{"F1", "before every other fault", 0, 0, 0, {{EXPECT_UNTAGGED(0x42, 0x4f, 9, 7, 3, 4), .crc = EXPECT_CRC_GARBAGE}}, 1, EXPECT_FAULT(2, 0, 0x02)},

	/* ---- F3: ULPDU shorter than its headers, L2/E0/C3 ---- */
	{"F3", "length 0", 0, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 0}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "length 1", 0, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 1}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "length 2", 0, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 2}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "tagged, 13", 0, 0, 0, {{EXPECT_WRITE(RW, 0, 0), .cut_ulpdu = 1 + 13}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "tagged Read Response, 13", EXPECT_READ, 0, 0, {{EXPECT_RESP(SINK, 0, 0), .cut_ulpdu = 1 + 13}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "untagged, 13", 0, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 13}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "untagged, 17", 0, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 17}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "Read Request, 45", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW), .cut_ulpdu = 1 + 45}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "Read Request, 18", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW), .cut_ulpdu = 1 + 18}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"F3", "CRC off", EXPECT_CRC_OFF, 1, 64, {{EXPECT_SEND(1, 0, 0), .cut_ulpdu = 1 + 17}}, 1, EXPECT_FAULT(2, 0, 0x03)},

	/* ---- F4 to F7, F9 ---- */
	{"F4", "length 64769", 0, 1, 65536, {{EXPECT_SEND(1, 0, 64769 - 18)}}, 1, EXPECT_OK(1)},
	{"F4", "length 65535", 0, 1, 65536, {{EXPECT_SEND(1, 0, 65535 - 18)}}, 1, EXPECT_OK(1)},
	{"F5", "length 64768", 0, 1, 65536, {{EXPECT_SEND(1, 0, 64768 - 18)}}, 1, EXPECT_OK(1)},
	{"F6", "stale pad, 3 octets", 0, 1, 64, {{EXPECT_SEND(1, 0, 13), .pad = 0x5a}}, 1, EXPECT_OK(1)},
	{"F6", "stale pad, 1 octet", 0, 0, 0, {{EXPECT_WRITE(RW, 0, 15), .pad = 0xff}}, 1, EXPECT_OK(0)},
	{"F7", "FIN inside an FPDU", EXPECT_PEER_FIN, 1, 64, {{EXPECT_SEND(1, 0, 16), .missing = 5}}, 1, .outcome = EXPECT_RESET},
	{"F7", "FIN inside ULPDU_Length", EXPECT_PEER_FIN, 2, 64, {{EXPECT_SEND(1, 0, 16)}, {EXPECT_SEND(2, 0, 16), .missing = 39}}, 2, .outcome = EXPECT_RESET, .received = 1},
	{"F7", "FIN in an unfinished message", EXPECT_PEER_FIN, 1, 64, {{EXPECT_SEND_PART(1, 0, 16)}}, 1, .outcome = EXPECT_RESET},
	{"F7", "FIN with an own Read outstanding", EXPECT_PEER_FIN | EXPECT_READ, 0, 0, {{EXPECT_WRITE(RW, 0, 8)}}, 1, .outcome = EXPECT_RESET},
	{"F7", "FIN after a whole message", EXPECT_PEER_FIN, 1, 64, {{EXPECT_SEND(1, 0, 16)}}, 1, EXPECT_OK(1)},
	{"F9", "CRC off, garbage in its field", EXPECT_CRC_OFF, 1, 64, {{EXPECT_SEND(1, 0, 16), .crc = EXPECT_CRC_GARBAGE}}, 1, EXPECT_OK(1)},

	/* ---- D1: DDP version; the layout is not known to be ours: no copies ---- */
	{"D1", "tagged, DV 0", 0, 0, 0, {{EXPECT_TAGGED(0xc0, 0x40, RW, 0, 8)}}, 1, EXPECT_FAULT(1, 1, 0x04)},
	{"D1", "tagged, DV 2", 0, 0, 0, {{EXPECT_TAGGED(0xc2, 0x40, RW, 0, 8)}}, 1, EXPECT_FAULT(1, 1, 0x04)},
	{"D1", "tagged, DV 3", 0, 0, 0, {{EXPECT_TAGGED(0xc3, 0x40, RW, 0, 8)}}, 1, EXPECT_FAULT(1, 1, 0x04)},
	{"D1", "untagged, DV 0", 0, 1, 64, {{EXPECT_UNTAGGED(0x40, 0x43, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(1, 2, 0x06)},
	{"D1", "untagged, DV 2", 0, 1, 64, {{EXPECT_UNTAGGED(0x42, 0x43, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(1, 2, 0x06)},
	{"D1", "untagged, DV 3", 0, 1, 64, {{EXPECT_UNTAGGED(0x43, 0x43, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(1, 2, 0x06)},

	/* ---- D2 to D7: tagged ---- */
	{"D2", "unknown STag", 0, 0, 0, {{EXPECT_WRITE(UNKNOWN, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D2", "STag 0", 0, 0, 0, {{EXPECT_WRITE(NO_STAG, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D2", "wrong key", 0, 0, 0, {{EXPECT_WRITE(BAD_KEY, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D2", "invalidated STag", 0, 0, 0, {{EXPECT_WRITE(GONE, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D2", "in the second segment", 0, 0, 0, {{EXPECT_WRITE_PART(RW, 0, 8)}, {EXPECT_WRITE(UNKNOWN, 8, 8)}}, 2, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D3", "other PD", 0, 0, 0, {{EXPECT_WRITE(OTHER_PD, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x02)},
	{"D4", "below the base", 0, 0, 0, {{EXPECT_WRITE(RW, -1, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"D4", "end beyond by one", 0, 0, 0, {{EXPECT_WRITE(RW, EXPECT_MR_LEN - 7, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"D4", "begins at the end", 0, 0, 0, {{EXPECT_WRITE(RW, EXPECT_MR_LEN, 1)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"D4", "the last octets are inside", 0, 0, 0, {{EXPECT_WRITE(RW, EXPECT_MR_LEN - 8, 8)}}, 1, EXPECT_OK(0)},
	{"D5", "TO + length wraps", 0, 0, 0, {{EXPECT_WRITE(RW, -16, 32), .to_abs = true}}, 1, EXPECT_FAULT_MD(1, 1, 0x03)},
	{"D6", "no remote write right", 0, 0, 0, {{EXPECT_WRITE(RO, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"D7", "zero-length Write, unknown STag", 0, 0, 0, {{EXPECT_WRITE(UNKNOWN, 0x1234, 0)}}, 1, EXPECT_OK(0)},
	{"D7", "zero-length Write, other PD", 0, 0, 0, {{EXPECT_WRITE(OTHER_PD, 0, 0)}}, 1, EXPECT_OK(0)},
	{"D7", "zero-length Write, TO at the very end of the space", 0, 0, 0, {{EXPECT_WRITE(RW, -1, 0), .to_abs = true}}, 1, EXPECT_OK(0)},
	{"D7", "zero-length Read Response without a Read", 0, 0, 0, {{EXPECT_RESP(SINK, 0, 0)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},

	/* ---- D8 to D12: untagged ---- */
	{"D8", "Send on QN 1", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x43, 1, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Send on QN 2", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x43, 2, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Send on QN 4", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x43, 4, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Send on QN 0xffffffff", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x43, 0xffffffff, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Read Request on QN 0", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x41, 0, 1, 0, 0), EXPECT_REQ(.size = 8, .src = EXPECT_RW)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Read Request on QN 2", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x41, 2, 1, 0, 0), EXPECT_REQ(.size = 8, .src = EXPECT_RW)}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D8", "Terminate on QN 0", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x47, 0, 1, 0, 4), .body = "\x20\x02\0\0"}}, 1, EXPECT_FAULT_MD(1, 2, 0x01)},
	{"D9", "no buffer", 0, 0, 0, {{EXPECT_SEND(1, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x02)},
	{"D9", "no second buffer", 0, 1, 64, {{EXPECT_SEND(1, 0, 8)}, {EXPECT_SEND(2, 0, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x02), .received = 1},
	{"D9", "no buffer, zero length", 0, 0, 0, {{EXPECT_SEND(1, 0, 0)}}, 1, EXPECT_FAULT_MD(1, 2, 0x02)},
	{"D10", "repeated", 0, 2, 64, {{EXPECT_SEND(1, 0, 8)}, {EXPECT_SEND(1, 0, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x03), .received = 1},
	{"D10", "skipped", 0, 2, 64, {{EXPECT_SEND(2, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x03)},
	{"D10", "0 at start", 0, 1, 64, {{EXPECT_SEND(0, 0, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x03)},
	{"D10", "wrap", EXPECT_MSN_WRAP, 2, 64, {{EXPECT_SEND(0xffffffff, 0, 8)}, {EXPECT_SEND(0, 0, 8)}}, 2, EXPECT_OK(2)},
	{"D10", "wrap, 1 instead of 0", EXPECT_MSN_WRAP, 2, 64, {{EXPECT_SEND(0xffffffff, 0, 8)}, {EXPECT_SEND(1, 0, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x03), .received = 1},
	{"D10", "Read Request skipped", 0, 0, 0, {{EXPECT_READ_OF(2, .size = 8, .src = EXPECT_RW)}}, 1, EXPECT_FAULT_MD(1, 2, 0x03)},
	{"D11", "first segment", 0, 1, 64, {{EXPECT_SEND(1, 4, 8)}}, 1, EXPECT_FAULT_MD(1, 2, 0x04)},
	{"D11", "gap", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_SEND(1, 12, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x04)},
	{"D11", "overlap", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_SEND(1, 4, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x04)},
	{"D11", "Read Request", 0, 0, 0, {{EXPECT_UNTAGGED(0x41, 0x41, 1, 1, 4, 0), EXPECT_REQ(.size = 8, .src = EXPECT_RW)}}, 1, EXPECT_FAULT_MD(1, 2, 0x04)},
	{"D12", "by one, one segment", 0, 1, 16, {{EXPECT_SEND(1, 0, 17)}}, 1, EXPECT_FAULT_MD(1, 2, 0x05)},
	{"D12", "by one, second segment", 0, 1, 16, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_SEND(1, 8, 9)}}, 2, EXPECT_FAULT_MD(1, 2, 0x05)},
	{"D12", "first of two segments", 0, 1, 16, {{EXPECT_SEND_PART(1, 0, 20)}}, 1, EXPECT_FAULT_MD(1, 2, 0x05)},
	{"D12", "exactly full", 0, 1, 16, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_SEND(1, 8, 8)}}, 2, EXPECT_OK(1)},
	{"D12", "buffer of 0 octets", 0, 1, 0, {{EXPECT_SEND(1, 0, 1)}}, 1, EXPECT_FAULT_MD(1, 2, 0x05)},

	/* ---- D14 to D18 ---- */
	{"D14", "next message inside a message", 0, 2, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_SEND(2, 0, 8)}}, 2, EXPECT_FAULT_MD(1, 2, 0x03)},
	{"D14", "Read Response inside a Write", EXPECT_READ, 0, 0, {{EXPECT_WRITE_PART(RW, 0, 8)}, {EXPECT_RESP(SINK, 0, EXPECT_READ_LEN)}}, 2, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"D14", "Write inside a Read Response", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 8)}, {EXPECT_WRITE(RW, 0, 8)}}, 2, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"D14", "tagged between untagged", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_WRITE(RW, 0, 8)}, {EXPECT_SEND(1, 8, 8)}}, 3, EXPECT_OK(1)},
	{"D14", "other queue between", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_READ_OF(1, .size = 0, .src = EXPECT_UNKNOWN)}, {EXPECT_SEND(1, 8, 8)}},
	 3, EXPECT_OK(1), .responses = 1},
	{"D15", "DDP reserved bits", 0, 1, 64, {{EXPECT_UNTAGGED(0x7d, 0x43, 0, 1, 0, 8)}}, 1, EXPECT_OK(1)},
	{"D15", "DDP reserved bits, tagged", 0, 0, 0, {{EXPECT_TAGGED(0xfd, 0x40, RW, 0, 8)}}, 1, EXPECT_OK(0)},
	{"D15", "RDMAP reserved bits", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x73, 0, 1, 0, 8)}}, 1, EXPECT_OK(1)},
	{"D15", "Invalidate STag in a plain Send: ignored", 0, 1, 64, {{EXPECT_SEND(1, 0, 8), .stag = EXPECT_RW}}, 1, EXPECT_OK(1)},
	{"D16", "TO jumps inside a Write", 0, 0, 0, {{EXPECT_WRITE_PART(RW, 100, 8)}, {EXPECT_WRITE(RW, 0, 8)}}, 2, EXPECT_OK(0)},
	{"D16", "STag jumps inside a Write", 0, 0, 0, {{EXPECT_WRITE_PART(RW, 0, 8)}, {EXPECT_WRITE(WO, 8, 8)}}, 2, EXPECT_OK(0)},
	{"D17", "a few empty segments", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 0)}, {EXPECT_SEND_PART(1, 0, 0)}, {EXPECT_SEND(1, 0, 8)}}, 3, EXPECT_OK(1)},
	{"D18", "Send becomes Send with SE", 0, 1, 64, {{EXPECT_SEND_PART(1, 0, 8)}, {EXPECT_UNTAGGED(0x41, 0x45, 0, 1, 8, 8)}}, 2, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"D18", "Send with SE becomes Send", 0, 1, 64, {{EXPECT_UNTAGGED(0x01, 0x45, 0, 1, 0, 8)}, {EXPECT_SEND(1, 8, 8)}}, 2, EXPECT_FAULT_MD(0, 2, 0x06)},

	/* ---- R1: RDMAP version, no copies ---- */
	{"R1", "RV 0", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x03, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(0, 2, 0x05)},
	{"R1", "RV 2", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x83, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(0, 2, 0x05)},
	{"R1", "RV 3", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0xc3, 0, 1, 0, 8)}}, 1, EXPECT_FAULT(0, 2, 0x05)},
	{"R1", "tagged, RV 0", 0, 0, 0, {{EXPECT_TAGGED(0xc1, 0x00, RW, 0, 8)}}, 1, EXPECT_FAULT(0, 2, 0x05)},

	/* ---- R2: unknown opcodes; R3: T contradicts the opcode ---- */
#define EXPECT_R2(op)                                                                                                        \
	{"R2", "opcode " #op, 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x40 | op, 0, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)}
#define EXPECT_R2_TAGGED(op)                                                                                                 \
	{"R2", "tagged opcode " #op, 0, 0, 0, {{EXPECT_TAGGED(0xc1, 0x40 | op, RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)}
	EXPECT_R2(12), EXPECT_R2(13), EXPECT_R2(14), EXPECT_R2(15),
	EXPECT_R2_TAGGED(8), EXPECT_R2_TAGGED(9), EXPECT_R2_TAGGED(10), EXPECT_R2_TAGGED(11),
	EXPECT_R2_TAGGED(12), EXPECT_R2_TAGGED(13), EXPECT_R2_TAGGED(14), EXPECT_R2_TAGGED(15),
	{"R3", "untagged Write", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x40, 0, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Read Request", 0, 0, 0, {{EXPECT_TAGGED(0xc1, 0x41, RW, 0, 28)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "untagged Read Response", EXPECT_READ, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x42, 0, 1, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Send", 0, 1, 64, {{EXPECT_TAGGED(0xc1, 0x43, RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Send with Invalidate", 0, 1, 64, {{EXPECT_TAGGED(0xc1, 0x44, RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Send with SE", 0, 1, 64, {{EXPECT_TAGGED(0xc1, 0x45, RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Send with SE and Invalidate", 0, 1, 64, {{EXPECT_TAGGED(0xc1, 0x46, RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R3", "tagged Terminate", 0, 0, 0, {{EXPECT_TAGGED(0xc1, 0x47, RW, 0, 4)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},

	/* ---- R4, R5, R17: Read Responses ---- */
	{"R4", "no Read", 0, 0, 0, {{EXPECT_RESP(RW, 0, 8)}}, 1, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R4", "after the last", EXPECT_READ, 0, 0, {{EXPECT_RESP(SINK, 0, EXPECT_READ_LEN)}, {EXPECT_RESP(SINK, 0, EXPECT_READ_LEN)}}, 2, EXPECT_FAULT_MD(0, 2, 0x06)},
	{"R5", "as asked", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 60)}, {EXPECT_RESP(SINK, 60, 40)}}, 2, EXPECT_OK(0)},
	{"R5", "other STag", EXPECT_READ, 0, 0, {{EXPECT_RESP(RW, 0, EXPECT_READ_LEN)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"R5", "other TO", EXPECT_READ, 0, 0, {{EXPECT_RESP(SINK, 4, EXPECT_READ_LEN)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "other TO, second segment", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 60)}, {EXPECT_RESP(SINK, 64, 40)}}, 2, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "other STag, second segment", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 60)}, {EXPECT_RESP(RW, 60, 40)}}, 2, EXPECT_FAULT_MD(1, 1, 0x00)},
	{"R5", "too long, not last", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 1400)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "too long by one, not last", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, EXPECT_READ_LEN + 1)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "too long by one, last", EXPECT_READ, 0, 0, {{EXPECT_RESP_PART(SINK, 0, 60)}, {EXPECT_RESP(SINK, 60, 41)}}, 2, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "last too early", EXPECT_READ, 0, 0, {{EXPECT_RESP(SINK, 0, EXPECT_READ_LEN - 1)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R5", "empty and last", EXPECT_READ, 0, 0, {{EXPECT_RESP(SINK, 0, 0)}}, 1, EXPECT_FAULT_MD(1, 1, 0x01)},
	{"R17", "sink gone", EXPECT_READ | EXPECT_SINK_GONE, 0, 0, {{EXPECT_RESP(SINK, 0, EXPECT_READ_LEN)}}, 1, EXPECT_FAULT_MD(1, 1, 0x00)},

	/* ---- R6 to R9: Read Requests ---- */
	{"R6", "unknown STag", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_UNKNOWN)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x00)},
	{"R6", "wrong key", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_BAD_KEY)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x00)},
	{"R6", "invalidated STag", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_GONE)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x00)},
	{"R6", "below the base", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW, .src_to = -1)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x01)},
	{"R6", "end beyond by one", 0, 0, 0, {{EXPECT_READ_OF(1, .size = EXPECT_MR_LEN, .src = EXPECT_RW, .src_to = 1)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x01)},
	{"R6", "size 2^32 - 1", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 0xffffffff, .src = EXPECT_RW)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x01)},
	{"R6", "no remote read right", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_WO)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x02)},
	{"R6", "other PD", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_OTHER_PD)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x03)},
	{"R6", "TO wraps", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 32, .src = EXPECT_RW, .src_to = -16, .src_abs = true)}}, 1, EXPECT_FAULT_MDR(0, 1, 0x04)},
	{"R6", "all of it is served", 0, 0, 0, {{EXPECT_READ_OF(1, .size = EXPECT_MR_LEN, .src = EXPECT_RO)}}, 1, EXPECT_OK(0), .responses = 1},
	{"R7", "size 0, unknown STag", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 0, .src = EXPECT_UNKNOWN)}}, 1, EXPECT_OK(0), .responses = 1},
	{"R7", "size 0, no right", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 0, .src = EXPECT_WO)}}, 1, EXPECT_OK(0), .responses = 1},
	{"R8", "as many as IRD", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW)}, {EXPECT_READ_OF(2, .size = 8, .src = EXPECT_RW)}}, 2, EXPECT_OK(0), .responses = 2},
	{"R8", "one more than IRD", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW)}, {EXPECT_READ_OF(2, .size = 8, .src = EXPECT_RW)}, {EXPECT_READ_OF(3, .size = 8, .src = EXPECT_RW)}},
	 3, EXPECT_FAULT_MD(1, 2, 0x02)},
	{"R9", "29 octets", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW), .body_change = 1}}, 1, EXPECT_FAULT_MD(1, 2, 0x05)},
	{"R9", "27 octets", 0, 0, 0, {{EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW), .body_change = -1}}, 1, EXPECT_FAULT(2, 0, 0x03)},
	{"R9", "without L", 0, 0, 0, {{EXPECT_UNTAGGED(0x01, 0x41, 1, 1, 0, 0), EXPECT_REQ(.size = 8, .src = EXPECT_RW)}, {EXPECT_READ_OF(1, .size = 8, .src = EXPECT_RW)}},
	 2, EXPECT_FAULT_MD(0, 2, 0xff), .fault_at = 1, .alt_layer = 1, .alt_etype = 2, .alt_code = 0x04},

	/* ---- R10: Send with Invalidate; the data may be in place, the receive never succeeds ---- */
	{"R10", "unknown STag", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x44, 0, 1, 0, 8), .stag = EXPECT_UNKNOWN}}, 1, EXPECT_FAULT_MD(0, 2, 0x09), .placed = true},
	{"R10", "already invalid", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x44, 0, 1, 0, 8), .stag = EXPECT_GONE}}, 1, EXPECT_FAULT_MD(0, 2, 0x09), .placed = true},
	{"R10", "wrong key", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x44, 0, 1, 0, 8), .stag = EXPECT_BAD_KEY}}, 1, EXPECT_FAULT_MD(0, 2, 0x09), .placed = true},
	{"R10", "shared by the PD", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x44, 0, 1, 0, 8), .stag = EXPECT_RW}}, 1, EXPECT_FAULT_MD(0, 2, 0x09), .placed = true},
	{"R10", "shared by the PD, with SE", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x46, 0, 1, 0, 8), .stag = EXPECT_RW}}, 1, EXPECT_FAULT_MD(0, 2, 0x09), .placed = true},
	{"R10", "other PD", 0, 1, 64, {{EXPECT_UNTAGGED(0x41, 0x44, 0, 1, 0, 8), .stag = EXPECT_OTHER_PD}}, 1, EXPECT_FAULT_MD(0, 1, 0x09), .placed = true},

	/* ---- R11 to R13: Terminates; never one in answer ---- */
#define EXPECT_DDP_COPY "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0"
	{"R11", "no copies", 0, 1, 64, {{EXPECT_TERM_MSG(1, 0, "\x20\x02\0\0")}}, 1, .outcome = EXPECT_TERM_IN, .layer = 2, .code = 0x02},
	{"R11", "M and D", 0, 1, 64, {{EXPECT_TERM_MSG(1, 0, "\x12\x02\xc0\0\0\x1a" EXPECT_DDP_COPY)}}, 1, .outcome = EXPECT_TERM_IN, .layer = 1, .etype = 2, .code = 0x02},
	{"R11", "nibbles swapped", 0, 1, 64, {{EXPECT_TERM_MSG(1, 0, "\x21\x02\x03\0\0\x08" EXPECT_DDP_COPY)}}, 1, .outcome = EXPECT_TERM_IN, .layer = 1, .etype = 2, .code = 0x02},
	{"R12", "empty", 0, 0, 0, {{EXPECT_TERM_MSG(1, 0, "")}}, 1, .outcome = EXPECT_TERM_IN, .malformed = true},
	{"R12", "3 octets", 0, 0, 0, {{EXPECT_TERM_MSG(1, 0, "\x20\x02\0")}}, 1, .outcome = EXPECT_TERM_IN, .malformed = true},
	{"R12", "D without the header", 0, 0, 0, {{EXPECT_TERM_MSG(1, 0, "\x12\x02\xc0\0\0\x1a")}}, 1, .outcome = EXPECT_TERM_IN, .layer = 1, .etype = 2, .code = 0x02, .malformed = true},
	{"R12", "R without the request", 0, 0, 0, {{EXPECT_TERM_MSG(1, 0, "\x01\x00\xe0\0\0\x2e" EXPECT_DDP_COPY)}}, 1, .outcome = EXPECT_TERM_IN, .etype = 1, .malformed = true},
	{"R12", "MSN 2", 0, 0, 0, {{EXPECT_TERM_MSG(2, 0, "\x20\x02\0\0")}}, 1, .outcome = EXPECT_TERM_IN, .layer = 2, .code = 0x02, .malformed = true},
	{"R12", "MO 1", 0, 0, 0, {{EXPECT_TERM_MSG(1, 1, "\x20\x02\0\0")}}, 1, .outcome = EXPECT_TERM_IN, .layer = 2, .code = 0x02, .malformed = true},
	{"R12", "64 KiB", 0, 0, 0, {{EXPECT_UNTAGGED(0x41, 0x47, 2, 1, 0, 65535 - 18)}}, 1, .outcome = EXPECT_TERM_IN, .malformed = true},
	{"R13", "Send behind it", 0, 1, 64, {{EXPECT_TERM_MSG(1, 0, "\x20\x02\0\0")}, {EXPECT_SEND(1, 0, 8)}}, 2, .outcome = EXPECT_TERM_IN, .layer = 2, .code = 0x02},
	{"R13", "fault behind it", 0, 1, 64, {{EXPECT_TERM_MSG(1, 0, "\x20\x02\0\0")}, {EXPECT_WRITE(UNKNOWN, 0, 8)}}, 2, .outcome = EXPECT_TERM_IN, .layer = 2, .code = 0x02},

	/* ---- R14, R18 ---- */
	{"R14", "the first of two", 0, 1, 64, {{EXPECT_WRITE(UNKNOWN, 0, 8)}, {EXPECT_SEND(9, 0, 8)}}, 2, EXPECT_FAULT_MD(1, 1, 0x00), .fault_at = 1},
	{"R14", "good ones before it count", 0, 1, 64, {{EXPECT_SEND(1, 0, 8)}, {EXPECT_WRITE(OTHER_PD, 0, 8)}, {EXPECT_WRITE(UNKNOWN, 0, 8)}}, 3, EXPECT_FAULT_MD(1, 1, 0x02), .fault_at = 2, .received = 1},
	{"R18", "after our FIN", EXPECT_OUR_FIN, 1, 64, {{EXPECT_WRITE(UNKNOWN, 0, 8)}}, 1, .outcome = EXPECT_RESET},
};
/* clang-format on */

#define EXPECT_ROWS (sizeof(expect_rows) / sizeof(expect_rows[0]))
#define EXPECT_FPDU_MAX (2 + 65535 + 3 + 4)

/* ---- the octets of an FPDU ---- */

static inline uint8_t *
expect_be(uint8_t *p, uint64_t v, unsigned octets)
{
	for (unsigned i = 0; i < octets; i++)
		p[i] = (uint8_t)(v >> 8 * (octets - 1 - i));
	return p + octets;
}

static inline uint8_t *
expect_header(uint8_t *p, const struct expect_fpdu *f, const struct expect_world *w)
{
	*p++ = f->ddp;
	*p++ = f->rdmap;
	p = expect_be(p, w->stag[f->stag], 4);
	if (f->ddp & 0x80)
		return expect_be(p, (uint64_t)f->to + (f->to_abs ? 0 : w->base[f->stag]), 8);
	p = expect_be(p, f->qn, 4);
	p = expect_be(p, f->msn, 4);
	return expect_be(p, f->mo, 4);
}

/* What stands behind the DDP header.  The pattern begins with 0xa0 and never is 0. */
static inline uint8_t *
expect_payload(uint8_t *p, const struct expect_fpdu *f, const struct expect_world *w)
{
	if (f->read) {
		memset(p, 0, 32);
		expect_be(p, 0x51515151, 4); /* sink STag */
		expect_be(p + 4, 0x5252, 8); /* sink TO */
		expect_be(p + 12, f->read->size, 4);
		expect_be(p + 16, w->stag[f->read->src], 4);
		expect_be(p + 20, (uint64_t)f->read->src_to + (f->read->src_abs ? 0 : w->base[f->read->src]), 8);
		return p + 28 + f->body_change;
	}
	for (uint32_t i = 0; i < f->payload; i++)
		p[i] = f->body ? (uint8_t)f->body[i] : (uint8_t)(0xa0 + i % 64);
	return p + f->payload;
}

static inline uint32_t
expect_crc(const struct expect_row *row, const struct expect_fpdu *f, const uint8_t *out, const uint8_t *end)
{
	uint32_t crc = iw_crc32c_final(iw_crc32c_scalar(IW_CRC32C_INIT, out, (size_t)(end - out)));

	if (f->crc == EXPECT_CRC_GARBAGE)
		return crc ^ 0xdeadbeef;
	return row->setup & EXPECT_CRC_OFF ? 0 : crc;
}

/* Writes FPDU i of the row, as the peer sends it, to out[EXPECT_FPDU_MAX]; returns the octets that come. */
static inline uint32_t
expect_build(const struct expect_row *row, uint32_t i, const struct expect_world *w, uint8_t *out)
{
	const struct expect_fpdu *f = &row->fpdu[i];
	uint8_t *end = expect_payload(expect_header(out + 2, f, w), f, w);
	uint32_t ulpdu = f->cut_ulpdu ? f->cut_ulpdu - 1 : (uint32_t)(end - out - 2), len, crc;

	expect_be(out, ulpdu, 2);
	for (len = 2 + ulpdu; len % 4; len++)
		out[len] = f->pad;
	crc = expect_crc(row, f, out, out + len);
	for (unsigned k = 0; k < 4; k++)
		out[len++] = (uint8_t)(crc >> 8 * k);
	if (f->flip)
		out[(f->flip - 1) / 8] ^= (uint8_t)(0x80 >> (f->flip - 1) % 8);
	if (f->flip_tail)
		out[len - 1 - (f->flip_tail - 1) / 8] ^= (uint8_t)(1 << (f->flip_tail - 1) % 8);
	return len - f->missing;
}

#endif
