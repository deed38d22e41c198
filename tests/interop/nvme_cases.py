# SPDX-License-Identifier: BSD-3-Clause
"""Linux' NVMe over Fabrics host, in the guest, on disks of our storage target.

A bench has `guest.guest` (the guest), `near` (a Target) and `folder` (for the files behind the namespaces); some have
`second` (another guest)."""
import contextlib
import dataclasses
import functools
import json
import pathlib
import re
import signal
import socket
import time

from cases import Case
from peers import APP_CPU, START_LIMIT, check
from process import Failed, Process

SUBSYS, HOST = "nqn.2026-11.org.example:disk", "nqn.2026-11.org.example:host"
HOST_ID = "6f1a1f0e-54d1-4bd3-9d0c-5a3d5e2a7d10"
HOSTS = (HOST, HOST_ID), (HOST + ".second", "6f1a1f0e-54d1-4bd3-9d0c-5a3d5e2a7d11")
DISK, PORT, NOBODYS_PORT = "/dev/nvme0n1", 4420, 4421
LIMIT, LONG = 120, 1200  # seconds; the guest is emulated, and slow on a busy machine
SIZE_MIB = 64
PREFIX = "dpdk-iwarp-nvmf"
TELEMETRY = f"/var/run/dpdk/{PREFIX}/dpdk_telemetry.v2"
# What the guest's kernel says of a queue that comes, of one that goes, and nothing else.
AT_PEACE = "creating .* queues|mapped .* queues|new ctrl: NQN|Removing ctrl: NQN|nvme0n1: +(p[0-9]|unknown)|TCP MSS"
KATO, RECONNECT, RESTART = 5, 2, 5  # seconds


class Target:
    """dpdk-iwarp-nvmf on the host's end of the tap."""

    def __init__(self, binary, tap, mtu, addr, folder):
        frames = ",framesz=16384,blocksz=16384" if mtu > 1500 else ""
        self.addr, self.folder = addr, folder
        self._argv = [str(binary), "--no-huge", "-m", "512", "--no-pci", f"--file-prefix={PREFIX}", "--no-shconf",
                      f"--vdev=net_af_packet0,iface={tap},qdisc_bypass=0{frames}", "--",
                      "--ip", f"{addr}/24", "--mtu", str(mtu)]

    def start(self, *namespaces, engines=1):
        """A process that listens; `namespaces` are the words behind --subsys NQN. Engines share our CPU: the other one is
        the guest's."""
        lcores = ",".join(f"{n}@{APP_CPU}" for n in range(engines))
        target = Process([*self._argv[:1], "--lcores", lcores, *self._argv[1:], "--subsys", SUBSYS, *namespaces])
        try:
            target.await_line("^listening at ", START_LIMIT)
        except Failed:
            target.end(signal.SIGKILL)
            raise
        return target

    @contextlib.contextmanager
    def serving(self, *namespaces, engines=1):
        """While the block runs there is a target; it must end well, and then everything it gave out is back."""
        with self.start(*namespaces, engines=engines) as target:
            try:
                yield target
            except Failed as failure:
                failure.detail += target.tail()
                raise
            stop(target)

    @contextlib.contextmanager
    def file(self, name="disk", mib=SIZE_MIB):
        path = pathlib.Path(self.folder, name)
        with open(path, "wb") as file:
            file.truncate(mib << 20)
        try:
            yield str(path)
        finally:
            path.unlink()


def counters():
    """What the target's first engine has counted, asked as dpdk-telemetry.py does."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
            asked.settimeout(LIMIT)
            asked.connect(TELEMETRY)
            asked.recv(1024)  # who it is
            asked.send(b"/iwarp/stats,0")
            return json.loads(asked.recv(1 << 16))["/iwarp/stats"]
    except OSError as error:
        raise Failed(f"no counters at {TELEMETRY}: {error}") from None


def stop(target):
    check(target, target.end(signal.SIGINT, LIMIT))


def run(bench, command, limit=LIMIT):
    return bench.guest.guest.run("nvme", command, limit)


def connect_words(bench, subsys=SUBSYS, host=None, port=PORT):
    name, identifier = HOSTS[bench.host]
    return (f"nvme connect -t rdma -a {bench.near.addr} -s {port} -n {subsys} --hostnqn {host or name} "
            f"--hostid {identifier} -i 2 -k {KATO} -c {RECONNECT}")


def await_in_guest(bench, condition, limit=LIMIT):
    run(bench, f"timeout {limit} sh -c 'until {condition}; do usleep 100000; done'", limit + LIMIT)


@contextlib.contextmanager
def connected(bench):
    run(bench, connect_words(bench))
    await_in_guest(bench, f"[ -b {DISK} ]")
    try:
        yield
    finally:
        run(bench, f"nvme disconnect -n {SUBSYS}")


@contextlib.contextmanager
def disk(bench, *namespaces):
    with bench.near.serving(*(namespaces or ("--ns", f"ram:{SIZE_MIB}M"))) as target, connected(bench):
        yield target


def seek(pattern, lines):
    if not any(re.search(pattern, line) for line in lines):
        raise Failed(f"no '{pattern}'", lines)


def fio(rw, size_mib, *words, jobs=1, depth=32, disk=DISK):
    """One job's share of the disk is its own, or the jobs would overwrite what the others verify."""
    return (f"fio --name=io --filename={disk} --direct=1 --ioengine=libaio --rw={rw} --size={size_mib}m "
            f"--numjobs={jobs} --offset_increment={size_mib}m --iodepth={depth} --group_reporting "
            f"--verify=crc32c --verify_fatal=1 {' '.join(words)}")


