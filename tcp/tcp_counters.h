/* SPDX-License-Identifier: BSD-3-Clause */
/* What the room counts.  Every drop is one of these. */
#ifndef TCP_COUNTERS_H
#define TCP_COUNTERS_H

#include "counter.h"

/* clang-format off */
#define TCP_COUNTERS(X) \
	X(rx_segs)              /* segments handed to tcp_rx() */ \
	X(rx_fast)              /* of these: by header prediction */ \
	X(rx_crcs)              /* of these: with the CRC32c of their payload taken in the pass of the checksum */ \
	X(rx_bad_hdr)           /* dropped: shorter than its header, bad data offset, bad option length */ \
	X(rx_bad_cksum)         /* dropped */ \
	X(rx_bad_addr)          /* dropped: port 0, or from our own address and port (LAND) */ \
	X(rx_nobody)            /* dropped: no such connection or listener; answered by RST */ \
	X(rx_strays)            /* for another engine of the port, or for nobody: handed on */ \
	X(rx_strays_dropped)    /* dropped: too many of those at once */ \
	X(rx_nobody_rst)        /* dropped: a RST for nobody */ \
	X(rx_listen_bad)        /* dropped: not a plain SYN for a listener */ \
	X(rx_backlog_full)      /* dropped: SYN for a listener whose backlog is full */ \
	X(rx_syn_nomem)         /* dropped: end of a handshake, no connection object; it comes again */ \
	X(syn_cookies)          /* SYN-ACKs sent as cookies: no record was left */ \
	X(syn_cookies_taken)    /* connections made of one */ \
	X(syn_cookies_bad)      /* dropped: ACK for a listener that is none (any more), refused */ \
	X(syn_reset)            /* handshakes that the peer's RST ended */ \
	X(syn_expired)          /* handshakes that the peer never finished */ \
	X(rx_handshake_bad)     /* dropped: does not fit the handshake it belongs to */ \
	X(rx_no_ts)             /* dropped: no timestamp where one was agreed on */ \
	X(rx_paws)              /* dropped: timestamp older than TS.Recent */ \
	X(rx_unacceptable)      /* dropped: outside the receive window */ \
	X(rx_rst_outside)       /* dropped: RST outside the receive window */ \
	X(rx_rst_challenged)    /* dropped: RST in the window, not at RCV.NXT */ \
	X(rx_syn_challenged)    /* dropped: SYN in a synchronized state */ \
	X(rx_no_ack)            /* dropped: neither ACK nor RST nor SYN */ \
	X(rx_no_syn)            /* dropped: in SYN_SENT, neither SYN nor RST */ \
	X(rx_bad_ack)           /* dropped: acknowledges what was not sent or long ago */ \
	X(rx_bad_sack)          /* SACK blocks ignored */ \
	X(rx_after_fin)         /* text behind the peer's FIN, ignored */ \
	X(rx_fin_ignored)       /* FINs beyond the window, or that contradict what has come */ \
	X(rx_after_release)     /* text for nobody: the connection was reset */ \
	X(rx_no_window)         /* text beyond the window, ignored */ \
	X(rx_dup)               /* nothing new in it */ \
	X(rx_ooo)               /* kept out of order */ \
	X(rx_ooo_dropped)       /* out of order beyond the budget */ \
	X(rx_no_node)           /* dropped: no memory to queue it */ \
	X(rx_timewait)          /* for a TIME_WAIT record */ \
	X(rx_timewait_dropped)  /* of these: RST (RFC 1337), an old SYN (RFC 6191), nothing that asks for an answer */ \
	X(challenges)           /* challenge ACKs sent (RFC 5961) */ \
	X(challenges_limited)   /* and those the limit held back */ \
	X(answers_limited)      /* RST and ACK without a connection that the peer's limit held back */ \
	X(tx_segs)              /* segments handed to net, all kinds */ \
	X(tx_tso)               /* frames of several of them, which the port cuts up */ \
	X(tx_data)              /* of these: with new data */ \
	X(tx_retrans)           /* retransmissions, SYN and FIN included */ \
	X(tx_acks)              /* pure ACKs */ \
	X(tx_rst) \
	X(tx_probes)            /* zero-window and keepalive probes */ \
	X(tx_splits)            /* records cut for a small window or path MTU */ \
	X(tx_no_mbuf)           /* something had to wait for an mbuf */ \
	X(tx_no_flight)         /* something had to wait: too many others have something on its way */ \
	X(flights_parted)       /* sending state of an idle connection given to another one */ \
	X(tx_net_refused)       /* frames that net dropped: queue full, no way */ \
	X(fast_retransmits)     /* fast recoveries begun */ \
	X(tlp_probes)           /* tail loss probes sent (RFC 8985) */ \
	X(tlp_repaired)         /* losses that a probe alone has repaired */ \
	X(rx_dsack)             /* ACKs with a D-SACK */ \
	X(undone)               /* recoveries that were a mistake and taken back */ \
	X(ecn_reduced)          /* windows reduced for ECE */ \
	X(rcv_buf_grown)        /* receive windows enlarged */ \
	X(rto)                  /* retransmission timeouts */ \
	X(opened_active) \
	X(opened_passive) \
	X(established) \
	X(resets)               /* connections ended by the peer's RST */ \
	X(timeouts)             /* connections given up */ \
	X(unreach) \
	X(timewait_made) \
	X(timewait_evicted)     /* records ended early: table full */ \
	X(timewait_reused)      /* records ended by a new SYN (RFC 6191) */ \
	X(icmp_ignored)         /* ICMP errors that concern nothing in flight, or soft */ \
	X(icmp_pmtu)            /* path MTU lowered */ \
	X(icmp_pending)         /* ICMP errors put off: they contradict what was acknowledged */ \
	X(black_holes)          /* path MTU lowered because full segments vanish */ \
	X(pmtu_raised)          /* path MTU tried again */
/* clang-format on */

IW_COUNTERS(tcp_counters, TCP_COUNTERS);

#endif
