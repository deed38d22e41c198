#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rules of CONTRIBUTING.md that a program can check.

Prints `file:line: what` for each violation, a line for each gate and `N passed, N failed`; exit status 1 when a gate
failed. A tool that is missing fails its gate."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOMS = ("lib/base", "lib/net", "tcp", "ddp_rdmap", "cm", "lib/engine", "lib/port")
PUBLIC = "lib/include"
FUNCTION_LINES, FUNCTION_MEDIAN, FUNCTION_P90, FILE_LINES, STEM_PERCENT = 70, 15, 45, 600, 90
SPDX = "SPDX-License-Identifier: BSD-3-Clause"
SCRIPTS = (".py", ".sh", ".build", ".def")

PROGRAMS = ("apps/", "tests/", "docs/examples/")
EFFECTS = ("lib/port/", *PROGRAMS)
BYTES = (*EFFECTS, "_hdr.c", "_hdr.h", "/cksum.c", "/cksum.h", "lib/base/cursor.h", "lib/base/iw_addr.c")
# Functions that may be called only in these places: a folder, a file, or the end of a file's name; and why.
CALLS = (
    (r"gets|strcpy|strcat|sprintf|vsprintf|strtok|alloca", (), "has no bound"),
    (r"v?f?printf|f?puts|f?putc|putchar|perror", PROGRAMS, "only programs print"),
    (r"_?_?exit|_Exit|abort|rte_exit|rte_panic|rte_eal_init", PROGRAMS, "only programs end themselves or start EAL"),
    (r"RTE_LOG\w*|rte_v?log|syslog", EFFECTS, "left of lib/port: count or trace"),
    (r"rte_eth_\w+", ("lib/port/", "tests/", "apps/perf/loss.c"), "ports are lib/port's"),
    (r"clock_gettime|gettimeofday|time|rte_rdtsc\w*|rte_get_\w*(cycles|hz)|__rdtscp?", EFFECTS, "time is an argument"),
    (r"malloc|calloc|realloc|free|\w*aligned_alloc|posix_memalign|strn?dup|mmap|rte_[mcz]+alloc\w*",
     ("lib/base/pool.c", "lib/base/env.c", *EFFECTS), "memory comes from iw_env_alloc and iw_pool"),
    (r"s?rand(om)?|rand_r|[dlm]rand48|getrandom|getentropy|randombytes\w*|rte_rand\w*", EFFECTS,
     "random numbers come from iw_env_draw"),
    (r"open|fopen|socket|ioctl|eventfd|read|write|send|recv|poll|select|getenv|u?sleep|nanosleep|rte_delay_\w+",
     EFFECTS, "effects are lib/port's"),
    (r"signal|sigaction|fork|system|popen|pthread_create|rte_eal_remote_launch|rte_ctrl_thread_create", PROGRAMS,
     "the library owns no thread, process or signal handler"),
    (r"rte_ring_(empty|full|(free_)?count)", PROGRAMS, "reads what another thread writes: port_ring_is_empty()"),
    (r"hton[sl]|ntoh[sl]|htobe\d+|be\d+toh|rte_cpu_to_[bl]e_\d+|rte_[bl]e_to_cpu_\d+|RTE_BE\d+", BYTES,
     "only *_hdr files know the byte order of the wire"),
)
# What is compiled with a room's view without being of it.
SEES = {"apps/perf/passes.c": "lib/base"}  # the memory limit is worked with the passes of the stack
# Parts of a source whose test is another's, which reaches them through what calls them; what needs EAL is in tests/eal.
TESTED_BY = {
    "cm/cm_reap.c": "tests/sim/test_resources.c",
    "tcp/tcp_rxq_piece.c": "tests/unit/tcp/test_tcp_rxq_budget.c",
    "tcp/tcp_timer_fire.c": "tests/unit/tcp/test_tcp_timer.c",
    "ddp_rdmap/ddp_rx.c": "tests/unit/ddp_rdmap/test_rows.c",
    "ddp_rdmap/ddp_tx.c": "tests/unit/ddp_rdmap/test_rdmap_tx.c",
    "ddp_rdmap/iw_mr.c": "tests/unit/ddp_rdmap/test_mr.c",
    "ddp_rdmap/iw_post.c": "tests/unit/ddp_rdmap/test_wr.c",
    "ddp_rdmap/qp_create.c": "tests/unit/ddp_rdmap/test_qp.c",
    "ddp_rdmap/qp_wc.c": "tests/unit/ddp_rdmap/test_qp.c",
    "ddp_rdmap/rdmap_read.c": "tests/unit/ddp_rdmap/test_rdmap_tx.c",
    "ddp_rdmap/rdmap_ready.c": "tests/unit/ddp_rdmap/test_rdmap_tx.c",
    "ddp_rdmap/rdmap_recv.c": "tests/unit/ddp_rdmap/test_srq.c",
    "ddp_rdmap/rdmap_run.c": "tests/unit/ddp_rdmap/test_rdmap_tx.c",
    "ddp_rdmap/rdmap_rx.c": "tests/unit/ddp_rdmap/test_rows.c",
    "ddp_rdmap/rdmap_send.c": "tests/unit/ddp_rdmap/test_rdmap.c",
    "ddp_rdmap/rdmap_term.c": "tests/unit/ddp_rdmap/test_rows.c",
    "ddp_rdmap/rdmap_write.c": "tests/unit/ddp_rdmap/test_rdmap.c",
    "lib/engine/iw_mr_fast.c": "tests/unit/engine/test_iw_srq.c",
    "lib/port/dma.c": "tests/eal/test_zero_copy.c",
    "lib/port/port_lend.c": "tests/eal/test_zero_copy.c",
    "lib/port/hostpath.c": "tests/eal/test_hostpath.c",
    "lib/port/hostpath_none.c": "tests/eal/test_create.c",
    "lib/port/iw_cm.c": "tests/eal/test_engines.c",
    "lib/port/iw_domain.c": "tests/eal/test_create.c",
    "lib/port/iw_engine.c": "tests/eal/test_engine.c",
    "lib/port/iw_engine_create.c": "tests/eal/test_create.c",
    "lib/port/iw_engine_sleep.c": "tests/eal/test_sleep.c",
    "lib/port/iw_engines.c": "tests/eal/test_team.c",
    "lib/port/nic_verbs_none.c": "tests/unit/port/test_nic.c",
    "lib/port/port.c": "tests/eal/test_create.c",
    "lib/port/port_burst.c": "tests/eal/test_engine.c",
    "lib/port/port_caps.c": "tests/eal/test_create.c",
    "lib/port/port_pools.c": "tests/eal/test_create.c",
    "lib/port/port_probe.c": "tests/eal/test_create.c",
    "lib/port/port_ring.c": "tests/eal/test_team.c",
    "lib/port/port_steer.c": "tests/eal/test_team.c",
    "lib/port/team.c": "tests/eal/test_team.c",
    "lib/port/telemetry.c": "tests/eal/test_telemetry.c",
    "lib/port/wire.c": "tests/eal/test_create.c",
}
# Text that may stand nowhere in code.
TEXT = (
    (r"\btypedef\s+(struct|enum|union)\b", "structs and enums are not typedef'd"),
    (r'#\s*include\s*"\.\./', "a header is included by its name, not by a way around the rooms"),
)
# Documents that code names: those of this project, from its root on.
DOCUMENT = re.compile(r"(?<![\w./-])[\w./-]*\w\.md\b")
NAMES_DOCUMENTS = (".c", ".h", ".def", ".py", ".pml", "meson.build")
# Rows of the tables that the errors (M start-up, F frames, D, R) and the attacks (S of RFC 5042, X of this design) are
# kept in: each has a test of its name, test_<row> or test_..._<row>_....
ROWS = {"M": 22, "F": 9, "D": 18, "R": 18, "S": 20, "X": 9}
REMARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def place(file, line, what):
    return f"{file}:{line}: {what}"


