#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the models: compile.py [--only REGEX] [--target NAME] [--only-ptx] [--require-proof] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-models), which run.py runs and
compares on a machine with a GPU, and says of each how many kernels it has, how
many of them are plain loops, how many launches and bytes of temporaries, and
what compiling took. With --only-ptx the driver there assembles them.
"""

import os
import sys

from cases import CASES, module
from describe import describe

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from compiling import compile_all, make_parser  # noqa: E402


def main():
    parser = make_parser(__doc__, "gpu-models")
    parser.add_argument("--require-proof", action="store_true")
    options = parser.parse_args()

    def say(case, path, _):
        return describe(options.compiler, path, [argument.shape for argument in module(case)[1]])
    flags = ["--require-proof"] if options.require_proof else []
    return compile_all(CASES, options, lambda case: module(case)[0], say, flags)


if __name__ == "__main__":
    sys.exit(main())
