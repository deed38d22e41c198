# SPDX-License-Identifier: BSD-3-Clause
"""MPA, DDP and RDMAP by hand over an ordinary socket of the kernel (RFC 5044, 5041, 5040, 6581, 7306): what Linux' siw
cannot say."""
import socket
import struct

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
M, C, R, S = 0x80, 0x40, 0x20, 0x10
WRITE, READ_REQ, READ_RESP, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE, IMM, IMM_SE, ATOMIC, ATOMIC_RESP = range(12)


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


CRC_TABLE = _crc_table()


def crc32c(octets):
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


def startup(key, flags, rev, private=b""):
    return key + struct.pack(">BBH", flags, rev, len(private)) + private


def words(ird, ord_, a=False, send=False, write=False, read=False):
    """The enhanced words of RFC 6581."""
    return struct.pack(">HH", a << 15 | send << 14 | ird, write << 15 | read << 14 | ord_)


# ---- DDP segments ----

def tagged(opcode, stag, to, payload=b"", last=True):
    return struct.pack(">BBIQ", 0x81 | last << 6, 0x40 | opcode, stag, to) + payload


def untagged(opcode, qn, msn, payload=b"", mo=0, last=True, stag=0):
    return struct.pack(">BBIIII", 0x01 | last << 6, 0x40 | opcode, stag, qn, msn, mo) + payload


def send(msn, payload=b""):
    return untagged(SEND, 0, msn, payload)


def read_request(msn, sink, size, source):
    return untagged(READ_REQ, 1, msn, struct.pack(">IQIIQ", *sink, size, *source))


def terminate(layer, etype, code):
    return untagged(TERMINATE, 2, 1, struct.pack(">BBH", layer << 4 | etype, code, 0))


def immediate(msn, value, solicited=False):
    """RFC 7306 §6: eight octets on queue 0."""
    return untagged(IMM_SE if solicited else IMM, 0, msn, struct.pack(">Q", value))


def atomic(msn, opcode, ident, stag, to, data, mask, compare=0, compare_mask=0xFFFFFFFFFFFFFFFF):
    """RFC 7306 §5.2.1: 0 FetchAdd, 2 CmpSwap."""
    return untagged(ATOMIC, 1, msn, struct.pack(">IIIQQQQQ", opcode, ident, stag, to, data, mask, compare, compare_mask))


def atomic_response(msn, ident, value):
    return untagged(ATOMIC_RESP, 3, msn, struct.pack(">IQ", ident, value))


class Segment:
    """A received DDP segment."""

    def __init__(self, octets):
        self.tagged, self.last, self.opcode = bool(octets[0] & 0x80), bool(octets[0] & 0x40), octets[1] & 15
        if self.tagged:
            self.stag, self.to = struct.unpack(">IQ", octets[2:14])
            self.payload = octets[14:]
        else:
            self.stag, self.qn, self.msn, self.mo = struct.unpack(">IIII", octets[2:18])
            self.payload = octets[18:]

    def read(self):
        """sink STag, sink TO, size, source STag, source TO."""
        return struct.unpack(">IQIIQ", self.payload)

    def error(self):
        return self.payload[0] >> 4, self.payload[0] & 15, self.payload[1]


class Ended(Exception):
    pass


class Peer:
    """A connected socket; markers of each direction are counted from the first FPDU on."""

    def __init__(self, sock):
        sock.settimeout(20)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock, self.crc = sock, True
        self.tx_markers = self.rx_markers = False
        self.tx_at = self.rx_at = 0

    def octets(self, n):
        got = b""
        while len(got) < n:
            try:
                part = self.sock.recv(n - len(got))
            except ConnectionResetError as error:
                raise Ended("reset") from error
            if not part:
                raise Ended("end")
            got += part
        return got

    # ---- start-up ----

    def read_startup(self, key):
        head = self.octets(20)
        assert head[:16] == key, head
        flags, rev, length = struct.unpack(">BBH", head[16:])
        return flags, rev, self.octets(length)

    def ask(self, flags, rev, private=b""):
        self.sock.sendall(startup(REQUEST, flags, rev, private))
        reply = self.read_startup(REPLY)
        self.agree(flags, reply[0])
        return reply

    def answer(self, asked, flags, rev, private=b""):
        self.sock.sendall(startup(REPLY, flags, rev, private))
        self.agree(flags, asked)

    def agree(self, ours, theirs):
        self.crc = bool((ours | theirs) & C)
        self.rx_markers, self.tx_markers = bool(ours & M), bool(theirs & M)

    # ---- FPDUs ----

    def fpdu(self, segment):
        """With length, pad, CRC and, if the other side wants them, markers."""
        plain = struct.pack(">H", len(segment)) + segment
        plain += bytes(-len(plain) % 4)
        out, begin = b"", None
        for at in range(0, len(plain), 4):
            out, begin = self._put(out, plain[at:at + 4], begin)
        if self.tx_markers and (self.tx_at + len(out)) % 512 == 0:
            out += struct.pack(">HH", 0, len(out) - begin)
        out += struct.pack("<I", crc32c(out) if self.crc else 0)
        return out

    def _put(self, out, word, begin):
        if self.tx_markers and (self.tx_at + len(out)) % 512 == 0:
            out += struct.pack(">HH", 0, 0 if begin is None else len(out) - begin)
        return out + word, len(out) if begin is None else begin

    def say(self, *segments):
        for segment in segments:
            octets = self.fpdu(segment)
            self.tx_at += len(octets)
            self.sock.sendall(octets)

    def _word(self, state):
        """Four octets that are no marker; markers are checked."""
        if self.rx_markers and self.rx_at % 512 == 0:
            marker = self.octets(4)
            pointer = struct.unpack(">HH", marker)[1]
            assert pointer == (0 if state["begin"] is None else self.rx_at - state["begin"]), (pointer, self.rx_at)
            state["all"] += marker
            self.rx_at += 4
        if state["begin"] is None:
            state["begin"] = self.rx_at
        word = self.octets(4)
        self.rx_at += 4
        return word

    def hear(self):
        """The next segment."""
        state = {"all": b"", "begin": None}
        first = self._word(state)
        state["all"] += first
        length = struct.unpack(">H", first[:2])[0]
        plain = first
        while len(plain) < 2 + length:
            word = self._word(state)
            state["all"] += word
            plain += word
        crc = self._word(state)
        if self.crc:
            assert crc == struct.pack("<I", crc32c(state["all"])), "CRC"
        return Segment(plain[2:2 + length])

    def message(self):
        """All segments of the next message: the first, and the payload.  Writes of nothing wake a slow peer."""
        first = segment = self.hear()
        while first.opcode == WRITE and first.last and not first.payload:
            first = segment = self.hear()
        payload = segment.payload
        while not segment.last:
            segment = self.hear()
            payload += segment.payload
        return first, payload

    def is_over(self):
        """The other side ends the stream."""
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionResetError:
            pass
        return True

    def finish(self):
        """A graceful end."""
        self.sock.shutdown(socket.SHUT_WR)
        self.is_over()
        self.sock.close()