def smoke(bench):
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M"):
        seek(rf"subnqn: *{SUBSYS}", run(bench, f"nvme discover -t rdma -a {bench.near.addr} -s {PORT} "
                                        f"--hostnqn {HOST} --hostid {HOST_ID}"))
        with connected(bench):
            run(bench, write_and_read_back(65536, 1))
            run(bench, fio("randwrite", 1, "--bs=4k"), LONG)


def tell(bench):
    """What nvme-cli shows of us."""
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M", "--ns", f"ram:{SIZE_MIB}M,bs=4096", "--ro"):
        seek("trtype: *rdma", run(bench, f"nvme discover -t rdma -a {bench.near.addr} -s {PORT}"))
        with connected(bench):
            await_in_guest(bench, "[ -b /dev/nvme0n2 ]")
            seek(r"/dev/nvme0n2.*dpdk-iwarp", run(bench, "nvme list"))
            seek(rf"subnqn *: {SUBSYS}", run(bench, "nvme id-ctrl /dev/nvme0"))
            seek(r"lbads:12 .*in use", run(bench, "nvme id-ns /dev/nvme0n2"))
            seek("nguid", run(bench, f"nvme id-ns {DISK}"))
            seek("uuid", run(bench, f"nvme ns-descs {DISK}"))
            seek("percentage_used", run(bench, "nvme smart-log /dev/nvme0"))
            seek("afi", run(bench, "nvme fw-log /dev/nvme0"))
            seek("Number of Queues", run(bench, "nvme get-feature /dev/nvme0 -f 7 -H"))
            run(bench, f"nvme flush {DISK}")


def write_and_read_back(size, count):
    return (f"head -c {size * count} /dev/urandom >/tmp/in && "
            f"dd if=/tmp/in of={DISK} bs={size} oflag=direct conv=fsync 2>&1 && "
            f"dd if={DISK} of=/tmp/out bs={size} count={count} iflag=direct 2>&1 && cmp /tmp/in /tmp/out")


def copies(bench):
    with disk(bench):
        for size in (4096, 8192, 16384, 65536, 262144, 1048576):
            run(bench, write_and_read_back(size, 4))


def sequential(bench):
    with bench.near.file() as file, disk(bench, "--ns", file):
        run(bench, fio("write", 8, "--bs=64k"), LONG)


def random_jobs(bench):
    with bench.near.file() as file, disk(bench, "--ns", file):
        run(bench, fio("randwrite", 2, "--bsrange=4k-256k", "--bs_unaligned=0", "--fsync=32", jobs=4), LONG)


def mixed(bench):
    with disk(bench):
        run(bench, fio("randrw", 2, "--bs=4k", jobs=4), LONG)


def file_system(bench):
    """A tree is the same after the target was started anew."""
    with bench.near.file() as file:
        with disk(bench, "--ns", file):
            run(bench, f"mkfs.ext4 -q -F {DISK} && mkdir -p /mnt && mount -t ext4 {DISK} /mnt", LONG)
            run(bench, "mkdir /mnt/bin; for f in /usr/bin/* /bin/busybox; do [ $(stat -c %s $f) -lt 2000000 ] && "
                "cp $f /mnt/bin/; done; cd /mnt && find bin -type f | sort | xargs md5sum >/tmp/sums && "
                "[ $(wc -l </tmp/sums) -gt 5 ] && cd / && umount /mnt", LONG)
        with disk(bench, "--ns", file):
            run(bench, f"mount -t ext4 {DISK} /mnt && cd /mnt && md5sum -c /tmp/sums >/tmp/checked && cd / && "
                "rm -r /mnt/bin && umount /mnt", LONG)


