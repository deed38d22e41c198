/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <iwarp/err.h>

/* One row for each error: name, errno, text.  The switches made of it have no default, so that -Wswitch shows
 * an error without a row. */
#define ERRORS(X)                                                                               \
	X(OK, 0, "no error")                                                                    \
	X(INVAL, EINVAL, "invalid argument, or not allowed in this state")                      \
	X(NOMEM, ENOMEM, "a pool, ring or table is full, or memory is short")                   \
	X(STALE, ESTALE, "the object of this handle no longer exists")                          \
	X(BUSY, EBUSY, "in use by something that must go first")                                \
	X(AGAIN, EAGAIN, "nothing now, later perhaps")                                          \
	X(TOOBIG, EMSGSIZE, "longer than what the receiver of it can take")                     \
	X(ACCESS, EACCES, "memory that was not granted, or without the right asked for")        \
	X(NOTSUP, EOPNOTSUPP, "not possible on this port or in this build")                     \
	X(PD, EPERM, "objects of different protection domains or domains")                      \
	X(NODEV, ENODEV, "no such port or device")                                              \
	X(PORT, EIO, "the port refused to be configured or started")                            \
	X(ADDRINUSE, EADDRINUSE, "address in use")                                              \
	X(ADDRNOTAVAIL, EADDRNOTAVAIL, "not an address of this engine, or no source port free") \
	X(CONNREFUSED, ECONNREFUSED, "connection refused by the peer")                          \
	X(CONNRESET, ECONNRESET, "connection reset by the peer")                                \
	X(CONNABORTED, ECONNABORTED, "connection given up on this side")                        \
	X(TIMEDOUT, ETIMEDOUT, "the peer was silent for too long")                              \
	X(HOSTUNREACH, EHOSTUNREACH, "no route, no neighbour answered, or an ICMP error")       \
	X(PROTO, EPROTO, "protocol error, or a Terminate was sent or received")                 \
	X(NOTCONN, ENOTCONN, "the QP has no stream")

/* An unknown value gives IW_E_MAX. */
static enum iw_err
err_of(int err)
{
	int e = err < 0 && err > -IW_E_MAX ? -err : err;

	return e >= 0 && e < IW_E_MAX ? (enum iw_err)e : IW_E_MAX;
}

const char *
iw_err_name(int err)
{
	switch (err_of(err)) {
#define NAME(name, no, text) \
	case IW_E_##name:    \
		return "IW_E_" #name;
		ERRORS(NAME)
	case IW_E_MAX:
		break;
	}
	return "IW_E_?";
}

const char *
iw_err_text(int err)
{
	switch (err_of(err)) {
#define TEXT(name, no, text) \
	case IW_E_##name:    \
		return text;
		ERRORS(TEXT)
	case IW_E_MAX:
		break;
	}
	return "unknown error";
}

int
iw_err_errno(int err)
{
	switch (err_of(err)) {
#define ERRNO(name, no, text) \
	case IW_E_##name:     \
		return no;
		ERRORS(ERRNO)
	case IW_E_MAX:
		break;
	}
	return EIO;
}
