#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two dpdk-iwarp-app processes ping each other over one kind of DPDK port.

    ports.py APP memif|af_packet|tap

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

EAL = ["--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf", "-l", "0"]
ROUNDS, TIMEOUT = "50", 60


def sh(*command):
    subprocess.run(command, check=True)


def cannot(why):
    print("skipped: " + why)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def need_root():
    if os.geteuid() != 0 or not shutil.which("ip"):
        cannot("needs root and iproute2")


class Memif:
    """A memory interface: one process is its server, the other its client."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def vdev(self, end):
        role = ["server", "client"][end]
        return f"net_memif0,role={role},socket={self.folder}/memif.sock,socket-abstract=no,zero-copy=no"

    def close(self):
        shutil.rmtree(self.folder)


class AfPacket:
    """The two ends of a veth pair."""

    def __init__(self):
        need_root()
        self.names = [f"iw{os.getpid() % 100000}{c}" for c in "ab"]
        sh("ip", "link", "add", self.names[0], "type", "veth", "peer", "name", self.names[1])
        for n in self.names:
            sh("sysctl", "-qw", f"net.ipv6.conf.{n}.disable_ipv6=1")
            # The kernel's offloads would hand on frames without checksums.
            subprocess.run(["ethtool", "-K", n, "tx", "off"], check=False, capture_output=True)
            sh("ip", "link", "set", n, "up")

    def vdev(self, end):
        return f"net_af_packet0,iface={self.names[end]}"

    def close(self):
        sh("ip", "link", "del", self.names[0])


class Tap:
    """Two taps on one bridge."""

    def __init__(self):
        need_root()
        tag = os.getpid() % 100000
        self.bridge, self.names = f"iwbr{tag}", [f"iwt{tag}{c}" for c in "ab"]
        sh("ip", "link", "add", self.bridge, "type", "bridge")
        sh("sysctl", "-qw", f"net.ipv6.conf.{self.bridge}.disable_ipv6=1")
        sh("ip", "link", "set", self.bridge, "up")
        for n in self.names:
            sh("ip", "tuntap", "add", n, "mode", "tap", "multi_queue")
            sh("sysctl", "-qw", f"net.ipv6.conf.{n}.disable_ipv6=1")
            sh("ip", "link", "set", n, "master", self.bridge, "up")

    def vdev(self, end):
        return f"net_tap0,iface={self.names[end]},persist"

    def close(self):
        for n in self.names + [self.bridge]:
            subprocess.run(["ip", "link", "del", n], check=False)


def start(app, wire, end, *command):
    me = f"192.0.2.{end + 1}/24"
    return subprocess.Popen([app, *EAL, "--file-prefix", f"iwt{os.getpid()}_{end}", f"--vdev={wire.vdev(end)}", "--", "--ip", me, *command],
                            stdout=subprocess.PIPE, text=True)


def wait_for(process, text):
    for line in process.stdout:
        if text in line:
            return
    raise RuntimeError(f"the server ended before it said '{text}'")


def ping(app, wire):
    server = None
    # memif's client side has a link only when its server is there: both start, the server's line comes first.
    try:
        server = start(app, wire, 0, "ping", "-s", "-C", "1", "-V")
        if not isinstance(wire, Memif):
            wait_for(server, "listening")
        client = start(app, wire, 1, "ping", "-c", "-a", "192.0.2.1", "-C", ROUNDS, "-S", "4096", "-V")
        code = client.wait(timeout=TIMEOUT)
        return code or server.wait(timeout=TIMEOUT)
    finally:
        if server and server.poll() is None:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=10)


def main():
    app, kind = sys.argv[1:3]
    wire = {"memif": Memif, "af_packet": AfPacket, "tap": Tap}[kind]()
    try:
        return ping(app, wire)
    finally:
        wire.close()


if __name__ == "__main__":
    sys.exit(main())
