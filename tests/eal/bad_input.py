#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the programs say to bad input and to Ctrl-C.

    bad_input.py [--nvmf NVMF] APP PERF [NAME]

Bad input: exit code 1 and one line on stderr that names the cause and what to do.  Ctrl-C at any moment: the end within
five seconds, and no crash.  Most of it is waiting, so several cases run at a time."""
import argparse
import concurrent.futures
import itertools
import os
import random
import signal
import socket
import struct
import sys
import threading
import time

from programs import CLIENT, LEAVES_WITHIN, SERVER, AfPacket, Memif, Pair, Program

ME = ["--ip", CLIENT + "/24"]
NULL = "net_null0"  # a port whose link is up and that nobody answers on
PING = [*ME, "ping", "-c", "-a", SERVER]

# Name, program, arguments, what the line must hold, and how EAL is started.
LINES = [
    ("no command", "app", ME, "no command", {}),
    ("unknown command", "app", [*ME, "pong"], "pong: unknown command", {}),
    ("wrong option", "app", [*ME, "--mut", "9000", "ping"], "--mut: unknown option", {}),
    ("wrong letter", "app", [*PING, "-x"], "-x: unknown option", {}),
    ("option without its value", "app", ["--ip"], "--ip: unknown option, or its value is missing", {}),
    ("letter without its value", "app", [*ME, "ping", "-c", "-a"], "-a: unknown option, or its value is missing", {}),
    ("option of all commands behind one", "app", ["ping", "-s", *ME], "--ip: stands before the command", {}),
    ("something behind it all", "app", [*PING, "more"], "more: not understood", {}),
    ("address without length", "app", ["--ip", CLIENT, "ping", "-s"], "write ADDRESS/LENGTH", {}),
    ("length too long", "app", ["--ip", CLIENT + "/33", "ping", "-s"], "--ip 33: not a number from 0 to 32", {}),
    ("not an address", "app", ["--ip", "10.0.0/24", "ping", "-s"], "not an IP address", {}),
    ("no address at all", "app", ["ping", "-s"], "--ip ADDRESS/LENGTH is needed", {}),
    ("any address", "app", ["--ip", "0.0.0.0/24", "ping", "-s"], "an address of its own is needed", {"vdev": NULL}),
    ("gateway is not an address", "app", ["--gw", "router", *PING], "--gw router: not an IP address", {}),
    ("MTU of nothing", "app", ["--mtu", "100", *PING], "--mtu 100: not a number from 576", {}),
    ("MTU beyond a packet buffer", "app", ["--mtu", "65535", *PING], "MTU of 65535", {"vdev": NULL}),
    ("neither end", "app", [*ME, "ping"], "say either -s (server) or -c (client)", {}),
    ("both ends", "app", [*PING, "-s"], "say either -s (server) or -c (client)", {}),
    ("connections of a server", "app", [*ME, "ping", "-s", "-n", "2"], "-n is for a client (-c)", {}),
    ("no connection", "app", [*ME, "ping", "-c", "-a", SERVER, "-n", "0"], "-n 0: not a number from 1", {}),
    ("client of nobody", "app", [*ME, "ping", "-c"], "-a ADDRESS of the server is needed", {}),
    ("payload of nothing", "app", [*PING, "-S", "0"], "-S 0: not a number from 1 to 65535", {}),
    ("payload too long", "app", [*PING, "-S", "65536"], "-S 65536: not a number from 1 to 65535", {}),
    ("TCP port 0", "app", [*PING, "-p", "0"], "-p 0: not a number from 1 to 65535", {}),
    ("negative count", "app", [*PING, "-C", "-1"], "-C -1: not a number", {}),
    ("no port", "app", PING, "no DPDK port", {}),
    ("group", "app", ["--ip", "224.0.0.1/24", "ping", "-s"], "one host's", {"vdev": NULL}),
    ("two gateways of a family", "app", ["--gw", SERVER, "--gw", SERVER, *PING], "at most one for each family", {}),
    ("more gateways than families", "app", ["--gw", SERVER, "--gw", "fe80::1", "--gw", "fe80::2", *PING],
     "--gw fe80::2: at most one for each family", {}),
    ("gateway on another link", "app", ["--gw", "192.168.7.1", *PING],
     f"gateway 192.168.7.1 is no other host on the link of {CLIENT}/24", {"vdev": NULL}),
    ("routers' anycast address", "app", ["--ip", "2001:db8::/64", "ping", "-s"], "one host's", {"vdev": NULL}),
    ("something behind info", "app", ["info", "all"], "info: all: not understood", {}),
    ("own address as the server's", "app", [*ME, "ping", "-c", "-a", CLIENT], "no route", {"vdev": NULL}),
    ("server of the other family", "app", [*ME, "ping", "-c", "-a", "2001:db8::1"], "no route", {"vdev": NULL}),
    ("server that is no host", "app", [*ME, "ping", "-c", "-a", "0.0.0.0"], "no route", {"vdev": NULL}),
    ("no port to tell of", "app", ["info"], "no DPDK port", {}),
    ("no such port", "app", ["--port", "3", *PING], "no DPDK port 3", {"vdev": NULL}),
    ("listens on somebody else's address", "app", [*ME, "ping", "-s", "-a", SERVER], "cannot listen on " + SERVER,
     {"vdev": NULL}),
    ("no memory for the pools", "app", PING, "no memory for", {"vdev": NULL, "memory": 16}),
    ("link down", "app", PING, "the link is down; plug the cable", {"vdev": "memif"}),
    ("nobody answers", "app", PING, "no neighbour answered", {"vdev": NULL}),
    ("wrong option", "perf", ["--wrong"], "--wrong: unknown option", {}),
    ("wrong verb", "perf", ["--verb", "cas"], "--verb cas: write, read, send, write-imm or atomic", {}),
    ("wrong test", "perf", ["--test", "rate"], "--test rate: bw, lat or conn", {}),
    ("size of nothing", "perf", ["-s", "0"], "-s 0: not a number from 1 to 1073741824", {}),
    ("size too long", "perf", ["-s", "1073741825"], "not a number from 1 to 1073741824", {}),
    ("too many QPs", "perf", ["-q", "1000001"], "-q 1000001: not a number from 1 to 1000000", {}),
    ("too few iterations", "perf", ["-n", "4"], "-n 4: not a number from 5", {}),
    ("more QPs than memory", "perf", ["-q", "1000000", "-s", "1073741824"], "no memory", {"cores": 2, "memory": 512}),
    ("more requests than a CQ can hold", "perf", ["-q", "4000", "-t", "16000"], "cannot make the CQs",
     {"cores": 2, "memory": 512}),
    ("a file that cannot be", "perf", ["--out_json_file", "/nowhere/at/all"], "cannot be written",
     {"cores": 2, "memory": 512}),
    ("not a number", "perf", ["-t", "many"], "-t many: not a number", {}),
    ("a time of nothing", "perf", ["-D", "0"], "-D 0: a number above 0", {}),
    ("a time that is none", "perf", ["-D", "1s"], "-D 1s: a number above 0", {}),
    ("a time that is too long", "perf", ["-D", "86401"], "-D 86401: from 0.001 to 86400 seconds", {}),
    ("not an address", "perf", ["server.example"], "not an IP address", {}),
    ("two servers", "perf", [SERVER, SERVER], "not understood", {}),
    ("server with an address", "perf", ["--server", SERVER], "a server takes no address", {}),
    ("one lcore", "perf", [], "two lcores", {}),
    ("one lcore", "perf", ["roofline"], "two lcores", {}),
    ("no address at all", "perf", [SERVER], "--ip ADDRESS/LENGTH is needed", {}),
    ("no port", "perf", [*ME, SERVER], "no DPDK port", {}),
    ("no memory for the pools", "perf", [], "no memory for", {"cores": 2, "memory": 16}),
    ("link down", "perf", [*ME, SERVER], "the link is down", {"vdev": "memif"}),
    ("nobody answers", "perf", [*ME, SERVER], "no neighbour answered", {"vdev": NULL}),
]

SUBSYS = [*ME, "--subsys", "nqn.2026-11.org.example:disk"]
DISK = [*SUBSYS, "--ns", "ram:1M"]
SCRIPT = os.path.abspath(__file__)

# The storage target, which is not built everywhere.
NVMF_LINES = [
    ("wrong option", "nvmf", ["--wrong"], "--wrong: unknown option", {}),
    ("no subsystem", "nvmf", ME, "--subsys: is missing", {}),
    ("not a qualified name", "nvmf", [*ME, "--subsys", "disk"], "disk: not an NVMe qualified name", {}),
    ("the discovery name", "nvmf", [*ME, "--subsys", "nqn.2014-08.org.nvmexpress.discovery"], "discovery subsystem", {}),
    ("the same name twice", "nvmf", [*DISK, *SUBSYS[2:]], "there already", {}),
    ("subsystem without a namespace", "nvmf", SUBSYS, "has no --ns", {}),
    ("namespace of nothing", "nvmf", [*ME, "--ns", "ram:1M"], "--ns: comes behind a --subsys", {}),
    ("read-only without a namespace", "nvmf", [*SUBSYS, "--ro"], "--ro: comes behind a --ns", {}),
    ("host that has no qualified name", "nvmf", [*SUBSYS, "--allow", "host"], "host: not an NVMe qualified name", {}),
    ("TCP port 0", "nvmf", ["--port", "0"], "--port 0: not a number from 1 to 65535", {}),
    ("bench without a second lcore", "nvmf", ["bench"], "two lcores", {}),
    ("bench of odd sizes", "nvmf", ["bench", "-s", "1000"], "blocks of 512", {"cores": 2}),
    ("no address at all", "nvmf", DISK[2:], "--ip ADDRESS/LENGTH is needed", {}),
    ("no port", "nvmf", DISK, "no DPDK port", {}),
    ("no such file", "nvmf", [*SUBSYS, "--ns", "/nowhere/disk"], "/nowhere/disk: No such file", {"vdev": NULL}),
    ("a folder", "nvmf", [*SUBSYS, "--ns", "/"], "/: Is a directory", {"vdev": NULL}),
    ("size that is not of blocks", "nvmf", [*SUBSYS, "--ns", SCRIPT, "--ro"], "is not a multiple of the block size",
     {"vdev": NULL}),
    ("size that is none", "nvmf", [*SUBSYS, "--ns", "ram:much"], "ram:much: not a size", {"vdev": NULL}),
    ("odd memory", "nvmf", [*SUBSYS, "--ns", "ram:1000"], "not a size in blocks of 512", {"vdev": NULL}),
    ("block size", "nvmf", [*SUBSYS, "--ns", "ram:1M,bs=1024"], "bs= is 512 or 4096", {"vdev": NULL}),
    ("no memory for the pools", "nvmf", DISK, "no memory for", {"vdev": NULL, "memory": 16}),
    ("link down", "nvmf", DISK, "the link is down", {"vdev": "memif"}),
]


AT_A_TIME = 5  # cases; each of their programs polls


class Tests:
    def __init__(self, **binaries):
        self.binaries, self.failed = binaries, 0
        self.lock, self.cpus = threading.Lock(), itertools.cycle((0, 1))

    def report(self, name, problem, *programs):
        with self.lock:
            print(f"{'FAILED' if problem else 'ok'}  {name}" + (f": {problem}" if problem else ""))
            if problem:
                self.failed += 1
                print(*programs, sep="\n")
            sys.stdout.flush()

    def start(self, kind, arguments, **eal):
        return Program(self.binaries[kind], *arguments, which=next(self.cpus), **eal)

    def run(self, function, arguments):
        """One case, which must not end by an exception."""
        try:
            function(self, *arguments)
        except Exception as problem:  # a case that breaks off has failed, whatever it was
            self.report(f"{function.__name__} {arguments}", repr(problem))

    def line(self, name, kind, arguments, text, eal):
        if eal.get("vdev") == "memif":
            wire = Memif()
            eal = {**eal, "vdev": wire.vdev(0)}
        program = self.start(kind, arguments, **eal)
        problem = one_line(program, program.wait(60), text)
        program.kill()
        self.report(f"{kind}: {name}", problem, program)


def one_line(program, code, text):
    """What is wrong with how it ended; None: nothing."""
    if code != 1:
        return f"exit code {code}, not 1"
    if len(program.errors()) != 1:
        return f"{len(program.errors())} lines, not one"
    if text not in program.errors()[0]:
        return f"'{text}' is not in '{program.errors()[0]}'"
    return None


def refused(tests, kind, server, client):
    with Pair(Memif()) as pair:
        pair.start(0, tests.binaries[kind], *server)
        program = pair.start(1, tests.binaries[kind], *client)
        tests.report(f"{kind}: refused", one_line(program, program.wait(60), "cannot connect"), program)


def listens_twice(tests, arguments):
    """A second server with the address of one that is there; the first goes on, and is told of it."""
    if os.geteuid() != 0:
        if os.environ.get("CI") == "true":
            tests.report("listening twice", "needs root")
        else:
            print("skipped  listening twice: needs root")
        return
    with Pair(AfPacket()) as pair:
        first = pair.start(0, tests.binaries["app"], *arguments)
        first.says("listening")
        second = Program(tests.binaries["app"], "--ip", SERVER + "/24", *arguments, vdev=pair.wire.vdev(1), which=1)
        pair.programs.append(second)
        problem = one_line(second, second.wait(30), SERVER + ": address in use by ")
        problem = problem or leaves(first, signal.SIGINT, (0,))
        tests.report("app: listens twice on one address", problem, first, second)


TWICE = [(["ping", "-s"],)]


REFUSED = [("app", ["ping", "-s"], ["ping", "-c", "-a", SERVER, "-p", "9"]),
           ("perf", ["--server"], ["-p", "9", SERVER])]


def server_is_gone(tests):
    """The server dies in the middle."""
    with Pair(Memif()) as pair:
        server = pair.start(0, tests.binaries["app"], "ping", "-s")
        client = pair.start(1, tests.binaries["app"], "ping", "-c", "-a", SERVER, "-v", "-S", "64")
        client.says("ping data")
        server.stop()
        tests.report("app: the server hung up", one_line(client, client.wait(20), "the server hung up"), client)


def answer_arp(interface, stop):
    """A host that has a neighbour's address and nothing else."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as s:
        s.bind((interface, 0))
        s.settimeout(0.1)
        mine = s.getsockname()[4]
        while not stop.is_set():
            try:
                frame = s.recv(2048)
            except TimeoutError:
                continue
            if frame[20:22] == b"\0\1" and frame[38:42] == socket.inet_aton(SERVER):
                theirs, ip = frame[22:28], frame[28:32]
                s.send(theirs + mine + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2) + mine +
                       socket.inet_aton(SERVER) + theirs + ip + bytes(18))


