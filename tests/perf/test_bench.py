#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench.py's own rules, and what peers.py reads out of the programs' words, with programs that only say them."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

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
            {"engines": 1, "BW_average": 1000, "against_one": 1, "by_CPU_time": 1, "limit_average": 1500,
             "limit_against_one": 1},
            {"engines": 2, "BW_average": 1950, "against_one": 1.94, "by_CPU_time": 1.99, "limit_average": 3000,
             "limit_against_one": 1.96}]}))
        got = peers.engines(self.bench)
        # Of turns next to each other, not of what was seen at any time.
        self.assertEqual((got["engines_ratio"], got["engines_ratio.by_cpu_time"], got["alone_ratio"]), (1.94, 1.99, 1.96))
        self.assertAlmostEqual(got["alone_2"], 3000 * 1.048576)
        self.assertIn("engines", self.asked()[0])

    def test_limit(self):
        """A run says what share of the memory limit it reached, which was measured right before it."""
        self.perf_says(BW_average=800, MsgRate=5, roofline_percent=40, cycles_per_byte=1, cycles_per_message=1)
        write = dict(dict(peers.GROUPS)["64 KiB, MTU 9000"])["RDMA Write, MTU 9000"](self.bench)
        self.assertAlmostEqual(write["write_64k_9000"] / write["roofline_9000"], 0.4)
        self.assertAlmostEqual(peers.small_writes(self.bench)["roofline_64_rate"], 12.5)
        self.assertNotIn("roofline_9000", dict(dict(peers.GROUPS)["verbs"])["Send"](self.bench))
        self.perf_says(roofline_percent=0, cycles_per_byte=1)
        with self.assertRaisesRegex(peers.Missing, "without its share"):
            peers.WRITE[1](self.bench)

    def test_hand_over(self):
        self.speaker(self.bench.perf, " #bytes     #iterations    t_typical[usec]    99% ...\n"
                                      " 8          50000          0.51               1.20                   7.25       on")
        self.assertEqual(peers.hand_over(self.bench), {"roofline_8_p50": 0.51, "roofline_8_p99.9": 7.25})

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

    def passes(self, *rows, group="64 B", others=0):
        return [{"group": group, "others": others, "rows": one} for one in rows]

    def result(self, passes):
        samples = bench.samples_of(passes)
        return {"date": "2026-01-01", "rounds": 3, "samples": samples, "passes": passes,
                "machine": {"cpu": "x", "cpus": 2, "memory_gib": 1, "kernel": "k", "system": "s", "dpdk": "d", "load": 0,
                            "large_pages": True},
                "medians": {row: statistics.median(values) for row, values in samples.items()},
                "goals": bench.judge(passes), "missing": {"UCX tcp": "is not there"},
                "growth": {name: {"columns": columns, "rows": [[i + 1] * len(columns) for i in range(3)], "others": 0}
                           for name, _, columns in peers.GROWTH}}

    def test_show(self):
        for value, text in (None, "-"), (0, "0"), (0.0123, "0.0123"), (998.6, "999"), (999.6, "1,000"), (1234.5, "1,234"):
            self.assertEqual(bench.show(value), text)

    def test_rows_are_known(self):
        self.assertEqual(len(self.ROWS), len(peers.ROWS))
        for goal in peers.GOALS:
            self.assertLessEqual({goal.row, goal.by or goal.row, goal.machine or goal.row}, self.ROWS)
            self.assertTrue(goal.sense in (1, -1) and goal.limit > 0)
        self.assertLessEqual(set(peers.LESS), {unit for _, _, unit in peers.ROWS})

    def judged(self, passes):
        return {(g["row"], g["by"]): g for g in bench.judge(passes)}

    def test_judge(self):
        rows = {"engines_ratio": 1.89, "random_64": 10, "random_100k": 5, "connection_octets": 1025, "timewait_octets": 64,
                "goodput_to_linux": 1, "goodput_linux": 0}
        judged = {key: (g["reached"], g["ok"]) for key, g in self.judged(self.passes(rows)).items()}
        self.assertEqual(judged["engines_ratio", None], (1.89, False))
        self.assertEqual(judged["random_100k", "random_64"], (0.5, True))
        self.assertEqual(judged["connection_octets", None], (1025, False))
        self.assertEqual(judged["timewait_octets", None], (64, True))
        self.assertEqual(judged["goodput_to_linux", "goodput_linux"], (None, False))
        self.assertEqual(judged["write_8_p50", None], (None, False))

    def test_ratio_of_a_machine_with_moods(self):
        """Both sides are slow in two of five passes, and once the mood changed between them: the medians divide to
        nonsense, the median of the ratios is right."""
        pairs = (6300, 7000), (2880, 3200), (6320, 7100), (6400, 3200), (2790, 3100)
        passes = self.passes(*({"write_64k_9000": write, "roofline_9000": limit} for write, limit in pairs))
        goal = self.judged(passes)["write_64k_9000", "roofline_9000"]
        self.assertEqual(round(statistics.median(x for x, _ in pairs) / statistics.median(y for _, y in pairs), 2), 1.97)
        self.assertAlmostEqual(goal["reached"], 0.9)
        self.assertEqual([round(x, 2) for x in goal["ratios"]], [0.9, 0.9, 0.89, 2, 0.9])
        self.assertIn("| 0.9 | 0.89 .. 2 | - | yes |", bench.document(self.result(passes)))

    def test_only_what_was_measured_together(self):
        """A row of another pass is no other side of a ratio."""
        passes = self.passes({"write_64k_9000": 5000, "roofline_9000": 10000}) + self.passes({"ucx_put_64k": 500})
        self.assertIsNone(self.judged(passes)["write_64k_9000", "ucx_put_64k"]["reached"])
        for _, sources in peers.GROUPS:
            self.assertTrue(sources)

    def test_beyond_the_machine(self):
        """What the memory limit itself would reach stands there; a goal that it misses is missed, and marked."""
        def of(write, limit, ucx):
            return self.judged(self.passes({"write_64k_9000": write, "roofline_9000": limit, "ucx_put_64k": ucx}))[
                "write_64k_9000", "ucx_put_64k"]

        for numbers, machine, said in (((5000, 7000, 800), 8.75, "**MISSED**, beyond the machine"),
                                       ((5000, 9000, 800), 11.25, "**MISSED**"), ((8800, 9000, 800), 11.25, "yes"),
                                       ((8800, 7000, 800), 8.75, "yes")):  # a limit that is none takes nothing away
            goal = of(*numbers)
            self.assertAlmostEqual(goal["machine_reaches"], machine)
            self.assertEqual(bench.verdict(goal), said)
        slow = self.judged(self.passes({"write_8_p99.9": 7, "roofline_8_p99.9": 6}))["write_8_p99.9", None]
        self.assertEqual(bench.verdict(slow), "**MISSED**, beyond the machine")  # less is better here
        two = self.judged(self.passes({"engines_ratio": 1.7, "alone_ratio": 1.8}))["engines_ratio", None]
        self.assertEqual((two["machine_reaches"], bench.verdict(two)), (1.8, "**MISSED**, beyond the machine"))
        self.assertEqual(bench.verdict(self.judged([])["engines_ratio", None]), "**not measured**")

    def test_document(self):
        passes = self.passes({"engines_ratio": 1.88, "engines_1": 500, "connection_octets": 960, "alone_ratio": 1.95},
                             {"engines_ratio": 1.89, "engines_1": 700, "connection_octets": 970},
                             {"engines_ratio": 1.9, "engines_1": 600, "connection_octets": 950})
        text = bench.document(self.result(passes))
        self.assertIn("| two engines on two cores against one | itself | at least 1.9 | 1.89 | 1.88 .. 1.9 | 1.95 | **MISSED** |",
                      text)
        self.assertIn("loopback to itself on one core | 600 | 700 | 500 .. 700 | 3 | MB/s |", text)
        self.assertIn("| an idle connection, besides its rings | 960 | 950 | 950 .. 970 | 3 | octets |", text)
        self.assertIn("| an idle connection, besides its rings | itself | at most 1,024 | 960 | 950 .. 970 | - | yes |", text)
        self.assertIn("| a connection in TIME_WAIT | itself | at most 64 | - | - | - | **not measured** |", text)
        for name, _, _ in peers.GROWTH:
            self.assertIn(f"## By {name}\n", text)
        self.assertIn("./run differential", text)
        self.assertIn("* UCX tcp: is not there", text)

    def test_others(self):
        """Passes that others disturbed are set aside where enough are left, and the document says so."""
        calm = self.passes({"engines_1": 1}, {"engines_1": 2}, {"engines_1": 3}, group="engines", others=0.01)
        busy = self.passes({"engines_1": 9}, group="engines", others=0.2)
        self.assertEqual(bench.counted(calm + busy), calm)
        self.assertEqual(bench.counted(calm[:2] + busy), calm[:2] + busy)
        self.assertIn("1 of 4 passes, during which it was more than 5%, are set aside", bench.disturbance({"passes": calm + busy}))
        self.assertNotIn("BUSY", bench.disturbance({"passes": calm + busy}))
        self.assertIn("BUSY", bench.disturbance({"passes": calm[:2] + busy}))

    def test_share_of_others(self):
        """What neither we nor our children had of these CPUs, also what another machine had (steal); not what interrupts and
        other CPUs did."""
        stat = self.folder / "stat"

        def shares(user, steal, own, child):
            with unittest.mock.patch.object(bench, "STAT", stat), unittest.mock.patch("time.monotonic", side_effect=[10, 20]), \
                    unittest.mock.patch("os.times", side_effect=[(1, 1, 1, 1, 0), (1 + own, 1, 1 + child, 1, 0)]):
                stat.write_text("cpu 9 9 9 9\ncpu0 100 0 0 7 0 5 5 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0 0 0\n")
                with bench.Others([0, 1]) as others:
                    ticks = os.sysconf("SC_CLK_TCK")
                    stat.write_text(f"cpu0 {100 + user * ticks} 0 0 900 0 500 500 {steal * ticks} 0 0\n"
                                    f"cpu1 0 {2 * ticks} {3 * ticks} 0 0 0 0 0 0 0\ncpu2 99999 0 0 0 0 0 0 0 0 0\n")
            return others.share

        self.assertEqual(shares(8, 0, 1, 12), 0)  # 13 s of 20, all of it ours
        self.assertEqual(shares(10, 0, 1, 12), 0.1)
        self.assertEqual(shares(8, 4, 1, 12), 0.2)
        self.assertEqual(shares(1, 0, 1, 12), 0)  # our children ran on a third CPU

    def test_measure(self):
        """Every group has its turn in each round, every other time backwards; what cannot is named, and the others go on;
        what was disturbed is made again until there are enough or time is up."""
        order, others = [], iter([0, 0.5, 0.5, 0, 0.5, 0])

        def good(_):
            order.append("good")
            return {"engines_1": len(order)}

        def bad(_):
            order.append("bad")
            raise peers.Missing("why")

        class Others:
            def __init__(self, _):
                self.share = next(others)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

        missing = {}
        with unittest.mock.patch.object(peers, "GROUPS", [("both", [("good", good), ("bad", bad)])]), \
                unittest.mock.patch.object(bench, "Others", Others):
            passes = bench.measure(self.bench, 3, missing)
            self.assertEqual(order, ["good", "bad", "bad", "good", "good", "bad"])
            self.assertEqual((bench.samples_of(passes), missing), ({"engines_1": [1, 4, 5]}, {"bad": "why"}))
            bench.measure_more(self.bench, passes, missing, time.monotonic() - 1)
            self.assertEqual(len(passes), 3)
            bench.measure_more(self.bench, passes, missing, time.monotonic() + 100)
        self.assertEqual([p["others"] for p in passes], [0, 0.5, 0.5, 0, 0.5, 0])

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_picture(self):
        """A title for each block of rows that is there; a block that is not is left out."""
        result, out = self.result(self.passes({"engines_1": 1000, "engines_2": 1890})), self.folder / "x.svg"
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
