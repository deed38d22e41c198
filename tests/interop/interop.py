#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Interop tests of dpdk-iwarp-app against Linux' siw in a QEMU guest.

Prints a line for each case and `N passed, N failed`. Exit status: 0 all passed, 1 not, 77 could not run here
(in CI that is a failure)."""
import argparse
import contextlib
import dataclasses
import fnmatch
import itertools
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import cases
import net
import nvme_cases
import peers
from guest import Guest
from process import Failed

US, GUEST, SECOND = "10.77.0.1", "10.77.0.2", "10.77.0.3"
KERNEL_LOG = "dmesg | grep 'siw[:0-9]' | grep -v -e taint -e verification | tail"
TOOLS = ("qemu-system-x86_64", "tcpdump", "tshark", "ip", "taskset", "setpriv")


@dataclasses.dataclass
class Bench:
    """What a case has to work with, see cases.py."""
    variant: str
    mtu: int
    tap: str
    folder: str
    guest: peers.Rping
    near: object
    near_nocrc: object
    near_decides_crc: bool
    near6: object = None  # our end with an IPv6 link-local address
    second: object = None  # another guest, on the same wire
    host: int = 0  # which of them, as an NVMe host


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def ok(self, case, seconds):
        self.passed += 1
        print(f"ok {case.name} {seconds:.1f}", flush=True)

    def not_ok(self, case, failure):
        self.failed += 1
        print(f"not ok {case.name} {failure}", flush=True)
        for line in failure.detail:
            print(f"#   {line[:200]}", flush=True)  # with -v a line may be a whole buffer


@contextlib.contextmanager
def nvme_bench(options, variant, mtu, folder):
    """A guest that is a host of NVMe over Fabrics; each case starts the target that it needs."""
    with net.tap(mtu) as tap, nvme_guest(options, tap, variant, mtu, GUEST) as guest:
        near = nvme_cases.Target(options.nvmf, tap, mtu, US, folder)
        yield Bench(variant, mtu, tap, folder, guest, near, near, False)


@contextlib.contextmanager
def nvme_pair_bench(options, variant, mtu, folder):
    """Two such guests on a bridge, and the target on the bridge itself."""
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        taps = [enter(net.tap(mtu)), enter(net.tap(mtu, "far"))]
        bridge = enter(net.bridge(taps, mtu))
        guest = enter(nvme_guest(options, taps[0], variant, mtu, GUEST))
        second = enter(nvme_guest(options, taps[1], variant, mtu, SECOND, cpu=peers.APP_CPU))
        near = nvme_cases.Target(options.nvmf, bridge, mtu, US, folder)
        yield Bench(variant, mtu, bridge, folder, guest, near, near, False, second=second)


@contextlib.contextmanager
def nvme_guest(options, tap, variant, mtu, addr, **more):
    with Guest(options.guest, tap, variant, mtu, f"{addr}/24", initrd="initrd-nvme", memory=1024, **more) as guest:
        yield peers.Rping(guest, addr)


@contextlib.contextmanager
def bench(options, variant, mtu, folder):
    """One guest boot, and our end: the program, or a second guest that proves the harness itself."""
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        tap = enter(net.tap(mtu))
        if options.twin:
            far = enter(net.tap(mtu, "far"))
            enter(net.bridge([tap, far], mtu))
            twin = enter(Guest(options.guest, far, "siw", mtu, f"{US}/24", cpu=peers.APP_CPU))
            near = near_nocrc = peers.Rping(twin, US)
        else:
            near, near_nocrc = (peers.App(options.app, tap, mtu, US, crc) for crc in (True, False))
        guest = peers.Rping(enter(Guest(options.guest, tap, variant, mtu, f"{GUEST}/24")), GUEST)
        near6 = None if options.twin else peers.App(options.app, tap, mtu, f"{peers.US6}%0", prefix_len=64)
        yield Bench(variant, mtu, tap, folder, guest, near, near_nocrc, not options.twin, near6)


BENCHES = {0: bench, 1: nvme_bench, 2: nvme_pair_bench}  # by guests that are NVMe hosts


def run_case(case, place, tally):
    began = time.monotonic()
    try:
        case.run(place)
        tally.ok(case, time.monotonic() - began)
    except Failed as failure:
        with contextlib.suppress(Failed):  # the guest may be what has failed
            failure.detail += clear(place)
        tally.not_ok(case, failure)


def clear(place):
    """Ends what a failed case left running, on each guest, and returns what they have to say."""
    guests = {end.guest for end in (place.guest, place.near, place.second) if isinstance(end, peers.Rping)}
    return [line for guest in guests
            for line in guest.stop_all() + guest.run("dmesg", KERNEL_LOG)]


def run_boot(options, boot, chosen, folder, tally):
    began = time.monotonic()
    variant, mtu, nvme = boot
    try:
        with BENCHES[nvme](options, variant, mtu, folder) as place:
            print(f"# booted {variant} with MTU {mtu} in {time.monotonic() - began:.1f} s", flush=True)
            for case in chosen:
                run_case(case, place, tally)
    except Failed as failure:
        for case in chosen:
            tally.not_ok(case, failure)


def select(options):
    return [case for case in cases.matrix() + nvme_cases.matrix()
            if (case.smoke if options.smoke else options.case or not case.extra)
            and (not options.case or fnmatch.fnmatch(case.name, options.case) or case.name.startswith(f"{options.case}/"))
            and not (options.twin and case.ours_only)]


def what_is_missing(options, chosen):
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    missing += [f"{options.guest}/{file}" for file in ("vmlinux", "initrd", "initrd-nvme") if not (options.guest / file).exists()]
    if os.geteuid():
        missing.append("root")
    if not os.path.exists("/dev/net/tun"):
        missing.append("/dev/net/tun")
    if not options.twin and not all(case.nvme for case in chosen) and not os.access(options.app, os.X_OK):
        missing.append(str(options.app))
    if any(case.nvme for case in chosen) and not os.access(options.nvmf, os.X_OK):
        missing.append(str(options.nvmf))
    return missing


def cannot_run(missing, count):
    """A test that cannot run never passes; on a developer's machine it may be skipped."""
    why = f"missing: {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        print(f"not ok interop {why}\n0 passed, {count} failed")
        return 1
    print(f"skipped interop {why}\n0 passed, 0 failed, {count} skipped")
    return 77


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guest", type=pathlib.Path, required=True, help="folder that guest_build.sh has filled")
    ours = parser.add_mutually_exclusive_group(required=True)
    ours.add_argument("--app", type=pathlib.Path, help="dpdk-iwarp-app")
    ours.add_argument("--twin", action="store_true", help="a second siw guest instead: proves the harness, not us")
    parser.add_argument("--nvmf", type=pathlib.Path, help="dpdk-iwarp-nvmf, for the cases nvme/*")
    parser.add_argument("--smoke", action="store_true", help="a few minutes instead of ten")
    parser.add_argument("--case", metavar="NAME", help="only cases of this name, or below it; * and ? as in the shell; without "
                        "it all but the long ones: nvme, */long-row, */ends/*")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    parser.add_argument("--captures", type=pathlib.Path, metavar="DIR", help="keep the pcap files there")
    options = parser.parse_args()
    if options.nvmf is None and options.app is not None:
        options.nvmf = options.app.parent.parent / "nvmf" / "dpdk-iwarp-nvmf"
    return options


def main():
    options = arguments()
    chosen = select(options)
    if options.list or not chosen:
        print("\n".join(case.name for case in chosen) or f"no case is called {options.case}")
        return 0 if chosen else 1
    missing = what_is_missing(options, chosen)
    if missing:
        return cannot_run(missing, len(chosen))
    for number in signal.SIGINT, signal.SIGTERM:  # both unwind, and so clean up; a shell may have had SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.captures or temporary
        os.makedirs(folder, exist_ok=True)
        for boot, group in itertools.groupby(chosen, lambda case: (case.variant, case.mtu, case.nvme)):
            run_boot(options, boot, list(group), folder, tally)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted")