def silent(tests, kind, arguments):
    """The peer is there and says nothing: the time for a connection runs out; Ctrl-C does not wait for that."""
    if os.geteuid() != 0:
        if os.environ.get("CI") == "true":
            tests.report("the peer is silent", "needs root")
        else:
            print("skipped  the peer is silent: needs root")
        return
    stop, wire = threading.Event(), AfPacket()
    thread = threading.Thread(target=answer_arp, args=(wire.names[0], stop))
    thread.start()
    with Pair(wire) as pair:
        program = pair.start(1, tests.binaries[kind], *arguments)
        problem = one_line(program, program.wait(60), "the peer was silent")
        tests.report(f"{kind}: the peer is silent", problem, program)
        program = pair.start(1, tests.binaries[kind], *arguments)
        program.catches(signal.SIGINT)
        time.sleep(3)
        tests.report(f"{kind}: Ctrl-C while it connects", leaves(program, signal.SIGINT), program)
        stop.set()
        thread.join()


SILENT = [("app", ["ping", "-c", "-a", SERVER]), ("perf", [SERVER])]


def leaves(program, number, codes=(0, 1)):
    """Sends a signal; what is wrong with the end."""
    if program.process.poll() is not None:
        return f"it had ended before the signal, with {program.wait()}"
    program.send(number)
    begin = time.monotonic()
    code = program.wait(LEAVES_WITHIN)
    if code is None:
        program.kill()
        return f"it is still there after {LEAVES_WITHIN} s"
    if code not in codes:
        return f"exit code {code} after {time.monotonic() - begin:.1f} s"
    if len(program.errors()) > 1:
        return f"{len(program.errors())} lines"
    return None