class Tree:
    """The project's files, as names relative to its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.names = sorted(self._walk())
        self.c = [n for n in self.names if n.endswith((".c", ".h"))]
        self.rooms = [n for n in self.c if n.startswith(tuple(r + "/" for r in (*ROOMS, PUBLIC))) or n == PUBLIC + ".h"]
        self.code = self.rooms + [n for n in self.c if n.startswith("apps/")]

    def _walk(self):
        for folder, folders, files in os.walk(self.root):
            at = pathlib.Path(folder).relative_to(self.root)
            folders[:] = [f for f in folders if not f.startswith((".git", "build", "__pycache__"))]
            yield from ((at / f).as_posix() for f in files)

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")


def without_comments_and_strings(text):
    """Blanks them, keeping every newline."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def functions(tree, names):
    """(file, line, name, lines, is static) of each function that is defined there."""
    tags = subprocess.run(["ctags", "--languages=C", "--langmap=C:+.h", "--kinds-C=f", "--fields=+ne", "--sort=no",
                           "-f", "-", "-L", "-"], input="\n".join(names), cwd=tree.root, check=True,
                          capture_output=True, text=True).stdout
    for row in tags.splitlines():
        start, end = re.search(r"\tline:(\d+)", row), re.search(r"\tend:(\d+)", row)
        if start and end:
            name, file = row.split("\t")[:2]
            first = int(start.group(1))
            yield file, first, name, int(end.group(1)) - first + 1, "\tfile:" in row


