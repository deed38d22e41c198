#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-iwarp-perf in every mode, in a short form: perftest's header lines to the letter, a row for each size, exit code 0.

    perf.py PERF loopback|conn|memif|engines|loss|idle|speed"""
import csv
import json
import pathlib
import re
import sys
import tempfile
import time

from programs import SERVER, Memif, Pair, Program, Vhost, cannot, two_cpus

BW = (" #bytes     #iterations    BW peak[{0}/sec]    BW average[{0}/sec]   MsgRate[Mpps]")
LAT = (" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
       "   99% percentile[usec]   99.9% percentile[usec]")
RULE = "-" * 87
ALL = [2 ** i for i in range(1, 24)]
BW_COLUMNS, LAT_COLUMNS = 9, 11
VERBS, TESTS = ("write", "read", "send"), ("bw", "lat")
MORE_VERBS = ("write-imm", "atomic")
FOR_SCRIPTS = (("read", "bw"), ("send", "lat"))  # all sizes as JSON and CSV
CHECKED = ["--data_validation", "--perform_warm_up"]
SHARE, MEDIAN = 6, 4  # columns
TRIES, PAUSE = 20, 2  # seconds; a machine has other things to do at times, what it can do shows once

# What is measured, arguments, the column that holds it, the least and the most that it may be.  The share is of a limit:
# more than all of it means that the limit is none.
SPEED = [("share of the roofline, 64 KiB Writes with CRC [%]", ["--mtu", "9000", "-s", "65536"], SHARE, 25, 110),
         ("half round trip of an 8-byte Write, median [us]", ["--test", "lat", "-s", "8", "-n", "20000"], MEDIAN, 0, 3)]


def rows(program):
    """The table's rows, as numbers where they are numbers; the CRC column says on or off, the share may be `-`."""
    return [line.split() for line in program.lines["out"] if line[:1] == " " and line[1:2].isdigit()]


def problems(program, code, test, sizes, unit="MiB", iters=20):
    out = program.lines["out"]
    header = LAT if test == "lat" else BW.format(unit)
    if code != 0:
        yield f"exit code {code}"
    if program.errors():
        yield f"it says {program.errors()}"
    if not any(line.startswith(header) for line in out):
        yield f"the line '{header}' is missing"
    if out.count(RULE) != 3:
        yield f"{out.count(RULE)} rules of 87 dashes, not 3"
    table = rows(program)
    if [int(row[0]) for row in table] != sizes:
        yield f"sizes {[row[0] for row in table]}, not {sizes}"
    for row in table:
        if len(row) != (LAT_COLUMNS if test == "lat" else BW_COLUMNS) or (iters and int(row[1]) != iters):
            yield f"row {row}"
        elif test == "lat":
            least, most, typical, mean = map(float, row[2:6])
            if not 0 < least <= typical <= most or not least <= mean <= most:
                yield f"times out of order in {row}"
        elif not float(row[3]) <= float(row[2]) or not float(row[4]) > 0 or row[5] != "on":
            yield f"peak below average, nothing moved, or no CRC in {row}"


def report(name, found, *programs):
    found = list(found)
    print(f"{'FAILED' if found else 'ok'}  {name}")
    for what in found:
        print("    " + what)
    if found:
        print(*programs, sep="\n")
    sys.stdout.flush()
    return bool(found)


