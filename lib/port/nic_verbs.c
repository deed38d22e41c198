/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic_verbs.h"

#include <dirent.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* First entry of a directory, "" if there is none. */
static void
first_entry(const char *path, char *buf, size_t len)
{
	DIR *dir = opendir(path);
	struct dirent *entry = NULL;

	for (int i = 0; dir && i < 3 && (entry = readdir(dir)) != NULL; i++)
		if (entry->d_name[0] != '.')
			break;
	snprintf(buf, len, "%.*s", (int)len - 1, entry && entry->d_name[0] != '.' ? entry->d_name : "");
	if (dir)
		closedir(dir);
}

static void
describe(struct ibv_device *dev, struct iw_nic *nic)
{
	char path[PATH_MAX], target[PATH_MAX];
	const char *real, *slash;

	memset(nic, 0, sizeof(*nic));
	snprintf(nic->device, sizeof(nic->device), "%s", ibv_get_device_name(dev));
	snprintf(path, sizeof(path), "%s/device", dev->ibdev_path);
	real = realpath(path, target);
	slash = real ? strrchr(real, '/') : NULL;
	snprintf(nic->pci, sizeof(nic->pci), "%.*s", (int)sizeof(nic->pci) - 1, slash ? slash + 1 : "");
	snprintf(path, sizeof(path), "%s/device/net", dev->ibdev_path);
	first_entry(path, nic->netdev, sizeof(nic->netdev));
	/* libibverbs lists a device only when a provider has claimed it; its kernel driver carries the provider's name.
	 */
	snprintf(path, sizeof(path), "%s/device/driver", dev->ibdev_path);
	real = realpath(path, target);
	slash = real ? strrchr(real, '/') : NULL;
	snprintf(nic->provider, sizeof(nic->provider), "%.*s", (int)sizeof(nic->provider) - 1,
		 slash ? slash + 1 : nic->device);
}

int
nic_verbs_list(struct iw_nic *nics, int max)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);

	if (!list)
		return 0;
	for (int i = 0; i < n && i < max; i++)
		describe(list[i], &nics[i]);
	ibv_free_device_list(list);
	return n;
}
