#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-iwarp-app ping against a peer made by hand over a socket of the kernel: markers, revision 1, every RTR, malformed
frames; as responder and as initiator.

    scripted.py APP

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import sys
import traceback

import mpa_peer as mpa
from programs import CLIENT, SERVER, AfPacket, Pair, ip, need_root

PORT = 7174
DATA = b"rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopq\0"


class Namespace:
    """A network of its own for the kernel's end: nothing else on this machine has its addresses."""

    def __init__(self):
        self.name = f"iwns{os.getpid()}"
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        ip("netns", "add", self.name)
        self.there = os.open(f"/run/netns/{self.name}", os.O_RDONLY)

    @contextlib.contextmanager
    def inside(self):
        """Sockets that are made here belong there."""
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.setns(self.there, 0) == 0
        try:
            yield
        finally:
            assert libc.setns(self.home, 0) == 0

    def close(self):
        os.close(self.there)
        os.close(self.home)
        ip("netns", "del", self.name)


space = None


def checksums_in_software(name):
    """A veth hands packets on without checksums, for the kernel at the other end trusts it: SIOCETHTOOL, as ethtool -K
    tx off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for command in (0x17, 0x1F, 0x24):  # ETHTOOL_STXCSUM, STSO, SGSO
            value = bytearray(struct.pack("II", command, 0))
            address = (struct.pack("P", _address(value)))
            fcntl.ioctl(sock, 0x8946, struct.pack("16s", name.encode()) + address + bytes(16))


def _address(buffer):
    return ctypes.addressof((ctypes.c_char * len(buffer)).from_buffer(buffer))


# ---- the app is the server, we are the initiator ----

def connect(source_port=0):
    with space.inside():
        return mpa.Peer(socket.create_connection((SERVER, PORT), 10, (CLIENT, source_port)))


def ping_round(peer, msn, data=DATA):
    """One round of rping's client."""
    peer.say(mpa.send(msn, struct.pack(">QII", 0x1000, 7, len(data))))
    request = peer.hear()
    assert request.opcode == mpa.READ_REQ, request.opcode
    sink_stag, sink_to, size, source, source_to = request.read()
    assert (size, source, source_to) == (len(data), 7, 0x1000)
    cut = size // 2
    peer.say(mpa.tagged(mpa.READ_RESP, sink_stag, sink_to, data[:cut], False),
             mpa.tagged(mpa.READ_RESP, sink_stag, sink_to + cut, data[cut:]))
    assert peer.hear().opcode == mpa.SEND
    peer.say(mpa.send(msn + 1, struct.pack(">QII", 0x2000, 8, len(data))))
    first, written = peer.message()
    assert (first.opcode, first.stag, first.to, written) == (mpa.WRITE, 8, 0x2000, data)
    assert peer.hear().opcode == mpa.SEND
    return msn + 2


def plain(flags, rev, private=b"", size=len(DATA)):
    def case():
        peer = connect()
        got = peer.ask(flags, rev, private)
        assert got[0] & 0x30 == flags & 0x10 and got[1] == rev, got
        msn = 1
        for _ in range(3):
            msn = ping_round(peer, msn, DATA[:-1].ljust(size - 1, b"x") + b"\0")
        peer.finish()
    return case


def rtr(kind):
    def case():
        peer = connect()
        flags, _, private = peer.ask(mpa.S | mpa.C, 2, mpa.words(4, 4, True, **{kind: True}))
        assert flags & mpa.S and private == mpa.words(4, 4, True, **{kind: True}), private
        msn = 1
        if kind == "write":
            peer.say(mpa.tagged(mpa.WRITE, 1, 0))
        elif kind == "read":
            peer.say(mpa.read_request(1, (1, 0), 0, (1, 0)))
            answer = peer.hear()
            assert answer.opcode == mpa.READ_RESP and not answer.payload
        else:
            peer.say(mpa.send(1))
            msn = 2
        ping_round(peer, msn)
        peer.finish()
    return case


def malformed(error, make):
    """It gets this Terminate, and the end; `make` builds the octets."""
    def case():
        peer = connect()
        peer.ask(mpa.S | mpa.C, 2, mpa.words(4, 4))
        peer.sock.sendall(make(peer))
        answer = peer.hear()
        assert answer.opcode == mpa.TERMINATE and answer.error() == error, (answer.opcode, answer.payload)
        assert peer.is_over()
    return case


