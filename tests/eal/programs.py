# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of whole programs share: a running program with its output, and wires between two of them."""
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

OWN_LINE = re.compile(r"dpdk-iwarp-(app|perf|nvmf): (?!note: )")
SERVER, CLIENT = "192.0.2.1", "192.0.2.2"
LEAVES_WITHIN = 15  # seconds from a signal to the end

# A shell gives what it starts in the background an ignored SIGINT, which a program inherits until it has a handler of its own:
# a Ctrl-C before that would be lost.  What is handled here has its default in the programs.
signal.signal(signal.SIGINT, signal.default_int_handler)


def cannot(why):
    """Exit code 77 means skipped; in CI nothing may be."""
    print("skipped: " + why)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def need_root():
    if os.geteuid() != 0 or not shutil.which("ip"):
        cannot("needs root and iproute2")
    if not os.path.exists("/dev/net/tun"):
        cannot("needs /dev/net/tun")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def two_cpus():
    """The CPUs for two lcores; the same one twice where there is no other, by EAL's --lcores."""
    cpus = sorted(os.sched_getaffinity(0))
    return cpus[0], cpus[1 % len(cpus)]


def lcores(count, which=0):
    cpus = two_cpus()
    return ["--lcores", f"0@{cpus[which]}"] if count == 1 else ["--lcores", f"0@{cpus[0]},1@{cpus[1]}"]


class Program:
    """A program under EAL without hugepages; `arguments` stand behind EAL's."""

    started = itertools.count()

    def __init__(self, binary, *arguments, vdev=None, cores=1, which=0, memory=256):
        eal = ["--no-huge", "-m", str(memory), "--no-pci", "--no-telemetry", "--no-shconf",
               "--file-prefix", f"iwtest{os.getpid()}_{next(Program.started)}", *lcores(cores, which)]
        if vdev:
            eal.append("--vdev=" + vdev)
        self.command = [binary, *eal, "--", *arguments]
        self.lines = {"out": [], "err": []}
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL)
        self.readers = [threading.Thread(target=self._read, args=a, daemon=True)
                        for a in (("out", self.process.stdout), ("err", self.process.stderr))]
        for reader in self.readers:
            reader.start()

    def _read(self, name, stream):
        for line in stream:
            self.lines[name].append(line.rstrip("\n"))

    def says(self, text, timeout=30):
        """Waits for a line of its output that holds text."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if any(text in line for line in self.lines["out"]):
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"'{text}' was not said by {self}")

    def wait(self, timeout=60):
        """Exit code; negative: the signal that ended it; None: it is still there."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        for reader in self.readers:
            reader.join(5)
        return code

    def catches(self, number, timeout=30):
        """Waits until it would not be ended by that signal."""
        end = time.monotonic() + timeout
        while self.process.poll() is None and time.monotonic() < end:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            if int(re.search(r"^SigCgt:\s*(\w+)", status, re.M).group(1), 16) >> (number - 1) & 1:
                return
            time.sleep(0.02)

    def send(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def stop(self):
        """Ends it by Ctrl-C, in whatever state; its exit code."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGINT)
        return self.wait(LEAVES_WITHIN)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.wait(10)

    def errors(self):
        """Its own lines on stderr, without EAL's and the drivers'."""
        return [line for line in self.lines["err"] if OWN_LINE.match(line)]

    def __str__(self):
        lines = self.lines["out"][-5:] + self.lines["err"]
        return "\n  ".join([" ".join(self.command), *(line[:160] for line in lines)])


class Memif:
    """A memory interface: one process is its server, the other its client, which must be second."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.socket = self.folder / "wire.sock"

    def vdev(self, end):
        role = ("server", "client")[end]
        return f"net_memif0,role={role},socket={self.socket},socket-abstract=no"

    def ready(self, end):
        """Waits until the program at this end has its port."""
        until = time.monotonic() + 30
        while end == 0 and not self.socket.exists() and time.monotonic() < until:
            time.sleep(0.02)

    def close(self):
        shutil.rmtree(self.folder)


class Vhost(Memif):
    """A virtio port and its vhost backend, of which the latter must leave last: the former's driver writes to it at the end,
    and SIGPIPE ends a process that writes to nobody."""

    def vdev(self, end):
        return (f"net_virtio_user0,path={self.socket},server=1", f"net_vhost0,iface={self.socket},client=1")[end]


def silence(name):
    """The kernel has nothing to say there: no IPv6, and no ARP for addresses that this machine may have elsewhere."""
    pathlib.Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6").write_text("1")
    pathlib.Path(f"/proc/sys/net/ipv4/conf/{name}/arp_ignore").write_text("8")


class AfPacket:
    """The two ends of a veth pair.  The driver makes a fanout group's number of the process' and the interface's, which
    must differ among programs that run at once: so these interfaces have numbers whose low 16 bits are alike."""

    made = itertools.count()

    def __init__(self):
        need_root()
        number = next(AfPacket.made)
        tag = f"{os.getpid() % 100000}_{number}"
        self.names = [f"iw{tag}{c}" for c in "ab"]
        index = [str((os.getpid() % 250 * 64 + number % 32 * 2 + end + 1) << 16) for end in (0, 1)]
        ip("link", "add", self.names[0], "index", index[0], "type", "veth", "peer", "name", self.names[1], "index",
           index[1])
        for name in self.names:
            silence(name)
            ip("link", "set", name, "up")

    def vdev(self, end):
        return f"net_af_packet0,iface={self.names[end]}"

    def ready(self, end):
        pass

    def close(self):
        ip("link", "del", self.names[0])


class Tap:
    """Two taps on one bridge.  The driver gives its own MAC to the kernel's interface too, when it is probed and when
    the port starts, and a bridge keeps what is for the MAC of one of its interfaces: so the kernel's gets another one
    whenever that has happened."""

    def __init__(self):
        need_root()
        tag = os.getpid() % 100000
        self.bridge, self.names = f"iwb{tag}", [f"iwt{tag}{c}" for c in "ab"]
        ip("link", "add", self.bridge, "type", "bridge")
        silence(self.bridge)
        ip("link", "set", self.bridge, "up")
        for name in self.names:
            ip("tuntap", "add", name, "mode", "tap", "multi_queue")
            silence(name)
            ip("link", "set", name, "master", self.bridge, "up")
        self.closed = threading.Event()
        self.watcher = threading.Thread(target=self._keep_macs, args=([self._mac(n) for n in self.names],))
        self.watcher.start()

    @staticmethod
    def _mac(name):
        return pathlib.Path(f"/sys/class/net/{name}/address").read_text().strip()

    def _keep_macs(self, macs):
        while not self.closed.wait(0.02):
            for name, mac in zip(self.names, macs):
                if self._mac(name) != mac:
                    ip("link", "set", name, "address", mac)

    def vdev(self, end):
        return f"net_tap0,iface={self.names[end]},persist"

    def ready(self, end):
        pass

    def close(self):
        self.closed.set()
        self.watcher.join()
        for name in (*self.names, self.bridge):
            subprocess.run(["ip", "link", "del", name], check=False)


class Pair:
    """A program at each end of a wire; both are gone when the `with` ends."""

    def __init__(self, wire):
        self.wire, self.programs = wire, []

    def start(self, end, binary, *arguments, **more):
        address = (SERVER, CLIENT)[end] + "/24"
        program = Program(binary, "--ip", address, *arguments, vdev=self.wire.vdev(end), which=end, **more)
        self.programs.append(program)
        self.wire.ready(end)
        return program

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self.programs:
            program.kill()
        self.wire.close()
