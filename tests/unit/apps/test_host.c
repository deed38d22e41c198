/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user is told when there is no port: what the NIC lacks, if one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture.h"
#include "host.h"

static struct iw_nic listed[2];
static int n_listed;

/* In place of the library's: the machine that runs this has no such NIC. */
int
iw_nic_list(struct iw_nic *nics, int max)
{
	for (int i = 0; i < n_listed && i < max; i++)
		nics[i] = listed[i];
	return n_listed;
}

static const char *
say(void)
{
	static struct capture captured;
	struct host_options options = {.port_id = 7, .has_ip = true};
	struct host host;

	capture_begin(&captured, stderr);
	assert_false(host_open(&host, &options));
	return capture_end(&captured);
}

static void
test_no_port(void **state)
{
	const char *text;

	(void)state;
	n_listed = -IW_E_NOTSUP;
	assert_non_null(strstr(say(), "no DPDK port 7: give EAL one, for example --vdev="));
	n_listed = 1;
	listed[0] = (struct iw_nic){.device = "mlx5_0", .provider = "mlx5_core"};
	assert_non_null(strstr(say(), "no DPDK port 7: give EAL one"));
	n_listed = 2;
	listed[1] = (struct iw_nic){.hint = "eth1: apt-get install ibverbs-providers"};
	text = say();
	assert_string_equal(strstr(text, "no DPDK"), "no DPDK port 7; eth1: apt-get install ibverbs-providers\n");
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_port)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
