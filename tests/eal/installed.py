#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is installed, as its user finds it: pkg-config, both libraries, the public headers, the exported symbols, programs
and their manual pages.

    installed.py MESON BUILD

Exit code 0: all is well; 77: a C++ compiler or pkg-config is missing (in CI that is a failure: 1)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from programs import cannot

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/embed.c"
EAL = ["--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf", "-l", str(min(os.sched_getaffinity(0)))]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LANGUAGES = (("c", ["-std=c11"]), ("c++", ["-std=c++11"]))
PROGRAM = """#include <iwarp.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	void (*functions[])(void) = {%s};
	struct iw_engine_params params;
	struct iw_domain *domain = iw_domain_create();
	unsigned i, there = 0;
	char why[128];
	int err = 0;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		there += functions[i] != NULL;
	memset(&params, 0, sizeof(params));
	iw_addr_parse("192.0.2.1", &params.addr);
	/* Without EAL there is an error, and no crash. */
	if (iw_engine_create(domain, &params, &err, why, sizeof(why)) || err != -IW_E_INVAL)
		return 1;
	printf("%%u functions; %%s: %%s\\n", there, iw_err_name(err), why);
	return iw_domain_destroy(domain);
}
"""


def run(*command, **more):
    return subprocess.run([str(c) for c in command], check=True, text=True, capture_output=True, **more).stdout


class Installed:
    def __init__(self, meson, build, folder):
        run(*meson.split(), "install", "-C", build, "--no-rebuild",
            env={**os.environ, "DESTDIR": str(folder)})
        self.pc = next(folder.rglob("dpdk-iwarp.pc"))
        self.lib = self.pc.parent.parent
        text = self.pc.read_text()
        # It was installed below another root than it was made for.
        prefix = re.search(r"^prefix=(.*)$", text, re.M).group(1)
        self.pc.write_text(text.replace("prefix=" + prefix, f"prefix={folder}{prefix}"))
        self.include = folder / prefix.lstrip("/") / "include"
        self.programs = sorted(p for p in (self.include.parent / "bin").iterdir() if not p.is_symlink())
        self.headers = sorted(h.relative_to(self.include).as_posix() for h in self.include.rglob("*.h"))

    def pkg_config(self, *arguments):
        path = os.pathsep.join(filter(None, [str(self.pc.parent), os.environ.get("PKG_CONFIG_PATH")]))
        return run("pkg-config", *arguments, env={**os.environ, "PKG_CONFIG_PATH": path}).split()

    def cflags(self):
        return self.pkg_config("--cflags", "dpdk-iwarp")

    def libs(self, kind):
        if kind == "shared":
            return self.pkg_config("--libs", "dpdk-iwarp")
        if kind == "all static":
            return ["-Wl,--as-needed", "-l:libdpdk-iwarp.a", *self.pkg_config("--static", "--libs", "dpdk-iwarp")]
        # Our static library with DPDK's shared ones, of which libdpdk does not name all.
        needs = self.pkg_config("--print-requires-private", "dpdk-iwarp")
        return [self.lib / "libdpdk-iwarp.a", *self.pkg_config("--libs", *needs), "-lrte_net_ring", "-lrte_bus_vdev"]

    def declared(self):
        """Functions that the public headers declare."""
        found = set()
        for name in self.headers:
            text = (self.include / name).read_text()
            text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
            inline = set(re.findall(r"static inline [\w ]*\n(iw_\w+)\(", text))
            found |= set(re.findall(r"(?<!\(\*)\b(iw_\w+)\s*\(", text)) - inline
        return found

    def exported(self):
        lines = run("nm", "-D", "--defined-only", self.lib / "libdpdk-iwarp.so").splitlines()
        return {line.split()[2].split("@")[0] for line in lines if line.split()[1] != "A"}


def compilers():
    for kind, names in (("c", ("cc", "gcc", "clang")), ("c++", ("c++", "g++", "clang++"))):
        found = next((n for n in names if shutil.which(n)), None)
        if not found:
            cannot("no compiler for " + kind)
        yield kind, found


