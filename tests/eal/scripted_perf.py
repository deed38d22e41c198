#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-iwarp-perf against a peer made by hand over a socket of the kernel: Immediate Data and atomics (RFC 7306), field
by field, as responder and as initiator; and tshark's reading of it.

    scripted_perf.py PERF

Exit code 0: it worked; 77: it cannot run here, and why (in CI that is a failure: 1)."""
import contextlib
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading

import mpa_peer as mpa
import scripted
from programs import CLIENT, SERVER

PORT = 18515
SOURCE = 0x77  # our STag
IN, CREDIT = 0x5000, 0x9000  # where the other end may write
ONES = 0xFFFFFFFFFFFFFFFF

# ---- the record that both ends of dpdk-iwarp-perf exchange ----

RECORD = struct.Struct(">IBBBBIIIIIIIIIQQQQQ")
MAGIC, VERSION = 0x69777066, 3
RUN, READY, _, STOP, DONE = range(1, 6)
WRITE_IMM, ATOMIC = 3, 4
BANDWIDTH, LATENCY = 0, 1
VALIDATE = 4
CONTROL = 0xFFFFFFFF


def record(kind, verb=0, test=0, size=0, flags=0, count=0, bad=0):
    depth = 16
    return RECORD.pack(MAGIC, VERSION, kind, verb, test, size, depth, depth, 0, 1, 1, 0, flags, SOURCE, 0, IN, CREDIT,
                       count, bad).ljust(96, b"\0")


class Record:
    def __init__(self, octets):
        assert len(octets) == 96, len(octets)
        (magic, version, self.kind, self.verb, self.test, self.size, *_, self.rkey, _, self.in_addr, _, _,
         self.bad) = RECORD.unpack(octets[:RECORD.size])
        assert (magic, version) == (MAGIC, VERSION)


class Records:
    """The control connection: Sends of one record each."""

    def __init__(self, peer):
        self.peer, self.sent, self.heard = peer, 0, 0

    def say(self, *fields, **more):
        self.sent += 1
        self.peer.say(mpa.send(self.sent, record(*fields, **more)))

    def hear(self, kind):
        first, payload = self.peer.message()
        self.heard += 1
        assert (first.opcode, first.qn, first.msn, first.mo) == (mpa.SEND, 0, self.heard, 0), vars(first)
        got = Record(payload)
        assert got.kind == kind, (got.kind, kind)
        return got

    def run(self, *fields, **more):
        self.say(RUN, *fields, **more)
        return self.hear(READY)


# ---- what arrives ----

def untagged(segment, opcode, qn, msn, length):
    """RFC 5041 §4.3 and RFC 5040 §4.1: one segment, and all that is in its header."""
    assert not segment.tagged and segment.last
    assert (segment.opcode, segment.stag, segment.qn, segment.msn, segment.mo) == (opcode, 0, qn, msn, 0), vars(segment)
    assert len(segment.payload) == length, len(segment.payload)
    return segment.payload


def immediate_of(segment, msn):
    """RFC 7306 §6.2, §6.3: queue 0, exactly eight octets."""
    return struct.unpack(">Q", untagged(segment, mpa.IMM, 0, msn, 8))[0]


def atomic_answer(peer, msn, ident):
    """RFC 7306 §5.2.2: queue 3, numbered on its own; the request's identifier; what was there before."""
    got, value = struct.unpack(">IQ", untagged(peer.hear(), mpa.ATOMIC_RESP, 3, msn, 12))
    assert got == ident, (got, ident)
    return value


def written(peer, stag, to, size):
    """A Write of one segment or more, to where it must go."""
    data = b""
    while len(data) < size:
        segment = peer.hear()
        assert segment.tagged and segment.opcode == mpa.WRITE
        assert (segment.stag, segment.to) == (stag, to + len(data)), vars(segment)
        data += segment.payload
        assert segment.last == (len(data) == size)
    return data


# ---- it serves, we initiate ----

def connect(number):
    with scripted.space.inside():
        peer = mpa.Peer(socket.create_connection((SERVER, PORT), 10))
    flags, rev, _ = peer.ask(mpa.S | mpa.C, 2, mpa.words(16, 16) + struct.pack(">I", number))
    assert (flags & mpa.R, rev) == (0, 2), flags
    return peer


