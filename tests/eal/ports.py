#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two dpdk-iwarp-app processes ping each other over one kind of DPDK port.

    ports.py APP memif|af_packet|tap [ipv6|vlan]

ipv6: link-local addresses with the port's number; vlan: both in one 802.1Q VLAN.

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import sys

from programs import SERVER, AfPacket, Memif, Pair, Tap


def main():
    app, kind, over = (*sys.argv[1:], "")[:3]
    more = {"vlan": (["--vlan", "7"],) * 2, "ipv6": (["--ip", "fe80::1/64"], ["--ip", "fe80::2/64"]), "": ([], [])}[over]
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