def headers_alone(installed, compiler, folder):
    for kind, standard in LANGUAGES:
        for header in installed.headers:
            source = folder / ("alone.c" if kind == "c" else "alone.cc")
            source.write_text(f"#include <{header}>\n")
            run(compiler[kind], *standard, *WARNINGS, "-fsyntax-only", f"-I{installed.include}", source)
            print(f"ok  <{header}> alone in {kind}")


def program(installed, compiler, folder):
    functions = sorted(installed.declared())
    for kind, standard in LANGUAGES:
        source = folder / ("program.c" if kind == "c" else "program.cc")
        source.write_text(PROGRAM % ", ".join(f"(void (*)(void)){f}" for f in functions))
        for library in "shared", "static":
            binary = folder / f"program-{library}"
            run(compiler[kind], *standard, *WARNINGS, "-Wno-cast-function-type", source, "-o", binary,
                *installed.cflags(), *installed.libs(library))
            env = {**os.environ, "LD_LIBRARY_PATH": str(installed.lib)} if library == "shared" else os.environ
            said = run(binary, env=env).strip()
            assert said.startswith(f"{len(functions)} functions; IW_E_INVAL: EAL is not initialised"), said
            print(f"ok  a {kind} program with the {library} library: {said}")


def example(installed, compiler, folder):
    """The example, with either kind of everything, runs; what is static brings no second DPDK along."""
    binary = folder / "embed"
    for kind, more in ("shared", installed.pkg_config("--libs", "libdpdk")), ("all static", []):
        run(compiler["c"], EXAMPLE, "-o", binary, *installed.cflags(), *installed.libs(kind), *more)
        needed = run("ldd", binary, env={**os.environ, "LD_LIBRARY_PATH": str(installed.lib)})
        assert ("librte_" in needed) == (kind == "shared"), needed
        said = run(binary, *EAL, "--file-prefix", f"iwembed{os.getpid()}",
                   env={**os.environ, "LD_LIBRARY_PATH": str(installed.lib)})
        assert "hello through iWARP" in said, said
        print(f"ok  the example, {kind}")


def symbols(installed):
    declared, exported = installed.declared(), installed.exported()
    assert len(declared) > 30, declared
    assert declared == exported, (f"declared and not exported: {sorted(declared - exported)}; "
                                  f"exported and not declared: {sorted(exported - declared)}")
    print(f"ok  {len(exported)} symbols, as declared")


OPTION = re.compile(r"(?<![\w-])-{1,2}[A-Za-z][\w-]*")


def options_of_page(text):
    """`Fl x` is -x, and `Fl -name` is --name."""
    return {"-" + word for line in text.splitlines() if line.startswith((".It Fl", ".It Cm"))
            for word in re.findall(r"\bFl ([\w-]+)", line)}


def manual(installed):
    """Each program has a page, which names the options that it knows, and no others."""
    assert installed.programs, "no program was installed"
    for program in installed.programs:
        page = next(installed.include.parent.rglob(f"man1/{program.name}.1*")).read_text()
        usage = run(program, "--", "--help", env={**os.environ, "LD_LIBRARY_PATH": str(installed.lib)})
        usage = re.sub(r"`[^`]*`", "", usage)  # other programs' options
        # Two columns: what stands right of the first one is prose.
        left = (re.split(r"(?<=\S)\s{2,}(?!-)", line.strip())[0] for line in usage.splitlines())
        told = {option for text in left for option in OPTION.findall(text)} - {"--help"}
        missing, extra = told - options_of_page(page), options_of_page(page) - told
        assert not missing and not extra, f"{program.name}.1 lacks {sorted(missing)} and has {sorted(extra)}"
        print(f"ok  {program.name}.1 names its {len(told)} options")


def main():
    if not shutil.which("pkg-config") or not shutil.which("nm"):
        cannot("needs pkg-config and nm")
    compiler = dict(compilers())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        installed = Installed(*sys.argv[1:3], folder / "root")
        try:
            symbols(installed)
            manual(installed)
            headers_alone(installed, compiler, folder)
            program(installed, compiler, folder)
            example(installed, compiler, folder)
        except subprocess.CalledProcessError as error:
            print("FAILED", " ".join(error.cmd), error.stdout, error.stderr, sep="\n")
            return 1
        except AssertionError as error:
            print("FAILED", error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
