#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up what tests report.

  tally.py meson NAME LOG.json      what one `meson test` wrote, case by case
  tally.py text NAME STATUS LOG     output that ends with `N passed, N failed[, N skipped]`, and its exit status
  tally.py step NAME STATUS         something that only went well or not
  tally.py sum FILE                 prints what was bad and the sum of all lines; exit status 0 when nothing failed

All but sum write one line: passed, failed, skipped, name."""
import json
import os
import re
import sys

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)


def cases(output, mark):
    """Names of the cmocka cases with this mark; its closing list repeats those that failed."""
    return {name for name in re.findall(rf"^\[\s*{mark}\s*\] (\S+)$", output, re.M)}


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
    sums = [(*meson_entry(e), f"{name}: {e['name']}") for e in entries]
    return [row for row in sums if row[1] or row[2]] + [tuple(sum(r[i] for r in sums if not (r[1] or r[2]))
                                                              for i in range(3)) + (name,)]


def text(name, status, log):
    with open(log, encoding="utf-8", errors="replace") as file:
        found = SUMMARY.findall(file.read())
    if not found:
        return [(0, 1, 0, f"{name}: ended without a summary, exit status {status}")]
    passed, failed, skipped = (int(n or 0) for n in found[-1])
    if status not in ("0", "77") and not failed:
        return [(passed, 1, skipped, f"{name}: exit status {status}")]
    return [(passed, failed, skipped, name)]


def step(name, status):
    return [(1, 0, 0, name) if status == "0" else (0, 1, 0, f"{name}: exit status {status}")]


def total(file):
    """A test that could not run never passes; where everything is there (CI=true) it has failed."""
    with open(file, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split(" ", 3) for line in lines]
    passed, failed, skipped = (sum(int(row[i]) for row in rows) for i in range(3))
    for row in rows:
        if row[1] != "0" or row[2] != "0":
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