def bad_crc(peer):
    octets = bytearray(peer.fpdu(mpa.send(1, b"12345678")))
    octets[-1] ^= 1
    return bytes(octets)


def refused(octets):
    """No start-up: the end, without a word."""
    def case():
        peer = connect()
        peer.sock.sendall(octets)
        try:
            peer.octets(1)
        except mpa.Ended:
            return
        raise AssertionError("an answer")
    return case


def terminated():
    """Our Terminate gets no answer, but the end."""
    peer = connect()
    peer.ask(mpa.S | mpa.C, 2, mpa.words(4, 4))
    peer.say(mpa.terminate(0, 2, 6))
    try:
        answer = peer.octets(1)
    except mpa.Ended:
        return
    raise AssertionError(answer)


SERVER_CASES = {
    "revision 2": plain(mpa.S | mpa.C, 2, mpa.words(4, 4)),
    "revision 1": plain(mpa.C, 1),
    "revision 1 without CRC": plain(0, 1),
    "markers": plain(mpa.M | mpa.S | mpa.C, 2, mpa.words(4, 4)),
    "markers, revision 1": plain(mpa.M | mpa.C, 1),
    "markers, large": plain(mpa.M | mpa.S | mpa.C, 2, mpa.words(4, 4), 20000),
    "RTR by Write": rtr("write"),
    "RTR by Read": rtr("read"),
    "RTR by Send": rtr("send"),
    "F1": malformed((2, 0, 2), bad_crc),
    "F3": malformed((2, 0, 3), lambda p: p.fpdu(mpa.send(1)[:17])),
    "D1": malformed((1, 2, 6), lambda p: p.fpdu(b"\x42" + mpa.send(1)[1:])),
    "D2": malformed((1, 1, 0), lambda p: p.fpdu(mpa.tagged(mpa.WRITE, 0xDEADBEEF, 0, b"x"))),
    "D10": malformed((1, 2, 3), lambda p: p.fpdu(mpa.send(9))),
    "R1": malformed((0, 2, 5), lambda p: p.fpdu(b"\x41\x83" + mpa.send(1)[2:])),
    "R2": malformed((0, 2, 6), lambda p: p.fpdu(mpa.untagged(15, 0, 1, b"12345678"))),
    "R4": malformed((0, 2, 6), lambda p: p.fpdu(mpa.tagged(mpa.READ_RESP, 1, 0, b"x"))),
    "R16, immediate data of 7 octets": malformed((0, 2, 0xFF), lambda p: p.fpdu(mpa.untagged(mpa.IMM, 0, 1, bytes(7)))),
    "R16, atomic in no memory": malformed((0, 1, 0), lambda p: p.fpdu(mpa.atomic(1, 0, 5, 0xDEADBEEF, 0, 1, 0))),
    "R16, unknown atomic": malformed((0, 2, 6), lambda p: p.fpdu(mpa.atomic(1, 1, 5, 0xDEADBEEF, 0, 1, 0))),
    "R16, atomic response": malformed((1, 2, 2), lambda p: p.fpdu(mpa.atomic_response(1, 5, 0))),
    "R11": terminated,
    "M1": refused(mpa.startup(b"MPA ID Req Frams", 0x50, 2, mpa.words(1, 1))),
    "M3": refused(mpa.REQUEST + b"\x50\x02\xff\xff"),
    "M7": refused(mpa.startup(mpa.REQUEST, 0x40, 3)),
    "M11": refused(mpa.startup(mpa.REQUEST, 0x50, 2)),
}


# ---- the app is the client, we are the responder ----

def serve_round(peer, stag=0x77):
    """One round of rping's server."""
    first, payload = peer.message()
    while first.opcode == mpa.WRITE and not payload:  # RTR; and what is to wake a peer that is slow to answer
        first, payload = peer.message()
    to, rkey, size = struct.unpack(">QII", payload)
    peer.say(mpa.read_request(serve_round.reads, (stag, 0), size, (rkey, to)))
    answer, data = peer.message()
    assert (answer.opcode, answer.stag, len(data)) == (mpa.READ_RESP, stag, size)
    assert data.startswith(b"rdma-ping-")
    peer.say(mpa.send(1, bytes(16)))
    _, payload = peer.message()
    to, rkey, size = struct.unpack(">QII", payload)
    peer.say(mpa.tagged(mpa.WRITE, rkey, to, data[:5], False), mpa.tagged(mpa.WRITE, rkey, to + 5, data[5:]),
             mpa.send(2, bytes(16)))


