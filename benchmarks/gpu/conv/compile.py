#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the convolutions, proofs demanded: compile.py [--only REGEX] [--target NAME] [--only-ptx] [--emit WHAT] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-conv), which run.py runs and compares
on a machine with a GPU, and says what each takes. With --only-ptx the driver
there assembles them, for a newer GPU too. --emit writes something else, as
`tracea compile` knows it, `asm` say.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from cases import cases, module

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only-ptx", action="store_true", help="programs without machine code")
    parser.add_argument("--emit", help="what to write in place of programs")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build/gpu-conv"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    failed = 0
    for case in cases():
        if not re.fullmatch(options.only, case.name):
            continue
        source = os.path.join(options.out, case.name + ".mlir")
        with open(source, "w") as file:
            file.write(module(case))
        what = ["--emit", options.emit] if options.emit else []
        what += ["--only-ptx"] if options.only_ptx else []
        begin = time.monotonic()
        done = subprocess.run(
            [options.compiler, "compile", source, "--target", options.target, "--require-proof", "--dump-remarks",
             *what, "-o", os.path.join(options.out, f"{case.name}.{options.emit or 'tracea'}")],
            capture_output=True, text=True)
        failed += done.returncode != 0
        taken = re.findall(r"takes '([\w.]+)' with tile = \[([\d, ]+)\]", done.stderr)
        said = f"{taken[-1][0]} {taken[-1][1].replace(', ', 'x')}" if taken else ""
        if done.returncode:
            said = "FAILED: " + next((line for line in done.stderr.splitlines() if "error" in line), "")[:300]
        print(f"{case.name:18} {time.monotonic() - begin:6.2f} s  {said}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