def loopback(perf):
    """Arguments, what is measured, sizes, more."""
    cases = [(["--verb", v, "--test", t, "-a", "-n", "20"], t, ALL, {}) for v in VERBS for t in TESTS
             if (v, t) not in FOR_SCRIPTS]
    cases += [(["-n", "20", "-q", "4", "--report_gbits"], "bw", [65536], {"unit": "Gb", "iters": 80}),
              (["--verb", "send", "-n", "20", "-s", "1", "-I", "64", "-l", "8"], "bw", [1], {}),
              (["-D", "0.3", "-s", "4096", "--mtu", "1500"], "bw", [4096], {"iters": None})]
    cases += [(["--verb", v, "--test", t, "-s", "8", "-n", "20", *CHECKED], t, [8], {}) for v in MORE_VERBS for t in TESTS]
    cases += [(["--verb", "atomic", "-A", "CMP_AND_SWAP", "--test", t, "-q", "3", "-n", "20", *CHECKED], t, [8], {"iters": 60})
              for t in TESTS]
    cases += [(["--verb", v, "--test", "lat", "-q", "7", "-s", "64", "-n", "300", *CHECKED], "lat", [64], {"iters": 2100})
              for v in VERBS + MORE_VERBS[:1]]
    cases += [(["--verb", v, "-b", "-q", "3", "-n", "20", "-s", "5000", *CHECKED], "bw", [5000], {"iters": 120})
              for v in VERBS]
    cases += [(["--verb", "send", "-q", "5", "-n", "50", "--use-srq", "-r", "4", *CHECKED], "bw", [65536], {"iters": 250}),
              (["--verb", "read", "-o", "128", "-n", "300", "-s", "64", *CHECKED], "bw", [64], {"iters": 300}),
              (["-q", "300", "-t", "4", "-n", "20", "-s", "64", *CHECKED], "bw", [64], {"iters": 6000}),
              (["-b", "-D", "1", "--verb", "send"], "bw", [65536], {"iters": None}),
              # More than one TCP port of the server has.
              (["-q", "17000", "-t", "4", "-n", "5", "-s", "64", *CHECKED], "bw", [64], {"iters": 85000})]
    failed = False
    for arguments, test, sizes, more in cases:
        program = Program(perf, *arguments, cores=2, memory=512)
        code = program.wait(120)
        program.kill()
        failed |= report(" ".join(arguments), problems(program, code, test, sizes, **more), program)
    return failed | scripted(perf)


def scripted(perf):
    """What scripts read: JSON that parses and has an element for each size, CSV, one number."""
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        name = folder + "/out.json"
        for verb, test in FOR_SCRIPTS:
            key = {"bw": "BW_average", "lat": "t_typical"}[test]
            program = Program(perf, "-a", "-n", "20", "--verb", verb, "--test", test, "--csv", "--out_json_file", name, cores=2,
                              memory=512)
            code, found = program.wait(120), []
            whole = json.loads(pathlib.Path(name).read_text()) if code == 0 else {"results": []}
            table = list(csv.DictReader(program.lines["out"]))
            for what, rows_of in ("JSON", whole["results"]), ("CSV", table):
                if [int(row["MsgSize"]) for row in rows_of] != ALL or not all(float(row[key]) > 0 for row in rows_of):
                    found.append(f"{what}: {rows_of}")
            if not {"schema_version", "units", "host", "version", "dpdk_version", "driver", "lcores", "mpa_crc", "mtu"} <= set(whole):
                found.append(f"keys {list(whole)}")
            failed |= report(f"JSON and CSV of {test}", found, program)
    program = Program(perf, "-n", "20", "--output", "bandwidth", cores=2, memory=512)
    good = program.wait(60) == 0 and len(program.lines["out"]) == 1 and float(program.lines["out"][0]) > 0
    return failed | report("one number", [] if good else ["not one number"], program)


STEPS = ("create", "resolve", "connect", "established", "disconnect", "close", "destroy")
NO_STEP = {"here": ("resolve",), "kernel": ("resolve", "established")}


def connection_problems(program, code, which):
    """What is wrong with one of the two tables: a row for each step, times in order, a rate."""
    out = program.lines["out"]
    at = [i for i, line in enumerate(out) if line.startswith(" step ")]
    if code != 0 or program.errors() or len(at) != 2:
        yield f"exit code {code}, it says {program.errors()}, {len(at)} tables"
        return
    table = out[at[which == "kernel"] + 1:][:len(STEPS) + 1]
    rate = table.pop()
    if [line.split()[0] for line in table] != list(STEPS):
        yield f"steps {table}"
    for step, *times in (line.split()[:5] for line in table):
        if step in NO_STEP[which]:
            if times != ["-"] * 4:
                yield f"{step} is no step: {times}"
            continue
        mean, most, middle, late = map(float, times)
        if not 0 < mean <= most or not 0 < middle <= late <= most:
            yield f"times out of order in {step}: {times}"
    if not rate.startswith(" connections a second :") or not float(rate.split()[-1]) > 0:
        yield f"no rate: {rate}"


