#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our stack, the memory limit, kernel TCP, UCX and libfabric side by side in one run.

    bench.py PERF [--out FOLDER] [--rounds N] [--seconds N] [--limit SECONDS] [--doc FOLDER]

Rows that are set against each other are a group, measured one directly after the other, forwards and backwards in turn; all
groups have their turn in each of N rounds (5).  The ratio of a goal is the median of the ratios of the passes, so that a
machine that is slower for a while is so on both sides.  A pass during which other programs had the CPUs is set aside, and
made again as long as there is time (300 s in all).  Writes bench.json, bench.svg and performance.md to FOLDER
(build/bench); with --doc the latter two also there.  Exit code 0: it ran; goals that are missed are marked, peers that are
missing are named."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time

import pages
import peers

SCHEMA = 2
BUSY = 0.05  # share of the CPUs' time from which on others disturb a pass
STAT = pathlib.Path("/proc/stat")
FEW = 3  # passes that a median wants


class Others:
    """The share of the CPUs' time that neither this program nor what it started had: other programs and, in a virtual
    machine, other machines."""

    def __init__(self, cpus):
        self.cpus = {f"cpu{n}" for n in cpus}

    def used(self):
        lines = [line.split() for line in STAT.read_text().splitlines()]
        # user, nice, system, and steal; what interrupts take is partly ours
        ticks = sum(int(line[i]) for line in lines if line[0] in self.cpus for i in (1, 2, 3, 8))
        return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])

    def __enter__(self):
        self.begin, self.used_then = time.monotonic(), self.used()
        return self

    def __exit__(self, *_):
        seconds = (time.monotonic() - self.begin) * len(self.cpus)
        self.share = max(0, round((self.used() - self.used_then) / seconds, 3))


def describe():
    cpu = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), "unknown")
    memory = next(line.split()[1] for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
                  if line.startswith("MemTotal"))
    version = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True, check=False)
    return {"cpu": cpu, "cpus": len(os.sched_getaffinity(0)), "memory_gib": round(int(memory) / 2 ** 20, 1),
            "kernel": platform.release(), "system": platform.freedesktop_os_release().get("PRETTY_NAME", "unknown"),
            "dpdk": version.stdout.strip() or "unknown", "load": round(os.getloadavg()[0], 2),
            "large_pages": pages.free_mib() >= peers.MEMORY}


def one_pass(bench, group, sources, missing):
    """{"group", "others", "rows"}: one measurement of all rows of a group; missing gets why a source has none."""
    print(f"{group}: " + ", ".join(name for name, _ in sources), file=sys.stderr)
    rows = {}
    with Others(bench.cpus) as others:
        for name, source in sources:
            try:
                rows.update(source(bench))
            except peers.Missing as why:
                missing[name] = str(why)
    return {"group": group, "others": others.share, "rows": rows}


def measure(bench, rounds, missing):
    """Each group in each round; every other time backwards, so that what drifts does so on both sides."""
    return [one_pass(bench, group, sources[::-1] if i % 2 else sources, missing)
            for i in range(rounds) for group, sources in peers.GROUPS]


def lacking(passes):
    """Groups that have too few passes without others."""
    calm = [p["group"] for p in passes if p["others"] <= BUSY]
    return [(group, sources) for group, sources in peers.GROUPS if calm.count(group) < FEW]


def measure_more(bench, passes, missing, end):
    """Until each group has enough, or time is up."""
    while time.monotonic() < end and lacking(passes):
        for group, sources in lacking(passes):
            if time.monotonic() < end:
                passes.append(one_pass(bench, group, sources, missing))


def counted(passes):
    """Those without others, where there are enough of a group; else all of it."""
    few = {group for group, _ in lacking(passes)}
    return [p for p in passes if p["others"] <= BUSY or p["group"] in few]


def grow(bench, missing):
    out = {}
    for name, source, columns in peers.GROWTH:
        print(f"growth by {name}", file=sys.stderr)
        try:
            with Others(bench.cpus) as others:
                rows = source(bench)
            out[name] = {"columns": columns, "rows": rows, "others": others.share}
        except peers.Missing as why:
            missing["growth by " + name] = str(why)
    return out


def samples_of(passes):
    out = {}
    for one in passes:
        for row, value in one["rows"].items():
            out.setdefault(row, []).append(value)
    return out


def ratios(passes, row, by):
    """Of each pass that has both; by None: the row itself."""
    have = [p["rows"] for p in passes if row in p["rows"] and (by is None or p["rows"].get(by))]
    return [rows[row] / (rows[by] if by else 1) for rows in have]