def zeroes_and_discard(bench):
    with bench.near.file() as file, disk(bench, "--ns", file):
        run(bench, write_and_read_back(65536, 4))
        run(bench, f"nvme write-zeroes {DISK} -s 0 -c 127 && nvme dsm {DISK} -n 1 -d -s 128 -b 128 && "
            f"dd if={DISK} of=/tmp/out bs=65536 count=2 iflag=direct 2>&1 && head -c 131072 /dev/zero | cmp - /tmp/out",
            LONG)
        run(bench, f"blkdiscard {DISK}", LONG)


def engines(bench):
    """A target of two engines; which of them a queue comes to is chance, so it comes again and again."""
    with bench.near.file() as file, bench.near.serving("--ns", file, "--ns", f"ram:{SIZE_MIB}M", engines=2) as target:
        target.await_line("^2 engines, steered by ", START_LIMIT)
        for _ in range(4):
            with connected(bench):
                await_in_guest(bench, "[ -b /dev/nvme0n2 ]")
                run(bench, write_and_read_back(65536, 4))
                run(bench, fio("randwrite", 1, "--bs=4k"), LONG)
                run(bench, fio("randwrite", 1, "--bs=16k", disk="/dev/nvme0n2"), LONG)


def compare(bench):
    with disk(bench):
        run(bench, write_and_read_back(4096, 1))
        run(bench, f"nvme compare {DISK} -s 0 -c 7 -z 4096 -d /tmp/in")
        refused(bench, f"nvme compare {DISK} -s 8 -c 7 -z 4096 -d /tmp/in", "Compare Failure")


def read_only(bench):
    with disk(bench, "--ns", f"ram:{SIZE_MIB}M", "--ro"):
        seek("^1$", run(bench, f"cat /sys/block/{DISK[5:]}/ro"))
        refused(bench, f"dd if=/dev/zero of={DISK} bs=4096 count=1 oflag=direct 2>&1", "not permitted|Read-only")
        refused(bench, f"head -c 4096 /dev/zero >/tmp/in; nvme write {DISK} -s 0 -c 7 -z 4096 -d /tmp/in 2>&1",
                "(?i)write.protected|not permitted")
        run(bench, f"dd if={DISK} of=/dev/null bs=4096 count=16 iflag=direct 2>&1")


def refused(bench, command, pattern, log=None):
    """The command fails, and says why, itself or in the kernel's log."""
    run(bench, "dmesg -c >/dev/null")
    name = bench.guest.guest.start("refused", command)
    status, output = bench.guest.guest.wait(name, LIMIT)
    if not status:
        raise Failed(f"guest: '{command}' is not refused", output)
    if log:
        output = run(bench, "dmesg")
    seek(log or pattern, output)


def wrong_nqn(bench):
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M"):
        refused(bench, connect_words(bench, subsys=SUBSYS + "x"), None,
                rf'Connect Invalid Data Parameter, subsysnqn "{SUBSYS}x"')


def wrong_host(bench):
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M", "--allow", HOST):
        refused(bench, connect_words(bench, host=HOST + "x"), None,
                rf"Connect for subsystem {SUBSYS} is not allowed, hostnqn: {HOST}x")
        run(bench, connect_words(bench) + f" && nvme disconnect -n {SUBSYS}")


def port_closed(bench):
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M"):
        refused(bench, connect_words(bench, port=NOBODYS_PORT), None, r"rdma connection establishment failed \(-1(04|11)\)")


def await_writes(bench, count):
    """Until the disk has been written so often: only then what comes next comes in the middle."""
    await_in_guest(bench, f'cat /sys/block/nvme*/stat | awk "{{n += \\$5}} END {{exit !(n > {count})}}"')


def in_time(bench, old, *namespaces):
    """Kills the target and starts another one, which listens within RESTART seconds; the time counts from the kill."""
    began = time.monotonic()
    old.end(signal.SIGKILL)
    new = bench.near.start(*namespaces)
    took = time.monotonic() - began
    if took > RESTART:
        new.end(signal.SIGKILL)
        raise Failed(f"the target came back after {took:.1f} s, not within {RESTART}")
    return new


