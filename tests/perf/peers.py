# SPDX-License-Identifier: BSD-3-Clause
"""What bench.py measures, ours and others': each function makes one run and returns {row: number}.

A peer that is not installed, or whose output is not understood, raises Missing with the reason: it is reported as such."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pages

PORTS = 18600  # TCP ports of the servers of others, on the loopback
TIMEOUT = 120
MEMORY = 1024  # MiB for EAL, both ends
CROWD = 100000


class Missing(Exception):
    pass


def there(command):
    if not shutil.which(command[0]):
        raise Missing(f"{command[0]} is not there")
    return command


class Bench:
    def __init__(self, perf, seconds):
        self.perf, self.seconds = perf, seconds
        build = pathlib.Path(perf).parents[2]
        self.nvmf = build / "apps/nvmf/dpdk-iwarp-nvmf"
        self.scale, self.differential = build / "tests/perf/scale", build / "tests/differential/differential"
        self.cpus = sorted(os.sched_getaffinity(0))[:2]

    def run(self, command, codes=(0,), **more):
        try:
            done = subprocess.run(there(command), capture_output=True, text=True, timeout=TIMEOUT, **more)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise Missing(str(problem))
        if done.returncode not in codes:
            raise Missing(f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}")
        return done.stdout

    def ours(self, *arguments, program=None):
        """dpdk-iwarp-perf, or another program of ours, over its in-process wire; its text."""
        if len(self.cpus) < 2:
            raise Missing("needs two CPUs")
        return self.run([str(program or self.perf), *pages.eal_arguments(MEMORY), "--no-pci", "--no-telemetry",
                         "--no-shconf", "--file-prefix", f"bench{os.getpid()}", "--log-level=lib.eal:error", "--lcores",
                         f"0@{self.cpus[0]},1@{self.cpus[1]}", "--", *arguments])

    def rows(self, *arguments, **more):
        """The elements of "results" of such a run."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out.json")
            self.ours(*arguments, "--perform_warm_up", "--out_json_file", str(out), **more)
            return json.loads(out.read_text())["results"]

    def pinned(self, end, command, **more):
        return there(["taskset", "-c", str(self.cpus[end % len(self.cpus)]), *there(command)])

    def served(self, server, client, wait=0.3, **more):
        """The client's text, beside its server, which is ended."""
        process = subprocess.Popen(self.pinned(0, server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        try:
            time.sleep(wait)
            return self.run(self.pinned(1, client), **more)
        finally:
            process.kill()
            process.wait()


def number(text, pattern):
    found = re.search(pattern, text, re.M)
    if not found:
        raise Missing("its output is not understood: " + text.strip()[-200:])
    return float(found.group(1))


# ---- ours -----------------------------------------------------------------------------------------------------------

def limit_of(row, name):
    """The memory limit that the run measured right before, in the column of that name."""
    if row["roofline_percent"] <= 0:
        raise Missing("a run without its share of the memory limit")
    return row[name] * 100 / row["roofline_percent"]


def bandwidth(name, verb, mtu, limit=None):
    def one(bench):
        row = bench.rows("--verb", verb, "-s", "65536", "--mtu", str(mtu), "-D", str(bench.seconds))[0]
        out = {name: row["BW_average"] * 1.048576, name + ".cycles_per_byte": row["cycles_per_byte"]}
        if limit:
            out[limit] = limit_of(row, "BW_average") * 1.048576
        return out
    return one


def small_writes(bench):
    row = bench.rows("-s", "64", "-t", "128", "-l", "16", "-Q", "32", "-I", "64", "-D", str(bench.seconds))[0]
    return {"write_64_rate": row["MsgRate"], "write_64_rate.cycles_per_message": row["cycles_per_message"],
            "roofline_64_rate": limit_of(row, "MsgRate")}


def latency(bench):
    row = bench.rows("--test", "lat", "-s", "8", "-n", "50000")[0]
    return {"write_8_p50": row["t_typical"], "write_8_p99.9": row["percentile_99.9"]}


def hand_over(bench):
    """The memory limit of latency: to another core, and half of there and back."""
    text = bench.ours("roofline", "--test", "lat", "-s", "8", "-n", "50000")
    return {"roofline_8_p50": number(text, r"^ 8 +\d+ +([0-9.]+)"),
            "roofline_8_p99.9": number(text, r"^ 8 +\d+ +[0-9.]+ +[0-9.]+ +([0-9.]+)")}


def connections(bench):
    rates = re.findall(r"connections a second *: *([0-9.]+)", bench.ours("--test", "conn", "-n", "20000", "-q", "16"))
    if len(rates) != 2:
        raise Missing("no rates")
    return {"connect_close": float(rates[0]), "kernel_connect_close": float(rates[1])}


def engines(bench):
    """Two engines on two cores against one, by the clock and by the CPU time that they had; and what two cores bring that
    do the work of the memory limit alone and share nothing."""
    one, two = bench.rows("engines", "-D", str(bench.seconds))
    return {"engines_1": one["BW_average"] * 1.048576, "engines_2": two["BW_average"] * 1.048576,
            "engines_ratio": two["against_one"], "engines_ratio.by_cpu_time": two["by_CPU_time"],
            "alone_1": one["limit_average"] * 1.048576, "alone_2": two["limit_average"] * 1.048576,
            "alone_ratio": two["limit_against_one"]}


def crowd(bench):
    """What a connection takes, and packets a microsecond: on 64 connections, and on one in 100,000 picked at random."""
    text = bench.run(bench.pinned(0, [str(bench.scale), "64", str(CROWD)]), codes=(0, 1))
    times = {n: number(text, rf"^ *{n} connections:.* ([0-9.]+) on all") for n in (64, CROWD)}
    return {"random_64": 1e3 / times[64], "random_100k": 1e3 / times[CROWD],
            "connection_octets": number(text, r"together (\d+)"), "timewait_octets": number(text, r"TIME_WAIT (\d+)")}


def goodput(bench):
    """Over a line that loses 1 %, with 1 ms there and back."""
    if os.geteuid() != 0:
        raise Missing("needs root, for TAP devices")
    text = bench.run([str(bench.differential), "goodput", "1", "1", "1"], codes=(0, 1))
    return {row: number(text, rf"^loss 1.0 %,  1 ms,.* {way} ([0-9.]+)")
            for row, way in (("goodput_linux", "Linux to Linux"), ("goodput_to_linux", "ours to Linux"),
                             ("goodput_from_linux", "Linux to ours"))}


def nvmf_rows(bench, *arguments):
    """Million IOPS and latencies (median, 99 %, 99.9 %) of the storage target at 4 KiB, by (kind, queue depth)."""
    if not bench.nvmf.exists():
        raise Missing(f"{bench.nvmf} is not built: it needs liburing, libnvme and libuuid")
    text = bench.ours("bench", "-s", "4096", "-t", "1", *arguments, program=bench.nvmf)
    rows = re.findall(r"^ (rand\w+) +4096 +(\d+) +([0-9.]+) +[0-9.]+ +[0-9.]+ +([0-9.]+) +([0-9.]+) +([0-9.]+)", text, re.M)
    if not rows:
        raise Missing("its output is not understood: " + text.strip()[-200:])
    return {(kind, int(depth)): (float(iops) / 1e6, *map(float, times)) for kind, depth, iops, *times in rows}


def storage(bench):
    rows = nvmf_rows(bench, "-q", "128")
    return {f"nvme_{kind[4:]}{suffix}": rows[kind, 128][i] for kind in ("randread", "randwrite")
            for suffix, i in (("", 0), ("_p50", 1), ("_p99.9", 3))}


# ---- others ---------------------------------------------------------------------------------------------------------

def kernel(bench):
    port = str(PORTS)
    text = bench.served(["iperf3", "-s", "-1", "-p", port],
                        ["iperf3", "-c", "127.0.0.1", "-p", port, "-l", "64K", "-C", "cubic", "-t", "1", "-J"])
    return {"kernel_tcp": json.loads(text)["end"]["sum_received"]["bits_per_second"] / 8e6}


def ucx(name, test, size, count, column, factor):
    """One number of ucx_perftest; the column of its CSV: iterations, percentile, average and overall latency, average and
    overall MB/s and messages a second."""
    def one(bench):
        environment = {**os.environ, "UCX_TLS": "tcp", "UCX_NET_DEVICES": "lo", "UCX_WARN_UNUSED_ENV_VARS": "n"}
        common = ["ucx_perftest", "-p", str(PORTS + 1)]
        text = bench.served(common, [*common, "127.0.0.1", "-t", test, "-s", str(size), "-n", str(count), "-w",
                                     str(count // 10), "-f", "-v"], env=environment)
        values = [line.split(",") for line in text.splitlines() if re.match(r"^\d+,", line)]
        if not values:
            raise Missing("its output is not understood: " + text.strip()[-200:])
        return {name: float(values[-1][column]) * factor}
    return one


def libfabric(bench):
    out = {}
    for row, size, count in ("libfabric_64_latency", 64, 20000), ("libfabric_64k", 65536, 5000):
        ports = ["-B", str(PORTS + 2)]
        common = ["fi_pingpong", "-p", "tcp", "-e", "msg", "-S", str(size), "-I", str(count)]
        text = bench.served([*common, *ports], [*common, "-P", str(PORTS + 2), "127.0.0.1"])
        values = [line.split() for line in text.splitlines() if re.match(r"^\d", line)]
        if not values:
            raise Missing("its output is not understood: " + text.strip()[-200:])
        # bytes, #sent, #ack, total, time, MB/sec, usec/xfer, Mxfers/sec
        out[row] = float(values[-1][6 if row.endswith("latency") else 5])
    return out


WRITE = ("RDMA Write, MTU 9000", bandwidth("write_64k_9000", "write", 9000, "roofline_9000"))

# What is set against each other is measured one directly after the other: a ratio is one of a single pass through a group.
GROUPS = [
    ("64 KiB, MTU 9000", [("UCX tcp, put 64 KiB", ucx("ucx_put_64k", "ucp_put_bw", 65536, 5000, 5, 1.048576)), WRITE,
                          ("kernel TCP (iperf3)", kernel)]),
    ("verbs", [("RDMA Read", bandwidth("read_64k_9000", "read", 9000)), WRITE,
               ("Send", bandwidth("send_64k_9000", "send", 9000))]),
    ("64 KiB, MTU 1500", [("RDMA Write, MTU 1500", bandwidth("write_64k_1500", "write", 1500, "roofline_1500"))]),
    ("64 B", [("64-byte Writes", small_writes),
              ("UCX tcp, put 64 B", ucx("ucx_put_64_rate", "ucp_put_bw", 64, 100000, 7, 1e-6))]),
    ("8 B", [("hand-over", hand_over), ("8-byte latency", latency),
             ("UCX tcp, put 8 B", ucx("ucx_put_8_latency", "ucp_put_lat", 8, 20000, 1, 1))]),
    ("connections", [("connections", connections)]),
    ("engines", [("two engines", engines)]),
    ("crowd", [("100,000 connections", crowd)]),
    ("loss", [("goodput", goodput)]),
    ("storage", [("NVMe over Fabrics", storage)]),
    ("libfabric", [("libfabric tcp", libfabric)]),
]

# Row, what it is, unit.
ROWS = [
    ("write_64k_9000", "RDMA Write 64 KiB, MTU 9000", "MB/s"),
    ("write_64k_1500", "RDMA Write 64 KiB, MTU 1500", "MB/s"),
    ("read_64k_9000", "RDMA Read 64 KiB, MTU 9000", "MB/s"),
    ("send_64k_9000", "Send 64 KiB, MTU 9000", "MB/s"),
    ("roofline_9000", "memory limit, MTU 9000", "MB/s"),
    ("roofline_1500", "memory limit, MTU 1500", "MB/s"),
    ("kernel_tcp", "kernel TCP, iperf3 -l 64K -C cubic, loopback", "MB/s"),
    ("ucx_put_64k", "UCX tcp, put 64 KiB", "MB/s"),
    ("libfabric_64k", "libfabric tcp, ping-pong 64 KiB", "MB/s"),
    ("write_64_rate", "RDMA Write 64 B, depth 128", "M/s"),
    ("roofline_64_rate", "memory limit, 64 B, each in a packet of its own", "M/s"),
    ("ucx_put_64_rate", "UCX tcp, put 64 B", "M/s"),
    ("write_8_p50", "RDMA Write 8 B, half round trip, median", "us"),
    ("write_8_p99.9", "RDMA Write 8 B, half round trip, 99.9 %", "us"),
    ("roofline_8_p50", "memory limit, 8 B to another core, median", "us"),
    ("roofline_8_p99.9", "memory limit, 8 B to another core, 99.9 %", "us"),
    ("ucx_put_8_latency", "UCX tcp, put 8 B", "us"),
    ("libfabric_64_latency", "libfabric tcp, ping-pong 64 B", "us"),
    ("nvme_read", "NVMe over Fabrics, 4 KiB random reads, depth 128", "M IOPS"),
    ("nvme_read_p50", "the same, latency, median", "us"),
    ("nvme_read_p99.9", "the same, latency, 99.9 %", "us"),
    ("nvme_write", "NVMe over Fabrics, 4 KiB random writes, depth 128", "M IOPS"),
    ("nvme_write_p50", "the same, latency, median", "us"),
    ("nvme_write_p99.9", "the same, latency, 99.9 %", "us"),
    ("connect_close", "connect, MPA, established, close", "1/s"),
    ("kernel_connect_close", "kernel TCP connect and close", "1/s"),
    ("engines_1", "RDMA Write 64 KiB, an engine in loopback to itself on one core", "MB/s"),
    ("engines_2", "RDMA Write 64 KiB, two such engines on two cores", "MB/s"),
    ("engines_ratio", "two engines on two cores against one", "x"),
    ("engines_ratio.by_cpu_time", "the same by the CPU time that they had", "x"),
    ("alone_1", "memory limit, one core alone does the work of both ends", "MB/s"),
    ("alone_2", "memory limit, two cores do so, each alone", "MB/s"),
    ("alone_ratio", "two cores against one that share nothing", "x"),
    ("random_64", "64-byte Sends received in random order, 64 connections", "M/s"),
    ("random_100k", "64-byte Sends received in random order, 100,000 connections", "M/s"),
    ("connection_octets", "an idle connection, besides its rings", "octets"),
    ("timewait_octets", "a connection in TIME_WAIT", "octets"),
    ("goodput_linux", "goodput at 1 % loss and 1 ms, Linux (CUBIC) to Linux", "Mbit/s"),
    ("goodput_to_linux", "goodput at 1 % loss and 1 ms, ours to Linux", "Mbit/s"),
    ("goodput_from_linux", "goodput at 1 % loss and 1 ms, Linux to ours", "Mbit/s"),
    ("write_64k_9000.cycles_per_byte", "TSC cycles a byte, Write 64 KiB", "cycles"),
    ("write_64_rate.cycles_per_message", "TSC cycles a message, Write 64 B", "cycles"),
]

LESS = "us", "octets", "cycles"  # less of these is better

# What is to be reached: row, divided by row (None: itself), at least (+1) or at most (-1), how much; and the row that says
# what the machine could do there by itself, divided by the same.
Goal = collections.namedtuple("Goal", "row by sense limit machine", defaults=[None])
GOALS = [
    Goal("write_64k_9000", "roofline_9000", 1, 0.8),
    Goal("write_64k_9000", "ucx_put_64k", 1, 10, "roofline_9000"),
    Goal("write_64k_9000", "kernel_tcp", 1, 6, "roofline_9000"),
    Goal("write_64k_1500", "roofline_1500", 1, 0.7),
    Goal("read_64k_9000", "write_64k_9000", 1, 0.9),
    Goal("send_64k_9000", "write_64k_9000", 1, 0.9),
    # Not beside the limit of 64-byte packets: the stack puts many such messages into one.
    Goal("write_64_rate", None, 1, 10),
    Goal("write_64_rate", "ucx_put_64_rate", 1, 30),
    Goal("write_8_p50", None, -1, 1, "roofline_8_p50"),
    Goal("write_8_p99.9", None, -1, 5, "roofline_8_p99.9"),
    Goal("write_8_p50", "ucx_put_8_latency", -1, 0.1, "roofline_8_p50"),
    Goal("nvme_read", None, 1, 1),
    Goal("nvme_write", None, 1, 1),
    Goal("connect_close", None, 1, 100000),
    Goal("connect_close", "kernel_connect_close", 1, 5),
    Goal("engines_ratio", None, 1, 1.9, "alone_ratio"),
    Goal("random_100k", "random_64", 1, 0.5),
    Goal("connection_octets", None, -1, 1024),
    Goal("timewait_octets", None, -1, 64),
    Goal("goodput_to_linux", "goodput_linux", 1, 1),
]


# ---- growth ---------------------------------------------------------------------------------------------------------

SLICE = "0.1"  # seconds, of a point: as many messages as there are in it, of each size


def by_size(bench):
    """Octets: MB/s, million messages a second, half round trip in microseconds."""
    rates = {r["MsgSize"]: r for r in bench.rows("-a", "-D", SLICE)}
    times = {r["MsgSize"]: r for r in bench.rows("--test", "lat", "-a", "-D", SLICE)}
    return [[size, r["BW_average"] * 1.048576, r["MsgRate"], times[size]["t_typical"], times[size]["percentile_99.9"]]
            for size, r in rates.items() if size >= 8]


def by_qps(bench):
    """QPs: million 64-byte Writes a second; half round trip of an 8-byte Write in microseconds, the QPs in turn."""
    out = []
    for qps in 1, 4, 16, 64, 250, 1000, 10000, 100000:
        common = "-q", str(qps)
        rate = bench.rows(*common, "-s", "64", "-t", "16", "-n", str(max(20, 400000 // qps)))[0]
        time = bench.rows(*common, "--test", "lat", "-s", "8", "-n", str(max(5, 20000 // qps)))[0]
        out.append([qps, rate["MsgRate"], time["t_typical"], time["percentile_99.9"]])
    return out


def by_reads(bench):
    """Reads under way: MB/s at 4 KiB, and microseconds from posted to completed: as many as are under way, divided by
    how many complete in one."""
    out = []
    for outs in 1, 2, 4, 8, 16, 32, 64, 128:
        row = bench.rows("--verb", "read", "-s", "4096", "-o", str(outs), "-t", str(outs), "-D", SLICE)[0]
        out.append([outs, row["BW_average"] * 1.048576, outs / row["MsgRate"]])
    return out


def by_loss(bench):
    """Percent of the frames that are lost, each way: MB/s at 64 KiB; half round trip of an 8-byte Write in
    microseconds."""
    out = []
    for percent in 0, 0.1, 0.3, 1, 3:
        loss = ["--loss", str(percent)] if percent else []
        rate = bench.rows("-s", "65536", "-D", str(bench.seconds), *loss)[0]
        time = bench.rows("--test", "lat", "-s", "8", "-D", "1", *loss)[0]
        out.append([percent, rate["BW_average"] * 1.048576, time["t_typical"], time["percentile_99.9"]])
    return out


def by_depth(bench):
    """Commands under way: million IOPS and latencies, of reads, of writes."""
    rows = nvmf_rows(bench)
    return [[depth, *rows["randread", depth], *rows["randwrite", depth]]
            for depth in sorted({depth for _, depth in rows})]


GROWTH = [
    ("size", by_size, ["octets", "MB/s", "M messages/s", "half round trip, median, us", "99.9 %, us"]),
    ("QPs", by_qps, ["QPs", "M 64-byte Writes/s", "8-byte Writes, each QP in turn, half round trip, median, us",
                     "99.9 %, us"]),
    ("Reads", by_reads, ["Reads under way", "MB/s, 4 KiB each", "each, mean, us"]),
    ("loss", by_loss, ["% of the frames, each way", "MB/s, 64 KiB Writes", "8-byte Writes, half round trip, median, us",
                       "99.9 %, us"]),
    ("NVMe queue depth", by_depth, ["depth", "4 KiB random reads, M IOPS", "median, us", "99 %, us", "99.9 %, us",
                                    "random writes, M IOPS", "median, us", "99 %, us", "99.9 %, us"]),
]
