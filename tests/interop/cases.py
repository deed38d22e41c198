# SPDX-License-Identifier: BSD-3-Clause
"""What is tested: a list of cases, and what each does on a bench.

A bench has `guest` (rping under test), `near`, `near_nocrc` and `near6` (our end), `tap`, `mtu`, `variant`, `folder`."""
import contextlib
import dataclasses
import functools
import itertools
import pathlib
from typing import Callable

import net
import peers
import wire
from process import Failed

VARIANTS, MTUS = ("siw", "siw-crc", "siw-p2p", "siw-gso"), (1500, 9000)
SIZES, ROUNDS, ROW, LONG_ROW = (23, 64, 1448, 4096, 65535), 100, 20, 200
ROUNDS_SHORT = 3
LATE, SILENCE, SHORT = 25, 3, 10  # seconds
SMOKE_ENDS = ("rejects", "terminate-received", "reset-guest-server-kill")
KILLED = 128 + 9  # as the shell puts it
ROLES = ("guest-client", "guest-server")


@dataclasses.dataclass(frozen=True)
class Case:
    variant: str
    mtu: int
    name: str  # VARIANT[-nocrc]/MTU/WHAT
    smoke: bool
    ours_only: bool  # rping cannot stand in for our end
    run: Callable  # takes the bench, raises Failed
    nvme: int = 0  # so many guests with nvme-cli and fio

    @property
    def extra(self):
        """Too long to be among those that run when none is named."""
        return self.nvme > 0 or self.name.endswith("/long-row") or "/ends/" in self.name


def ends(bench, role, crc):
    """(server, client)"""
    near = bench.near if crc else bench.near_nocrc
    return (near, bench.guest) if role == "guest-client" else (bench.guest, near)


def exchange(bench, role, crc, size, rounds=ROUNDS, times=1):
    server, client = ends(bench, role, crc)
    with server.serving(size, rounds, times):
        client.connect(server.addr, size, rounds, times)


def on_the_wire(bench, role, crc):
    """A short exchange is captured and decoded by tshark."""
    file = pathlib.Path(bench.folder, f"{bench.variant}-{bench.mtu}-{role}{'' if crc else '-nocrc'}.pcap")
    with net.capture(bench.tap, file):
        exchange(bench, role, crc, 65535, rounds=3)
    agreed = wire.check(file, (bench.guest.addr, bench.near.addr))
    if bench.near_decides_crc and agreed != (crc or bench.variant == "siw-crc" and role == "guest-client"):
        raise Failed(f"CRC is {'on' if agreed else 'off'}")
    check_lengths(bench, wire.fpdu_lengths(file))


def check_lengths(bench, lengths):
    """Ours are one FPDU to a segment (IP and TCP headers 40, MPA length and CRC 6); a siw-gso guest's are longer."""
    longest = max(lengths[bench.near.addr])
    if longest > bench.mtu - 46:
        raise Failed(f"we send ULPDUs of {longest}: more than a segment")
    longest = max(lengths[bench.guest.addr])
    if bench.variant == "siw-gso" and longest <= bench.mtu:
        raise Failed(f"the longest ULPDU of siw-gso is {longest}: none is over many segments")


def refused(bench):
    bench.near.fails(bench.guest.addr, peers.NOBODYS_PORT, "refused")


def nobody_here(bench):
    """The guest connects to a port of ours where nobody listens; then to one where somebody does."""
    with bench.near.serving(64, rounds=1, clients=0):
        bench.guest.fails(bench.near.addr, peers.NOBODYS_PORT)
        bench.guest.connect(bench.near.addr, 64, 1)


def rejected(bench):
    """Our reject with private data is one for the guest, too: REJECTED, and no second attempt that is accepted."""
    with bench.near.serving(64, rounds=1, clients=0, trial=("-R", "no room")):
        for _ in range(3):
            output = bench.guest.fails(bench.near.addr)
            if not any("REJECTED" in line for line in output):
                raise Failed("rping does not call it a reject", output)
    exchange(bench, "guest-client", True, 64, 1)


