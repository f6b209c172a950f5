#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs models on the CPU against float64 and compiles them for GPUs: check.py [options] [NAME[:KEY=VALUE...]...]

    check.py --small                                    # all models, in all their types
    check.py --small --targets sm_90a,sm_70 resnet50:folded=1 vit
    check.py --dtype f32 --batch 1 gpt2

A check is `tracea run --check`; its bound is meant for single operations, so
that for floats of 16 bits --tolerance (0.1 of the largest result) takes its
place. For a GPU each kernel is proved with --require-proof.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import inputs
from describe import describe
from models import MODELS, configure, write

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))


def first_error(text):
    return next((line for line in text.splitlines() if "error" in line or "FAILED" in line), text[-300:])


def check(options, source, arguments, dtype, folder):
    """Runs a module on the CPU; whether it is right, and what there is to say."""
    files = inputs.write(folder, arguments, options.seed)
    command = [options.tracea, "run", source, "--check"] + [part for path in files for part in ("--input", path)]
    if dtype in ("bf16", "f16"):
        command += ["--tolerance", str(options.tolerance)]
    done = subprocess.run(command, capture_output=True, text=True)
    text = done.stdout + done.stderr
    worst = re.findall(r"relative to max \|reference\| [\d.e+-]+: ([\d.e+-]+)", text)
    if done.returncode:
        return False, "WRONG: " + first_error(text)
    return True, f"right, error {', '.join(worst)}"


def compile_for(options, source, arguments, target):
    """Compiles a module for a GPU; whether that worked, and what there is to say."""
    program = source + f".{target}.tracea"
    command = [options.tracea, "compile", source, "--target", target, "--only-ptx", "-o", program]
    command += ["--require-proof"] if options.require_proof else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return False, "REFUSED: " + first_error(done.stderr)
    return True, describe(options.tracea, program, [argument.shape for argument in arguments])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models, with settings after colons")
    parser.add_argument("--small", action="store_true", help="widths for tests")
    parser.add_argument("--dtype", help="one element type; all of the model's otherwise")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--dynamic", action="store_true", help="the batch is known to the run alone")
    parser.add_argument("--targets", default="", help="GPUs to compile for, with commas")
    parser.add_argument("--require-proof", action="store_true")
    parser.add_argument("--no-run", action="store_true", help="compile only")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tracea", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    options = parser.parse_args()
    failed = 0
    for words in options.names or MODELS:
        name, *settings = words.split(":")
        if name not in MODELS:
            parser.error(f"no model '{name}'; expected one of {', '.join(MODELS)}")
        model = MODELS[name]
        for dtype in [options.dtype] if options.dtype else model.dtypes:
            batch = options.batch or (2 if options.small else model.batch)
            text, arguments = write(name, configure(name, options.small, settings), batch, dtype, options.dynamic)
            with tempfile.TemporaryDirectory() as folder:
                source = os.path.join(folder, "model.mlir")
                with open(source, "w") as file:
                    file.write(text)
                steps = [] if options.no_run else [("cpu", lambda: check(options, source, arguments, dtype, folder))]
                steps += [(target, lambda target=target: compile_for(options, source, arguments, target))
                          for target in filter(None, options.targets.split(","))]
                for target, step in steps:
                    right, said = step()
                    failed += not right
                    print(f"{words} {dtype} {target}: {said}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
