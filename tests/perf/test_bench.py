#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench.py's own rules, and what peers.py reads out of the programs' words, with programs that only say them."""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import bench
import peers

# Says what its name's file holds; with --out_json_file FILE that goes there.
SPEAKER = """#!{python}
import pathlib, sys
said = pathlib.Path(sys.argv[0] + ".said").read_text()
arguments = sys.argv[1:]
pathlib.Path(sys.argv[0] + ".asked").open("a").write(" ".join(arguments) + "\\n")
if "--out_json_file" in arguments:
    pathlib.Path(arguments[arguments.index("--out_json_file") + 1]).write_text(said)
else:
    print(said)
sys.exit({code})
"""
SCALE = """octets a connection: TCB 384, id 192, QP 384, together 960 (budget 1024); TIME_WAIT 64 (64)
      64 connections: 12345 octets resident each,   90 ns a packet on 64 of them,  100 on all
  100000 connections:  2345 octets resident each,  120 ns a packet on 64 of them,  160 on all
"""
GOODPUT = ("loss 1.0 %,  1 ms,  1 runs: Linux to Linux 120.5 Mbit/s, ours to Linux 130.0 (1.08), "
           "Linux to ours 99.0 (0.82, WRONG)\n0 passed, 1 failed")


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.bench = peers.Bench(self.folder / "build/apps/perf/dpdk-iwarp-perf", 1)
        self.bench.cpus = [min(os.sched_getaffinity(0))] * 2

    def tearDown(self):
        shutil.rmtree(self.folder)

    def speaker(self, path, says, code=0):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SPEAKER.format(python=sys.executable, code=code))
        path.chmod(0o755)
        pathlib.Path(f"{path}.said").write_text(says)

    def asked(self):
        return [line.split(" -- ")[1] for line in pathlib.Path(f"{self.bench.perf}.asked").read_text().splitlines()]


class Sources(Case):
    def perf_says(self, **row):
        row = {"MsgSize": 64, "BW_average": 1000, "MsgRate": 2, "t_typical": 3, "percentile_99.9": 4, **row}
        self.speaker(self.bench.perf, json.dumps({"results": [row]}))

    def test_engines(self):
        self.speaker(self.bench.perf, json.dumps({"results": [
            {"engines": 1, "BW_average": 1000, "against_one": 1, "by_CPU_time": 1},
            {"engines": 2, "BW_average": 1950, "against_one": 1.95, "by_CPU_time": 1.99}]}))
        got = peers.engines(self.bench)
        self.assertAlmostEqual(got["engines_2"] / got["engines_1"], 1.95)
        self.assertEqual(got["engines_2.by_cpu_time"], 1.99)
        self.assertIn("engines", self.asked()[0])

    def test_crowd(self):
        for code in 0, 1:  # a budget that is missed is a goal that is missed, and no reason to say nothing
            self.speaker(self.bench.scale, SCALE, code)
            self.assertEqual(peers.crowd(self.bench), {"random_64": 10, "random_100k": 6.25, "connection_octets": 960,
                                                       "timewait_octets": 64})

    def test_goodput(self):
        self.speaker(self.bench.differential, GOODPUT, 1)
        if os.geteuid() == 0:
            self.assertEqual(peers.goodput(self.bench), {"goodput_linux": 120.5, "goodput_to_linux": 130,
                                                         "goodput_from_linux": 99})
            self.speaker(self.bench.differential, "skipped: no TAP devices", 77)
        with self.assertRaises(peers.Missing):
            peers.goodput(self.bench)

    def test_missing(self):
        with self.assertRaisesRegex(peers.Missing, "is not there"):
            peers.crowd(self.bench)
        self.speaker(self.bench.scale, "something else")
        with self.assertRaisesRegex(peers.Missing, "not understood"):
            peers.crowd(self.bench)

    def test_growth_covers(self):
        """What must be varied is varied from end to end, and each point has a figure for each column."""
        self.perf_says()
        ends = {"QPs": (1, 100000), "Reads": (1, 128), "loss": (0, 3)}
        for name, source, columns in peers.GROWTH:
            if name in ends:
                rows = source(self.bench)
                self.assertEqual((rows[0][0], rows[-1][0]), ends[name])
                self.assertEqual({len(row) for row in rows}, {len(columns)})
        asked = self.asked()
        self.assertTrue(any("-q 100000" in a and "--test lat" in a for a in asked))
        self.assertTrue(any("-q 100000" in a and "--test lat" not in a for a in asked))
        for percent in "0.1", "0.3", "1", "3":
            self.assertEqual(sum(f"--loss {percent} " in a for a in asked), 2)

    def test_growth_by_size(self):
        sizes = [2 ** i for i in range(1, 24)]
        self.speaker(self.bench.perf, json.dumps({"results": [
            {"MsgSize": n, "BW_average": n, "MsgRate": 1, "t_typical": 2, "percentile_99.9": 3} for n in sizes]}))
        self.assertEqual([row[0] for row in peers.by_size(self.bench)], sizes[2:])

    def test_reads_time(self):
        self.perf_says(MsgRate=0.5)
        self.assertEqual([(row[0], row[2]) for row in peers.by_reads(self.bench)][:3], [(1, 2), (2, 4), (4, 8)])