def client_case(pair, app, listener, answer, before=0, *options):
    """`before`: so many connections are closed without a Reply (it falls back to revision 1)."""
    client = pair.start(0, app, *options, "ping", "-c", "-a", CLIENT, "-C", "1", "-V")
    try:
        for _ in range(before):
            peer = mpa.Peer(listener.accept()[0])
            assert peer.read_startup(mpa.REQUEST)[1] == 2
            peer.sock.close()
        peer = mpa.Peer(listener.accept()[0])
        asked = peer.read_startup(mpa.REQUEST)
        serve_round.reads = 1
        answer(peer, asked)
        serve_round(peer)
        peer.is_over()
        peer.sock.close()
        assert client.wait(30) == 0, client
    finally:
        client.kill()


def accept_with(flags, **kinds):
    def answer(peer, asked):
        assert asked[1] == 2 and asked[0] & mpa.S
        peer.answer(asked[0], flags | mpa.S | mpa.C, 2, mpa.words(1, 1, bool(kinds), **kinds))  # as rping has it
        if "read" in kinds:
            request = peer.hear()
            assert request.opcode == mpa.READ_REQ and request.read()[2] == 0, (request.opcode, request.payload)
            serve_round.reads = 1
            peer.say(mpa.tagged(mpa.READ_RESP, request.read()[0], request.read()[1]))
        if "send" in kinds:
            first = peer.hear()
            assert (first.opcode, first.msn, first.payload) == (mpa.SEND, 1, b""), first
    return answer


def revision_1(peer, asked):
    assert asked[1] == 1 and not asked[0] & mpa.S, asked
    peer.answer(asked[0], mpa.C, 1)


def asks_for(crc, peer_to_peer):
    """What the Request must ask for; it gets that and no more."""
    def answer(peer, asked):
        a_bit = struct.unpack(">H", asked[2][:2])[0] >> 15
        assert (bool(asked[0] & mpa.C), bool(a_bit)) == (crc, peer_to_peer), asked
        kinds = {"write": True} if peer_to_peer else {}
        peer.answer(asked[0], mpa.S | (mpa.C if crc else 0), 2, mpa.words(1, 1, peer_to_peer, **kinds))
    return answer


CLIENT_CASES = {
    "client: asks for CRC and peer-to-peer": (asks_for(True, True), 0),
    "client: --no-crc": (asks_for(False, True), 0, "--no-crc"),
    "client: --no-p2p": (asks_for(True, False), 0, "--no-p2p"),
    "client: neither": (asks_for(False, False), 0, "--no-crc", "--no-p2p"),
    "client: RTR by Write": (accept_with(0, write=True), 0),
    "client: RTR by Read": (accept_with(0, read=True), 0),
    "client: RTR by Send": (accept_with(0, send=True), 0),
    "client: markers": (accept_with(mpa.M, write=True), 0),
    "client: falls back to revision 1": (revision_1, 1),
}


def run(name, case, *arguments):
    try:
        case(*arguments)
        print("ok   " + name)
        return True
    except (AssertionError, OSError, mpa.Ended, struct.error):
        print("FAIL " + name)
        traceback.print_exc(file=sys.stdout)
        return False


@contextlib.contextmanager
def bench():
    """A Pair whose second end is the kernel's, CLIENT in a namespace of its own."""
    global space
    with contextlib.closing(Namespace()) as space, Pair(AfPacket()) as pair:
        kernel = pair.wire.names[1]
        ip("link", "set", kernel, "netns", space.name)
        with space.inside():
            checksums_in_software(kernel)
        ip("-n", space.name, "address", "add", CLIENT + "/24", "dev", kernel)
        ip("-n", space.name, "link", "set", kernel, "up")
        yield pair


def main():
    app = sys.argv[1]
    need_root()
    good = True
    with bench() as pair:
        server = pair.start(0, app, "ping", "-s", "-V")
        server.says("listening")
        for name, case in SERVER_CASES.items():
            good &= run(name, case)
        server.stop()
        with space.inside():
            listener = socket.create_server((CLIENT, PORT))
        with listener:
            listener.settimeout(20)
            for name, (answer, *more) in CLIENT_CASES.items():
                good &= run(name, client_case, pair, app, listener, answer, *more)
        if not good:
            print(server)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
