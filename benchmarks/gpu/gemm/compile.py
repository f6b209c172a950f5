#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the measured products, proofs demanded: compile.py [--only REGEX] [--warps] [--schedules FILE] [--compiler PATH] [OUT]

Writes OUT/NAME.tracea and OUT/compiled.json, with the seconds of each compile
and what its schedule is, or why there is no program. OUT is build/gpu-gemm by
default; run.py takes it from there, on this machine or another one. With
--warps all products take the variant that GPUs without wgmma have. Each line of
the FILE with schedules is a regular expression for products and a schedule that
they are compiled with, `<variant = ...>` as in the IR: one program for each.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from problems import module, problems

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../.."))


def warp_schedule(problem):
    depth = 64 if problem.dtype in ("i8", "f8E4M3FN") else 32
    tile, warp = ((16, 128), (16, 32)) if problem.m <= 16 else ((128, 128), (64, 32))
    return (f'<variant = "gemm.warp", unit = mma_sync, tile = [{tile[0]}, {tile[1]}, {depth}], '
            f"registers = [{warp[0]}, {warp[1]}], slots = 4, group = 16>")


def read_schedules(path):
    """Pairs of an expression and a schedule."""
    with open(path) as file:
        return [line.strip().split(None, 1) for line in file if line.strip() and not line.startswith("#")]


def jobs_of(chosen, options):
    """Triples of a product, the name of its program and its schedule."""
    if options.schedules:
        return [(problem, f"{problem.name}@{number}", schedule)
                for number, (which, schedule) in enumerate(read_schedules(options.schedules))
                for problem in chosen if re.fullmatch(which, problem.name)]
    return [(problem, problem.name, warp_schedule(problem) if options.warps else "") for problem in chosen]


def compile_one(problem, name, given, out, target, compiler):
    source = os.path.join(out, name + ".mlir")
    program = os.path.join(out, name + ".tracea")
    with open(source, "w") as file:
        file.write(module(problem, given))
    begin = time.monotonic()
    done = subprocess.run(
        [compiler, "compile", source, "--target", target,
         "--require-proof", "--dump-remarks", "-o", program],
        capture_output=True, text=True)
    entry = {"name": name, "problem": problem.name, "seconds": time.monotonic() - begin}
    if done.returncode:
        entry["error"] = done.stderr.strip()[:2000]
    schedule = re.search(r"takes '([\w.]+)' with tile = \[([\d, ]+)\](?:[^;\n]*?, split = (\d+))?", done.stderr)
    if schedule:
        entry["schedule"] = f"{schedule[1]} {schedule[2].replace(', ', 'x')}" + (f" / {schedule[3]}" if schedule[3] else "")
    if given:
        entry["schedule"] = given.strip("<>")
    return entry


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--warps", action="store_true")
    parser.add_argument("--schedules")
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("out", nargs="?", default=os.path.join(ROOT, "build/gpu-gemm"))
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    chosen = [p for p in problems() if re.search(options.only, p.name)]
    entries = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = jobs_of(chosen, options)
        for entry in pool.map(lambda job: compile_one(*job, options.out, options.target, options.compiler), jobs):
            entries.append(entry)
            print(f"{len(entries)}/{len(jobs)} {entry['name']}: "
                  + ("FAILED" if "error" in entry else f"{entry['seconds']:.2f} s {entry.get('schedule', '')}"),
                  file=sys.stderr)
    partial = os.path.join(options.out, f"compiled.json.{os.getpid()}")
    with open(partial, "w") as file:
        json.dump(entries, file, indent=1)
    os.replace(partial, os.path.join(options.out, "compiled.json"))
    return 1 if any("error" in entry for entry in entries) else 0


if __name__ == "__main__":
    sys.exit(main())
