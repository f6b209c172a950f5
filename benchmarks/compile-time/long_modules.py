#!/usr/bin/env python3
"""Measures how compile time grows with a module: long_modules.py [--runs N] [KIND...].

Modules of long_module.py are compiled to programs, as `tracea compile` from start to exit, for
x86-64-v4. The time is that of the processor, the best of RUNS runs (3). TRACEA_BUILD is the build
folder, build/dev by default. Exit code 1 where a module takes more than is wanted, or where an
operation of a long module takes more than 1.5 times what one of a short module takes.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import long_module

HERE = pathlib.Path(__file__).resolve().parent
# Lengths, and the seconds that the longest may take; None: no operation is like another, and the
# longer the module the larger they are.
MODULES = {
    "products": ((1, 300, 1000, 3000), 5),
    "rows": ((1, 300, 1000), 5),
    "layers": ((1, 300, 1000, 3000), 5),
    "widths": ((1, 30, 100), None),
    "elements": ((1, 1000, 3000, 10000), 5),
    "bodies": ((1, 1000, 3000, 10000), 5),
}


def seconds(command):
    """The processor time of a command."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    message = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"error: {' '.join(command)}: {message}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("kinds", nargs="*", default=list(MODULES), metavar="KIND")
    options = parser.parse_args()
    build = os.environ.get("TRACEA_BUILD", str(HERE / ".." / ".." / "build" / "dev"))
    tool = os.path.join(build, "bin", "tracea")
    if not os.access(tool, os.X_OK):
        sys.exit(f"error: {tool} is not built; run scripts/build.sh")
    if unknown := [kind for kind in options.kinds if kind not in MODULES]:
        sys.exit(f"error: no module is called '{unknown[0]}'; expected {', '.join(MODULES)}")

    print(f"processor time, best of {options.runs}; load {os.getloadavg()[0]:.2f}")
    print(f"{'module':<10} {'length':>7} {'kernels':>8} {'seconds':>9} {'ms each':>9} {'wanted':>7}")
    slow = False
    with tempfile.TemporaryDirectory() as scratch:
        source, program = os.path.join(scratch, "long.mlir"), os.path.join(scratch, "long.tracea")
        manifest = os.path.join(scratch, "long.json")
        for kind in options.kinds:
            lengths, wanted = MODULES[kind]
            base, first = 0, None
            for length in lengths:
                with open(source, "w", encoding="utf-8") as file:
                    file.write(long_module.write(kind, length))
                command = [tool, "compile", source, "--target", "x86-64-v4", "-o"]
                time = min(seconds(command + [program]) for _ in range(options.runs))
                seconds(command + [manifest, "--emit", "manifest"])
                with open(manifest, encoding="utf-8") as file:
                    kernels = len(json.load(file)["kernels"])
                limit = wanted if length == lengths[-1] else None
                # Of one operation, beyond those of the module with one.
                each = (time - base) / (length - 1) if length > 1 else time
                print(
                    f"{kind:<10} {length:>7} {kernels:>8} {time:>9.2f} {1000 * each:>9.3f} "
                    f"{'< ' + str(limit) if limit else '':>7}"
                )
                if length == 1:
                    base = time
                elif first is None:
                    first = each
                elif wanted:
                    slow |= each > 1.5 * first
                slow |= limit is not None and time > limit
    return slow


if __name__ == "__main__":
    sys.exit(main())