def target_killed(bench):
    """kill -9 under I/O, and a new one on the same file within 5 s: the host comes back by itself, and nothing is lost."""
    with bench.near.file() as file:
        target = bench.near.start("--ns", file)
        try:
            run(bench, "dmesg -c >/dev/null; " + connect_words(bench))
            await_in_guest(bench, f"[ -b {DISK} ]")
            load = bench.guest.guest.start("load", fio("randwrite", 16, "--bs=16k", "--fsync=16"))
            await_writes(bench, 50)
            target = in_time(bench, target, "--ns", file)
            run(bench, "pidof fio")  # it was in the middle, and saw no error
            status, output = bench.guest.guest.wait(load, LONG)
            if status:
                raise Failed(f"fio exits {status}", output)
            # Nobody else has connected it: it says so, and it is the same controller.
            seek(r"nvme0: Successfully reconnected", run(bench, "dmesg"))
            seek("^live$", run(bench, "cat /sys/class/nvme/nvme0/state"))
            run(bench, f"nvme disconnect -n {SUBSYS}")
            stop(target)
        finally:
            target.end(signal.SIGKILL)


def reset(bench):
    """The host resets the controller under I/O: its queues are made anew, the target holds none of the old ones, and
    fio, which waits meanwhile, verifies all that it wrote."""
    with disk(bench) as target:
        load = bench.guest.guest.start("load", fio("randwrite", 16, "--bsrange=4k-64k"))
        for writes in (50, 100):
            await_writes(bench, writes)
            run(bench, "nvme reset /dev/nvme0")
        run(bench, "pidof fio")  # it was in the middle
        status, output = bench.guest.guest.wait(load, LONG)
        if status:
            raise Failed(f"fio exits {status}", output)
        seek("^live$", run(bench, "cat /sys/class/nvme/nvme0/state"))
        came, went = (sum(re.search(words, line) is not None for line in target.out)
                      for words in ("^controller .* connected", "^controller .*: gone"))
        if came != 3 or went != 2:
            raise Failed(f"{came} controllers came and {went} went", target.out)


def host_gone(bench):
    """The guest is switched off under I/O: the target has everything back within the keep-alive timeout."""
    guest = bench.guest.guest
    with bench.near.serving("--ns", f"ram:{SIZE_MIB}M") as target:
        run(bench, connect_words(bench))
        await_in_guest(bench, f"[ -b {DISK} ]")
        guest.start("load", fio("randwrite", 32, "--bs=64k"))
        await_writes(bench, 50)
        guest.power_off()
        target.await_line("^controller 1: gone", KATO + RECONNECT)
        target.await_line("^all queues are closed", KATO)
    guest.boot()


@contextlib.contextmanager
def lossy(bench):
    """One frame of a hundred is lost, either way."""
    tc, lose = "/usr/bin/tc", "root netem loss 1%"  # busybox' own knows too little
    run(bench, f"{tc} qdisc add dev eth0 ingress && ip link set ifb0 up && "
        f"{tc} filter add dev eth0 parent ffff: matchall action mirred egress redirect dev ifb0 && "
        f"{tc} qdisc add dev ifb0 {lose} && {tc} qdisc add dev eth0 {lose}")
    try:
        yield
        output = run(bench, f"{tc} -s qdisc show dev eth0; {tc} -s qdisc show dev ifb0")
        if sum(int(n) > 0 for line in output for n in re.findall(r"dropped (\d+)", line)) < 2:
            raise Failed("nothing was lost", output)
    finally:
        run(bench, f"{tc} qdisc del dev eth0 root; {tc} qdisc del dev eth0 ingress; {tc} qdisc del dev ifb0 root")


def undisturbed(bench, target):
    """Neither the guest's kernel since its log was emptied nor the target has seen an error, a timeout or a new start."""
    log = [line for line in run(bench, "dmesg") if re.search("nvme|siw|I/O", line)]
    seek("new ctrl: NQN", log)  # it is there, and is the log of this controller
    bad = [line for line in log if not re.search(AT_PEACE, line)]
    if bad:
        raise Failed("the guest's kernel complains", bad)
    said = [line for line in target.out if line.startswith("controller ")]
    if len(said) != 1:
        raise Failed("the controller did not stay", said)
    seek("^live$", run(bench, "cat /sys/class/nvme/nvme0/state"))


