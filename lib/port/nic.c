/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nic_verbs.h"

#define VENDOR_MELLANOX 0x15b3ul
#define NETDEVS_MAX 256

/* Which package brings the user-space provider of a NIC that DPDK cannot use without it (bifurcated drivers). */
static const struct {
	unsigned long vendor;
	const char *provider, *package;
} bifurcated[] = {
	{VENDOR_MELLANOX, "mlx5", "ibverbs-providers"},
};

static bool
read_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(buf, (int)len, f);

	if (f)
		fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = 0;
	return ok;
}

/* The last part of what a link points to; "" if it is none. */
static void
link_name(const char *path, char *buf, size_t len)
{
	char target[PATH_MAX];
	char *real = realpath(path, target), *slash = real ? strrchr(real, '/') : NULL;

	snprintf(buf, len, "%.*s", (int)len - 1, slash ? slash + 1 : "");
}

static unsigned long
netdev_vendor(const char *root, const char *netdev)
{
	char path[PATH_MAX], line[32];

	snprintf(path, sizeof(path), "%s/class/net/%s/device/vendor", root, netdev);
	return read_line(path, line, sizeof(line)) ? strtoul(line, NULL, 16) : 0;
}

/* libibverbs shows its device: by PCI function, for a function may have several netdevs (ports, representors), of which
 * the list names one. */
static bool
is_known(const struct iw_nic *nics, int n, const char *pci)
{
	for (int i = 0; i < n; i++)
		if (nics[i].device[0] && strcmp(nics[i].pci, pci) == 0)
			return true;
	return false;
}

/* A netdev of a vendor whose NICs need a provider, which libibverbs did not show. */
static bool
describe_missing(const char *root, const char *netdev, struct iw_nic *nic)
{
	unsigned long vendor = netdev_vendor(root, netdev);
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(bifurcated) / sizeof(bifurcated[0]); i++) {
		if (vendor != bifurcated[i].vendor)
			continue;
		memset(nic, 0, sizeof(*nic));
		snprintf(nic->netdev, sizeof(nic->netdev), "%.31s", netdev);
		snprintf(path, sizeof(path), "%s/class/net/%s/device", root, netdev);
		link_name(path, nic->pci, sizeof(nic->pci));
		snprintf(nic->hint, sizeof(nic->hint),
			 "%.31s: no %s provider for libibverbs, so DPDK cannot use this NIC; apt-get install %s",
			 netdev, bifurcated[i].provider, bifurcated[i].package);
		return true;
	}
	return false;
}

int
nic_add_missing(const char *root, struct iw_nic *nics, int n, int max)
{
	char path[PATH_MAX];
	int listed = n < max ? n : max;
	struct dirent *entry;
	struct iw_nic nic;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/class/net", root);
	dir = opendir(path);
	for (int seen = 0; dir && seen < NETDEVS_MAX && (entry = readdir(dir)) != NULL; seen++) {
		if (entry->d_name[0] == '.' || !describe_missing(root, entry->d_name, &nic))
			continue;
		if (is_known(nics, listed, nic.pci))
			continue;
		if (n < max)
			nics[n] = nic;
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

int
nic_list(const char *sys_root, bool verbs, struct iw_nic *nics, int max)
{
	int n = verbs ? nic_verbs_list(nics, max) : 0;

	return n < 0 ? n : nic_add_missing(sys_root, nics, n, max);
}

int
iw_nic_list(struct iw_nic *nics, int max)
{
	if (max < 0 || (max > 0 && !nics))
		return -IW_E_INVAL;
	return nic_list("/sys", true, nics, max);
}
