#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each gate catches what is planted for it and passes a clean tree; tally.py adds up rightly."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LICENSE = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
CLEAN = {
    "tcp/tcp.h": LICENSE + '#ifndef TCP_H\n#define TCP_H\n\n#include "tcp_rx.h"\n\n#endif\n',
    "tcp/tcp_rx.h": LICENSE + "#ifndef TCP_RX_H\n#define TCP_RX_H\n\nint tcp_rx(const int *p, int n);\n\n#endif\n",
    "tcp/tcp_rx.c": LICENSE + '#include "tcp_rx.h"\n\n/* malloc(1) is text here, printf(2) too. */\nint\n'
                              'tcp_rx(const int *p, int n)\n{\n\treturn p && n ? p[0] : 0;\n}\n',
    "tcp/tcp.c": LICENSE + '#include "tcp.h"\n\nstatic const char *const words = "printf(3) \\" exit(1)";\n',
    "lib/port/port.c": LICENSE + '#include <rte_ethdev.h>\n\nint\nport_count(void)\n{\n'
                                 '\treturn rte_eth_dev_count_avail();\n}\n',
    "tcp/tcp_hdr.c": LICENSE + "int\ntcp_hdr_port(int x)\n{\n\treturn ntohs(x);\n}\n",
    "apps/app/main.c": LICENSE + '#include <stdio.h>\n\nint\nmain(void)\n{\n\tprintf("x");\n\treturn 0;\n}\n',
    "tests/unit/tcp/test_tcp.c": LICENSE + "int x;\n",
    "tests/unit/tcp/test_tcp_rx.c": LICENSE + "int x;\n",
    "tests/unit/tcp/test_tcp_hdr.c": LICENSE + "int x;\n",
    "tests/eal/test_create.c": LICENSE + "int x;\n",
    "tests/unit/tcp/meson.build": "# SPDX-License-Identifier: BSD-3-Clause\nnames = ['tcp', 'tcp_rx', 'tcp_hdr']\n",
    "tcp/meson.build": "# SPDX-License-Identifier: BSD-3-Clause\nheaders = ['tcp.h', 'tcp_rx.h']\n",
    "tests/test_rx.c": LICENSE + "static void\ntest_T1(void **state)\n{\n\t(void)state;\n}\n",
    "docs/rfc/2.md": "| clause | function | test |\n|---|---|---|\n| a | `tcp_rx` (tcp_rx.c) | test_rx: T1 |\n",
    "meson.build": "# SPDX-License-Identifier: BSD-3-Clause\n",
    "tests/test_rows.c": "",
    "run": "#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n",
}


def row_tests(missing=""):
    """A test of each row's name but one; some by a macro, some with more in their names."""
    rows = [f"{kind}{i}" for kind, n in {"M": 22, "F": 9, "D": 18, "R": 18, "S": 20, "X": 9}.items()
            for i in range(1, n + 1) if f"{kind}{i}" != missing]
    tests = "".join(f"\nstatic void\ntest_{r}{'_more' if r[0] == 'S' else ''}(void **state)\n{{\n}}\n" for r in rows[22:])
    return (f"{LICENSE}#define ROW_TEST\n/* clang-format off */\n#define ROWS(X) {' '.join(f'X({r})' for r in rows[:22])}\n"
            f"/* clang-format on */\n{tests}")


CLEAN["tests/test_rows.c"] = row_tests()


def function(name, lines):
    """A function of so many lines, from its name to its closing brace."""
    return f"{LICENSE}int\n{name}(void)\n{{\n" + "\t;\n" * (lines - 4) + "\treturn 0;\n}\n"


def body(statement, name="tcp_x"):
    return f"{LICENSE}int\n{name}(int *p)\n{{\n\t{statement}\n}}\n"


