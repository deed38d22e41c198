#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/cm.md from the .def files, between their marks.

    docs_tables.py           writes
    docs_tables.py --check   exit status 1 when the page does not say what the tables say"""
import re
import sys

from fsm_def import ROOT, Cm, Qp

PAGE = ROOT / "docs/cm.md"
CALLS = ("LISTEN", "CONNECT", "ACCEPT", "REJECT", "DISCONNECT", "ABORT", "DESTROY", "QP_GONE")


def table(header, rows):
    out = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(out + ["| " + " | ".join(row) + " |" for row in rows])


def told(actions):
    return [a[4:] for a in actions if a.startswith("SAY_")]


def one(cm, name):
    rule = cm.rules[name]
    does = [a for a in rule["actions"] if not a.startswith("SAY_")]
    parts = []
    if rule["when"] != "ALWAYS":
        parts.append(f"*{rule['when']}*:")
    if rule["next"] != "SAME":
        parts.append("-> " + rule["next"])
    if does:
        parts.append(", ".join(does))
    says = told(rule["actions"])
    if says:
        status = f"({rule['status']})" if rule["status"] != "OK" or "CLOSE" in says else ""
        parts.append("; ".join("**" + s + (status if s in ("REFUSAL", "CLOSE") else "") + "**" for s in says))
    elif rule["status"] != "OK":
        parts.append("= -" + rule["status"])
    return " ".join(parts) or "nothing"


def phases(cm):
    return table(("phase", "seen as", "what it waits for"),
                 [(f"`{p}`", cm.seen[p], cm.phase_notes[p] or "-") for p in cm.phases])


def events(cm, wanted):
    """One row for each event and group of phases that take it alike."""
    rows = []
    for event in wanted:
        groups = {}
        for phase in cm.phases:
            if not cm.silent(event, phase):
                groups.setdefault(tuple(cm.chain(event, phase)), []).append(phase)
        for chain, where in groups.items():
            rest = [p for p in cm.phases if p not in where]
            names = ", ".join(where) if len(where) < 10 else "all but " + ", ".join(rest)
            rows.append((f"`{event}`", names, "; else ".join(one(cm, n) for n in chain)))
    return table(("event", "in", "what happens"), rows)


def queue_pair(qp):
    rows = [(f"`{s}`", qp.state_rows[s][0], "yes" if qp.state_rows[s][1] else "-", "yes" if qp.state_rows[s][2] else "-",
             ", ".join(f"{e} -> {qp.cells[s, e][0]}" for e in qp.events if (s, e) in qp.cells)) for s in qp.states]
    return table(("state", "seen as", "receives", "sends", "moves"), rows)


def main():
    cm, qp = Cm(), Qp()
    made = {"phases": phases(cm), "calls": events(cm, CALLS),
            "events": events(cm, [e for e in cm.events if e not in CALLS]), "qp": queue_pair(qp)}
    text = page = PAGE.read_text(encoding="utf-8")
    for name, body in made.items():
        page, n = re.subn(rf"(<!-- made: {name} -->\n).*?(<!-- end -->)", lambda m: m.group(1) + body + "\n" + m.group(2),
                          page, flags=re.S)
        if n != 1:
            raise SystemExit(f"{PAGE}: {n} places for the table {name}, not 1")
    if "--check" in sys.argv:
        if page != text:
            raise SystemExit("docs/cm.md does not say what the .def files say: run tests/model/docs_tables.py")
    elif page != text:
        PAGE.write_text(page, encoding="utf-8")


main()