class Reader:
    """Reads of the other end's memory; Reads and atomics are numbered together, on queue 1."""

    def __init__(self, peer, rkey):
        self.peer, self.rkey, self.msn, self.answers = peer, rkey, 0, 0

    def number(self):
        self.msn += 1
        return self.msn

    def read(self, to, size):
        self.peer.say(mpa.read_request(self.number(), (SOURCE, 0x100), size, (self.rkey, to)))
        first, data = self.peer.message()
        assert (first.opcode, first.stag, first.to, len(data)) == (mpa.READ_RESP, SOURCE, 0x100, size)
        return data

    def ask(self, opcode, ident, to, data, mask, compare=0, compare_mask=ONES):
        self.peer.say(mpa.atomic(self.number(), opcode, ident, self.rkey, to, data, mask, compare, compare_mask))

    def answer(self, ident):
        self.answers += 1
        return atomic_answer(self.peer, self.answers, ident)

    def atomic(self, opcode, ident, to, *words):
        self.ask(opcode, ident, to, *words)
        return self.answer(ident)


def serve_immediate(pair, perf):
    """What we Write arrives; the Immediate Data behind it comes back behind a Write to us, to the last bit."""
    server = pair.start(0, perf, "--server")
    server.says("listening")
    control, size = Records(connect(CONTROL)), 64
    theirs = control.run(WRITE_IMM, LATENCY, size)
    data = connect(0)
    control.run(WRITE_IMM, LATENCY, size)
    reader = Reader(data, theirs.rkey)
    for msn in range(1, 41):  # more than there are receives: each is posted again
        value, text = 0x8877665544332211 + (msn << 32), bytes([msn]) * size
        data.say(mpa.tagged(mpa.WRITE, theirs.rkey, theirs.in_addr, text), mpa.immediate(msn, value, msn % 3 == 0))
        assert written(data, SOURCE, IN, size) == bytes(size - 1) + bytes([msn])
        assert immediate_of(data.hear(), msn) == value
        assert reader.read(theirs.in_addr, size) == text
    for end in data, control.peer:
        end.finish()
    assert server.wait(10) == 0 and not server.errors(), server


FETCH_ADD, CMP_SWAP = 0, 2


def fetch_add(was, data, mask):
    """RFC 7306 §5.1.1's pseudocode."""
    result = carry = 0
    for bit in range(64):
        place = 1 << bit
        total = carry + bool(was & place) + bool(data & place)
        result |= place if total & 1 else 0
        carry = total >> 1 if not mask & place else 0
    return result


def cmp_swap(was, data, mask, compare, compare_mask):
    """RFC 7306 §5.1.2's."""
    return was if (compare ^ was) & compare_mask else was & ~mask & ONES | data & mask


# Operation code and words in turn; the first value is 0.
ATOMICS = [
    (FETCH_ADD, 5, 0),
    (FETCH_ADD, ONES, 0),  # minus 1
    (FETCH_ADD, 0x80FF80FF80FF80FF, 0x8080808080808080),  # fields of eight bits
    (FETCH_ADD, 0x0101010101010101, 0x8080808080808080),  # carries that are dropped
    (FETCH_ADD, 0x00000000FFFFFFFF, 0x8000000080000000),
    (FETCH_ADD, 3, ONES),  # of one bit
    (FETCH_ADD, 1, 0, 0x1234, 0),  # Compare Data and Mask are ignored
    (0xFFFFFFF0 | FETCH_ADD, 1, 0),  # and so is what is reserved
    (CMP_SWAP, 0x1122334455667788, ONES, None, ONES),  # equal
    (CMP_SWAP, 0xAAAAAAAAAAAAAAAA, ONES, 0x1122334455667789, ONES),  # not equal
    (CMP_SWAP, ONES, 0x00FF00000000FF00, 0x88, 0xFF),  # equal in the octet that counts
    (CMP_SWAP, 0, ONES, 0x89, 0xFF),
    (CMP_SWAP, 7, ONES, 0xDEADBEEF, 0),  # a Swap
]


def after(was, opcode, data, mask, compare=0, compare_mask=ONES):
    return fetch_add(was, data, mask) if opcode & 15 == FETCH_ADD else cmp_swap(was, data, mask, compare, compare_mask)