# Gate, file that is planted, its text, what the gate says.
PLANTED = (
    ("sizes", "tcp/tcp_x.c", function("tcp_x", 71), "tcp/tcp_x.c:3: tcp_x has 71 lines, limit 70"),
    ("sizes", "tests/unit/tcp/test_x.c", function("test_x", 71), "test_x has 71 lines"),
    ("sizes", "tcp/tcp_x.c", LICENSE + "\n" * 600, "tcp/tcp_x.c:600: file has more than 600 lines"),
    ("sizes", "tcp/tcp_x.c", "".join(function(f"tcp_x{i}", 16) for i in range(9)), "median of function lines is 16"),
    ("sizes", "tcp/tcp_x.c", "".join(function(f"tcp_x{i}", 4 if i < 40 else 46) for i in range(50)),
     "p90 of function lines is 46"),
    ("cycles", "tcp/tcp_rx.h", CLEAN["tcp/tcp_rx.h"].replace("int tcp_rx", '#include "tcp.h"\nint tcp_rx'),
     "tcp/tcp_rx.h:5: include cycle: tcp_rx -> tcp"),
    ("names", "tcp/tcp_x.c", function("stray", 4), "tcp/tcp_x.c:3: stray does not start with its file's stem"),
    ("clauses", "docs/rfc/1.md", "| a | `tcp_gone` | test_x |\n", "docs/rfc/1.md:1: no function tcp_gone"),
    ("clauses", "docs/rfc/1.md", "| a | `tcp_rx` (tcp.c) | test_x |\n", "tcp_rx is not in tcp.c"),
    ("clauses", "docs/rfc/1.md", "| a | `tcp_rx` | test_x |\n", "no test program test_x"),
    ("clauses", "docs/rfc/1.md", "| a | `tcp_rx` | test_rx: T1, T2 |\n", "no test T2 in test_rx"),
    ("clauses", "docs/rfc/1.md", "| a | `tcp_rx` | other: T1 |\n", "does not begin with a test program"),
    ("words", "tcp/tcp_x.c", body("printf(1);"), "tcp/tcp_x.c:5: printf: only programs print"),
    ("words", "tcp/tcp_x.c", LICENSE + "/* As wire.md has it. */\n", "tcp/tcp_x.c:2: wire.md: no document"),
    ("words", "tcp/tcp_x.def", "/* docs/none.md, run */\n" + LICENSE, "tcp/tcp_x.def:1: docs/none.md: no document"),
    ("words", "lib/port/x.c", body("fprintf (stderr, 1);"), "lib/port/x.c:5: fprintf"),
    ("words", "lib/port/x.c", body("exit(1);"), "exit: only programs"),
    ("words", "tcp/tcp_x.c", body("abort();"), "abort"),
    ("words", "lib/port/x.c", body("return rte_ring_empty(p);"), "rte_ring_empty: reads what another thread writes"),
    ("words", "tcp/tcp_x.c", body("RTE_LOG(ERR, USER1, 1);"), "RTE_LOG"),
    ("words", "lib/engine/x.c", body("rte_eth_tx_burst(0);"), "rte_eth_tx_burst: ports are lib/port's"),
    ("words", "apps/app/x.c", body("rte_eth_dev_stop(0);"), "rte_eth_dev_stop"),
    ("words", "tcp/tcp_x.c", body("clock_gettime(0);"), "clock_gettime: time is an argument"),
    ("words", "tcp/tcp_x.c", body("return rte_rdtsc();"), "rte_rdtsc"),
    ("words", "tcp/tcp_x.c", body("return rte_get_timer_cycles();"), "rte_get_timer_cycles"),
    ("words", "tcp/tcp_x.c", body("return calloc(1, 1);"), "calloc"),
    ("words", "lib/base/list.c", body("free(p);"), "free"),
    ("words", "tcp/tcp_x.c", body("return rand();"), "rand"),
    ("words", "apps/app/x.c", body("strcpy(p, p);"), "strcpy: has no bound"),
    ("words", "tests/x.c", body("sprintf(p, p);"), "sprintf"),
    ("words", "tests/x.c", body("gets(p);"), "gets"),
    ("words", "lib/port/x.c", body("signal(2, 0);"), "signal"),
    ("words", "tcp/tcp_x.c", body("return read(0, p, 1);"), "read: effects are lib/port's"),
    ("words", "tcp/tcp_x.c", body("return ntohs(1);"), "ntohs: only *_hdr files"),
    ("words", "tcp/tcp_x.c", LICENSE + "typedef struct { int a; } x;\n", "tcp/tcp_x.c:2: structs"),
    ("words", "tcp/tcp_x.c", LICENSE + '#include "../cm/cm.h"\n', "tcp/tcp_x.c:2: a header is included by its name"),
    ("words", "tcp/tcp_x.c", LICENSE + "/* T" "ODO */\n", "tcp/tcp_x.c:2: T" "ODO"),
    ("rows", "tests/test_rows.c", row_tests("S8"), "no test_S8"),
    ("rows", "tests/test_rows.c", row_tests("M22"), "no test_M22"),
    ("rows", "tests/test_rows.c", row_tests().replace("test_X9", "test_X90"), "no test_X9"),
    ("errors", "lib/include/iwarp/x.h", "/* -IW_E_BUSY, -IW_E_STALE. */\nint iw_x_close(struct iw_x *x);\n",
     "lib/include/iwarp/x.h:2: no test expects -IW_E_BUSY of iw_x_close()"),
    ("errors", "lib/include/iwarp/x.h", "/* NULL: -IW_E_NOMEM. */\nstruct iw_x *iw_x_open(int n,\n\t\tint *err);\n",
     "lib/include/iwarp/x.h:2: no test expects -IW_E_NOMEM of iw_x_open()"),
    ("errors", "lib/include/iwarp/x.h", "/* X. */\nstruct iw_x {\n\tint a;\n};\nint iw_x_a(int); /* -IW_E_INVAL */\n",
     "lib/include/iwarp/x.h:5: no test expects -IW_E_INVAL of iw_x_a()"),
    ("mirror", "tcp/tcp_x.c", function("tcp_x", 4), "tcp/tcp_x.c:1: tests/unit/tcp/test_tcp_x.c is missing"),
    ("mirror", "ddp_rdmap/iw_mr.c", function("iw_mr", 4), "iw_mr.c:1: tests/unit/ddp_rdmap/test_mr.c is missing"),
    ("mirror", "tcp/tcp_x.h", LICENSE, "tcp/tcp_x.h:1: not among the headers of tcp/meson.build"),
    ("mirror", "tests/unit/tcp/test_tcp_x.c", function("x", 4), "not among the tests of tests/unit/tcp/meson.build"),
    ("spdx", "tcp/tcp_x.c", "int x;\n", "tcp/tcp_x.c:1: the first line is not SPDX"),
    ("spdx", "tools/x", "#!/bin/sh\necho\n", "tools/x:1"),
    ("spdx", "tcp/meson.build", "sources = []\n", "tcp/meson.build:1"),
    ("format", "tcp/tcp_x.c", LICENSE + "int  x;\n", "tcp/tcp_x.c:2: not formatted"),
    ("tidy", "tcp/tcp_x.c", body("return *p;").replace("{", "{\n\tp = 0;"), "tcp/tcp_x.c:6: Dereference of null pointer"),
)


