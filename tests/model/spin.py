#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Liveness of the connection manager's table, by Spin: whatever peer and user do, and if they do nothing, every connect
is answered, every accept is followed by ESTABLISHED, every close ends. The Promela model is made from cm_fsm.def; facts
about the world (F_*) are free to be true or false. Weak fairness: a deadline that stays armed passes at some time, an event
that waits is delivered at some time.

    spin.py FOLDER      makes the model and checks it there; exit status 77 without spin
A table without the deadline of CLOSING must be refuted, or the check itself is worth nothing."""
import pathlib
import shutil
import subprocess
import sys

from fsm_def import Cm

PENDING = ("REQUEST", "REPLY", "REFUSAL", "EST", "DISCONNECT", "CLOSE", "TIMEWAIT")
SAYS = {"SAY_" + name: 1 << n for n, name in enumerate(PENDING)}
LATER, LATER_ABORT = 1 << 7, 1 << 8
CLEARS = {"SAY_REFUSAL": 0x3f, "HUSH": 1 << 4, "CANCEL_TW": 1 << 6, "FORGET": LATER | LATER_ABORT}
SETS = {"REMEMBER": LATER, "REMEMBER_AB": LATER | LATER_ABORT}
# What peer, TCP, QP and user may bring about at any time; a user answers, connects and closes when he likes.
ENVIRONMENT = ("LISTEN", "CONNECT", "ACCEPT", "REJECT", "DISCONNECT", "ABORT", "DESTROY", "QP_GONE", "ARRIVE", "UP", "FIN",
               "RST", "TIMEOUT", "UNREACH", "CLOSED", "REQUEST", "REQUEST_FULL", "REQUEST_BAD", "EXTRA", "REPLY",
               "REPLY_REJECT", "REPLY_BAD", "REPLY_TERM", "FIRST_FPDU", "BROKEN", "TERM", "FATAL", "DRAINED",
               "LISTENER_GONE", "REAP")
CLAIMS = {"connect": "[] (owed -> <> !owed)", "accept": "[] (accepted -> <> !accepted)",
          "close": "[] (closing -> <> !closing)", "letgo": "[] (orphan -> <> !orphan)"}


def bits_of(when):
    return {"P_" + n: 1 << i for i, n in enumerate(PENDING)}.get(when) or {"M_LATER": LATER,
                                                                          "M_LATER_ABORT": LATER_ABORT}[when]


def action_lines(cm, rule, event):
    out = []
    actions = rule["actions"]
    clear = 0
    for a in actions:
        clear |= CLEARS.get(a, 0)
    setting = 0
    for a in actions:
        setting |= SAYS.get(a, 0) | SETS.get(a, 0)
    if clear:
        out.append(f"bits = bits & {0x1ff & ~clear}")
    if setting:
        out.append(f"bits = bits | {setting}")
    if rule["next"] != "SAME":
        out.append(f"phase = {rule['next']}")
    if rule["timer"] != "KEEP":
        out.append(f"armed = {int(rule['timer'] != 'NONE')}")
    if event == "CONNECT" and rule["next"] == "AWAIT_UP":
        out.append("owed = true")
    if event == "ACCEPT" and "REPLY" in actions:
        out.append("accepted = true")
    if "FREE" in actions:
        out.append("bits = 0; told = false; owed = false; accepted = false")
    return "; ".join(out) or "skip"


def cell(cm, event, phase):
    """Nested ifs: the rules of a cell in the order in which they are tried."""
    text = ""
    names = cm.chain(event, phase)
    for name in names:
        rule = cm.rules[name]
        does = action_lines(cm, rule, event)
        if rule["when"] == "ALWAYS":
            return text + does + "".join(" fi" for _ in range(names.index(name)))
        test = "true" if rule["when"].startswith("F_") else f"(bits & {bits_of(rule['when'])})"
        otherwise = "true" if rule["when"].startswith("F_") else "else"
        text += f"if :: {test} -> {does} :: {otherwise} -> "
    raise SystemExit(f"{event} x {phase}: the chain has no end")


def grid(cm, events):
    out = []
    for event in events:
        rows = [f"\t\t:: phase == {p} -> {cell(cm, event, p)}" for p in cm.phases if not cm.silent(event, p)]
        if rows:
            out.append(f"\t:: event == E_{event} ->\n\t\tif\n" + "\n".join(rows) + "\n\t\t:: else\n\t\tfi")
    return "\n".join(out)


def model(cm):
    closing = " || ".join(f"phase == {p}" for p in cm.phases if cm.seen[p] == "CLOSING")
    first = " ".join(f":: bits & {1 << n} -> now = {1 << n}" if n == 0 else
                     f":: (bits & {1 << n}) && !(bits & {(1 << n) - 1}) -> now = {1 << n}" for n in range(len(PENDING)))
    machine = [e for e in cm.events if e not in ("TOLD_END", "ORPHANED", "START_FAIL", "RETRY_FAIL", "TIMEWAIT_GONE")]
    claims = "\n".join(f"ltl {name} {{ {text} }}" for name, text in CLAIMS.items())
    return f"""/* Made from cm_fsm.def by spin.py. */
