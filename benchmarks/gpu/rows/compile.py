#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the row, movement and reduction cases: compile.py [--only REGEX] [--target NAME] [--only-ptx] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-rows), which run.py runs and compares
on a machine with a GPU, and says how long each took and by which variants.
Proofs are demanded, but where data says what is written.
"""

import os
import sys

from cases import cases

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from compiling import compile_all, list_kernels, make_parser  # noqa: E402


def main():
    options = make_parser(__doc__, "gpu-rows").parse_args()
    return compile_all(cases(), options, lambda case: case.module,
                       lambda _, path, __: list_kernels(options.compiler, path),
                       lambda case: ["--require-proof"] if case.proved else [])


if __name__ == "__main__":
    sys.exit(main())
