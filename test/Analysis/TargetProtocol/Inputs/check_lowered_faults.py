#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks lowered kernels line by line and checks that each fault is found.

    check_lowered_faults.py TRACEA-OPT KERNEL.mlir scf|blocks LEAST [HARMLESS=N...]

Every operation of a lowered kernel that synchronises is removed or changed, one
at a time. Each time the kernel must be refuted, except for HARMLESS: faults
that are none in this kernel, at so many places at most. There must be LEAST
that are refuted, so that nothing is skipped when the lowering changes.
"""

import re
import subprocess
import sys

LOWER = {
    "scf": ["--convert-tracea-pipe-to-nvvm", "--canonicalize", "--cse"],
    "blocks": ["--convert-tracea-pipe-to-nvvm", "--tracea-nvvm-to-llvm"],
}
CHECK = ["--pass-pipeline=builtin.module(llvm.func(tracea-verify-target-protocol))",
         "--mlir-print-op-on-diagnostic=false"]

# Places of each fault: enough to see several roles and loops.
PLACES = 4

# Name, what a line has, what becomes of it (None: it goes away).
FAULTS = [
    ("copy missing", r"^\s*nvvm\.cp\.async\.bulk\.tensor\.shared\.cluster", None),
    ("arrival missing", r"^\s*%\S+ = nvvm\.mbarrier\.arrive ", None),
    ("expected bytes missing", r"^\s*nvvm\.mbarrier\.arrive\.expect_tx", None),
    ("wait missing", r"mbarrier\.try_wait\.parity", None),
    ("barrier not initialised", r"^\s*nvvm\.mbarrier\.init", None),
    ("initialisation not fenced", r"^\s*nvvm\.fence\.mbarrier\.init", None),
    ("proxy fence missing", r"^\s*nvvm\.fence\.proxy", None),
    ("named barrier missing", r"^\s*nvvm\.barrier( |$)", None),
    ("arrival at a named barrier missing", r"^\s*nvvm\.barrier\.arrive|\"bar\.arrive", None),
    ("multiplies not fenced", r"^\s*nvvm\.wgmma\.fence\.aligned", None),
    ("fence of registers without effect", r'"wgmma\.fence\.sync\.aligned;"',
     (r'"wgmma\.fence\.sync\.aligned;"', '""')),
    ("multiplies not waited for", r"^\s*nvvm\.wgmma\.wait\.group\.sync\.aligned", None),
    ("sums not waited for", r'"wgmma\.wait_group\.sync\.aligned \d+;"',
     (r'"wgmma\.wait_group\.sync\.aligned \d+;"', '""')),
    ("one more group pending", r"wgmma\.wait\.group\.sync\.aligned \d|wgmma\.wait_group\.sync\.aligned \d",
     (r"(wgmma\.wait.group\.sync\.aligned) (\d)", lambda m: f"{m[1]} {int(m[2]) + 1}")),
    ("multiplies not committed", r"^\s*nvvm\.wgmma\.commit\.group", None),
    ("stores not committed", r"^\s*nvvm\.cp\.async\.bulk\.commit\.group", None),
    ("stores not waited for", r"^\s*nvvm\.cp\.async\.bulk\.wait_group", None),
    ("copies not committed", r"^\s*nvvm\.cp\.async\.commit\.group", None),
    ("copies not waited for", r"^\s*nvvm\.cp\.async\.wait\.group", None),
    ("one more group of copies pending", r"^\s*nvvm\.cp\.async\.wait\.group \d",
     (r"(cp\.async\.wait\.group) (\d)", lambda m: f"{m[1]} {int(m[2]) + 1}")),
    ("arrival at the cluster's barrier missing", r"^\s*nvvm\.cluster\.arrive", None),
    ("arrival at the cluster's barrier orders nothing", r"^\s*nvvm\.cluster\.arrive \{",
     (r"cluster\.arrive ", "cluster.arrive.relaxed ")),
    ("cluster not waited for", r"^\s*nvvm\.cluster\.wait", None),
]

def run(tool, arguments, text):
    return subprocess.run([tool, *arguments, "-o", "-"], input=text, capture_output=True, text=True)


def main():
    tool, path, form, least = sys.argv[1:5]
    harmless = dict(argument.split("=") for argument in sys.argv[5:])
    lowered = run(tool, [path, *LOWER[form]], "")
    assert lowered.returncode == 0, lowered.stderr
    lines = lowered.stdout.splitlines()
    correct = run(tool, CHECK, lowered.stdout)
    assert 'check = "target-protocol"' in correct.stdout, correct.stderr
    failures, refuted = [], 0
    for name, pattern, change in FAULTS:
        allowed = int(harmless.get(name, 0))
        places = [number for number, line in enumerate(lines) if re.search(pattern, line)]
        for number in places[:PLACES]:
            line = lines[number]
            changed = [] if change is None else [re.sub(*change, line)]
            result = run(tool, CHECK, "\n".join(lines[:number] + changed + lines[number + 1:]))
            if "breaks the protocol" in result.stderr:
                refuted += 1
            elif allowed:
                allowed -= 1
            else:
                error = result.stderr.splitlines()[0] if result.stderr else "proved"
                failures.append(f"{name}, line {number + 1}: {error}")
    if refuted < int(least):
        failures.append(f"{refuted} faults, expected {least} or more")
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