def serve_atomics(pair, perf):
    server = pair.start(0, perf, "--server")
    server.says("listening")
    control = Records(connect(CONTROL))
    theirs = control.run(ATOMIC, BANDWIDTH, 8, VALIDATE)
    data, to, value = connect(0), theirs.in_addr, 0
    control.run(ATOMIC, BANDWIDTH, 8, VALIDATE)
    reader = Reader(data, theirs.rkey)
    for i, (opcode, *words) in enumerate(ATOMICS):
        words = [value if word is None else word for word in words]
        assert reader.atomic(opcode, 0xC0DE0000 + i, to, *words) == value, (i, hex(value))
        value = after(value, opcode, *words)
        assert struct.unpack("=Q", reader.read(to, 8))[0] == value, (i, hex(value))
    for i in range(16):  # as many at a time as its IRD
        reader.ask(FETCH_ADD, i, to, 1, 0)
    assert [reader.answer(i) for i in range(16)] == list(range(value, value + 16))
    control.say(STOP, count=value + 16)
    assert control.hear(DONE).bad == 0
    control.run(ATOMIC, BANDWIDTH, 8, VALIDATE)  # begins with 0
    assert reader.atomic(FETCH_ADD, 1, to, 7, 0) == 0
    control.say(STOP, count=5)
    assert control.hear(DONE).bad == 2
    reader.ask(FETCH_ADD, 2, to + 4, 1, 0)  # R16: misaligned
    answer = data.hear()
    assert answer.opcode == mpa.TERMINATE and answer.error() == (0, 2, 7), answer.payload
    assert data.is_over()
    control.peer.finish()
    assert server.wait(10) == 0 and not server.errors(), server


# ---- it initiates, we serve ----

def accept(listener, number):
    peer = mpa.Peer(listener.accept()[0])
    flags, rev, private = peer.read_startup(mpa.REQUEST)
    assert rev == 2 and flags & mpa.S and private[4:] == struct.pack(">I", number), private
    a_bit = bool(private[0] & 0x80)
    peer.answer(flags, mpa.S | mpa.C, 2, mpa.words(16, 16, a_bit, write=a_bit))
    return peer


@contextlib.contextmanager
def client_of(pair, perf, verb, *options):
    """The client behind its start-up: the control connection, its data connection, what it has told of itself."""
    with scripted.space.inside():
        listener = socket.create_server((CLIENT, PORT))
    with listener:
        listener.settimeout(20)
        client = pair.start(0, perf, "--verb", verb, "--test", "lat", "-n", "5", *options, CLIENT)
        try:
            control = Records(accept(listener, CONTROL))
            asked = control.hear(RUN)
            control.say(READY)
            data = accept(listener, 0)
            control.hear(RUN)
            control.say(READY)
            yield client, control, data, asked
        finally:
            client.kill()


def end_well(client, control, data):
    control.hear(STOP)
    control.say(DONE)
    for end in data, control.peer:
        end.is_over()
        end.finish()
    assert client.wait(30) == 0 and not client.errors(), client


def heard_write(data, size):
    """Without the Writes of nothing that begin a stream or wake a slow peer."""
    segment = data.hear()
    while segment.opcode == mpa.WRITE and not segment.payload:
        segment = data.hear()
    assert (segment.tagged, segment.last, segment.opcode) == (True, True, mpa.WRITE), vars(segment)
    assert (segment.stag, segment.to, len(segment.payload)) == (SOURCE, IN, size), vars(segment)


def ask_immediate(pair, perf):
    """Each message's number comes in all eight octets, and is waited for."""
    with client_of(pair, perf, "write-imm", "-s", "64", "--data_validation") as (client, control, data, asked):
        assert (asked.verb, asked.test, asked.size) == (WRITE_IMM, LATENCY, 64)
        for n in range(1, 6):
            heard_write(data, 64)
            assert immediate_of(data.hear(), n) == n
            text = perf_pattern(64 - 1) + bytes([n])
            data.say(mpa.tagged(mpa.WRITE, asked.rkey, asked.in_addr, text), mpa.immediate(n, n, n % 2 == 0))
        end_well(client, control, data)


