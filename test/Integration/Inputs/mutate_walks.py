# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in the coordinate maps of an implicit GEMM.

mutate_walks.py TRACEA MODULE TARGET compiles MODULE, which has to be proved,
and then each of its mutants, none of which may be. It prints what was said of
each, and fails if one is missed.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

STAGE = "%x[%c0, %row, %column, %c0] map #image along [0](%walk"
STORE = "%y[%c0, %c0, %c0, %c0] map #result along [0](%walk"
WALK = "%walk = tracea_pipe.delinearize %first into(%p, %q) : <3>"


def reads(walk):
    """The stage goes along a walk of its own."""
    return [(WALK, WALK + "\n" + walk), (STAGE, STAGE.replace("%walk", "%other"))]


def writes(walk):
    return [(WALK, WALK + "\n" + walk), (STORE, STORE.replace("%walk", "%other"))]


def other(first, basis, before=""):
    return before + f"%other = tracea_pipe.delinearize {first} into({basis}) : <3>"


NEXT = "%next1 = arith.addi %first, %c1 : index\n"
BACK = "%back = arith.subi %first, %c1 : index\n"
WIDE = "%wide = arith.addi %q, %c1 : index\n"
HIGH = "%high = arith.addi %p, %c1 : index\n"

# What is wrong, and the replacements that make it so.
DYNAMIC = {
    "the basis read in the wrong order": reads(other("%first", "%q, %p")),
    "the basis written in the wrong order": writes(other("%first", "%q, %p")),
    "a row more in the basis that is read": reads(other("%first", "%high, %q", HIGH)),
    "a column more in the basis that is read": reads(other("%first", "%p, %wide", WIDE)),
    "a column more in the basis that is written": writes(other("%first", "%p, %wide", WIDE)),
    "pixels read one late": reads(other("%next1", "%p, %q", NEXT)),
    "pixels read one early": reads(other("%back", "%p, %q", BACK)),
    "pixels written one late": writes(other("%next1", "%p, %q", NEXT)),
    "a stride of rows off by one": [("(n, p * 2, q * 2, c)", "(n, p * 3, q * 2, c)")],
    "a stride of columns off by one": [("(n, p * 2, q * 2, c)", "(n, p * 2, q, c)")],
    "rows for columns": [("(n, p * 2, q * 2, c)", "(n, q * 2, p * 2, c)")],
    "the first image alone": [("(n, p * 2, q * 2, c)", "(0, p * 2, q * 2, c)")],
    "rows written for columns": [("(n, p, q, k) -> (n, p, q, k)>\nmodule", "(n, p, q, k) -> (n, q, p, k)>\nmodule")],
    "padding on the wrong side": [("%row = arith.subi %r, %c1", "%row = arith.addi %r, %c1")],
    "padding off by one": [("%column = arith.subi %s2, %c2", "%column = arith.subi %s2, %c1")],
    "a dilation off by one": [("%s2 = arith.muli %s, %c2", "%s2 = arith.muli %s, %c3")],
    "a dilation forgotten": [("%s2 = arith.muli %s, %c2", "%s2 = arith.muli %s, %c1")],
    "rows without a border": [("padded [1, 2] :", "padded [2] :")],
    "columns without a border": [("padded [1, 2] :", "padded [1] :")],
    "a limit of the copy off by one": [("limits(%left, %c16) padded", "limits(%more, %c16) padded"),
                                       (WALK, WALK + "\n%more = arith.addi %left, %c1 : index")],
    "a pixel that is not copied": [("limits(%left, %c16) padded", "limits(%less, %c16) padded"),
                                   (WALK, WALK + "\n%less = arith.subi %left, %c1 : index")],
    "a limit of the store off by one": [("limits(%left, %c32) : tensor<8x32xf32, #lanes>, memref", "limits(%more, %c32) : tensor<8x32xf32, #lanes>, memref"),
                                        (WALK, WALK + "\n%more = arith.addi %left, %c1 : index")],
    "a pixel that is not stored": [("limits(%left, %c32) : tensor<8x32xf32, #lanes>, memref", "limits(%less, %c32) : tensor<8x32xf32, #lanes>, memref"),
                                   (WALK, WALK + "\n%less = arith.subi %left, %c1 : index")],
    "tiles that overlap": [("%first = arith.muli %tile, %c8", "%first = arith.muli %tile, %c3")],
    "tiles with gaps": [("%first = arith.muli %tile, %c8", "%first = arith.muli %tile, %c16")],
    "a grid rounded down": [("arith.ceildivsi %pixels", "arith.floordivsi %pixels")],
    "pixels of square images": [("%pixels = arith.muli %np, %q", "%pixels = arith.muli %np, %p")],
    "taps of the filter exchanged": [("%w[%r, %s, %c0, %c0]", "%w[%s, %r, %c0, %c0]")],
    "a row of taps left out": [("scf.for %r = %c0 to %c3", "scf.for %r = %c0 to %c2")],
}

PIXELS = "%pixels = tracea_pipe.delinearize %1 into(%c28, %c28) : <3>"