def gate_sizes(tree):
    found = [place(n, FILE_LINES, f"file has more than {FILE_LINES} lines")
             for n in tree.c if tree.text(n).count("\n") > FILE_LINES]
    every = list(functions(tree, tree.c))
    found += [place(file, line, f"{name} has {lines} lines, limit {FUNCTION_LINES}")
              for file, line, name, lines, _ in every if lines > FUNCTION_LINES]
    code = set(tree.code)
    sizes = sorted(lines for file, _, _, lines, _ in every if file in code)
    for what, part, limit in ("median", 0.5, FUNCTION_MEDIAN), ("p90", 0.9, FUNCTION_P90):
        if sizes and sizes[int(len(sizes) * part)] > limit:
            found.append(place(".", 1, f"{what} of function lines is {sizes[int(len(sizes) * part)]}, limit {limit}"))
    return found


def module(name):
    """A noun: its .c, its .h, and what else has this name in any room or among the public headers."""
    return os.path.splitext(os.path.basename(name))[0]


def include_edges(tree):
    """{module: {module it includes: (file, line)}}"""
    by_name = {}
    for n in tree.rooms:
        by_name.setdefault(os.path.basename(n) if not n.startswith(PUBLIC) else os.path.relpath(n, PUBLIC), n)
    edges = {module(n): {} for n in tree.rooms}
    for n in tree.rooms:
        for number, line in enumerate(tree.text(n).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
            target = match and by_name.get(match.group(1))
            if target and module(target) != module(n):
                edges[module(n)].setdefault(module(target), (n, number))
    return edges


def strongly_connected(edges):
    """Tarjan's algorithm; groups of more than one."""
    order, low, stack, groups = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for to in edges[node]:
            if to not in order:
                visit(to)
                low[node] = min(low[node], low[to])
            elif to in stack:
                low[node] = min(low[node], order[to])
        if low[node] == order[node]:
            at = stack.index(node)
            groups.append(stack[at:])
            del stack[at:]

    for node in edges:
        if node not in order:
            visit(node)
    return [g for g in groups if len(g) > 1]


def gate_cycles(tree):
    edges = include_edges(tree)
    return [place(*edges[a][b], f"include cycle: {a} -> {b}")
            for group in strongly_connected(edges) for a in group for b in sorted(edges[a]) if b in group]


def gate_names(tree):
    exported = [(file, line, name) for file, line, name, _, static in functions(tree, tree.rooms)
                if file.endswith(".c") and not static]
    stem = lambda file: os.path.basename(file).removesuffix(".c").removeprefix("iw_")
    stray = [place(file, line, f"{name} does not start with its file's stem")
             for file, line, name in exported if not name.removeprefix("iw_").startswith(stem(file))]
    return stray if len(stray) * 100 > len(exported) * (100 - STEM_PERCENT) else []


def allowed(name, places):
    return any(name.startswith(p) if p.endswith("/") else name.endswith(p) for p in places)


def lines_with(pattern, text):
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match


def gate_words(tree):
    found = []
    for n in tree.c:
        raw = tree.text(n)
        code = without_comments_and_strings(raw)
        for words, places, why in CALLS:
            if not allowed(n, places):
                found += [place(n, line, f"{match.group(1)}: {why}")
                          for line, match in lines_with(rf"(?<![\w.>])({words})\s*\(", code)]
        for pattern, why in TEXT:
            found += [place(n, line, why) for line, _ in lines_with(pattern, raw if "include" in pattern else code)]
        found += [place(n, line, f"{match.group()}: finish it or write an issue") for line, match in lines_with(REMARKS, raw)]
    documents = {*tree.names, *(n.rsplit("/", 1)[-1] for n in tree.names)}
    for n in tree.names:
        if n.endswith(NAMES_DOCUMENTS) and n != "tests/gate/test_gate.py":
            found += [place(n, line, f"{match.group()}: no document of this project; say the thing itself, or the RFC")
                      for line, match in lines_with(DOCUMENT, tree.text(n)) if match.group() not in documents]
    return found


def gate_rows(tree):
    """A test that nobody runs is not compiled: -Wunused-function."""
    have = set()
    for n in tree.c:
        if n.startswith("tests/"):
            code = without_comments_and_strings(tree.text(n))
            for name in re.findall(r"^test_(\w+)\(void \*\*", code, re.M):
                have.update(name.split("_"))
            if "ROW_TEST" in code:
                have.update(re.findall(r"\bX\((\w+)\)", code))
    return [place("tests", 1, f"no test_{kind}{i}") for kind, n in ROWS.items() for i in range(1, n + 1)
            if f"{kind}{i}" not in have]


def gate_rooms(tree, build):
    """What a source may include is what its compiler finds: a room sees itself and rooms to its left, a program none, but
    for SEES."""
    found, rank = set(), {room: i for i, room in enumerate(ROOMS)}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        at = pathlib.Path(entry["directory"])
        file = os.path.relpath((at / entry["file"]).resolve(), tree.root.resolve())
        if file not in tree.code:
            continue
        own = rank.get(SEES.get(file, os.path.dirname(file)), -1)
        for folder in re.findall(r"(?<!\S)(?:-I|-isystem|-iquote) ?(\S+)", entry["command"]):
            sees = os.path.relpath((at / folder).resolve(), tree.root.resolve())
            if rank.get(sees, -1) > own:
                found.add(place(file, 1, f"is compiled with a view of {sees}"))
    return sorted(found)


def gate_mirror(tree):
    """Each source of a room has its unit test, each header stands in the list of those that compile alone, and each
    unit test is built."""
    there, found = set(tree.names), []
    built = {f: tree.text(f + "/meson.build") for f in {os.path.dirname(n) for n in there}
             if f + "/meson.build" in there}
    named = lambda folder, word: re.search(rf"(?<![\w/]){re.escape(word)}(?!\w)", built.get(folder, ""))
    for n in tree.rooms:
        room, stem = os.path.split(os.path.splitext(n)[0])
        test = TESTED_BY.get(n) or f"tests/unit/{os.path.basename(room)}/test_{stem}.c"
        if n.endswith(".c") and test not in there:
            found.append(place(n, 1, f"{test} is missing"))
        if n.endswith(".h") and room in ROOMS and not named(room, stem + ".h"):
            found.append(place(n, 1, f"not among the headers of {room}/meson.build"))
    for n in there:
        folder, name = os.path.split(n)
        if n.startswith("tests/unit/") and re.fullmatch(r"test_\w+\.c", name) and not (
                named(folder, name[5:-2]) or named(folder, name)):
            found.append(place(n, 1, f"not among the tests of {folder}/meson.build"))
    return sorted(found)


def gate_spdx(tree):
    def needs(name):
        return name.endswith((".c", ".h", *SCRIPTS)) or tree.text(name).startswith("#!") or name == "meson_options.txt"

    def has(name):
        first = tree.text(name).split("\n", 2)
        return SPDX in (first[1] if first[0].startswith("#!") and len(first) > 1 else first[0])

    return [place(n, 1, f"the first line is not {SPDX}") for n in tree.names if needs(n) and not has(n)]


def gate_format(tree):
    out = subprocess.run(["clang-format", "--dry-run", "-Werror", *tree.c], cwd=tree.root, capture_output=True, text=True)
    first = {}
    for file, line in re.findall(r"^(\S+?):(\d+):\d+: error: code should be clang-formatted", out.stderr, re.M):
        first.setdefault(file, line)
    found = [place(f, line, "not formatted: clang-format -i") for f, line in first.items()]
    return found or ([place(".clang-format", 1, out.stderr.strip())] if out.returncode else [])


def clause_tests(cell, where):
    """(program, case) of each test that a cell names: `program: case, case; program`, cases without their test_."""
    for part in filter(None, (p.strip() for p in cell.split(";"))):
        program, _, cases = part.partition(":")
        if not re.fullmatch(r"test_\w+|differential", program):
            where.append(f"'{part}' does not begin with a test program")
            continue
        yield from ((program, case.strip()) for case in (cases.split(",") if cases else [""]))


def gate_clauses(tree):
    """docs/rfc: clause -> function -> test; what is named there exists, where it is said to be."""
    sources = {n for n in tree.names if n.endswith((".c", ".h", ".def"))}
    defined = {}
    for file, _, name, _, _ in functions(tree, tree.c):
        defined.setdefault(name, set()).add(file.rsplit("/", 1)[-1])
    words = {w for n in sources if not n.startswith("tests/") for w in re.findall(r"\w+", tree.text(n))}
    programs = {n.rsplit("/", 1)[-1][:-2]: n for n in tree.c if n.startswith("tests/")}
    found = []
    for n in (n for n in tree.names if n.startswith("docs/rfc/")):
        for line, text in enumerate(tree.text(n).splitlines(), 1):
            cells = [c.strip() for c in text.strip("|").split("|")] if text.startswith("|") else []
            if len(cells) != 3 or set(cells[0]) <= {"-"} or cells[1] == "function":
                continue
            wrong = []
            for name, file in re.findall(r"`([\w.]+)`(?: \((\w+\.[ch])\))?", cells[1]):
                last = name.rsplit(".", 1)[-1]
                if name not in defined and not ("." in name and last in words):
                    wrong.append(f"no function {name}")
                elif file and file not in defined.get(name, {file}):
                    wrong.append(f"{name} is not in {file}")
            for program, case in clause_tests(cells[2], wrong):
                at = tree.text(programs[program]) if program in programs else ""
                if not at:
                    wrong.append(f"no test program {program}")
                elif case and not re.search(rf"\btest_{re.escape(case)}\b", at):
                    wrong.append(f"no test {case} in {program}")
            found += [place(n, line, what) for what in wrong]
    return found


class Tidy:
    """clang-tidy over the sources of a compile database. What was clean stays so until it, a header or the rules
    change."""

    def __init__(self, tree, build, deep):
        self.tree, self.build = tree, pathlib.Path(build)
        self.checks = [] if deep else ["--checks=-clang-analyzer-*"]  # three quarters of the time
        self.done = self.build / "tidy"
        self.done.mkdir(parents=True, exist_ok=True)
        headers = [n for n in tree.names if n.endswith((".h", ".def", ".clang-tidy"))]
        self.common = hashlib.sha256("".join(map(tree.text, headers)).encode())

    def sources(self):
        database = json.loads((self.build / "compile_commands.json").read_text())
        known = {os.path.relpath((pathlib.Path(e["directory"]) / e["file"]).resolve(), self.tree.root.resolve())
                 for e in database}
        return [n for n in self.tree.code if n.endswith(".c") and n in known]

    def check(self, name):
        key = self.common.copy()
        key.update((name + self.tree.text(name) + "".join(self.checks)).encode())
        stamp = self.done / key.hexdigest()
        if stamp.exists():
            return []
        # The flags are those of the compiler that builds: one that clang does not know is no fault of the source.
        out = subprocess.run(["clang-tidy", "--quiet", "--extra-arg=-Wno-error", *self.checks,
                              "-p", str(self.build.resolve()), name], cwd=self.tree.root, capture_output=True, text=True)
        found = re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)", out.stdout + out.stderr, re.M)
        if not found and out.returncode == 0:
            stamp.touch()
            return []
        root = str(self.tree.root.resolve()) + "/"
        return [place(f.removeprefix(root), line, what) for f, line, what in found] or [place(name, 1, out.stderr.strip())]


