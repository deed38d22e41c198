#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions for each message and byte, counted by callgrind, against what guard.json has stored.

    guard.py GUARD            fails when a count has grown by more than 3 %
    guard.py GUARD --store    stores what is counted now: after a change that was meant to change it

Times differ from run to run and from machine to machine, instructions do not.  Counted is what our calls do, without
malloc behind the tests' packet buffers.  Each scenario runs twice, with N and with 2 N messages: the difference is
free of set-up.  Valgrind 3.19 knows no AVX-512, so of the code that is chosen at run time the paths below it are
counted."""
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STORED = pathlib.Path(__file__).with_name("guard.json")
TOLERANCE = 0.03
MESSAGES = {True: 256, False: 8}  # small messages, large messages
# The same for everyone: how long the environment is moves the stack and what is aligned there, and the C library chooses
# its copies by the CPU.
ENVIRONMENT = {"PATH": "/usr/bin:/bin",
               "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-ERMS,-FSRM:glibc.cpu.x86_non_temporal_threshold=0x400000"}
LARGE = 4096
# Counting begins and ends at these; what the tests' pool does inside them is left out again.
CALLS = ("engine_rx", "engine_tick", "engine_deliver", "engine_tx", "iw_post_send", "iw_post_recv", "iw_cq_poll",
         "source_enqueue", "source_dequeue")


def cannot(why):
    """Exit code 77 means skipped; in CI nothing may be."""
    print("skipped: " + why)
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def count(guard, scenario, messages):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        subprocess.run(["valgrind", "--tool=callgrind", "-q", "--collect-atstart=no", f"--callgrind-out-file={out}",
                        *(f"--toggle-collect={c}" for c in CALLS), f"./{guard.name}", scenario, str(messages)],
                       check=True, stdout=subprocess.DEVNULL, timeout=100, env=ENVIRONMENT,
                       cwd=guard.parent)
        totals = [line for line in out.read_text().splitlines() if line.startswith(("totals:", "summary:"))]
        return int(totals[-1].split()[1])


def per_message(guard, scenario, size):
    n = MESSAGES[size < LARGE]
    # Past the start of the connection, whose first packets find small windows.
    one, two = count(guard, scenario, 2 * n), count(guard, scenario, 4 * n)
    return (two - one) / (2 * n)


def measure(guard):
    lines = [line.split(" ", 1) for line in subprocess.check_output([guard], text=True).splitlines()]
    sizes = {name: int(size) for name, size in lines if name != "compiler"}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        counts = pool.map(lambda item: per_message(guard, *item), sizes.items())
    return dict(lines)["compiler"], {
        name: {"size": sizes[name], "instructions_per_message": round(n), "instructions_per_byte": round(n / sizes[name], 4)}
        for name, n in zip(sizes, counts)}


def compare(now, stored):
    bad = 0
    for name in sorted({*now, *stored}):
        if name not in now or name not in stored:
            print(f"FAILED  {name}: {'not stored' if name in now else 'no such scenario any more'}")
            bad += 1
            continue
        new, old = (v[name]["instructions_per_message"] for v in (now, stored))
        off = new / old - 1
        failed = off > TOLERANCE
        bad += failed
        print(f"{'FAILED' if failed else 'ok'}  {name}: {new} instructions a message, {now[name]['instructions_per_byte']} a "
              f"byte; stored {old} ({off:+.1%})")
    if bad:
        print("A change that was meant: tests/perf/guard.py GUARD --store, and say in the commit what it was for.")
    return bad > 0


def main():
    if not shutil.which("valgrind"):
        cannot("needs valgrind")
    compiler, now = measure(pathlib.Path(sys.argv[1]).resolve())
    if sys.argv[2:] == ["--store"]:
        STORED.write_text(json.dumps({"compiler": compiler, "scenarios": now}, indent=1) + "\n")
        return 0
    stored = json.loads(STORED.read_text())
    if stored["compiler"].split(".")[0] != compiler.split(".")[0]:
        cannot(f"stored for compiler {stored['compiler']}, this is {compiler}")
    return compare(now, stored["scenarios"])


if __name__ == "__main__":
    sys.exit(main())
