# SPDX-License-Identifier: BSD-3-Clause
"""Large pages for what is measured: packet buffers in small ones cost a translation for nearly each packet.

    pages.py MIB    prints EAL's arguments for so much memory, in large pages where they are free"""
import contextlib
import os
import pathlib
import sys

RESERVED = pathlib.Path("/proc/sys/vm/nr_hugepages")


def look():
    """Free ones of the size that EAL takes first, and KiB of each; 0 where there are none."""
    values = dict(line.split(":", 1) for line in pathlib.Path("/proc/meminfo").read_text().splitlines())
    return tuple(int(values.get(name, "0").split()[0]) for name in ("HugePages_Free", "Hugepagesize"))


def free_mib():
    pages, size = look()
    return pages * size // 1024


def eal_arguments(mib):
    return ["--in-memory" if free_mib() >= mib else "--no-huge", "-m", str(mib)]


@contextlib.contextmanager
def reserved(mib):
    """So many MiB are free while the block runs, where we may ask for them and memory is there; then as before."""
    free, size = look()
    if not size:
        yield
        return
    before = int(RESERVED.read_text())
    if os.geteuid() == 0 and free * size < mib * 1024:
        with contextlib.suppress(OSError):
            RESERVED.write_text(str(before + -(-mib * 1024 // size)))
    try:
        yield
    finally:
        if int(RESERVED.read_text()) != before:
            RESERVED.write_text(str(before))


if __name__ == "__main__":
    print(*eal_arguments(int(sys.argv[1])))