def connections(perf):
    failed = False
    for arguments in (["-n", "100"], ["-n", "300", "-q", "16"]):
        program = Program(perf, "--test", "conn", *arguments, cores=2, memory=512)
        code = program.wait(60)
        program.kill()
        found = [p for which in NO_STEP for p in connection_problems(program, code, which)]
        ratio = [line for line in program.lines["out"] if "to kernel TCP :" in line]
        if len(ratio) != 1 or not float(ratio[0].split()[-1]) > 0:
            found.append(f"no ratio: {ratio}")
        failed |= report(" ".join(["--test conn", *arguments]), found, program)
    return failed


def two_processes(perf):
    failed = False
    for verb in VERBS:
        for test in TESTS:
            with Pair(Memif()) as pair:
                server = pair.start(0, perf, "--server")
                client = pair.start(1, perf, "--verb", verb, "--test", test, "-n", "20", "-s", "4096", SERVER)
                code = client.wait(60)
                found = list(problems(client, code, test, [4096]))
                code = server.wait(10)
                if code != 0 or server.errors():
                    found.append(f"the server ended with {code}, {server.errors()}")
                failed |= report(f"{verb} {test} over memif", found, server, client)
    return failed | without_a_copy(perf)


def without_a_copy(perf):
    """The port of the client reads messages by itself: no note says that it cannot, and they arrive.  net_vhost has to be
    asked what it is done with."""
    failed = False
    for wire in Memif, Vhost:
        for verb in "write", "send":
            with Pair(wire()) as pair:
                server = pair.start(0, perf, "--server", "--no-crc", "--zero_copy")
                client = pair.start(1, perf, "--verb", verb, "-n", "200", "-s", "65536", "--no-crc", "--zero_copy", *CHECKED,
                                    SERVER)
                code = client.wait(60), server.wait(10)
                found = [f"exit codes {code}"] if code != (0, 0) else []
                found += [f"it says {end.errors()}" for end in (server, client) if end.errors()]
                found += [line for line in client.lines["err"] if "zero copy is not possible" in line]
                found += [] if [row[1] for row in rows(client)] == ["200"] else ["no row of 200 iterations"]
                failed |= report(f"{verb} without a copy over {wire.__name__}", found, server, client)
    return failed


def rooflines(perf):
    """The memory limit, with and without the CRC: a rate, and the packet that a message was cut into."""
    failed = False
    for more, crc in ([], "on"), (["--no-crc"], "off"):
        program = Program(perf, "roofline", "--mtu", "1500", *more, cores=2, memory=512)
        code, table = program.wait(60), rows(program)
        good = code == 0 and len(table) == 1 and table[0][:2] == ["65536", "1428"] and table[0][5] == crc
        found = [] if good and float(table[0][2]) > 0 else [f"exit code {code}, rows {table}"]
        failed |= report(" ".join(["roofline", *more]), found, program)
    return failed


def roofline_latency(perf):
    """A packet there and one back, checked and copied: times in order, of all messages."""
    program = Program(perf, "roofline", "--test", "lat", "-s", "8", "-n", "2000", cores=2, memory=512)
    code, table = program.wait(60), rows(program)
    good = code == 0 and len(table) == 1 and table[0][:2] == ["8", "2000"] and table[0][5] == "on"
    good = good and 0 < float(table[0][2]) <= float(table[0][3]) <= float(table[0][4])
    return report("roofline --test lat", [] if good else [f"exit code {code}, rows {table}"], program)


def try_speed(perf, arguments, column, least, most):
    """The figure of one run, and whether it will do."""
    program = Program(perf, *arguments, cores=2, memory=512)
    code, table = program.wait(60), rows(program)
    program.kill()
    if code != 0 or len(table) != 1:
        return f"exit code {code}: {program}", False
    return table[0][column], least <= float(table[0][column]) <= most


