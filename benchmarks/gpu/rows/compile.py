#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the row, movement and reduction cases, proofs demanded: compile.py [--only REGEX] [--target NAME] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-rows), which run.py runs and compares
on a machine with a GPU, and says how long each took and by which variants.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from cases import cases

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="cases, a regular expression")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build/gpu-rows"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    failed = 0
    for case in cases():
        if not re.fullmatch(options.only, case.name):
            continue
        source, program = (os.path.join(options.out, case.name + end) for end in (".mlir", ".tracea"))
        with open(source, "w") as file:
            file.write(case.module)
        begin = time.monotonic()
        done = subprocess.run([options.compiler, "compile", source, "--target", options.target, "--require-proof", "-o", program],
                              capture_output=True, text=True)
        seconds = time.monotonic() - begin
        failed += done.returncode != 0
        if done.returncode:
            said = "FAILED: " + next((line for line in done.stderr.splitlines() if "error" in line), "")[:200]
        else:
            shown = subprocess.run([options.compiler, "explain", program], capture_output=True, text=True).stdout
            kernels = re.findall(r"^  (\w+) +\S+ +(\S+) +(\d+) .*?(\d+) +(\d+) B$", shown, re.MULTILINE)
            said = "; ".join(f"{kernel} {variant} {threads} lanes {registers} registers" + (f" {spilled} B spilled" if spilled != "0" else "")
                             for kernel, variant, threads, registers, spilled in kernels)
        print(f"{case.name:28} {seconds:6.2f} s  {said}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