def gate_tidy(tree, build, deep):
    tidy = Tidy(tree, build, deep)
    sources = tidy.sources()
    if not sources:
        return [place(build, 1, "the compile database names no source of ours")]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return sorted({line for found in pool.map(tidy.check, sources) for line in found})


def gates(tree, build, deep):
    return {"sizes": lambda: gate_sizes(tree), "cycles": lambda: gate_cycles(tree), "names": lambda: gate_names(tree),
            "words": lambda: gate_words(tree), "rooms": lambda: gate_rooms(tree, build), "mirror": lambda: gate_mirror(tree),
            "clauses": lambda: gate_clauses(tree), "rows": lambda: gate_rows(tree),
            "errors": lambda: gate_errors(tree), "spdx": lambda: gate_spdx(tree),
            "format": lambda: gate_format(tree),
            "tidy": lambda: gate_tidy(tree, build, deep)}


def gate_errors(tree):
    import errors  # which uses what stands here
    return errors.gate_errors(tree)


def run(gate):
    """Its violations; that its tool is missing or broken is one."""
    try:
        return gate()
    except (OSError, subprocess.CalledProcessError) as error:
        return [place("tests/gate/gate.py", 1, f"cannot check: {error}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2], metavar="DIR")
    parser.add_argument("--build", default="build/release", metavar="DIR", help="where the compile database is")
    parser.add_argument("--deep", action="store_true", help="tidy with the static analyser, which takes minutes")
    parser.add_argument("gate", nargs="*", help="sizes cycles names words rooms mirror clauses rows errors spdx format "
                        "tidy; all when none is named")
    options = parser.parse_args()
    known = gates(Tree(options.root), options.build, options.deep)
    chosen = options.gate or list(known)
    if not set(chosen) <= set(known):
        parser.error(f"gates are {' '.join(known)}")
    failed = 0
    for name in chosen:
        found = run(known[name])
        failed += bool(found)
        print("\n".join([*found, f"{'not ok' if found else 'ok'} {name}"]), flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
