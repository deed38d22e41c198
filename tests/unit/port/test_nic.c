/* SPDX-License-Identifier: BSD-3-Clause */
/* NICs below a made-up /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "nic.h"

static char root[64];

static void
make_folder(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	assert_int_equal(mkdir(full, 0700), 0);
}

/* As the kernel has it: class/net/NAME/device points at the folder of the PCI function. */
static void
make_netdev(const char *name, const char *pci, const char *vendor)
{
	char path[256], target[256];
	FILE *f;

	snprintf(path, sizeof(path), "class/net/%s", name);
	make_folder(path);
	if (!pci)
		return;
	snprintf(path, sizeof(path), "devices/%s", pci);
	make_folder(path);
	snprintf(path, sizeof(path), "%s/devices/%s/vendor", root, pci);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(vendor, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/class/net/%s/device", root, name);
	snprintf(target, sizeof(target), "../../../devices/%s", pci);
	assert_int_equal(symlink(target, path), 0);
}

static int
setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/test_nic.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	make_folder("class");
	make_folder("class/net");
	make_folder("devices");
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void
test_nothing_to_say(void **state)
{
	struct iw_nic nics[4];

	(void)state;
	assert_int_equal(nic_list(root, false, nics, 4), 0);
	make_netdev("lo", NULL, NULL);
	make_netdev("eth0", "0000:00:03.0", "0x8086\n");
	make_netdev("eth1", "0000:00:04.0", "");
	make_netdev("eth2", "0000:00:05.0", "nonsense\n");
	assert_int_equal(nic_list(root, false, nics, 4), 0);
	assert_int_equal(nic_list("/nowhere/at/all", false, nics, 4), 0);
}

/* A NIC that DPDK cannot use without rdma-core's provider: the hint names the netdev and Debian's package. */
static void
test_missing_provider(void **state)
{
	struct iw_nic nics[4];

	(void)state;
	make_netdev("lo", NULL, NULL);
	make_netdev("enp1s0f0", "0000:01:00.0", "0x15b3\n");
	memset(nics, 0xff, sizeof(nics));
	assert_int_equal(nic_list(root, false, nics, 4), 1);
	assert_string_equal(nics[0].netdev, "enp1s0f0");
	assert_string_equal(nics[0].pci, "0000:01:00.0");
	assert_string_equal(nics[0].device, "");
	assert_string_equal(nics[0].provider, "");
	assert_non_null(strstr(nics[0].hint, "enp1s0f0"));
	assert_non_null(strstr(nics[0].hint, "apt-get install ibverbs-providers"));
	assert_null(strchr(nics[0].hint, '\n'));
}

/* What libibverbs lists lacks nothing: not its netdev, nor another netdev of the same PCI function. */
static void
test_listed_devices_lack_nothing(void **state)
{
	struct iw_nic nics[4] = {{.device = "mlx5_0", .pci = "0000:01:00.0", .netdev = "p0", .provider = "mlx5_core"}};
	char path[256];

	(void)state;
	make_netdev("p0", "0000:01:00.0", "0x15b3\n");
	make_folder("class/net/pf0vf0");
	snprintf(path, sizeof(path), "%s/class/net/pf0vf0/device", root);
	assert_int_equal(symlink("../../../devices/0000:01:00.0", path), 0);
	assert_int_equal(nic_add_missing(root, nics, 1, 4), 1);
	make_netdev("q0", "0000:02:00.0", "0x15b3\n");
	assert_int_equal(nic_add_missing(root, nics, 1, 4), 2);
	assert_string_equal(nics[1].netdev, "q0");
	assert_non_null(strstr(nics[1].hint, "ibverbs-providers"));
}

static void
test_no_more_than_there_is_room_for(void **state)
{
	struct iw_nic nics[3];
	char name[32], pci[32];

	(void)state;
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "mlx%d", i);
		snprintf(pci, sizeof(pci), "0000:02:00.%d", i);
		make_netdev(name, pci, "0x15b3\n");
	}
	memset(nics, 0, sizeof(nics));
	assert_int_equal(nic_list(root, false, nics, 2), 5);
	assert_string_not_equal(nics[0].netdev, nics[1].netdev);
	assert_string_equal(nics[2].netdev, "");
	assert_int_equal(nic_list(root, false, NULL, 0), 5);
}

static void
test_arguments(void **state)
{
	struct iw_nic nic;

	(void)state;
	assert_int_equal(iw_nic_list(NULL, 1), -IW_E_INVAL);
	assert_int_equal(iw_nic_list(&nic, -1), -IW_E_INVAL);
	/* Of this machine: whatever it has, an answer comes. */
	assert_true(iw_nic_list(&nic, 1) >= 0 || iw_nic_list(&nic, 1) == -IW_E_NOTSUP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_to_say, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_provider, setup, teardown),
		cmocka_unit_test_setup_teardown(test_listed_devices_lack_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_more_than_there_is_room_for, setup, teardown),
		cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
