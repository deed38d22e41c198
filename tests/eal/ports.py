#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two dpdk-iwarp-app processes ping each other over one kind of DPDK port.

    ports.py APP memif|af_packet|tap [ipv6|vlan|engines|idle]

engines: a server with an engine on each of two lcores, which share the connections; idle: both sleep
when there is nothing to do (tap has receive interrupts, the others have none); ipv6: link-local addresses with the port's number; vlan: both in one 802.1Q VLAN.

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import sys

from programs import SERVER, AfPacket, Memif, Pair, Tap


CONNECTIONS = 20


def engines(pair, app, kind):
    """Connections come to both of them, by whatever way the port has.  Three pollers for two CPUs: not many rounds."""
    server = pair.start(0, app, "ping", "-s", "-V", cores=2, memory=512)
    if kind != "memif":
        server.says("listening")
    client = pair.start(1, app, "ping", "-c", "-a", SERVER, "-n", str(CONNECTIONS), "-C", "1", "-S", "4096", "-V")
    codes = client.wait(90), server.stop()
    served = [int(line.split()[2]) for line in server.lines["out"] if line.startswith("engine ")]
    print(f"exit codes {codes}, connections {served}", *server.lines["out"][:1])
    # The other end of a memory interface has one queue, so all arrive in one.
    if codes == (0, 0) and len(served) == 2 and sum(served) == CONNECTIONS and (min(served) > 0 or kind == "memif"):
        return 0
    print(server, client, sep="\n")
    return 1


def main():
    app, kind, over = (*sys.argv[1:], "")[:3]
    if over == "engines":
        with Pair({"memif": Memif, "af_packet": AfPacket, "tap": Tap}[kind]()) as pair:
            return engines(pair, app, kind)
    more = {"idle": (["--idle-sleep", "200"],) * 2, "vlan": (["--vlan", "7"],) * 2, "ipv6": (["--ip", "fe80::1/64"], ["--ip", "fe80::2/64"]), "": ([], [])}[over]
    address = "fe80::1%0" if over == "ipv6" else SERVER
    with Pair({"memif": Memif, "af_packet": AfPacket, "tap": Tap}[kind]()) as pair:
        server = pair.start(0, app, *more[0], "ping", "-s", "-C", "1", "-V")
        if kind != "memif":  # it has no link before both are there
            server.says("listening")
        client = pair.start(1, app, *more[1], "ping", "-c", "-a", address, "-C", "50", "-S", "4096", "-V", "-v")
        codes = client.wait(60), server.wait(10)
        rounds = [line for line in client.lines["out"] if line.startswith("ping data: rdma-ping-")]
        print(f"exit codes {codes}, {len(rounds)} rounds")
        if codes == (0, 0) and len(rounds) == 50:
            return 0
        print(server, client, sep="\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
