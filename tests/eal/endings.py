#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connections between two dpdk-iwarp-app that do not go as rping has it: rejected with private data, accepted late,
closed by both ends at once or too early, many in a row, a peer that falls silent.

    endings.py APP

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import signal
import sys
import time

from programs import SERVER, AfPacket, Pair, need_root


def rejected(pair, app):
    server = pair.start(0, app, "ping", "-s", "-C", "1", "-R", "not today\x1b[31m")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "1")
    codes = client.wait(20), server.wait(10)
    assert codes == (1, 0) and server.errors() == [], codes
    # What a peer sends is no command for a terminal.
    assert len(client.errors()) == 1 and client.errors()[0].endswith("refused by the peer: not today[31m"), client.errors()


def accepted_late(pair, app):
    server = pair.start(0, app, "ping", "-s", "-C", "1", "-D", "1")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "3", "-V")
    codes = client.wait(20), server.wait(10)
    assert codes == (0, 0), codes


def too_late(pair, app):
    """The client has gone: accept says so, and nobody else is hurt."""
    server = pair.start(0, app, "ping", "-s", "-D", "2")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "3")
    server.says("waits for an answer")
    client.stop()
    end = time.monotonic() + 10
    while not server.errors() and time.monotonic() < end:
        time.sleep(0.02)
    assert any("cannot accept: " in line and "reset" in line for line in server.errors()), server.errors()
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "3", "-V")
    assert client.wait(20) == 0, client
    assert server.stop() == 0, server


def both_at_once(pair, app):
    server = pair.start(0, app, "ping", "-s", "-C", "1", "-H", "5")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "5", "-V")
    codes = client.wait(20), server.wait(10)
    assert codes == (0, 0), codes


def too_early(pair, app):
    server = pair.start(0, app, "ping", "-s", "-C", "1", "-H", "5")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "6", "-V", "-v")
    codes = client.wait(20), server.wait(10)
    rounds = [line for line in client.lines["out"] if line.startswith("ping data: ")]
    assert codes == (1, 0) and len(rounds) == 5, (codes, len(rounds))
    assert client.errors()[0].endswith("the server hung up: before the last round"), client.errors()


def silent(pair, app):
    """In the middle of a round, so that something is in flight or is awaited: at most 1 s and 9 probes."""
    server = pair.start(0, app, "ping", "-s")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "0", "-v", "-t", "1")
    client.says("ping data: rdma-ping-10:")
    server.send(signal.SIGSTOP)
    code = client.wait(15)
    assert code == 1 and len(client.errors()) == 1 and "silent for too long" in client.errors()[0], (code, client.errors())


def in_a_row(pair, app):
    server = pair.start(0, app, "ping", "-s", "-V")
    server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-C", "3", "-n", "20", "-V", "-v")
    codes = client.wait(30), server.stop()
    rounds = [line for line in client.lines["out"] if line.startswith("ping data: rdma-ping-")]
    assert codes == (0, 0) and len(rounds) == 60, (codes, len(rounds))


CASES = (in_a_row, rejected, accepted_late, too_late, both_at_once, too_early, silent)


def main():
    need_root()
    failed = 0
    for case in CASES:
        with Pair(AfPacket()) as pair:
            try:
                case(pair, sys.argv[1])
                print("ok   " + case.__name__)
            except AssertionError as error:
                failed += 1
                print("FAIL", case.__name__, error, *pair.programs, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
