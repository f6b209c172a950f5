#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the code of the measured products: digests.py [--only REGEX] [--targets LIST] [--compiler PATH] [--against OLD] [--keep DIR] NEW

Writes a digest of the assembly of every product on every target to the file
NEW, and with --against names those that differ from the file OLD, and exits
with 1 if there are any. A change that moves code but must not change what is
compiled is checked so:

  git stash; ninja -C build/dev tracea; digests.py build/old.json
  git stash pop; ninja -C build/dev tracea; digests.py --against build/old.json build/new.json

With --keep the assembly itself stays in DIR, to be compared line by line. A
product that a target refuses has the digest of the error.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from compile import ROOT, warp_schedule
from problems import module, problems

# Where the schedules of sm_90a take warpgroups, `warps` asks for those of GPUs
# without them; the CPU is a named one, so that every machine agrees.
TARGETS = {"sm_90a": ("sm_90a", False), "warps": ("sm_90a", True), "sm_80": ("sm_80", False),
           "sm_75": ("sm_75", False), "cpu": ("x86-64-v4", False)}


def digest_one(problem, target, options):
    machine, warps = TARGETS[target]
    source = module(problem, warp_schedule(problem) if warps else "")
    done = subprocess.run([options.compiler, "compile", "-", "--target", machine, "--threads", "2",
                           "--emit", "asm", "-o", "-"], input=source.encode(), capture_output=True)
    text = done.stdout if done.returncode == 0 else b"error: " + done.stderr
    if options.keep:
        with open(os.path.join(options.keep, f"{problem.name}.{target}.s"), "wb") as file:
            file.write(text)
    return f"{problem.name} {target}", hashlib.sha256(text).hexdigest()[:16], done.returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--compiler", default=os.path.join(ROOT, "build/dev/bin/tracea"))
    parser.add_argument("--against")
    parser.add_argument("--keep")
    parser.add_argument("new")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    chosen = [(problem, target) for target in options.targets.split(",")
              for problem in problems() if re.search(options.only, problem.name)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda job: digest_one(*job, options), chosen))
    digests = {name: digest for name, digest, _ in answers}
    with open(options.new + ".partial", "w") as file:
        json.dump(digests, file, indent=1)
    os.replace(options.new + ".partial", options.new)
    print(f"{len(digests)} digests, {sum(not good for _, _, good in answers)} of them of an error")
    if not options.against:
        return 0
    with open(options.against) as file:
        old = json.load(file)
    both = [name for name in digests if name in old]
    changed = [name for name in both if digests[name] != old[name]]
    for name in changed:
        print(f"differs: {name}")
    print(f"{len(changed)} of {len(both)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
