# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are compiled here and run on a machine with a GPU."""

import argparse
import os
import re
import subprocess
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))


def make_parser(description, out):
    """What all of them take; `out` is the folder below build/."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only-ptx", action="store_true", help="programs without machine code")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build", out))
    return parser


def list_kernels(compiler, path):
    """The kernels of a program, their variants, lanes, registers and what was spilled."""
    shown = subprocess.run([compiler, "explain", path], capture_output=True, text=True).stdout
    kernels = re.findall(r"^  (\w+) +\S+ +(\S+) +(\d+) .*?(\d+) +(\d+) B$", shown, re.MULTILINE)
    return "; ".join(f"{kernel} {variant} {threads} lanes {registers} registers" + (f" {spilled} B spilled" if spilled != "0" else "")
                     for kernel, variant, threads, registers, spilled in kernels)


def compile_all(cases, options, text_of, say, flags=(), suffix="tracea"):
    """Compiles each chosen case and prints its seconds and what `say(case, path,
    stderr)` finds, or the first error; 1 where one failed. `flags` may be a
    function of a case."""
    os.makedirs(options.out, exist_ok=True)
    failed = 0
    for case in cases:
        if not re.fullmatch(options.only, case.name):
            continue
        source, path = (os.path.join(options.out, f"{case.name}.{end}") for end in ("mlir", suffix))
        with open(source, "w") as file:
            file.write(text_of(case))
        what = [*(flags(case) if callable(flags) else flags), *(["--only-ptx"] if options.only_ptx else [])]
        begin = time.monotonic()
        done = subprocess.run([options.compiler, "compile", source, "--target", options.target, *what, "-o", path],
                              capture_output=True, text=True)
        seconds = time.monotonic() - begin
        failed += done.returncode != 0
        if done.returncode:
            said = "FAILED: " + next((line for line in done.stderr.splitlines() if "error" in line), "")[:300]
        else:
            said = say(case, path, done.stderr)
        print(f"{case.name:28} {seconds:6.2f} s  {said}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0