def accepted_too_late(bench):
    """siw's client waits 20 s for a Reply. Our accept says that it has gone; the next one is served."""
    with bench.near.serving(64, rounds=1, clients=0, trial=("-D", str(LATE))) as app:
        bench.guest.fails(bench.near.addr)
        app.await_line("cannot accept: ", LATE, app.err)
    exchange(bench, "guest-client", True, 64, 1)


def closed_by_both(bench):
    """Our server hangs up right behind its last answer, at which the guest hangs up. Our end is judged: close is close.
    rping may find the end of the stream before its own last step, and calls that an error, or waits for ever."""
    for _ in range(ROW):
        with bench.near.serving(64, ROUNDS_SHORT, trial=("-H", str(ROUNDS_SHORT))):
            bench.guest.guest.ends("both", f"timeout {SHORT} rping -c -a {bench.near.addr} -p {peers.PORT} "
                                           f"-C {ROUNDS_SHORT} -V")
    exchange(bench, "guest-client", True, 64, 1)


def powered_off(bench):
    """The last case of its boot: the guest is gone in mid-connection; we hear of it by user timeout or keepalive."""
    guest = bench.guest.guest
    guest.start("serve", f"rping -s -a {bench.guest.addr} -p {peers.PORT} -P")
    guest.run("listen", f"await_listen {peers.PORT}")
    with bench.near.pinging(bench.guest.addr, "-t", str(SILENCE)) as app:
        guest.power_off()
        status = app.wait(2 * SILENCE + 9 + peers.START_LIMIT)
        if status != 1 or not any("silent for too long" in line for line in app.err):
            raise Failed(f"exits {status}, not 1 with the reason", app.tail())


@contextlib.contextmanager
def guest_end(bench, role, how):
    """The guest's own program (guest/ends.c) on one side, while the block has the other; it must come to the end that
    `how` says."""
    guest, addr = bench.guest.guest, bench.guest.addr if role == "server" else bench.near.addr
    name = guest.start("end", f"ends {role} {addr} {peers.PORT} {how}")
    if role == "server":
        guest.run("listen", f"await_listen {peers.PORT}")
    yield
    status, output = guest.wait(name)
    if status != (KILLED if how == "kill" else 0):
        raise Failed(f"the guest's end exits {status}", output)


def rejects(bench):
    """The guest refuses us with private data: told, and no second attempt, which would find nobody."""
    with guest_end(bench, "server", "reject"):
        bench.near.fails(bench.guest.addr, peers.PORT, "no room here")


def terminate_received(bench):
    """Our second Send finds no receive at siw."""
    with guest_end(bench, "server", "deaf"):
        bench.near.fails(bench.guest.addr, peers.PORT, "protocol|Terminate received")


def terminate_sent(bench):
    """siw's Send is longer than a message of rping, for which our receives are: L1/E2/C5 (RFC 5041 §7.2), as siw's driver
    tells; the next client is served."""
    with bench.near.serving(64, ROUNDS, clients=0, loses="IW_WC_LOC_LEN_ERR|Terminate sent, layer 1 type 2 code 5"):
        with guest_end(bench, "client", "loud"):
            pass
        bench.guest.guest.run("told", "dmesg | grep 'siw: got TERMINATE' | tail -n 1 | grep 'code 5$'")
        bench.guest.connect(bench.near.addr, 64, 1)


def reset(bench, role, how):
    """The guest's process is killed, or it destroys its QP, with the connection up: we are told at once."""
    if role == "server":
        with guest_end(bench, "server", how):
            bench.near.fails(bench.guest.addr, peers.PORT, "hung up")
    else:
        with bench.near.serving(64, ROUNDS, clients=0):
            with guest_end(bench, "client", how):
                pass
            bench.guest.connect(bench.near.addr, 64, 1)


