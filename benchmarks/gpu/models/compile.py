#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the models: compile.py [--only REGEX] [--target NAME] [--only-ptx] [--require-proof] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-models), which run.py runs and
compares on a machine with a GPU, and says of each how many kernels it has, how
many of them are plain loops, how many launches and bytes of temporaries, and
what compiling took. With --only-ptx the driver there assembles them.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from cases import CASES, module
from describe import describe

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only-ptx", action="store_true", help="programs without machine code")
    parser.add_argument("--require-proof", action="store_true")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build/gpu-models"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    failed = 0
    for case in CASES:
        if not re.fullmatch(options.only, case.name):
            continue
        text, arguments = module(case)
        source, program = (os.path.join(options.out, case.name + suffix) for suffix in (".mlir", ".tracea"))
        with open(source, "w") as file:
            file.write(text)
        what = ["--only-ptx"] if options.only_ptx else []
        what += ["--require-proof"] if options.require_proof else []
        begin = time.monotonic()
        done = subprocess.run([options.compiler, "compile", source, "--target", options.target, *what, "-o", program],
                              capture_output=True, text=True)
        taken = time.monotonic() - begin
        failed += done.returncode != 0
        if done.returncode:
            said = "FAILED: " + next((line for line in done.stderr.splitlines() if "error" in line), "")[:300]
        else:
            said = describe(options.compiler, program, [argument.shape for argument in arguments])
        print(f"{case.name:24} {taken:6.2f} s  {said}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
