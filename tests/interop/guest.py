#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A siw guest in QEMU: boots, runs commands by the agent on its console, and tells how they ended.

By hand:  guest.py DIR TAP [VARIANT [MTU [ADDR/LEN]]]     boots a guest with a shell on this terminal
"""
import itertools
import os
import signal
import sys

from process import Failed, Process

BOOT_LIMIT, COMMAND_LIMIT = 180, 60
GUEST_CPU = min(os.sched_getaffinity(0))


def qemu(folder, tap, variant, mtu, addr, cpu=GUEST_CPU, then="agent", initrd="initrd", memory=512):
    """No KVM is asked for: the guest runs everywhere, and slowly. Offloads are off, so frames on the tap are whole."""
    mac = "52:54:00:%02x:%02x:%02x" % tuple(os.urandom(3))
    kernel = (f"console=ttyS0 quiet panic=-1 mitigations=off guest.variant={variant} guest.mtu={mtu} "
              f"guest.addr={addr} guest.then={then}")
    offloads = ",".join(f"{o}=off" for o in ("csum", "gso", "guest_csum", "guest_tso4", "guest_tso6", "guest_ufo"))
    return ["taskset", "-c", str(cpu), "qemu-system-x86_64", "-M", "pc,usb=off", "-cpu", "max", "-m", str(memory),
            "-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
            "-kernel", f"{folder}/vmlinux", "-initrd", f"{folder}/{initrd}", "-append", kernel,
            "-netdev", f"tap,id=net,ifname={tap},script=no,downscript=no",
            "-device", f"virtio-net-pci,netdev=net,mac={mac},host_mtu={mtu},romfile=,{offloads}"]


class Guest:
    """One booted guest; a context, which switches it off."""

    def __init__(self, *where, **options):
        """Arguments as for qemu(). Booting is tried twice: only that is worth a second chance."""
        self._argv = qemu(*where, **options)
        self._serial = itertools.count(1)
        self.boot()

    def boot(self):
        self._running = set()
        try:
            self._console = self._boot(self._argv)
        except Failed:
            self._console = self._boot(self._argv)

    @staticmethod
    def _boot(argv):
        console = Process(argv, "guest")
        try:
            console.await_line("^GUEST READY", BOOT_LIMIT)
        except BaseException:
            console.end(signal.SIGKILL)
            raise
        return console

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.power_off()

    def power_off(self):
        """As if the plug were pulled: nobody is told. boot() switches it on again."""
        self._console.end(signal.SIGKILL)

    def start(self, label, command):
        """Starts a command; returns its name for wait() and stop()."""
        name = f"{label}.{next(self._serial)}"
        self._console.write_line(f"{name} {command}")
        self._console.await_line(f"^CASE {name} BEGIN$", COMMAND_LIMIT)
        self._running.add(name)
        return name

    def wait(self, name, limit=COMMAND_LIMIT):
        """Exit status and output of a command that was started."""
        end = self._console.await_line(rf"^CASE {name} EXIT (\d+)$", limit)
        self._running.discard(name)
        prefix = f"{name}| "
        return int(end[1]), [l[len(prefix):] for l in self._console.out if l.startswith(prefix)]

    def run(self, label, command, limit=COMMAND_LIMIT):
        """Runs a command to its end and returns its output; another status than 0 is a failure."""
        status, output = self.ends(label, command, limit)
        if status:
            raise Failed(f"guest: '{command}' exits {status}", output)
        return output

    def ends(self, label, command, limit=COMMAND_LIMIT):
        """Runs a command to its end, whatever that is; exit status and output."""
        return self.wait(self.start(label, command), limit)

    def stop(self, name):
        self.run("stop", f"stop {name}")
        return self.wait(name)

    def stop_all(self):
        """After a failed case: what still runs must not meet the next one. Returns what the stopped ones printed."""
        return [line for name in sorted(self._running) for line in self.stop(name)[1]]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, tap, variant, mtu, addr = (sys.argv[1:] + ["siw", "1500", "10.77.0.2/24"][len(sys.argv) - 3:])[:5]
    argv = qemu(folder, tap, variant, mtu, addr, then="shell")
    os.execvp(argv[0], argv)


if __name__ == "__main__":
    main()
