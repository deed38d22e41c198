/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <errno.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_name = "dpdk-iwarp";
static volatile sig_atomic_t stopped;

void
cli_init(const char *program)
{
	program_name = program;
}

int
cli_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fflush(stdout);
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return 1;
}

bool
cli_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == 0 && errno == 0 && *out >= min && *out <= max)
		return true;
	cli_fail("%s %s: not a number from %llu to %llu", option, text, (unsigned long long)min,
		 (unsigned long long)max);
	return false;
}

const char *
cli_version(void)
{
	return IWARP_VERSION;
}

/* "fe80::1%eth1" as "fe80::1%0": the library knows ports by number. */
static const char *
number_zone(const char *text, char *buf, size_t len)
{
	const char *percent = strchr(text, '%');
	uint16_t port_id;

	if (!percent || (percent[1] >= '0' && percent[1] <= '9') || iw_port_find(percent + 1, &port_id) != 0)
		return text;
	snprintf(buf, len, "%.*s%%%u", (int)(percent - text), text, port_id);
	return buf;
}

bool
cli_address(const char *option, const char *text, struct iw_addr *addr)
{
	char numbered[IW_ADDR_TEXT];

	memset(addr, 0, sizeof(*addr));
	if (iw_addr_parse(number_zone(text, numbered, sizeof(numbered)), addr) == 0)
		return true;
	cli_fail("%s %s: not an IP address", option, text);
	return false;
}

bool
cli_address_len(const char *option, const char *text, struct iw_addr *addr, uint8_t *prefix_len)
{
	const char *slash = strchr(text, '/');
	char bare[IW_ADDR_TEXT];
	uint64_t len;

	if (!slash || (size_t)(slash - text) >= sizeof(bare)) {
		cli_fail("%s %s: write ADDRESS/LENGTH, for example 10.0.0.1/24", option, text);
		return false;
	}
	memcpy(bare, text, (size_t)(slash - text));
	bare[slash - text] = 0;
	if (!cli_address(option, bare, addr) || !cli_number(option, slash + 1, 0, strchr(bare, ':') ? 128 : 32, &len))
		return false;
	*prefix_len = (uint8_t)len;
	return true;
}

static void
on_signal(int signal_number)
{
	stopped = 1;
}

void
cli_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static bool chose_lcores;

/* -l, -c, --lcores among EAL's arguments: without, EAL takes every core that there is. */
static bool
names_lcores(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "-l", 2) == 0 || strncmp(argv[i], "-c", 2) == 0 ||
		    strncmp(argv[i], "--lcores", 8) == 0)
			return true;
	return false;
}

bool
cli_chose_lcores(void)
{
	return chose_lcores;
}

static bool
has_word(int argc, char **argv, const char *word)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

/* EAL has said why, in its own words; it leaves no errno when another process has its files. */
static void
fail_eal(int argc, char **argv, unsigned megabytes)
{
	if (rte_errno == 0)
		cli_fail("EAL did not start; beside another DPDK program give it --file-prefix NAME, or --no-shconf");
	else if (has_word(argc, argv, "--no-huge"))
		cli_fail("EAL did not start (%s); its own lines say why", rte_strerror(rte_errno));
	else
		cli_fail("EAL did not start (%s); without hugepages try --no-huge -m %u --no-pci",
			 rte_strerror(rte_errno), megabytes);
}

int
cli_start(const char *program, unsigned megabytes, int argc, char **argv)
{
	int used;

	cli_init(program);
	used = rte_eal_init(argc, argv);
	chose_lcores = used > 0 && names_lcores(used, argv);
	if (used < 0)
		fail_eal(argc, argv, megabytes);
	else
		cli_catch_signals();
	return used;
}

static void (*program_usage)(void);

/* EAL's --help: ours behind it. */
static void
print_usage(const char *program)
{
	program_usage();
}

static bool
is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

bool
cli_help(int argc, char **argv, void (*usage)(void))
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0 && !is_help(argv[i]))
		i++;
	if (i < argc && is_help(argv[i])) {
		program_usage = usage;
		rte_set_application_usage_hook(print_usage);
	}
	if (i + 1 >= argc || strcmp(argv[i], "--") != 0 || !is_help(argv[i + 1]))
		return false;
	usage();
	return true;
}

bool
cli_stopped(void)
{
	return stopped;
}