def perf_pattern(size):
    """What data validation wants of the first QP."""
    words = [((1 << 32 | i) * 0x9E3779B97F4A7C15) & ONES for i in range(size // 8 + 1)]
    return struct.pack(f"={len(words)}Q", *((x ^ x >> 29) | 0x0101010101010101 for x in words))[:size]


def ask_immediate_of_another(pair, perf):
    with client_of(pair, perf, "write-imm", "-s", "64") as (client, _, data, asked):
        heard_write(data, 64)
        immediate_of(data.hear(), 1)
        data.say(mpa.tagged(mpa.WRITE, asked.rkey, asked.in_addr, bytes(63) + b"\1"), mpa.immediate(1, 1 << 63 | 1))
        assert client.wait(30) == 1 and "immediate data" in "".join(client.errors()), client


def ask_atomics(pair, perf):
    """RFC 7306 §5.2.1: every field of what it asks for; the answers are numbered on queue 3."""
    with client_of(pair, perf, "atomic", "--data_validation") as (client, control, data, asked):
        assert (asked.verb, asked.size) == (ATOMIC, 8)
        idents = set()
        for msn in range(1, 6):
            segment = data.hear()
            while segment.opcode == mpa.WRITE and not segment.payload:
                segment = data.hear()
            word, ident, *rest = struct.unpack(">IIIQQQQQ", untagged(segment, mpa.ATOMIC, 1, msn, 52))
            assert word == FETCH_ADD and rest == [SOURCE, IN, 1, 0, 0, ONES], (word, rest)
            idents.add(ident)
            data.say(mpa.atomic_response(msn, ident, msn - 1))
        assert len(idents) == 5
        end_well(client, control, data)


# ---- tshark ----

class Recorder:
    """All frames of the kernel's end in a pcap file."""

    def __init__(self, file, interface):
        self.file = open(file, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        with scripted.space.inside():
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
            self.sock.bind((interface, 0))
        self.sock.settimeout(0.1)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._record)
        self.thread.start()

    def _record(self):
        while True:
            try:
                frame = self.sock.recv(65535)
            except TimeoutError:
                if self.ended.is_set():
                    return
                continue
            self.file.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)

    def close(self):
        self.ended.set()
        self.thread.join()
        self.sock.close()
        self.file.close()


# What tshark must see from dpdk-iwarp-perf, in the fields that it names.
SEEN = [
    "iwarp_rdma.opcode == 8 && iwarp_ddp.qn == 0 && iwarp_ddp.mo == 0 && iwarp_ddp.last_flag == 1",
    "iwarp_rdma.opcode == 10 && iwarp_ddp.qn == 1 && iwarp_rdma.atomic.opcode == 0 && "
    f"iwarp_rdma.atomic.remote_stag == {SOURCE} && iwarp_rdma.atomic.remote_tagged_offset == {IN} && "
    "iwarp_rdma.atomic.add_data == 1 && iwarp_rdma.atomic.add_mask == 0",
    "iwarp_rdma.opcode == 11 && iwarp_ddp.qn == 3 && iwarp_rdma.atomic.original_request_identifier == 0xc0de0009 && "
    "iwarp_rdma.atomic.original_remote_data_value == 0x1122334455667788",
    "iwarp_rdma.terminate && iwarp_rdma.term_layer == 0",
]
FAULTS = "_ws.malformed || tcp.checksum.status == Bad || ip.checksum.status == Bad || iwarp_mpa.bad_length"


def tshark(file, display):
    """How many frames a filter finds."""
    done = subprocess.run(["tshark", "-n", "-r", file, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
                           "-o", "tcp.try_heuristic_first:TRUE", "--disable-protocol", "rpcordma", "--disable-protocol",
                           "smb_direct", "-Y", display], capture_output=True, text=True, check=True)
    return len(done.stdout.splitlines())


def second_opinion(file):
    for seen in SEEN:
        assert tshark(file, f"ip.src == {SERVER} && {seen}") > 0, "tshark does not see " + seen
    assert tshark(file, f"ip.src == {SERVER} && ({FAULTS})") == 0


def main():
    perf = sys.argv[1]
    scripted.need_root()
    good = True
    with tempfile.TemporaryDirectory() as folder, scripted.bench() as pair:
        file = pathlib.Path(folder) / "frames.pcap"
        with contextlib.closing(Recorder(file, pair.wire.names[1])):
            for case in serve_immediate, serve_atomics, ask_immediate, ask_immediate_of_another, ask_atomics:
                good &= scripted.run(case.__name__.replace("_", " "), case, pair, perf)
        if not shutil.which("tshark"):
            print("tshark is not there")
        elif good:
            good &= scripted.run("tshark", second_opinion, file)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
