#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads cm_fsm.def and qp_fsm.def: phases, events, rules and the grid, as Python values."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def entries(path, macro):
    """[(arguments, comment)] of each MACRO(...) at the beginning of a line."""
    found = []
    for line in lines_of(path):
        match = re.match(rf"{macro}\((.*?)\)\s*(?:/\*\s*(.*?)\s*\*/)?$", line)
        if match:
            found.append(([a.strip() for a in match.group(1).split(",")], match.group(2) or ""))
    return found


class Cm:
    """phases, events: names in order.  rules: name -> dict.  grid: (event, phase) -> name of a rule."""

    def __init__(self, path="cm/cm_fsm.def"):
        rows = entries(path, "CM_PHASE")
        self.phases = [a[0] for a, _ in rows]
        self.seen = {a[0]: a[1] for a, _ in rows}
        self.phase_notes = {a[0]: note for a, note in rows}
        self.events = [a[0] for a, _ in entries(path, "CM_EVENT")]
        self.event_notes = {a[0]: note for a, note in entries(path, "CM_EVENT")}
        self.rules = {a[0]: {"when": a[1], "next": a[2], "status": a[3], "timer": a[4], "other": a[5],
                             "actions": [x for x in a[6:] if x != "NOTHING"]}
                      for a, _ in entries(path, "CM_RULE")}
        self.grid = {}
        first = 0
        for part in "CM_ACTIVE", "CM_PASSIVE", "CM_STREAM":
            for (event, *cells), _ in entries(path, part):
                for phase, rule in zip(self.phases[first:], cells):
                    self.grid[event, phase] = rule
            first += len(cells)
        if first != len(self.phases) or len(self.grid) != len(self.phases) * len(self.events):
            raise SystemExit(f"{path}: the grid does not fit phases and events")

    def chain(self, event, phase):
        """The rules that may apply, in the order in which they are tried."""
        names, name = [], self.grid[event, phase]
        while name != "END":
            names.append(name)
            name = self.rules[name]["other"] if self.rules[name]["when"] != "ALWAYS" else "END"
        return names

    def silent(self, event, phase):
        """Nothing happens: neither a move nor an action nor an error."""
        rule = self.rules[self.grid[event, phase]]
        return (rule["when"] == "ALWAYS" and rule["next"] == "SAME" and not rule["actions"] and
                rule["status"] == "OK" and rule["timer"] == "KEEP")


class Qp:
    def __init__(self, path="ddp_rdmap/qp_fsm.def"):
        rows = entries(path, "QP_FSM_STATE")
        self.states = [a[0] for a, _ in rows]
        self.state_rows = {a[0]: (a[1], a[2] == "1", a[3] == "1", note) for a, note in rows}
        self.events = [a[0] for a, _ in entries(path, "QP_FSM_EVENT")]
        self.cells = {(a[0], a[1]): (a[2], [] if a[3] == "0" else [x.strip() for x in a[3].split("|")])
                      for a, _ in entries(path, "QP_FSM_CELL")}
