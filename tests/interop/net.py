# SPDX-License-Identifier: BSD-3-Clause
"""The wire between us and the guest: tap devices without any address, so that no frame of the host gets on them."""
import contextlib
import os
import pathlib
import signal
import subprocess

from process import Failed, Process


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def unique_name(kind):
    """An interface name has at most 15 characters, and runs side by side must not share one."""
    return f"iw{kind}{os.getpid()}"


@contextlib.contextmanager
def device(add, name, mtu):
    try:
        ip(*add)
        quiet = pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
        if quiet.exists():
            quiet.write_text("1")
        ip("link", "set", name, "mtu", str(mtu), "up")
        yield name
    finally:
        # Interrupted in the middle of adding it, we cannot know whether it is there.
        subprocess.run(["ip", "link", "delete", name], check=False, stderr=subprocess.DEVNULL)


def tap(mtu, kind="tap"):
    name = unique_name(kind)
    return device(["tuntap", "add", "dev", name, "mode", "tap"], name, mtu)


@contextlib.contextmanager
def bridge(taps, mtu):
    """Joins taps, for two guests that talk to each other."""
    name = unique_name("br")
    with device(["link", "add", name, "type", "bridge", "forward_delay", "0"], name, mtu):
        for port in taps:
            ip("link", "set", port, "master", name)
        yield name


@contextlib.contextmanager
def capture(interface, file):
    """Writes every frame of the interface to a pcap file while the block runs; a dropped frame fails."""
    argv = ["tcpdump", "-i", interface, "-w", str(file), "-n", "-U", "-B", "65536", "--immediate-mode", "-Z", "root"]
    with Process(argv) as dump:
        dump.await_line("listening on", 10, dump.err)
        yield
        dump.end(signal.SIGINT)
        if "0 packets dropped by kernel" not in dump.err:
            raise Failed("tcpdump did not get every frame", dump.err)
