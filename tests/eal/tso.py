#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-iwarp-app on a tap, whose driver cuts frames into segments (TSO), against a peer made by hand over a socket of the
kernel: what comes out of the tap is segments of whole FPDUs with right checksums.

    tso.py APP

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import contextlib
import os
import socket
import struct
import subprocess
import sys

import mpa_peer as mpa
from programs import Program, ip, need_root, silence
from scripted import DATA, ping_round

OURS, KERNELS, PORT = "198.51.100.1", "198.51.100.2", 7174
SIZE = 40000
ETH_P_ALL = 3


def ones_sum(octets):
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def text_of(frame):
    """(identification, TCP payload) of a segment from our end; None: it is something else.  Both checksums are looked at."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 6 or frame[26:30] != socket.inet_aton(OURS):
        return None
    length, number = struct.unpack(">HH", frame[16:20])
    header, segment = frame[14:34], frame[34:14 + length]
    assert ones_sum(header) == 0xFFFF, "IP checksum"
    assert ones_sum(header[12:20] + struct.pack(">HH", 6, len(segment)) + segment) == 0xFFFF, "TCP checksum"
    return number, segment[(segment[12] >> 4) * 4:]


def whole_fpdus(payload):
    at = 0
    while at < len(payload):
        at += (2 + struct.unpack(">H", payload[at:at + 2])[0] + 3) // 4 * 4 + 4
    return at == len(payload)


@contextlib.contextmanager
def tap():
    name = f"iwtso{os.getpid() % 100000}"
    ip("tuntap", "add", name, "mode", "tap", "multi_queue")
    try:
        silence(name)
        ip("link", "set", name, "up")
        yield name
    finally:
        subprocess.run(["ip", "link", "del", name], check=False)


def one(app, mtu):
    """Segments with text, and the largest identification: a port that cuts counts with it, and we have 0 everywhere."""
    with tap() as name:
        server = Program(app, "--ip", OURS + "/24", "--mtu", str(mtu), "ping", "-s", "-V", vdev=f"net_tap0,iface={name},persist")
        try:
            server.says("listening")
            ip("link", "set", name, "address", "02:00:00:00:00:99")  # the driver has given it the port's own
            ip("address", "add", KERNELS + "/24", "dev", name)
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as ear:
                ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
                ear.bind((name, 0))
                peer = mpa.Peer(socket.create_connection((OURS, PORT), 20))
                peer.ask(mpa.S | mpa.C, 2, mpa.words(4, 4))
                msn = 1
                for _ in range(3):
                    msn = ping_round(peer, msn, DATA[:-1].ljust(SIZE - 1, b"x") + b"\0")
                peer.finish()
                ear.setblocking(False)
                texts = []
                with contextlib.suppress(BlockingIOError):
                    while True:
                        text = text_of(ear.recv(65536))
                        if text and text[1] and not text[1].startswith(mpa.REPLY):
                            texts.append(text)
            for _, payload in texts:
                assert whole_fpdus(payload), payload[:40]
            assert server.stop() == 0, server
            return len(texts), max(number for number, _ in texts)
        except BaseException:
            print(server)
            raise
        finally:
            server.kill()


def main():
    need_root()
    segments, cut = one(sys.argv[1], 1400)
    print(f"MTU 1400: {segments} segments, up to {cut + 1} of one frame")
    assert segments > 3 * SIZE // 1400 and cut > 1
    # The driver takes no segment that is as long as its MTU with Ethernet in front: they are made in software.
    segments, cut = one(sys.argv[1], 1500)
    print(f"MTU 1500: {segments} segments, up to {cut + 1} of one frame")
    assert segments > 3 * SIZE // 1500 and cut == 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