STATIC = {
    "a constant of the rows off by one": [(PIXELS, PIXELS.replace("(%c28, %c28)", "(%c27, %c28)")),
                                          ("%c28 = ", "%c27 = arith.constant 27 : index\n%c28 = ")],
    "a constant of the columns off by one": [(PIXELS, PIXELS.replace("(%c28, %c28)", "(%c28, %c29)")),
                                             ("%c28 = ", "%c29 = arith.constant 29 : index\n%c28 = ")],
    "pixels read one late": [(PIXELS, "%late = arith.addi %1, %c1 : index\n" + PIXELS.replace("%1 into", "%late into"))],
    "a stride off by one": [("(n, p * 2, q * 2, c)", "(n, p * 2, q * 3, c)")],
    "padding on the wrong side": [("%left = arith.subi %s, %c1", "%left = arith.addi %s, %c1")],
    "images without an end": [("padded [0, 1, 2] slots 4 : memref<?x56", "padded [1, 2] slots 4 : memref<?x56")],
    "a border that is not padded": [("padded [0, 1, 2] slots 4 : memref<?x56", "padded [0, 1] slots 4 : memref<?x56")],
    "taps in the wrong order": [("%arg0[%c0, %top, %left, %c0]", "%arg0[%c0, %left, %top, %c0]")],
}

TILE = "tracea_pipe.delinearize %1 into(%p, %q) : <3>"
BEGIN = "%8 = arith.addi %1, %c32 : index"

# Extents that only the run knows, and a result that is stored in two pieces.
EXTENTS = {
    "the basis in the wrong order": [(TILE, TILE.replace("(%p, %q)", "(%q, %p)"))],
    "rows alone": [(TILE, TILE.replace("(%p, %q)", "(%p, %p)"))],
    "a row more in the basis": [("%pixels = " + TILE, "%high = arith.addi %p, %c1 : index\n%pixels = " + TILE.replace("(%p", "(%high"))],
    "a column more in the basis": [("%pixels = " + TILE, "%wide = arith.addi %q, %c1 : index\n%pixels = " + TILE.replace("%q)", "%wide)"))],
    "pixels read one late": [("%pixels = " + TILE, "%late = arith.addi %1, %c1 : index\n%pixels = " + TILE.replace("%1 into", "%late into"))],
    "a stride off by one": [("(n, p * 2, q * 2, c)", "(n, p * 2, q * 3, c)")],
    "rows for columns": [("(n, p * 2, q * 2, c)", "(n, q * 2, p * 2, c)")],
    "padding on the wrong side": [("%left = arith.subi %s, %c1", "%left = arith.addi %s, %c1")],
    "images without an end": [("padded [0, 1, 2] slots 4 : memref<?x", "padded [1, 2] slots 4 : memref<?x")],
    "a border that is not padded": [("padded [0, 1, 2] slots 4 : memref<?x", "padded [0, 1] slots 4 : memref<?x")],
    "taps in the wrong order": [("%arg0[%c0, %top, %left, %c0]", "%arg0[%c0, %left, %top, %c0]")],
    "pieces that overlap": [(BEGIN, BEGIN.replace("%c32", "%c16"))],
    "pieces with a gap": [(BEGIN, BEGIN.replace("%c32", "%c48"))],
    "a piece that is not limited": [("%9 = arith.subi %dim, %8", "%9 = arith.subi %dim, %1")],
    "a grid rounded down": [("arith.ceildivsi %dim", "arith.floordivsi %dim")],
    "the other half stored": [("tracea_pipe.slice %3[32, 0]", "tracea_pipe.slice %3[0, 0]")],
}


def mutate(text, replacements):
    for old, new in replacements:
        if text.count(old) != 1:
            raise SystemExit(f"expected '{old}' once, found it {text.count(old)} times")
        text = text.replace(old, new)
    return text


def substitute(text, mutants):
    """The mutants by name, of regular expressions and what they are replaced by."""
    made = {}
    for name, (found, by) in mutants.items():
        made[name], count = re.subn(found, by, text)
        if not count:
            raise SystemExit(f"expected '{found}' in the module")
    return made


def try_mutants(tracea, target, text, mutants):
    """Compiles `text`, which has to be proved, and the mutants, by what is wrong
    with them; how many are not caught."""
    missed = 0
    with tempfile.TemporaryDirectory() as folder:

        def compile(text):
            path = pathlib.Path(folder, "mutant.mlir")
            path.write_text(text)
            return subprocess.run(
                [tracea, "compile", str(path), "--target", target, "--require-proof",
                 "--emit", "asm", "-o", str(pathlib.Path(folder, "mutant.s"))],
                capture_output=True, text=True)

        result = compile(text)
        if result.returncode:
            raise SystemExit("the module itself is not proved:\n" + result.stderr)
        for name, mutant in mutants.items():
            result = compile(mutant)
            said = re.search(r"error: (.*)", result.stderr)
            caught = result.returncode == 1 and said is not None
            missed += not caught
            print(f"{name}: {said.group(1)[:180] if caught else 'MISSED'}")
    print(f"{len(mutants)} mutants, {missed} missed")
    return missed


def main():
    tracea, module, target = sys.argv[1:4]
    text = pathlib.Path(module).read_text()
    mutants = DYNAMIC if "%walk" in text else EXTENTS if TILE in text else STATIC
    missed = try_mutants(tracea, target, text, {name: mutate(text, replacements) for name, replacements in mutants.items()})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