def judge(passes):
    """Each goal: the median of what was reached in each pass, and whether it will do (reached None: not measured); what
    the machine could do by itself, and whether the goal is beyond that."""
    out = []
    for goal in peers.GOALS:
        values = ratios(passes, goal.row, goal.by)
        machine = ratios(passes, goal.machine, goal.by) if goal.machine else []
        reached, could = (statistics.median(v) if v else None for v in (values, machine))
        ok, beyond = ((v - goal.limit) * goal.sense if v is not None else None for v in (reached, could))
        out.append({**goal._asdict(), "reached": reached, "ratios": values, "machine_reaches": could,
                    "ok": ok is not None and ok >= 0, "beyond_machine": beyond is not None and beyond < 0})
    return out


def show(value):
    return "-" if value is None else f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def between(values):
    return f"{show(min(values))} .. {show(max(values))}" if values else "-"


def verdict(goal):
    said = "yes" if goal["ok"] else "**not measured**" if goal["reached"] is None else "**MISSED**"
    return said + (", beyond the machine" if goal["beyond_machine"] and not goal["ok"] else "")


def side_by_side(result):
    def row(name, title, unit):
        values = result["samples"].get(name, [])
        best = (min if unit in peers.LESS else max)(values, default=None)
        return [title, show(result["medians"].get(name)), show(best), between(values), len(values), unit]

    return table(["row", "median", "best", "lowest .. highest", "passes", "unit"], [row(*line) for line in peers.ROWS])


def goals_table(result):
    titles = {row: title for row, title, _ in peers.ROWS}
    return table(["row", "divided by", "goal", "reached", "lowest .. highest", "the machine itself", "met"],
                 [[titles[g["row"]], titles[g["by"]] if g["by"] else "itself", ("at least " if g["sense"] > 0 else "at most ")
                   + show(g["limit"]), show(g["reached"]), between(g["ratios"]), show(g["machine_reaches"]), verdict(g)]
                  for g in result["goals"]])


def disturbance(result):
    passes, used = result["passes"], counted(result["passes"])
    aside, most = len(passes) - len(used), max((p["others"] for p in used), default=0)
    busy = ("THE MACHINE WAS BUSY WITH OTHER THINGS: of some rows these numbers are lower than what it can do. "
            if most > BUSY else "")
    return (f"{busy}Other programs and machines had at most {most:.0%} of the two CPUs' time during what counts; {aside} of "
            f"{len(passes)} passes, during which it was more than {BUSY:.0%}, are set aside.")


def document(result):
    """performance.md."""
    m = result["machine"]
    parts = [f"# Performance\n\nWritten by `./run bench --doc` on {result['date']}; do not edit.\n\n{m['cpu']}, "
             f"{m['cpus']} CPUs, {m['memory_gib']} GiB, {m['system']}, Linux {m['kernel']}, DPDK {m['dpdk']}. "
             f"{disturbance(result)}\n\nPinned to two CPUs, one a side, MPA CRC on. Ours runs over the in-process wire, which "
             f"hands packet buffers across as a NIC's DMA would, out of {'large' if m['large_pages'] else 'SMALL'} pages; "
             "checksums and CRC are computed and verified in software. The others run over the kernel's loopback. Rows that "
             f"are set against each other are measured directly one after the other, in turn ({result['rounds']} rounds, more "
             "where others disturbed them): a ratio is the median of the ratios of these passes, and not the ratio of medians.",
             "## Side by side\n\n" + side_by_side(result),
             "## Goals\n\n" + goals_table(result),
             "The machine itself: what would be reached if the memory limit stood in the place of the row, in the same passes; "
             "for two engines, what two cores bring against one when each works the memory limit alone and they share "
             "nothing. A goal that this misses is beyond the machine.",
             "Goodput over further lines, which lose 0.1 to 3 % and have 1 and 10 ms there and back, against Linux to Linux "
             "over the same line: `./run differential` (medians of many runs; these are few, where each loss counts)."]
    for name, g in result["growth"].items():
        parts.append(f"## By {name}\n\n" + table(g["columns"], [[show(v) for v in row] for row in g["rows"]]))
        if g["others"] > BUSY:
            parts.append(f"Other programs had {g['others']:.0%} of the CPUs' time meanwhile.")
    if result["missing"]:
        parts.append("## Not measured\n\n" + "\n".join(f"* {name}: {why}" for name, why in result["missing"].items()))
    parts.append("![picture](performance.svg)")
    return "\n\n".join(parts) + "\n"


