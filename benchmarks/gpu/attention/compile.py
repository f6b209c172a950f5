#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the cases of attention, proofs demanded: compile.py [--only REGEX] [--plans] [--target NAME] [--only-ptx] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-attention), which run.py runs and
compares on a machine with a GPU, and says how long each took and by which
variants. With --plans also other schedules of some cases.
"""

import os
import re
import subprocess
import sys

from cases import cases, plans

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from compiling import compile_all, make_parser  # noqa: E402


def main():
    parser = make_parser(__doc__, "gpu-attention")
    parser.add_argument("--plans", action="store_true")
    options = parser.parse_args()

    def say(_, path, __):
        shown = subprocess.run([options.compiler, "explain", path], capture_output=True, text=True).stdout
        kernels = re.findall(r"^  (\w+) +\S+ +(\S+) +(\d+) .*?(\d+) +(\d+) B$", shown, re.MULTILINE)
        return "; ".join(f"{kernel} {variant} {threads} lanes {registers} registers" + (f" {spilled} B spilled" if spilled != "0" else "")
                         for kernel, variant, threads, registers, spilled in kernels)
    return compile_all(cases() + (plans() if options.plans else []), options, lambda case: case.module, say, ["--require-proof"])


if __name__ == "__main__":
    sys.exit(main())
