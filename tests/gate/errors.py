#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each -IW_E_* that the comment on a public function names is expected from that function by a test.

    errors.py [ROOT]

A test expects it where the call and the error stand in one statement, or the error in one of the two behind it (*err),
or there a table that has it; where the call is made by another function of the same test program that is no test
itself, the same holds for calls of that one. Prints `file:line: what` for each that nobody expects."""
import pathlib
import re
import sys

import gate

ERROR = re.compile(r"-IW_E_[A-Z]+\b")
COMMENT = r"/\*(?:[^*]|\*(?!/))*\*/"
DECLARATION = re.compile(rf"([A-Za-z][^;{{}}/#]*?\b(iw_\w+)\([^;{{}}/]*\));[ \t]*({COMMENT})?\n?")
BEHIND = 2  # statements


def without_bodies(text):
    """Keeps every newline, so that lines are counted rightly; a comment on a struct is that of the call behind it."""
    blank = lambda match: re.sub(r"[^\n]", "", match.group())
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^[ \t]*#.*$|^typedef[^;{]*;", blank, text, flags=re.M)
    text = re.sub(r"static inline[^;{]*\{[^}]*\}", blank, text)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"(?:(?:struct|enum|union)\s*\w*\s*)?\{[^{}]*\}[\s\w]*;?", blank, text)
    return text


def can_fail(declaration):
    """An int, or a pointer beside *err."""
    return re.match(r"int\b", declaration) or "int *err" in declaration


def documented(text):
    """(line, function, errors) of each public call."""
    text = without_bodies(text)
    for match in re.finditer(rf"({COMMENT})\s*?\n\s*((?:{DECLARATION.pattern}\s*?)+)", text):
        for found in DECLARATION.finditer(match.group(2)):
            declaration, name, own = found.groups()
            errors = set(ERROR.findall(own or "")) or set(ERROR.findall(match.group(1)))
            if errors and can_fail(declaration):
                yield text.count("\n", 0, match.start(2) + found.start(1)) + 1, name, errors


def calls(code, names):
    return {name for name in re.findall(r"\b(\w+)\s*\(", code) if name in names}


class Program:
    """What a test program expects."""

    def __init__(self, code, functions, public):
        lines = code.split("\n")
        self.bodies = {name: "\n".join(lines[first - 1:first + length - 1]) for first, name, length in functions}
        self.public = public
        self.tables = {}
        for name, rows in re.findall(r"\b(\w+)\[\w*\] = \{(.*?)\};", code, re.S):
            self.tables.setdefault(name, set()).update(ERROR.findall(rows))
        self.by = {}
        for _ in range(3):  # helpers of helpers
            for name, body in self.bodies.items():
                if not name.startswith("test_"):
                    self.by[name] = self.called(body.partition("{")[2])

    def called(self, code):
        direct = calls(code, self.public)
        return direct.union(*(self.by[name] for name in calls(code, self.by)))

    def errors(self, code):
        rows = re.findall(r"\b(\w+)\[\w+\]\.\w+", code)
        return set(ERROR.findall(code)).union(*(self.tables.get(name, ()) for name in rows))

    def expected(self):
        """Pairs of function and error."""
        for body in self.bodies.values():
            statements = body.split(";")
            for i, statement in enumerate(statements):
                errors = self.errors(";".join(statements[i:i + 1 + BEHIND]))
                if errors:
                    yield from ((name, error) for name in self.called(statement) for error in errors)


def gate_errors(tree):
    public = [(n, *found) for n in tree.names if n.startswith(gate.PUBLIC) and n.endswith(".h")
              for found in documented(tree.text(n))]
    names, tests, by_file = {name for _, _, name, _ in public}, [n for n in tree.c if n.startswith("tests/")], {}
    for file, line, name, length, _ in gate.functions(tree, tests):
        by_file.setdefault(file, []).append((line, name, length))
    have = set()
    for file, functions in by_file.items():
        code = gate.without_comments_and_strings(tree.text(file))
        have.update(Program(code, functions, names).expected())
    return [gate.place(file, line, f"no test expects {error} of {name}()") for file, line, name, errors in public
            for error in sorted(errors) if (name, error) not in have]


if __name__ == "__main__":
    found = gate_errors(gate.Tree(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]))
    print(*found, sep="\n")
    sys.exit(bool(found))
