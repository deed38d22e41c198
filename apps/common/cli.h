/* SPDX-License-Identifier: BSD-3-Clause */
/* What every program here needs of a command line: numbers, addresses, one line for each error, Ctrl-C. */
#ifndef CLI_H
#define CLI_H

#include <iwarp.h>
#include <stdbool.h>
#include <stdint.h>

/* The name that error lines begin with. */
void cli_init(const char *program);

/* The same, EAL with its part of the arguments, and Ctrl-C: how many arguments were EAL's, or -1 after an error line.
 * megabytes: what to give EAL where there are no hugepages. */
int cli_start(const char *program, unsigned megabytes, int argc, char **argv);

/* The user has said which lcores there are to be. */
bool cli_chose_lcores(void);

/* `-- --help`, or -h: prints usage() and returns true, before EAL is asked, which may have no memory to start with.
 * Without the dashes the help is EAL's, with usage() behind it. */
bool cli_help(int argc, char **argv, void (*usage)(void));

/* "program: ..." and a newline on stderr; returns 1, for `return cli_fail(...)`. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of the programs and the library: they are built together. */
const char *cli_version(void);

/* A decimal number in [min, max], or false after an error line that names the option. */
bool cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* "10.0.0.1/24" and "10.0.0.1", or false after an error line. */
bool cli_address_len(const char *option, const char *text, struct iw_addr *addr, uint8_t *prefix_len);
bool cli_address(const char *option, const char *text, struct iw_addr *addr);

/* True once SIGINT or SIGTERM came (cli_catch_signals() was called before). */
void cli_catch_signals(void);
bool cli_stopped(void);

#endif