def icmp(bench):
    with bench.near.serving(64, rounds=1, clients=0):
        bench.guest.guest.run("ping", f"ping -c 3 -W 2 {bench.near.addr}")


def link_local(bench, role):
    """The same over IPv6 link-local addresses; the guest's is fresh, and its duplicate detection takes a second."""
    guest = bench.guest.guest
    guest.run("addr6", f"ip addr add {peers.GUEST6}/64 dev eth0 2>/dev/null; "
                       "while ip addr show dev eth0 | grep -q tentative; do sleep 1; done")
    there = peers.Rping(guest, f"{peers.GUEST6}%eth0")
    if role == "guest-client":
        with bench.near6.serving(4096, ROUNDS):
            there.connect(f"{peers.US6}%eth0", 4096, ROUNDS)
    else:
        with there.serving(4096, ROUNDS):
            bench.near6.connect(f"{peers.GUEST6}%0", 4096, ROUNDS)


def exchanges(variant, mtu, crc):
    """Both roles, all sizes, one connection and a row of them, and a look at the wire."""
    prefix = f"{variant}{'' if crc else '-nocrc'}/{mtu}"
    make = functools.partial(Case, variant, mtu)
    for role in ROLES:
        sizes = SIZES if role == "guest-client" else (1, *SIZES)
        for size in sizes:
            smoke = size in (sizes[0], 4096, 65535) if crc else size == 4096
            yield make(f"{prefix}/{role}/{size}", smoke, size < 23 or not crc,
                       functools.partial(exchange, role=role, crc=crc, size=size))
        yield make(f"{prefix}/{role}/row", role == "guest-client" and crc, not crc,
                   functools.partial(exchange, role=role, crc=crc, size=1448, times=ROW))
        if variant == "siw" and mtu == 1500 and crc:  # connection after connection, each `rping -C 1`
            yield make(f"{prefix}/{role}/long-row", False, False,
                       functools.partial(exchange, role=role, crc=crc, size=64, rounds=1, times=LONG_ROW))
        yield make(f"{prefix}/{role}/wire", True, not crc,
                   functools.partial(on_the_wire, role=role, crc=crc))


def endings(variant, mtu):
    """Connections that do not come about, or end otherwise than by the client; the guest does not survive the last."""
    def make(name, run):
        return Case(variant, mtu, f"{variant}/{mtu}/ends/{name}", name in SMOKE_ENDS, True, run)

    for what in (nobody_here, rejected, rejects, terminate_sent, terminate_received):
        yield make(what.__name__.replace("_", "-"), what)
    for role, how in itertools.product(("client", "server"), ("kill", "destroy")):
        yield make(f"reset-guest-{role}-{how}", functools.partial(reset, role=role, how=how))
    for what in (closed_by_both, accepted_too_late, powered_off):
        yield make(what.__name__.replace("_", "-"), what)


def without_variants(variant, mtu):
    """What no variant of the driver can change."""
    make = functools.partial(Case, variant, mtu)
    yield make(f"{variant}/{mtu}/refused", True, True, refused)
    yield make(f"{variant}/{mtu}/icmp", True, False, icmp)
    for role in ROLES:
        yield make(f"{variant}/{mtu}/ipv6-{role}", True, True, functools.partial(link_local, role=role))


def boot_cases(variant, mtu):
    """The cases of one guest boot. Smoke boots every variant once and both MTUs."""
    in_smoke = mtu == (9000 if variant == "siw-crc" else 1500)
    cases = itertools.chain(exchanges(variant, mtu, crc=True),
                            exchanges(variant, mtu, crc=False) if variant == "siw" else (),
                            without_variants(variant, mtu) if variant == "siw" else (),
                            endings(variant, mtu) if variant == "siw" and mtu == 1500 else ())
    return [dataclasses.replace(case, smoke=case.smoke and in_smoke) for case in cases]


def matrix():
    return [case for variant in VARIANTS for mtu in MTUS for case in boot_cases(variant, mtu)]