def speed(perf):
    if len(set(two_cpus())) < 2:
        cannot("needs two CPUs")
    failed = rooflines(perf) | roofline_latency(perf)
    for name, arguments, *limits in SPEED:
        for _ in range(TRIES):
            figure, good = try_speed(perf, arguments, *limits)
            print(f"    {name}: {figure}")
            if good:
                break
            time.sleep(PAUSE)
        failed |= report(name, [] if good else [f"not within {limits[1]} and {limits[2]} in {TRIES} tries"])
    return failed


def engines(perf):
    """A row for each number of engines; how much two bring is a matter of the machine, and printed."""
    with tempfile.TemporaryDirectory() as folder:
        name = pathlib.Path(folder, "out.json")
        program = Program(perf, "-s", "4096", "engines", "--out_json_file", str(name), cores=2, memory=1024)
        code = program.wait(120)
        whole = json.loads(name.read_text()) if code == 0 else {"results": []}
    table = rows(program)
    print(*program.lines["out"], sep="\n")
    found = [] if code == 0 and not program.errors() else [f"exit code {code}, it says {program.errors()}"]
    keys = "engines", "BW_average", "MsgRate", "against_one", "by_CPU_time", "limit_average", "limit_against_one"
    if [[row[key] for key in keys] for row in whole["results"]] != [[float(x) for x in row] for row in table]:
        found.append(f"JSON: {whole}")
    if [row[0] for row in table] != ["1", "2"] or table[0][6:7] != ["1.00"] or not all(float(x) > 0 for row in table for x in row):
        found.append(f"rows {table}")
    failed = report("engines", found)
    alone = Program(perf, "engines", memory=1024)
    found = [] if alone.wait(30) == 1 and "further lcore" in "".join(alone.errors()) else [str(alone)]
    return report("engines on one lcore", found) | failed


LOST = re.compile(r"# --loss 1: (\d+) of (\d+) frames to the server were lost, (\d+) of (\d+) to the client$")


def loss(perf):
    """A wire that loses frames, both ways: all arrives as it was sent, and so many were lost as were to be."""
    failed = False
    for verb, test, size, n in (("write", "bw", 65536, 1000), ("read", "bw", 65536, 1000), ("send", "lat", 8, 2000)):
        arguments = ["--verb", verb, "--test", test, "-s", str(size), "-n", str(n), "--loss", "1", "--loss-seed", "7",
                     *CHECKED]
        program = Program(perf, *arguments, cores=2, memory=512)
        found = list(problems(program, program.wait(120), test, [size], iters=n))
        program.kill()
        said = [LOST.match(line) for line in program.lines["out"] if line.startswith("# ")]
        counts = [int(x) for x in said[0].groups()] if said and said[0] else [0, 0, 0, 0]
        print(*program.lines["out"][-1:])
        # Five deviations of what chance makes of one in a hundred.
        found += [f"{lost} lost of {of}" for lost, of in (counts[:2], counts[2:])
                  if not of * 0.01 - 5 * (of * 0.01) ** 0.5 <= lost <= of * 0.01 + 5 * (of * 0.01) ** 0.5]
        if sum(counts[::2]) == 0:
            found.append("nothing was lost")
        failed |= report(" ".join(arguments), found, program)
    return failed


def idle(perf):
    """Ends that sleep when idle: the run ends, and the line says what that costs."""
    program = Program(perf, "--test", "lat", "-s", "8", "-n", "300", "--idle-sleep", "50", cores=2, memory=1024)
    code = program.wait(120)
    said = [line for line in program.lines["out"] if line.startswith("# --idle-sleep 50: ")]
    print(*said, sep="\n")
    found = list(problems(program, code, "lat", [8], iters=300))
    return report("idle sleep", found if len(said) == 1 else found + [f"it says {said}"])


def main():
    perf, kind = sys.argv[1:3]
    return {"idle": idle, "engines": engines, "loss": loss, "loopback": loopback, "conn": connections, "memif": two_processes,
            "speed": speed}[kind](perf)


if __name__ == "__main__":
    sys.exit(main())
