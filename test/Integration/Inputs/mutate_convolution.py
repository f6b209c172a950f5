# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in the kernels that a convolution is lowered to.

mutate_convolution.py TRACEA MODULE TARGET takes MODULE as the compiler prints it
at the tile level, of convolution-gpu.mlir: it has to be proved, and no mutant
may be.
"""

import pathlib
import sys

from mutate_walks import substitute, try_mutants

IMAGE = r"\(d0, d1 \* 2, d2 \* 2, d3\)"
ONE = "%mutant_one = arith.constant 1 : index\n"

# What is wrong; what is looked for, in all kernels; what takes its place.
MUTANTS = {
    "the basis in the wrong order": (r"into\((%\w+), (%\w+)\)", r"into(\2, \1)"),
    "pixels one late": (r"(%\w+ = tracea_pipe.delinearize) (%\w+) into",
                        ONE + r"%mutant_late = arith.addi \2, %mutant_one : index\n\1 %mutant_late into"),
    "a stride off by one": (IMAGE, "(d0, d1 * 3, d2 * 2, d3)"),
    "a stride forgotten": (IMAGE, "(d0, d1 * 2, d2, d3)"),
    "rows for columns": (IMAGE, "(d0, d2 * 2, d1 * 2, d3)"),
    "padding on the wrong side": (r"arith.subi (%\w+), %c1 :", r"arith.addi \1, %c1 :"),
    "images without an end": (r"padded \[0, 1, 2, 3\]", "padded [1, 2, 3]"),
    "a border that is not padded": (r"padded \[0, 1, 2, 3\]", "padded [0, 1, 3]"),
    "taps of the image exchanged": (r"(stage %arg0\[%\w+), (%\w+), (%\w+),", r"\1, \3, \2,"),
    "taps of the filter exchanged": (r"(stage %arg1\[%\w+), (%\w+), (%\w+),", r"\1, \3, \2,"),
    "filters of the first tile alone": (r"stage %arg1\[%\w+,", "stage %arg1[%c0,"),
    "a step left out": (r"(%\w+ = scf.for %\w+ = %c0 to) (%\w+) step",
                        ONE + r"%mutant_fewer = arith.subi \2, %mutant_one : index\n\1 %mutant_fewer step"),
    "pixels behind the last one stored": (r"(tracea_pipe.store .*limits\()%\w+,", r"\1%c64,"),
    "results of the first filters": (r"(tracea_pipe.store .*\[%c0, %c0, %c0), %\w+\]", r"\1, %c0]"),
    "the bias of another filter": (r"load %arg2\[%\w+\]", "load %arg2[%c0]"),
}


def main():
    tracea, module, target = sys.argv[1:4]
    text = pathlib.Path(module).read_text()
    return 1 if try_mutants(tracea, target, text, substitute(text, MUTANTS)) else 0


if __name__ == "__main__":
    sys.exit(main())
