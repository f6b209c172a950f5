# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in a convolution whose tiles read windows again.

mutate_halos.py TRACEA MODULE TARGET: as mutate_walks.py.
"""

import pathlib
import sys

from mutate_walks import mutate, try_mutants

WINDOW = "%around = tracea_pipe.delinearize %c0 into"
PIXELS = "%pixels = tracea_pipe.delinearize %c0 into"


def filled(extent):
    return [(WINDOW, f"%other = arith.constant {extent} : index\n%around = tracea_pipe.delinearize %c0 into(%other) : <2>\n%rest = tracea_pipe.delinearize %c0 into")]


def seen(first, extent):
    return [(PIXELS, f"%from = arith.constant {first} : index\n%by = arith.constant {extent} : index\n%pixels = tracea_pipe.delinearize %from into(%by) : <2>\n%rest = tracea_pipe.delinearize %c0 into")]


def get_mutants(text):
    is_gpu = "sm_80" in text
    width, pixels = (18, 16) if is_gpu else (6, 4)
    above = f"%above = arith.muli %r, %c{width}"
    padded = "padded [0, 1, 2] slots 1" if is_gpu else "padded [1, 2]"
    return {
        "a window one column too wide": filled(width + 1),
        "a window one column too narrow": filled(width - 1),
        "a tile one pixel too wide": seen(0, pixels + 1),
        "a tile of half as many columns": seen(0, pixels // 2),
        "pixels one late": seen(1, pixels),
        "rows of the window one pixel too long": [(f"(p * {width} + q, c)", f"(p * {width + 1} + q, c)")],
        "rows for columns": [(f"(p * {width} + q, c)", f"(q * {width} + p, c)")],
        "a tap's row left out": [("%first = arith.addi %above, %s", "%first = arith.addi %c0, %s")],
        "a tap's rows one pixel too long": [(above, above.replace(f"%c{width}", f"%c{pixels}"))],
        "taps exchanged": [(above, above.replace("%r", "%s")), ("%first = arith.addi %above, %s", "%first = arith.addi %above, %r")],
        "a window one row too low": [("%top = arith.subi %p0, %c1", "%top = arith.addi %p0, %c0")],
        "a window that begins one column late": [("%left = arith.subi", "%left = arith.addi")],
        "a window without its border": [(padded, padded.replace(", 2]", "]"))],
    }


def main():
    tracea, module, target = sys.argv[1:4]
    text = pathlib.Path(module).read_text()
    missed = try_mutants(tracea, target, text, {name: mutate(text, replacements) for name, replacements in get_mutants(text).items()})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
