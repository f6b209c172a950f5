#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the convolutions, proofs demanded: compile.py [--only REGEX] [--layers] [--graduation] [--plans] [--target NAME] [--only-ptx] [--emit WHAT] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea (default: build/gpu-conv), which run.py runs and compares
on a machine with a GPU, and says what each takes; with --layers those that
layers.py measures there, with --graduation those of its rounds with batch norm and ReLU, with
--plans also other schedules of some. With --only-ptx the driver there assembles them, for a newer GPU too. --emit writes something else, as
`tracea compile` knows it, `asm` say.
"""

import os
import re
import sys

from cases import cases, graduation, layers, module, plans

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
from compiling import compile_all, make_parser  # noqa: E402


def say(_, __, remarks):
    taken = re.findall(r"tracea\.conv2d\w*: takes '([\w.]+)' with tile = \[([\d, ]+)\]", remarks)
    what = [f"{taken[-1][0]} {taken[-1][1].replace(', ', 'x')}"] if taken else []
    # Lanes in place of the copy unit, and copies that are waited for, show in the figures.
    what += [f"{name}: {reason}" for name, reason in re.findall(r"\[missed\] (lane-copy|NotFilledAhead)[^:]*: (.*)", remarks)]
    return "; ".join(what)


def main():
    parser = make_parser(__doc__, "gpu-conv")
    parser.add_argument("--layers", action="store_true")
    parser.add_argument("--graduation", action="store_true")
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--emit", help="what to write in place of programs")
    options = parser.parse_args()
    flags = ["--require-proof", "--dump-remarks", *(["--emit", options.emit] if options.emit else [])]
    chosen = (layers() if options.layers else graduation() if options.graduation else cases()) + (plans() if options.plans else [])
    return compile_all(chosen, options, module, say, flags, options.emit or "tracea")


if __name__ == "__main__":
    sys.exit(main())