def loss(bench):
    """1 % of the frames is lost, and nobody above TCP is told: fio verifies what it wrote, no command has an error or is
    late, no queue is made anew; and it was TCP that repaired it, our end too."""
    run(bench, "dmesg -c >/dev/null")
    mib = max(2, bench.mtu // 1000)  # a thousand frames: that none of them is lost is next to impossible
    with lossy(bench), disk(bench) as target:
        run(bench, fio("randwrite", mib, "--bsrange=4k-64k"), LONG)
        undisturbed(bench, target)
        tcp = counters()["tcp"]
        if not tcp["tx_retrans"] or tcp["timeouts"] or tcp["resets"]:
            raise Failed("our end sent {tx_retrans} segments again, and lost {timeouts} and {resets} connections".format(**tcp))


def both(bench):
    """The bench as each of its two guests has it."""
    return bench, dataclasses.replace(bench, guest=bench.second, host=1)


@contextlib.contextmanager
def shared(bench, *namespaces):
    """One target, and both guests connected to it."""
    one, two = both(bench)
    with disk(one, *namespaces), connected(two):
        yield one, two


def at_once(*commands):
    """Runs (bench, command) pairs side by side to their ends."""
    names = [bench.guest.guest.start("pair", command) for bench, command in commands]
    for (bench, command), name in zip(commands, names):
        status, output = bench.guest.guest.wait(name, LONG)
        if status:
            raise Failed(f"guest {bench.host}: '{command}' exits {status}", output)


def two_disks(bench):
    """Two guests at once, a namespace each."""
    with shared(bench, "--ns", f"ram:{SIZE_MIB}M", "--ns", f"ram:{SIZE_MIB}M,bs=4096") as (one, two):
        await_in_guest(two, "[ -b /dev/nvme0n2 ]")
        at_once((one, fio("randwrite", 2, "--bsrange=4k-64k", jobs=2)),
                (two, fio("randwrite", 2, "--bsrange=4k-64k", jobs=2, disk="/dev/nvme0n2")))


def page_of(letter, file):
    return f"head -c 4096 /dev/zero | tr '\\0' {letter} >{file}"


def whole_blocks(file):
    """Each block of 512 octets is full of A or full of B."""
    return f"[ $(od -An -v -tx1 -w512 {file} | grep -c '41.*42\\|42.*41') = 0 ] && [ $(tr -d AB <{file} | wc -c) = 0 ]"


def write_loop(letter):
    """Writes, reads and compares the same blocks as the other guest; Compare may fail, but only for that reason."""
    return (f"{page_of(letter, '/tmp/w')} && for i in $(seq 25); do "
            f"dd if=/tmp/w of={DISK} bs=4096 count=1 oflag=direct 2>/dev/null && "
            f"dd if={DISK} of=/tmp/r bs=4096 count=1 iflag=direct 2>/dev/null && {whole_blocks('/tmp/r')} || exit 1; "
            f"said=$(nvme compare {DISK} -s 0 -c 7 -z 4096 -d /tmp/w 2>&1) || echo \"$said\" | grep -q 'Compare Failure' "
            "|| { echo \"$said\"; exit 2; }; done")


def one_disk(bench):
    """Two guests on one namespace: who compares and then writes finds out when the other was there before."""
    compare_a = f"nvme compare {DISK} -s 0 -c 7 -z 4096 -d /tmp/a"
    compare_b = f"nvme compare {DISK} -s 0 -c 7 -z 4096 -d /tmp/b"
    with shared(bench) as (one, two):
        for place in one, two:
            run(place, f"{page_of('A', '/tmp/a')}; {page_of('B', '/tmp/b')}")
        run(one, f"dd if=/tmp/a of={DISK} bs=4096 oflag=direct 2>&1 && {compare_a}")
        run(two, f"{compare_a} && dd if=/tmp/b of={DISK} bs=4096 oflag=direct 2>&1 && {compare_b}")
        refused(one, compare_a, "Compare Failure")
        run(one, compare_b)
        at_once((one, write_loop("A")), (two, write_loop("B")))


CASES = (smoke, tell, copies, sequential, random_jobs, mixed, engines, file_system, zeroes_and_discard, compare, read_only,
         wrong_nqn, wrong_host, port_closed, loss, reset, target_killed, host_gone)
PAIRS = (two_disks, one_disk)


def case(run_it, variant, mtu, guests=1):
    in_smoke = run_it is smoke and variant == "siw"
    return Case(variant, mtu, f"nvme/{variant}/{run_it.__name__}", in_smoke, True, functools.partial(clean, run_it),
                nvme=guests)


def clean(run_it, bench):
    """A failed case leaves no controller behind for the next."""
    try:
        run_it(bench)
    except Failed:
        for place in both(bench) if bench.second else (bench,):
            with contextlib.suppress(Failed):
                run(place, "umount -l /mnt; nvme disconnect-all; dmesg | tail -n 15", LIMIT)
        raise


def matrix():
    return [case(run_it, variant, mtu, guests) for variant, mtu in (("siw", 1500), ("siw-crc", 9000))
            for guests, cases in ((1, CASES), (2, PAIRS)) for run_it in cases]