class Goals(Case):
    ROWS = {row for row, _, _ in peers.ROWS}

    def result(self, medians):
        return {"date": "2026-01-01", "rounds": 3, "samples": {row: [value] for row, value in medians.items()},
                "machine": {"cpu": "x", "cpus": 2, "memory_gib": 1, "kernel": "k", "system": "s", "dpdk": "d", "load": 0,
                            "large_pages": True},
                "medians": medians, "goals": bench.judge(medians), "missing": {"UCX tcp": "is not there"},
                "growth": {name: {"columns": columns, "rows": [[i + 1] * len(columns) for i in range(3)]}
                           for name, _, columns in peers.GROWTH}}

    def test_show(self):
        for value, text in (None, "-"), (0, "0"), (0.0123, "0.0123"), (998.6, "999"), (999.6, "1,000"), (1234.5, "1,234"):
            self.assertEqual(bench.show(value), text)

    def test_rows_are_known(self):
        self.assertEqual(len(self.ROWS), len(peers.ROWS))
        for row, by, sense, limit in peers.GOALS:
            self.assertIn(row, self.ROWS)
            self.assertTrue(by is None or by in self.ROWS)
            self.assertTrue(sense in (1, -1) and limit > 0)

    def test_judge(self):
        judged = {(g["row"], g["by"]): (g["reached"], g["ok"]) for g in bench.judge(
            {"engines_1": 1000, "engines_2": 1890, "random_64": 10, "random_100k": 5, "connection_octets": 1025,
             "timewait_octets": 64, "goodput_to_linux": 1, "goodput_linux": 0})}
        self.assertEqual(judged["engines_2", "engines_1"], (1.89, False))
        self.assertEqual(judged["random_100k", "random_64"], (0.5, True))
        self.assertEqual(judged["connection_octets", None], (1025, False))
        self.assertEqual(judged["timewait_octets", None], (64, True))
        self.assertEqual(judged["goodput_to_linux", "goodput_linux"], (None, False))
        self.assertEqual(judged["write_8_p50", None], (None, False))

    def test_document(self):
        text = bench.document(self.result({"engines_1": 1000, "engines_2": 1890, "connection_octets": 960}))
        line = next(x for x in text.splitlines() if "two such engines" in x and "at least 1.9" in x)
        self.assertTrue(line.endswith("| 1.89 | **MISSED** |"), line)
        self.assertIn("| an idle connection, besides its rings | itself | at most 1,024 | 960 | yes |", text)
        self.assertIn("| a connection in TIME_WAIT | itself | at most 64 | - | **not measured** |", text)
        for name, _, _ in peers.GROWTH:
            self.assertIn(f"## By {name}\n", text)
        self.assertIn("./run differential", text)
        self.assertIn("* UCX tcp: is not there", text)

    def test_measure(self):
        """Every source has its turn in each round; one that cannot is named, and the others go on."""
        order = []

        def good(_):
            order.append("good")
            return {"engines_1": len(order)}

        def bad(_):
            order.append("bad")
            raise peers.Missing("why")

        sources, peers.SOURCES = peers.SOURCES, [("good", good), ("bad", bad)]
        try:
            self.assertEqual(bench.measure(self.bench, 3), ({"engines_1": [1, 3, 5]}, {"bad": "why"}))
        finally:
            peers.SOURCES = sources
        self.assertEqual(order, ["good", "bad"] * 3)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_picture(self):
        """A title for each block of rows that is there; a block that is not is left out."""
        result, out = self.result({"engines_1": 1000, "engines_2": 1890}), self.folder / "x.svg"
        titles = {"size": "By message size", "qps": "By QPs", "reads": "Reads under way", "loss": "of the frames lost each way",
                  "nvme": "by queue depth: latency"}
        self.assertEqual(set(titles), set(bench.BLOCKS))
        for left_out in [None, *titles]:
            growth = {k: v for k, v in result["growth"].items() if k != bench.BLOCKS.get(left_out)}
            self.assertTrue(bench.picture({**result, "growth": growth}, out))
            text = out.read_text()
            self.assertEqual([key for key, title in titles.items() if title not in text], [left_out] if left_out else [])


if __name__ == "__main__":
    unittest.main()
