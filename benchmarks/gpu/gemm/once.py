#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each program once, alone and on random data: once.py [--only REGEX] [PROGRAMS]

For compute-sanitizer, whose racecheck does not get through the peers' kernels:

    compute-sanitizer --tool racecheck --kernel-regex kns=gemm_ \\
        benchmarks/gpu/gemm/once.py --only 'plain_2048.*'
"""

import argparse
import json
import os
import re

import torch

from problems import problems
from run import ROOT, Program, make_inputs, poison


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=".*", help="products, a regular expression")
    parser.add_argument("programs", nargs="?", default=os.path.join(ROOT, "build/gpu-gemm"))
    options = parser.parse_args()
    with open(os.path.join(options.programs, "compiled.json")) as file:
        compiled = [entry for entry in json.load(file) if "error" not in entry]
    known = {problem.name: problem for problem in problems()}
    for entry in compiled:
        if not re.fullmatch(options.only, entry["name"]):
            continue
        problem = known[entry["problem"]]
        program = Program(os.path.join(options.programs, entry["name"] + ".tracea"))
        inputs, outputs = make_inputs(problem), poison(problem)
        program.bind(inputs, outputs)()
        torch.cuda.synchronize()
        finite = all(bool(torch.isfinite(out.to(torch.float32)).all()) for out in outputs)
        print(entry["name"], "ran" if finite else "left something unwritten")
        program.close()


if __name__ == "__main__":
    main()
