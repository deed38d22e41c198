/* SPDX-License-Identifier: BSD-3-Clause */
/* Every wait of a connection and what bounds it.  Nothing else in the room decides "when".
 *
 *   TCP_TIMER_RTO        something is in flight: SYN, SYN-ACK, data, FIN.  RFC 6298, 200 ms (settable) to 60 s,
 *                        doubling.  SYN: 1 s first, given up after 7 retries (SYN-ACK: 5).
 *   TCP_TIMER_LOSS       with SACK: RACK's reordering window has not passed for all that was sent before something that
 *                        arrived (RFC 8985 §6.2); else a tail loss probe, two SRTT after the last new data (§7).
 *   TCP_TIMER_PACE       pacing holds back new data.
 *   TCP_TIMER_PERSIST    nothing is in flight, something waits, and the peer's window does not let it go: a probe
 *                        (RFC 9293 §3.8.6.1), or the override of silly-window avoidance (§3.8.6.2.1).  Starts at
 *                        the RTO, doubles to 60 s, never gives up while the peer answers.
 *   TCP_TIMER_USER       nothing new was acknowledged for user_timeout (R2, 100 s) although something waits for it;
 *                        before ESTABLISHED: syn_timeout, if the user set one.  An answer at zero window counts.
 *   TCP_TIMER_KEEPALIVE  off unless asked for: nothing was heard for keepalive_ns and nothing is in flight; then a
 *                        probe every keepalive_step_ns (a quarter of that, 1 s to 75 s, at most half of
 *                        user_timeout), and the end after 9 (or keepalive_probes) unanswered ones, or when the
 *                        first one is user_timeout old (RFC 5482 §1).
 *   SYN records          1, 2, 4, 8, 16, 32 s, in tcp_syn.c.
 *   TCP_TIMER_LINGER     nobody owns it any more: FIN_WAIT_2 60 s, everything together at most 60 s beyond the
 *                        user timeout.
 *   TCP_TIMER_PMTU       the path MTU was lowered: 10 min after ICMP, 10 s, 80 s and 640 s after a black hole, then
 *                        the link's is tried again.
 *   TIME_WAIT            2 MSL, in tcp_timewait.c.
 *   owed ACK             no timer: the end of the next poll (design D24); tx_at_ns makes that poll happen.
 *   no mbuf              no timer: tx_at_ns, 1 ms later.
 *
 * Each connection has one struct iw_timer.  Deadlines are stored in at_ns[] and moved freely; the wheel is touched
 * only when one comes to lie before what is armed (design D25). */
#ifndef TCP_TIMER_H
#define TCP_TIMER_H

#include "tcp_conn_obj.h"

#define TCP_SYN_RETRIES 7
#define TCP_USER_TIMEOUT_NS (100 * IW_SEC)
#define TCP_FIN_WAIT_2_NS (60 * IW_SEC)
#define TCP_PERSIST_MAX_NS (60 * IW_SEC)
#define TCP_KEEPALIVE_PROBES 9
#define TCP_NO_MBUF_NS (1 * IW_MS)

/* Sets or moves one deadline; IW_NEVER: off. */
void tcp_timer_set(struct tcp *tcp, struct tcp_conn *c, enum tcp_conn_timer which, uint64_t at_ns);
void tcp_timer_stop_all(struct tcp *tcp, struct tcp_conn *c);

/* After something was sent, acknowledged or appended: RTO runs while something is in flight, USER while something
 * waits.  progress: new data was acknowledged, or a SYN or FIN (both start anew, RFC 6298 §5.3). */
void tcp_timer_update(struct tcp *tcp, struct tcp_conn *c, bool progress, uint64_t now_ns);

/* Starts or stops keepalive as keepalive_ns says.  Hearing something only sets c->last_rx_ns, which is looked at
 * when the timer fires. */
void tcp_timer_keepalive(struct tcp *tcp, struct tcp_conn *c);

/* Bounds the rest of a released connection: at most delay_ns from now, earlier if so it was. */
void tcp_timer_linger(struct tcp *tcp, struct tcp_conn *c, uint64_t delay_ns, uint64_t now_ns);

/* Until the next probe: the RTO, doubled with each. */
uint64_t tcp_timer_persist_interval(const struct tcp_conn *c);

/* Persist, on and off. */
void tcp_timer_persist(struct tcp *tcp, struct tcp_conn *c, bool on, uint64_t now_ns);

#endif