def stop_alone(tests, kind, arguments, eal, number, wait):
    """Ctrl-C of one process, at some moment of what it does."""
    wire = Memif() if eal.get("vdev") == "memif" else None
    program = tests.start(kind, arguments, **{**eal, **({"vdev": wire.vdev(0)} if wire else {})})
    time.sleep(wait)
    # Before the program has its handlers a signal ends it: that is no crash.
    problem = leaves(program, number, (0, 1, -number))
    tests.report(f"{kind} {' '.join(arguments)}: {number.name} after {wait:.2f} s", problem, program)
    if wire:
        wire.close()


def moments():
    cases = [("app", [*ME, "ping", "-s"], {"vdev": NULL}),
             ("app", PING, {"vdev": NULL}),
             ("app", [*ME, "ping", "-s"], {"vdev": "memif"}),
             ("perf", [*ME, "--server"], {"vdev": NULL}),
             ("perf", [*ME, SERVER], {"vdev": NULL}),
             ("perf", ["-D", "60"], {"cores": 2, "memory": 512}),
             ("perf", ["-D", "60", "-a", "--verb", "send"], {"cores": 2, "memory": 512}),
             ("perf", ["-n", "1000000000", "--verb", "read"], {"cores": 2, "memory": 512}),
             ("perf", ["--test", "lat", "-n", "10000000"], {"cores": 2, "memory": 512}),
             ("perf", ["roofline", "-a"], {"cores": 2, "memory": 512})]
    chance = random.Random(1)
    for case in cases:
        for number in signal.SIGINT, signal.SIGTERM:
            yield *case, number, chance.uniform(0, 2.5)


