/* SPDX-License-Identifier: BSD-3-Clause */
/* One iWARP host of a program: a domain and an engine, or several, on a DPDK port. */
#ifndef HOST_H
#define HOST_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

struct host_options {
	struct iw_addr ip, gateway;
	uint8_t prefix_len;
	bool has_ip; /* or autoconf */
	struct iw_engine_addr more[IW_ENGINE_MORE_ADDRS];
	uint32_t n_more;
	struct iw_addr gateway6; /* beside an IPv4 gateway */
	bool autoconf, no_claim;
	uint16_t vlan; /* 0: untagged */
	uint16_t mtu;  /* 0: the port's */
	uint16_t port_id;
	uint32_t max_conns; /* 0: the library's default */
	uint32_t engines;   /* on the port; 0: 1 */
	bool zero_copy;     /* send without copying, where the port can */
	uint32_t idle_us;   /* sleep when there is nothing to do, so long where frames do not wake; 0: poll */
};

struct host {
	struct iw_domain *domain;
	struct iw_engine *engine; /* the first one */
	struct iw_engine *engines[IW_MAX_ENGINES];
	uint32_t n;         /* of them */
	uint32_t conflicts; /* reported */
};

/* One --ip ADDRESS/LENGTH or --ip auto, and one --gw ADDRESS, of either family each; false after an error line. */
bool host_option_ip(struct host_options *options, const char *text);
bool host_option_gateway(struct host_options *options, const char *text);
bool host_option_idle(struct host_options *options, const char *text); /* microseconds */

/* The options that every program has, for getopt_long(): HOST_OPTIONS("port") names the DPDK port's.  What it returns
 * of them, HOST_OPT_IP and up, goes to host_option() with "--port"; false after an error line. */
enum { HOST_OPT_IP = 512, HOST_OPT_GW, HOST_OPT_VLAN, HOST_OPT_MTU, HOST_OPT_PORT, HOST_OPT_IDLE };
#define HOST_OPTIONS(port)                                                                                        \
	{"ip", required_argument, NULL, HOST_OPT_IP}, {"gw", required_argument, NULL, HOST_OPT_GW},               \
		{"vlan", required_argument, NULL, HOST_OPT_VLAN}, {"mtu", required_argument, NULL, HOST_OPT_MTU}, \
		{"idle-sleep", required_argument, NULL, HOST_OPT_IDLE},                                           \
	{                                                                                                         \
		port, required_argument, NULL, HOST_OPT_PORT                                                      \
	}
bool host_option(struct host_options *options, int opt, const char *port_name, const char *text);

bool host_is_v4(const struct iw_addr *addr);

/* How many engines -l gives a program that can use several: one for each lcore; 1 without -l. */
uint32_t host_lcores(void);
/* Runs work(arg, i) for each engine, on lcores of their own, number 0 on this one; returns when all have ended, what
 * they returned or'ed together. */
int host_run(const struct host *host, int (*work)(void *arg, uint32_t number), void *arg);

/* Opens the port, waits for its link and until it is sure that nobody else has its addresses; an error line and false
 * when one of that fails. */
bool host_open(struct host *host, const struct host_options *options);
/* A turn of the engine; with --idle-sleep, when nothing was done and the caller has nothing to do either, a sleep
 * behind it.  What iw_engine_poll() returned. */
int host_turn(const struct host_options *options, struct iw_engine *engine, bool idle);
/* Answers until nothing has come for a moment (a second at most): a peer whose last FIN was not acknowledged sends
 * it again, and would wait for long if nobody were there; and some drivers (memif) take back what the peer has not yet
 * fetched.  For an end that hung up. */
void host_linger(struct host *host);
/* A line for each address that somebody else has claimed since the last call. */
void host_report_conflicts(struct host *host);
/* Tells peers, frees everything. */
void host_close(struct host *host);

#endif
