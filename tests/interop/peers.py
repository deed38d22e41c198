# SPDX-License-Identifier: BSD-3-Clause
"""The two ends of a connection, with one face: our program, and rping in a guest."""
import contextlib
import os
import re
import signal

from guest import COMMAND_LIMIT
from process import Failed, Process

PORT, NOBODYS_PORT = 7174, 7199
US6, GUEST6 = "fe80::7701", "fe80::7702"  # to be written with the interface of who uses them
APP_CPU = max(os.sched_getaffinity(0))
START_LIMIT, RUN_LIMIT = 30, 60
GIVE_UP = 30  # longer than siw waits for a Reply
OWN_LINE = re.compile(r"dpdk-iwarp-app: (?!note: )")  # the others are EAL's and the drivers'


class Rping:
    """rping on a siw guest."""

    def __init__(self, guest, addr):
        self.guest, self.addr = guest, addr

    @contextlib.contextmanager
    def serving(self, size, rounds, clients=1):
        """While the block runs so many clients are served, one after another, with `rounds` each."""
        ends = f"-C {rounds}" if clients == 1 else "-P"
        name = self.guest.start("serve", f"rping -s -a {self.addr} -p {PORT} -S {max(size, 23)} -V {ends}")
        self.guest.run("listen", f"await_listen {PORT}")
        yield
        status, output = self.guest.wait(name) if clients == 1 else self.guest.stop(name)
        served = sum("DISCONNECT EVENT" in line for line in output)
        if served != clients or clients == 1 and status:
            raise Failed(f"rping server exits {status} after {served} of {clients} clients", output)

    def connect(self, addr, size, rounds, times=1):
        self.guest.run("connect", f"repeat {times} rping -c -a {addr} -p {PORT} -S {size} -C {rounds} -V",
                       COMMAND_LIMIT * (1 + times // 4))

    def fails(self, addr, port=PORT, rounds=1):
        """A connection that must not come about, or not last; its output. An rping that was told so may hang: it is
        ended after a while, and its output says why."""
        status, output = self.guest.ends("fails", f"timeout {GIVE_UP} rping -c -a {addr} -p {port} -C {rounds} -V")
        if not status:
            raise Failed("rping does not fail", output)
        return output


class App:
    """dpdk-iwarp-app on the host's end of the tap."""

    def __init__(self, binary, tap, mtu, addr, crc=True, prefix_len=24):
        # The frame size lets jumbo frames through, which af_packet's MTU call refuses; without the bypass a sniffer
        # on the tap sees our frames too.
        frames = ",framesz=16384,blocksz=16384" if mtu > 1500 else ""
        self.addr = addr
        self._argv = [str(binary), "--no-huge", "-m", "512", "--no-pci", "--no-telemetry", "--no-shconf",
                      "-l", str(APP_CPU), f"--vdev=net_af_packet0,iface={tap},qdisc_bypass=0{frames}", "--",
                      "--ip", f"{addr.split('%')[0]}/{prefix_len}", "--mtu", str(mtu), *([] if crc else ["--no-crc"]), "ping"]

    def _process(self, *words):
        return Process([*self._argv, *map(str, words), "-v"])

    @contextlib.contextmanager
    def serving(self, size, rounds, clients=1, trial=(), loses=None):
        """`trial`: more words, see the program's --help; yields the process. `loses`: the pattern of why it loses its
        client, after which it says 1."""
        ends = ["-C", rounds] if clients == 1 else []
        with self._process("-s", "-a", self.addr, "-p", PORT, "-S", size, "-V", *ends, *trial) as app:
            app.await_line("listening on ", START_LIMIT)
            try:
                yield app
            except Failed as failure:
                failure.detail += app.tail()
                raise
            if loses:
                app.await_line(loses, RUN_LIMIT, app.err)
                check_failed(app, app.end(signal.SIGINT), loses)
            else:
                check(app, app.wait(RUN_LIMIT) if clients == 1 else app.end(signal.SIGINT))

    def connect(self, addr, size, rounds, times=1):
        with self._process("-c", "-a", addr, "-p", PORT, "-S", size, "-C", rounds, "-n", times, "-V") as app:
            check(app, app.wait(RUN_LIMIT * (1 + times // 4)))

    @contextlib.contextmanager
    def pinging(self, addr, *words):
        """Rounds without end while the block runs; yields the process, of which the block says how it ended."""
        with self._process("-c", "-a", addr, "-p", PORT, "-C", 0, "-V", *words) as app:
            app.await_line("^ping data: rdma-ping-3:", START_LIMIT)
            yield app

    def fails(self, addr, port, why):
        """A connection that does not come about, or not last, ends with 1 and says why in one line."""
        with self._process("-c", "-a", addr, "-p", port, "-C", 0) as app:
            check_failed(app, app.wait(RUN_LIMIT), why)


def check_failed(app, status, why):
    said = [line for line in app.err if OWN_LINE.match(line)]
    if status != 1 or len(said) != 1 or not re.search(why, said[0]):
        raise Failed(f"exits {status} with {len(said)} lines on stderr, not 1 with one of '{why}'", app.tail())


def check(app, status):
    if status:
        raise Failed(f"{app.name} exits {status}", app.tail())