HEAD = """set terminal svg size 1000,1520 noenhanced background "white" font "sans,12"
set output "{out}"
set multiplot layout 4,2
set style fill solid 0.6
set grid
set boxwidth 0.6
"""
# Names of what grows, as blocks of rows.
BLOCKS = {"size": "size", "qps": "QPs", "reads": "Reads", "loss": "loss", "nvme": "NVMe queue depth"}
# What is to be drawn of which block of rows; a block without rows is left out.
PLOTS = [
    ("bars", """unset key
set title "64 KiB messages, MB/s"
set logscale y
set xtics rotate by -25
plot $bars using 0:2:xtic(1) with boxes lc rgb "#3060a0"
set xtics norotate autofreq
"""),
    ("size", """set title "By message size in octets"
set logscale xy
set key below
plot $size using 1:2 with linespoints title "MB/s", \\
  $size using 1:4 with linespoints dt 2 title "half round trip in us, median", \\
  $size using 1:5 with linespoints dt 2 title "99.9 %"
"""),
    ("qps", """set title "By QPs"
set logscale xy
set key below
plot $qps using 1:2 with linespoints title "million 64-byte Writes a second", \\
  $qps using 1:3 with linespoints dt 2 title "half round trip in us, median", \\
  $qps using 1:4 with linespoints dt 2 title "99.9 %"
"""),
    ("reads", """set title "By 4 KiB Reads under way"
set logscale xy
set key below
plot $reads using 1:2 with linespoints title "MB/s", $reads using 1:3 with linespoints dt 2 title "us each, mean"
"""),
    ("loss", """set title "By % of the frames lost each way"
unset logscale
set logscale y
set key below
plot $loss using 1:2 with linespoints title "MB/s", \\
  $loss using 1:3 with linespoints dt 2 title "half round trip in us, median", \\
  $loss using 1:4 with linespoints dt 2 title "99.9 %"
"""),
    ("nvme", """set title "NVMe over Fabrics by queue depth: M IOPS at 4 KiB"
set logscale x
unset logscale y
set yrange [0:*]
set key below
plot $nvme using 1:2 with linespoints title "random reads", $nvme using 1:6 with linespoints title "random writes"
set title "NVMe over Fabrics by queue depth: latency in us"
set logscale y
set yrange [*:*]
set key below
plot $nvme using 1:3 with linespoints title "read, median", $nvme using 1:5 with linespoints dt 2 title "read, 99.9 %", \\
  $nvme using 1:7 with linespoints title "write, median", $nvme using 1:9 with linespoints dt 2 title "write, 99.9 %"
"""),
]


def picture(result, path):
    """False, with a line: no picture."""
    if not shutil.which("gnuplot"):
        print("no picture: gnuplot is not installed", file=sys.stderr)
        return False
    bars = [[f'"{row}"', result["medians"][row]] for row, _, unit in peers.ROWS
            if unit == "MB/s" and row in result["medians"]]
    blocks = {"bars": bars, **{key: result["growth"].get(name, {}).get("rows", []) for key, name in BLOCKS.items()}}
    there = {name: rows for name, rows in blocks.items() if rows}
    text = "".join(f"${name} << EOD\n" + "\n".join(" ".join(map(str, row)) for row in rows) + "\nEOD\n"
                   for name, rows in there.items())
    text += HEAD.format(out=path) + "".join(plot for name, plot in PLOTS if name in there)
    done = subprocess.run(["gnuplot"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        print("no picture: " + done.stderr, file=sys.stderr)
    return done.returncode == 0


def write_all(result, out, doc):
    out.mkdir(parents=True, exist_ok=True)
    (out / "bench.json").write_text(json.dumps(result, indent=1) + "\n")
    drawn = picture(result, out / "bench.svg")
    text = document(result)
    (out / "performance.md").write_text(text.replace("performance.svg", "bench.svg"))
    if doc:
        (doc / "performance.md").write_text(text)
        if drawn:
            shutil.copy(out / "bench.svg", doc / "performance.svg")
    print(text)


def run(bench, rounds, limit):
    """All that is measured, and what follows from it."""
    end, missing = time.monotonic() + limit, {}
    with pages.reserved(peers.MEMORY):
        machine = describe()
        passes = measure(bench, rounds, missing)
        growth = grow(bench, missing)
        measure_more(bench, passes, missing, end)
    samples = samples_of(counted(passes))
    return {"schema_version": SCHEMA, "date": datetime.date.today().isoformat(), "machine": machine, "rounds": rounds,
            "units": {row: unit for row, _, unit in peers.ROWS}, "passes": passes, "samples": samples,
            "medians": {row: statistics.median(values) for row, values in samples.items()},
            "goals": judge(counted(passes)), "growth": growth, "missing": missing}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perf")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--doc", type=pathlib.Path, nargs="?", const=pathlib.Path("docs"))
    a = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # large pages are given back then, too
    write_all(run(peers.Bench(a.perf, a.seconds), a.rounds, a.limit), a.out, a.doc)
    return 0


if __name__ == "__main__":
    sys.exit(main())