class Tree:
    def __init__(self, changes=()):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name in (".clang-format", ".clang-tidy"):
            self.write(name, (HERE.parents[1] / name).read_text())
        for name, text in {**CLEAN, **dict(changes)}.items():
            self.write(name, text)
        sources = [n for n in CLEAN if n.startswith("tcp/") and n.endswith("rx.c")]
        sources += [n for n, _ in changes if n.endswith(".c")]
        # Built by another compiler, whose flags clang-tidy does not know: with -Werror that was an error.
        self.write("build/compile_commands.json", json.dumps(
            [{"directory": str(self.root), "file": n, "command": f"cc -Werror -ffat-lto-objects -Wno-of-gcc -c {n}"}
             for n in sources]))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def gate(self, *gates):
        return subprocess.run([sys.executable, HERE / "gate.py", "--root", self.root, "--build", self.root / "build", *gates],
                              capture_output=True, text=True)


class TestGate(unittest.TestCase):
    def test_clean_tree_passes(self):
        tree = Tree()
        for _ in range(2):  # the second time from what clang-tidy's pass left behind
            out = tree.gate()
            self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
            self.assertEqual(out.stdout.splitlines()[-1], "12 passed, 0 failed")

    def test_planted(self):
        for gate, file, text, says in PLANTED:
            with self.subTest(gate=gate, says=says):
                out = Tree([(file, text)]).gate("--deep", gate)
                self.assertEqual(out.returncode, 1, out.stdout + out.stderr)
                self.assertIn(says, out.stdout)
                self.assertEqual(out.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_errors_expected(self):
        header = "/* 0, -IW_E_BUSY or -IW_E_STALE. */\nint iw_x_close(struct iw_x *x);\n"
        for body, says in (
                ("\tassert(iw_x_close(x) == -IW_E_BUSY);\n\tassert(iw_x_close(x) == -IW_E_STALE);\n", None),
                ("\terr = iw_x_close(x);\n\tassert(err == -IW_E_BUSY);\n\tassert(close(x) == -IW_E_STALE);\n", None),
                ("\tassert(iw_x_close(x) == t[i].err);\n", None),
                ("\tassert(iw_x_close(x) == -IW_E_BUSY);\n", "-IW_E_STALE of iw_x_close()"),
                ("\tiw_x_close(x);\n\ta();\n\tb();\n\tassert(e == -IW_E_BUSY && f == -IW_E_STALE);\n", "-IW_E_BUSY"),
                ("\tassert(iw_y_close(x) == -IW_E_BUSY || -IW_E_STALE);\n", "-IW_E_BUSY"),
                ("\t/* iw_x_close(x): -IW_E_BUSY, -IW_E_STALE */\n", "-IW_E_BUSY")):
            with self.subTest(body=body):
                test = (f"{LICENSE}static int t[] = {{1, -IW_E_BUSY, -IW_E_STALE}};\n\nstatic int\nclose(void *x)\n{{\n"
                        f"\treturn iw_x_close(x);\n}}\n\nstatic void\ntest_x(void **state)\n{{\n{body}}}\n")
                out = Tree([("lib/include/iwarp/x.h", header), ("tests/test_x.c", test)]).gate("errors")
                self.assertEqual(out.returncode, 1 if says else 0, out.stdout + out.stderr)
                self.assertIn(says or "ok errors", out.stdout)

    def test_views_of_rooms(self):
        for file, folder, says in (("tcp/tcp_rx.c", "lib/net", None), ("tcp/tcp_rx.c", "cm", "a view of cm"),
                                   ("apps/app/main.c", "lib/include", None),
                                   ("apps/app/main.c", "lib/base", "a view of lib/base"),
                                   ("apps/perf/passes.c", "lib/base", None),
                                   ("apps/perf/passes.c", "lib/net", "a view of lib/net")):
            with self.subTest(file=file, folder=folder):
                tree = Tree()
                tree.write(folder + "/x", "")
                tree.write(file, "")
                tree.write("build/compile_commands.json", json.dumps(
                    [{"directory": str(tree.root / "build"), "file": "../" + file, "command": f"cc -I../{folder} -c x"}]))
                out = tree.gate("rooms")
                self.assertEqual(out.returncode, 1 if says else 0, out.stdout)
                self.assertIn(says or "ok rooms", out.stdout)

    def test_meson_refuses_a_room_above(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder) / "tree"
            shutil.copytree(HERE.parents[1], root, ignore=shutil.ignore_patterns("build*", ".git", "captures", "corpus"))
            file = root / "lib/net/meson.build"
            file.write_text(file.read_text() + "deps += 'tcp'\n")
            out = subprocess.run(["meson", "setup", "b"], cwd=root, capture_output=True, text=True)
            self.assertNotEqual(out.returncode, 0)
            self.assertIn('room "lib/net" may not use "tcp": it is not below', out.stdout)

    def test_limits_are_inclusive(self):
        out = Tree([("tests/x.c", function("test_x", 70)), ("tcp/tcp_y.c", LICENSE + "\n" * 599)]).gate("sizes")
        self.assertEqual(out.returncode, 0, out.stdout)

    def test_one_stray_name_in_ten_is_allowed(self):
        names = "".join(function(f"tcp_x_{i}", 4) for i in range(8)) + function("stray", 4)
        self.assertEqual(Tree([("tcp/tcp_x.c", names)]).gate("names").returncode, 0)

    def test_broken_compile_database_fails(self):
        tree = Tree()
        (tree.root / "build/compile_commands.json").unlink()
        out = tree.gate("tidy")
        self.assertEqual(out.returncode, 1)
        self.assertIn("cannot check", out.stdout)


class TestTally(unittest.TestCase):
    def tally(self, *args, ci="false"):
        return subprocess.run([sys.executable, HERE / "tally.py", *args], capture_output=True, text=True,
                              env={"CI": ci, "PATH": "/usr/bin"})

    def lines(self, *args):
        return self.tally(*args).stdout.splitlines()

    def file(self, text):
        file = tempfile.NamedTemporaryFile("w", delete=False)
        self.addCleanup(pathlib.Path(file.name).unlink)
        with file:
            file.write(text)
        return file.name

    def test_meson(self):
        ok = "[       OK ] test_a\n[       OK ] test_b\n"
        bad = "[  FAILED  ] test_c\n[==========] 2\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] test_c\n"
        entries = [
            {"name": "two", "result": "OK", "stdout": ok},
            {"name": "plain", "result": "OK"},
            {"name": "bad", "result": "FAIL", "stdout": ok, "stderr": bad},
            {"name": "crash", "result": "ERROR", "stdout": ok},
            {"name": "slow", "result": "TIMEOUT"},
            {"name": "not", "result": "SKIP"},
            {"name": "part", "result": "OK", "stdout": "[  SKIPPED ] test_a\n"},
        ]
        log = self.file("\n".join(map(json.dumps, entries)) + "\n")
        self.assertEqual(self.lines("meson", "unit", log),
                         ["2 1 0 unit: bad", *("| " + line for line in bad.splitlines()),
                          "2 1 0 unit: crash", *("| " + line for line in ok.splitlines()),
                          "0 1 0 unit: slow", "0 0 1 unit: not", "0 0 1 unit: part", "3 0 0 unit"])

    def test_no_tests_of_a_suite(self):
        self.assertEqual(self.lines("meson", "sim", "/nonexistent"), ["0 0 0 sim"])

    def test_text(self):
        log = self.file("ok a\n3 passed, 0 failed\n")
        self.assertEqual(self.lines("text", "gates", "0", log), ["3 0 0 gates"])
        self.assertEqual(self.lines("text", "gates", "1", log)[0], "3 1 0 gates: exit status 1")
        log = self.file("0 passed, 0 failed, 9 skipped\n")
        self.assertEqual(self.lines("text", "interop", "77", log), ["0 0 9 interop"])
        log = self.file("Traceback\n")
        self.assertEqual(self.lines("text", "interop", "1", log)[0].split()[:3], ["0", "1", "0"])

    def test_a_failure_brings_what_was_said_of_it(self):
        log = self.file("ok a\nFAILED  b: 3 lines, not one\n  its command\n1 passed, 1 failed\n")
        self.assertEqual(self.lines("text", "gates", "1", log),
                         ["1 1 0 gates", "| FAILED  b: 3 lines, not one", "|   its command", "| 1 passed, 1 failed"])
        log = self.file("".join(f"line {i}\n" for i in range(99)) + "error: x\n" + "more\n" * 99)
        said = self.lines("text", "gates", "1", log)
        self.assertEqual((said[1], len(said)), ("| error: x", 13))

    def test_step(self):
        self.assertEqual(self.lines("step", "build", "0"), ["1 0 0 build"])
        self.assertEqual(self.lines("step", "build", "2"), ["0 1 0 build: exit status 2"])

    def test_sum(self):
        for rows, ci, last, status in (
                ("3 0 0 a\n4 0 0 b\n", "true", "7 passed, 0 failed", 0),
                ("3 0 0 a\n4 1 0 b\n", "false", "7 passed, 1 failed", 1),
                ("3 0 2 a\n", "false", "3 passed, 0 failed, 2 skipped", 0),
                ("3 0 2 a\n", "true", "3 passed, 2 failed, 2 skipped", 1),
                ("3 1 0 a\n| why it did\n", "false", "3 passed, 1 failed", 1),
                ("", "false", "0 passed, 0 failed", 1)):
            with self.subTest(rows=rows, ci=ci):
                out = self.tally("sum", self.file(rows), ci=ci)
                self.assertEqual(out.stdout.splitlines()[-1], last)
                self.assertEqual(out.returncode, status)
                self.assertEqual("# | why it did" in out.stdout, "| why it did" in rows)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    bad = len({str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