def both_at_work(tests, pair, kind, server, client):
    ends = [pair.start(0, tests.binaries[kind], *server), pair.start(1, tests.binaries[kind], *client)]
    ends[1].says({"app": "ping data", "perf": "#bytes"}[kind])
    time.sleep(0.3)
    return ends


def stop_two(tests, kind, server, client, first):
    """Ctrl-C of either end while both are at work; then of the other, which may have ended by itself."""
    with Pair(Memif()) as pair:
        ends = both_at_work(tests, pair, kind, server, client)
        problem = leaves(ends[first], signal.SIGINT)
        if not problem and ends[1 - first].process.poll() is None:
            ends[1 - first].send(signal.SIGTERM)
            code = ends[1 - first].wait(LEAVES_WITHIN)
            problem = None if code in (0, 1) else f"the other end: {code}"
        who = ("server", "client")[first]
        tests.report(f"{kind} {' '.join(client)}: Ctrl-C of the {who}", problem, *ends)


TWO = [("app", ["ping", "-s"], ["ping", "-c", "-a", SERVER, "-v"]),
       ("perf", ["--server"], ["-D", "60", SERVER]),
       ("perf", ["--server"], ["-D", "60", "--verb", "send", "-q", "3", SERVER]),
       ("perf", ["--server"], ["--test", "lat", "-n", "10000000", "--verb", "send", SERVER])]


