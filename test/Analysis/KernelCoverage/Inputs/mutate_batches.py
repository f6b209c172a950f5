# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in how a persistent kernel finds the tile of a batch.

mutate_batches.py TRACEA-OPT MODULE: MODULE is a kernel at the pipeline level,
whose roles take a number of a tile apart by extents that only the run knows. Its
sum has to be proved as its operation defines it, and that of no mutant may be:
another divisor, sides of the grid exchanged, a number of tiles that is not
theirs, each in one role alone.
"""

import pathlib
import re
import subprocess
import sys

CHANGES = {
    "another divisor": (r"(arith\.(?:div|rem)ui %\w+, )(%\w+)", r"\1%{rows}"),
    "the quotient for the remainder": (r"arith\.remui (%\w+, %\w+)", r"arith.divui \1"),
    "the remainder for the quotient": (r"arith\.divui (%\w+, %\w+)", r"arith.remui \1"),
    "sides exchanged": (r"in \((%\w+), (%\w+)\) group", r"in (\2, \1) group"),
    "tiles of a square": (r"(arith\.muli %{rows}, )%\w+", r"\1%{rows}"),
}


def mutants(text):
    rows, _ = re.search(r"raster %\w+ in \(%(\w+), %(\w+)\)", text).groups()
    begin = text.index("tiles (")
    for name, (pattern, change) in CHANGES.items():
        pattern, change = (part.replace("{rows}", rows) for part in (pattern, change))
        for number, found in enumerate(re.finditer(pattern, text[begin:])):
            changed = found.expand(change)
            if changed != found.group():
                at = begin + found.start()
                yield f"{name}, {number}", text[:at] + changed + text[at + len(found.group()):]


def check(tool, text):
    """What was said of a kernel; nothing if its sum is proved as defined."""
    text = re.sub(r"tracea_pipe\.cert\w+ = (\[.*?\], (?=tracea_pipe)|\"[^\"]*\", )", "", text)
    done = subprocess.run(
        [tool, "-", "-o", "-", "--tracea-compile=from=pipeline to=pipeline require-proof=true"],
        input=text, capture_output=True, text=True)
    claim = re.search(r'check = "coverage", claim = "([^"]*)', done.stdout)
    if done.returncode == 0 and claim and "1 sum in them as defined" in claim.group(1):
        return ""
    said = re.search(r"error: (.*)", done.stderr)
    return said.group(1) if said else "proved alone: " + claim.group(1) if claim else done.stderr


def main():
    tool, module = sys.argv[1:]
    text = pathlib.Path(module).read_text()
    if said := check(tool, text):
        raise SystemExit("the module itself is not proved:\n" + said)
    missed = total = 0
    for name, mutant in mutants(text):
        said = check(tool, mutant)
        total += 1
        missed += not said
        print(f"{name}: {said[:160] or 'MISSED'}")
    print(f"{total} mutants, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
