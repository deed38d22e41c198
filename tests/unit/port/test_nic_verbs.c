/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices as libibverbs lists them, below a made-up /sys: its three calls are made here, for few machines have a
 * device. */
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
#include <infiniband/verbs.h>

#include "nic_verbs.h"

static char root[64];
static struct ibv_device devices[3];
static int n_devices, lists_out;

struct ibv_device **
ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(4, sizeof(*list));

	*n = n_devices;
	if (n_devices < 0 || !list) {
		free(list);
		return NULL;
	}
	for (int i = 0; i < n_devices; i++)
		list[i] = &devices[i];
	lists_out++;
	return list;
}

void
ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	lists_out--;
}

const char *
ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static void
run(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	assert_int_equal(system(command), 0);
}

static void
add_device(const char *name)
{
	struct ibv_device *dev = &devices[n_devices++];

	memset(dev, 0, sizeof(*dev));
	snprintf(dev->name, sizeof(dev->name), "%s", name);
	snprintf(dev->ibdev_path, sizeof(dev->ibdev_path), "%s/class/infiniband/%s", root, name);
	run("mkdir -p %s", dev->ibdev_path);
}

static int
setup(void **state)
{
	(void)state;
	n_devices = 0;
	snprintf(root, sizeof(root), "/tmp/test_nic_verbs.XXXXXX");
	return mkdtemp(root) ? 0 : 1;
}

static int
teardown(void **state)
{
	(void)state;
	run("rm -rf %s", root);
	return lists_out;
}

/* The kernel has it so: infiniband/NAME/device points at the PCI function, with its netdevs and its driver. */
static void
test_what_is_told(void **state)
{
	struct iw_nic nics[2];

	(void)state;
	add_device("mlx5_0");
	run("mkdir -p %s/devices/0000:17:00.0/net/ens1f0 %s/drivers/mlx5_core", root, root);
	run("ln -s %s/devices/0000:17:00.0 %s/device", root, devices[0].ibdev_path);
	run("ln -s %s/drivers/mlx5_core %s/devices/0000:17:00.0/driver", root, root);
	memset(nics, 0xff, sizeof(nics));
	assert_int_equal(nic_verbs_list(nics, 2), 1);
	assert_string_equal(nics[0].device, "mlx5_0");
	assert_string_equal(nics[0].pci, "0000:17:00.0");
	assert_string_equal(nics[0].netdev, "ens1f0");
	assert_string_equal(nics[0].provider, "mlx5_core");
	assert_string_equal(nics[0].hint, "");
}

/* Software devices (siw, rxe) stand on no PCI function. */
static void
test_software_device(void **state)
{
	struct iw_nic nic;

	(void)state;
	add_device("siw_eth0");
	assert_int_equal(nic_verbs_list(&nic, 1), 1);
	assert_string_equal(nic.device, "siw_eth0");
	assert_string_equal(nic.pci, "");
	assert_string_equal(nic.netdev, "");
	assert_string_equal(nic.provider, "siw_eth0");
}

static void
test_none_and_too_many(void **state)
{
	struct iw_nic nics[3];

	(void)state;
	assert_int_equal(nic_verbs_list(nics, 2), 0);
	n_devices = -1; /* no RDMA in this kernel */
	assert_int_equal(nic_verbs_list(nics, 2), 0);
	n_devices = 0;
	for (int i = 0; i < 3; i++)
		add_device((const char *const[]){"a", "b", "c"}[i]);
	memset(nics, 0, sizeof(nics));
	assert_int_equal(nic_verbs_list(nics, 2), 3);
	assert_string_equal(nics[1].device, "b");
	assert_string_equal(nics[2].device, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_software_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none_and_too_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
