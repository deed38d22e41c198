/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IWARP_ERR_H
#define IWARP_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Every error of the library.  Functions return 0 or a positive count when all went well, else one of these
 * negated (-IW_E_INVAL).  Where the names mirror errno, iw_err_errno() gives that errno. */
enum iw_err {
	IW_E_OK = 0,
	/* arguments and state */
	IW_E_INVAL,  /* an argument, or a call in a state that does not allow it */
	IW_E_NOMEM,  /* a pool, ring or table is full, or memory is short */
	IW_E_STALE,  /* a handle of something that no longer exists */
	IW_E_BUSY,   /* in use by something that must go first */
	IW_E_AGAIN,  /* nothing now, later perhaps */
	IW_E_TOOBIG, /* longer than what the receiver of it can take */
	IW_E_ACCESS, /* memory that was not granted, or without the right asked for */
	IW_E_NOTSUP, /* not possible on this port or in this build */
	IW_E_PD,     /* objects of different protection domains or domains */
	/* ports and addresses */
	IW_E_NODEV,        /* no such port or device */
	IW_E_PORT,         /* the port refused to be configured or started */
	IW_E_ADDRINUSE,    /* somebody listens there already */
	IW_E_ADDRNOTAVAIL, /* not an address of this engine, or no source port free */
	/* connections */
	IW_E_CONNREFUSED, /* RST in answer to our SYN, or an MPA reject */
	IW_E_CONNRESET,   /* RST, or the stream ended where it may not */
	IW_E_CONNABORTED, /* given up on this side */
	IW_E_TIMEDOUT,    /* the peer was silent for too long */
	IW_E_HOSTUNREACH, /* no own address leads there, no neighbour answered, or a hard ICMP error */
	IW_E_PROTO,       /* the peer broke the protocol, or a Terminate was sent or received */
	IW_E_NOTCONN,     /* the QP has no stream */
	IW_E_MAX
};

/* Name ("IW_E_INVAL") and one-line text of an error; takes the value with either sign; never NULL. */
const char *iw_err_name(int err);
const char *iw_err_text(int err);

/* The errno that fits best, positive; EIO when none does. */
int iw_err_errno(int err);

#ifdef __cplusplus
}
#endif
#endif