def frozen_peer(tests, kind, server, client, frozen):
    """Ctrl-C while the other end does not move any more."""
    with Pair(Memif()) as pair:
        ends = both_at_work(tests, pair, kind, server, client)
        ends[frozen].send(signal.SIGSTOP)
        time.sleep(0.3)
        problem = leaves(ends[1 - frozen], signal.SIGINT)
        who = ("server", "client")[frozen]
        tests.report(f"{kind} {' '.join(client)}: Ctrl-C while the {who} is frozen", problem, *ends)


def either(cases):
    return [(*case, end) for case in cases for end in (0, 1)]


# The longest first.
GROUPS = {"silent": (silent, SILENT), "frozen": (frozen_peer, either(TWO[:2])), "two": (stop_two, either(TWO)),
          "alone": (stop_alone, list(moments())), "refused": (refused, REFUSED), "twice": (listens_twice, TWICE), "gone": (server_is_gone, [()]),
          "lines": (Tests.line, sorted(LINES, key=lambda line: not line[4]))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvmf")
    parser.add_argument("app")
    parser.add_argument("perf")
    parser.add_argument("only", nargs="?", default="")
    options = parser.parse_args()
    tests, only = Tests(app=options.app, perf=options.perf, nvmf=options.nvmf), options.only
    if options.nvmf:
        GROUPS["lines"][1].extend(NVMF_LINES)
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, (function, cases) in GROUPS.items():
            for case in cases:
                if only in ("", name) or (name == "lines" and only not in GROUPS and only in case[0]):
                    pool.submit(tests.run, function, case)
    print(f"{tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
