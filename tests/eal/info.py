#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `dpdk-iwarp-app -- info` says of ports, held against what made them; and who is helped by --help.

    info.py APP

Exit code 0: it worked; 77: part of it cannot run here, and why (in CI that is a failure: 1)."""
import os
import pathlib
import subprocess
import sys

from programs import AfPacket, Memif, Program, need_root

KEYS = ["driver", "MAC", "MTU", "NUMA node", "link", "receive", "transmit"]


def ask(app, vdev):
    """{key: value} of port 0 and the lines behind it."""
    program = Program(app, "info", vdev=vdev)
    code, out = program.wait(30), program.lines["out"]
    program.kill()
    assert code == 0 and program.errors() == [], program
    at = next(i for i, line in enumerate(out) if line.startswith("port 0: "))
    rows = {line[2:17].strip(): line[17:] for line in out[at + 1:at + 1 + len(KEYS)]}
    assert list(rows) == KEYS, program
    rest = out[at + 1 + len(KEYS):]
    assert rest and all(line.startswith("RDMA device") for line in rest), program
    return {"name": out[at].removeprefix("port 0: "), **rows}


def expect(said, **rows):
    for key, value in rows.items():
        assert said[key] == value, f"{key}: '{said[key]}', not '{value}', in {said}"


def null(app):
    said = ask(app, "net_null0")
    expect(said, name="net_null0", driver="net_null", link="up, 10000 Mb/s")
    assert "RSS yes" in said["receive"], said


def link_down(app):
    wire = Memif()
    try:
        said = ask(app, wire.vdev(0))
        expect(said, name="net_memif0", driver="net_memif")
        assert said["link"].startswith("down"), said
    finally:
        wire.close()


def kernel_interface(app):
    """MAC and link are the interface's, and it has neither RSS nor checksums."""
    wire = AfPacket()
    try:
        mac = pathlib.Path(f"/sys/class/net/{wire.names[0]}/address").read_text().strip()
        said = ask(app, wire.vdev(0))
        expect(said, name="net_af_packet0", MAC=mac, receive="checksum check no, RSS no, up to 1 queues",
               transmit="IP checksum no, TCP checksum no, TSO no, multi-segment yes, zero copy yes, up to 1 queues")
        assert said["MTU"].startswith("1500") and said["link"].startswith("up"), said
    finally:
        wire.close()


def helps(app):
    """Who asks without the dashes gets EAL's help, and ours with it."""
    for arguments, texts in ((["--help"], ("--no-huge", "ping -s")), (["--", "--help"], ("ping -s",))):
        said = subprocess.run([app, *arguments], capture_output=True, text=True, timeout=30, check=False)
        assert said.returncode == 0 and all(text in said.stdout for text in texts), said


def eal_fails(app):
    """A second process with the first one's files, and a driver that is not there: what to do about it."""
    eal = ["--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "-l", "0", f"--file-prefix=iwarp{os.getpid()}"]
    server = [app, *eal, "--vdev=net_null0", "--", "--ip", "10.0.0.1/24", "ping", "-s"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as first:
        assert any("listening" in line for line in first.stdout)
        second = subprocess.run([app, *eal, "--", "info"], capture_output=True, text=True, timeout=30, check=False)
        first.terminate()
    missing = subprocess.run([app, *eal, "--vdev=net_nul0", "--", "info"], capture_output=True, text=True, timeout=30,
                             check=False)
    for program, text in ((second, "--file-prefix"), (missing, "its own lines say why")):
        assert program.returncode == 1 and text in program.stderr.splitlines()[-1], program


def main():
    failed = 0
    for case in (helps, eal_fails, null, link_down, kernel_interface):
        if case is kernel_interface:
            need_root()
        try:
            case(sys.argv[1])
            print("ok   " + case.__name__)
        except AssertionError as error:
            failed += 1
            print("FAIL", case.__name__, error, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