#define closing ({closing})
#define orphan (phase == ORPHAN)
{chr(10).join(f"#define {p} {n}" for n, p in enumerate(cm.phases))}
{chr(10).join(f"#define E_{e} {n}" for n, e in enumerate(cm.events))}
byte phase = IDLE;
short bits = 0;
bool armed = false, told = false, owed = false, accepted = false;
byte event = 0;
short now = 0;

inline tell()
{{
	if {first} fi;
	bits = bits & (511 - now);
	told = true;
	if
	:: now == 2 || now == 4 -> owed = false
	:: now == 8 -> accepted = false
	:: else
	fi;
	if
	:: (now == 4 && phase == REFUSED) || (now == 32 && phase == DEAD) -> {action_lines(cm, cm.rules["idle"], "")}
	:: else
	fi;
	now = 0
}}

inline step()
{{
	if
{grid(cm, machine)}
	:: else
	fi;
	event = 0
}}

active proctype environment()
{{
	do
	:: atomic {{
		if
{chr(10).join(f"		:: event = E_{e}" for e in ENVIRONMENT)}
		fi;
		step() }}
	:: atomic {{ phase == IDLE && bits == 0 && !told && !owed && !accepted -> phase = ORPHAN; armed = true }}
	od
}}

active proctype clock() {{ do :: atomic {{ armed -> event = E_TIMER; step() }} od }}

active proctype delivery()
{{
	do
	:: atomic {{ (bits & 127) && !told -> tell() }}
	:: atomic {{ told -> told = false; event = E_DONE; step() }}
	od
}}

{claims}
"""


def build(folder, text):
    (folder / "cm.pml").write_text(text, encoding="utf-8")
    for command in (("spin", "-a", "cm.pml"), ("gcc", "-O0", "-w", "-DNFAIR=3", "-DNOREDUCE", "-o", "pan", "pan.c")):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(" ".join(command) + ":\n" + done.stdout + done.stderr)


def check(folder, claim):
    """True: it holds for the model that was built."""
    done = subprocess.run(("./pan", "-a", "-f", "-m1000000", "-N", claim), cwd=folder, capture_output=True, text=True)
    lines = [line.strip() for line in done.stdout.splitlines() if "errors:" in line or "states, stored" in line]
    if not lines or "max search depth too small" in done.stdout:
        raise SystemExit(f"{claim}:\n{done.stdout}{done.stderr}")
    print(f"{claim:8} {CLAIMS[claim]:36} {'; '.join(lines)}", flush=True)
    return "errors: 0" in done.stdout


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if not shutil.which("spin"):
        print("spin is not installed")
        raise SystemExit(77)
    cm = Cm()
    build(folder, model(cm))
    bad = [claim for claim in CLAIMS if not check(folder, claim)]
    cm.rules["discnow"]["timer"] = "NONE"
    print("without the deadline of CLOSING:")
    build(folder, model(cm))
    if check(folder, "close"):
        bad.append("the broken table was not refuted")
    raise SystemExit("; ".join(bad) if bad else 0)


main()
