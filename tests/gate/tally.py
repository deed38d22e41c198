#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up what tests report.

  tally.py meson NAME LOG.json      what one `meson test` wrote, case by case
  tally.py text NAME STATUS LOG     output that ends with `N passed, N failed[, N skipped]`, and its exit status
  tally.py step NAME STATUS         something that only went well or not
  tally.py sum FILE                 prints what was bad and the sum of all lines; exit status 0 when nothing failed

All but sum write a line: passed, failed, skipped, name; behind one that failed stands what its output said of that, since
what it wrote at the time may be thousands of lines away from the sum."""
import json
import os
import re
import sys

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
COMPLAINT = re.compile(r"FAILED|not ok|[Ee]rror|ERROR|Traceback|Assert")
EVIDENCE = 12  # lines of a failed test that the end repeats


def cases(output, mark):
    """Names of the cmocka cases with this mark; its closing list repeats those that failed."""
    return {name for name in re.findall(rf"^\[\s*{mark}\s*\] (\S+)$", output, re.M)}


def evidence(output):
    """Where the output first complains, and what follows; where it never does, its end."""
    lines = [line for line in output.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if COMPLAINT.search(line)), max(0, len(lines) - EVIDENCE))
    return ["| " + line[:200] for line in lines[first:first + EVIDENCE]]


def meson_entry(entry):
    """(passed, failed, skipped) of one test program. Its result rules, its output only says how many cases it had."""
    output = entry.get("stdout", "") + "\n" + entry.get("stderr", "")
    passed, failed, skipped = (len(cases(output, mark)) for mark in ("OK", "FAILED", "SKIPPED"))
    if entry["result"] in ("OK", "EXPECTEDFAIL"):
        return passed if passed or skipped else 1, 0, skipped
    if entry["result"] == "SKIP":
        return 0, 0, max(skipped, 1)
    return passed, max(failed, 1), skipped


def meson(name, log):
    if not os.path.exists(log):  # no test of these suites
        return [(0, 0, 0, name)]
    with open(log, encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    rows, good = [], [0, 0, 0]
    for entry in entries:
        sums = meson_entry(entry)
        if sums[1] or sums[2]:
            said = evidence(entry.get("stdout", "") + "\n" + entry.get("stderr", "")) if sums[1] else []
            rows += [(*sums, f"{name}: {entry['name']}")] + [(line,) for line in said]
        else:
            good = [a + b for a, b in zip(good, sums)]
    return rows + [(*good, name)]


def text(name, status, log):
    with open(log, encoding="utf-8", errors="replace") as file:
        output = file.read()
    found, said = SUMMARY.findall(output), [(line,) for line in evidence(output)]
    if not found:
        return [(0, 1, 0, f"{name}: ended without a summary, exit status {status}")] + said
    passed, failed, skipped = (int(n or 0) for n in found[-1])
    if status not in ("0", "77") and not failed:
        return [(passed, 1, skipped, f"{name}: exit status {status}")] + said
    return [(passed, failed, skipped, name)] + (said if failed else [])


def step(name, status):
    return [(1, 0, 0, name) if status == "0" else (0, 1, 0, f"{name}: exit status {status}")]


def total(file):
    """A test that could not run never passes; where everything is there (CI=true) it has failed."""
    with open(file, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split(" ", 3 if line[0] != "|" else 0) for line in lines]
    sums = [row for row in rows if len(row) == 4]
    passed, failed, skipped = (sum(int(row[i]) for row in sums) for i in range(3))
    for row in rows:
        if len(row) == 1:
            print("# " + row[0])
        elif row[1] != "0" or row[2] != "0":
            print(f"# {row[3]}: {row[1]} failed, {row[2]} skipped")
    if os.environ.get("CI") == "true":
        failed += skipped
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


def main():
    command, *rest = sys.argv[1:] or [""]
    if command == "sum" and len(rest) == 1:
        return total(*rest)
    count = {"meson": (meson, 2), "text": (text, 3), "step": (step, 2)}.get(command)
    if not count or len(rest) != count[1]:
        sys.exit(__doc__)
    for row in count[0](*rest):
        print(*row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
