#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our stack, the memory limit, kernel TCP, UCX and libfabric side by side in one run.

    bench.py PERF [--out FOLDER] [--rounds N] [--seconds N] [--doc FOLDER]

Every row is measured N times (3), one row after the other and then again, so that what disturbs the machine disturbs all
of them; medians and their ratios count.  Writes bench.json, bench.svg and performance.md to FOLDER (build/bench);
with --doc the latter two also there.  Exit code 0: it ran; goals that are missed are marked, peers that are missing
are named."""
import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

import pages
import peers

SCHEMA = 1
LOADED = 0.5  # load average from which a machine was not idle


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


def measure(bench, rounds):
    """Samples of each row, and why a source has none."""
    samples, missing = {}, {}
    for i in range(rounds):
        for name, source in peers.SOURCES:
            print(f"round {i + 1} of {rounds}: {name}", file=sys.stderr)
            try:
                for row, value in source(bench).items():
                    samples.setdefault(row, []).append(value)
            except peers.Missing as why:
                missing[name] = str(why)
    return samples, missing


def grow(bench):
    out, missing = {}, {}
    for name, source, columns in peers.GROWTH:
        print(f"growth by {name}", file=sys.stderr)
        try:
            out[name] = {"columns": columns, "rows": source(bench)}
        except peers.Missing as why:
            missing["growth by " + name] = str(why)
    return out, missing


def judge(medians):
    """Each goal: what was reached and whether it will do; reached None: not measured."""
    out = []
    for row, by, sense, limit in peers.GOALS:
        reached = medians.get(row)
        if by and reached is not None:
            reached = reached / medians[by] if medians.get(by) else None
        out.append({"row": row, "by": by, "sense": sense, "limit": limit, "reached": reached,
                    "ok": reached is not None and (reached - limit) * sense >= 0})
    return out


def show(value):
    return "-" if value is None else f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
                     + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def document(result):
    """performance.md."""
    m, titles = result["machine"], {row: title for row, title, _ in peers.ROWS}
    busy = (f"THE MACHINE WAS BUSY WITH OTHER THINGS (load average {m['load']} at the start): these numbers are lower than "
            "what it can do.\n\n" if m["load"] > LOADED else "")
    rows = [[title, show(result["medians"].get(row)), unit, ", ".join(show(v) for v in result["samples"].get(row, []))]
            for row, title, unit in peers.ROWS]
    goals = [[titles[g["row"]], titles[g["by"]] if g["by"] else "itself", ("at least " if g["sense"] > 0 else "at most ")
              + show(g["limit"]), show(g["reached"]), "yes" if g["ok"] else "**not measured**" if g["reached"] is None
              else "**MISSED**"] for g in result["goals"]]
    parts = [f"# Performance\n\n{busy}Written by `./run bench --doc` on {result['date']}; do not edit.\n\n{m['cpu']}, "
             f"{m['cpus']} CPUs, {m['memory_gib']} GiB, {m['system']}, Linux {m['kernel']}, DPDK {m['dpdk']}; load "
             f"average {m['load']} at the start. Each row {result['rounds']} times in turn, pinned to two CPUs, one a "
             "side, MPA CRC on; medians. Ours runs over the in-process wire, which hands packet buffers across as a "
             f"NIC's DMA would, out of {'large' if m['large_pages'] else 'SMALL'} pages; checksums and CRC are computed and "
             "verified in software. The others run over the kernel's loopback.",
             "## Side by side\n\n" + table(["row", "median", "unit", "samples"], rows),
             "## Goals\n\n" + table(["row", "divided by", "goal", "reached", "met"], goals),
             "Goodput over further lines, which lose 0.1 to 3 % and have 1 and 10 ms there and back, against Linux to Linux "
             "over the same line: `./run differential` (medians of many runs; three are few, where each loss counts)."]
    for name, g in result["growth"].items():
        parts.append(f"## By {name}\n\n" + table(g["columns"], [[show(v) for v in row] for row in g["rows"]]))
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perf")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--doc", type=pathlib.Path, nargs="?", const=pathlib.Path("docs"))
    a = parser.parse_args()
    bench = peers.Bench(a.perf, a.seconds)
    with pages.reserved(peers.MEMORY):
        machine = describe()
        samples, missing = measure(bench, a.rounds)
        growth, missing_growth = grow(bench)
    medians = {row: statistics.median(values) for row, values in samples.items()}
    result = {"schema_version": SCHEMA, "date": datetime.date.today().isoformat(), "machine": machine, "rounds": a.rounds,
              "units": {row: unit for row, _, unit in peers.ROWS}, "samples": samples, "medians": medians,
              "goals": judge(medians), "growth": growth, "missing": {**missing, **missing_growth}}
    write_all(result, a.out, a.doc)
    return 0


if __name__ == "__main__":
    sys.exit(main())
