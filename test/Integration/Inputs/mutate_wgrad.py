# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in the kernel of a gradient by the filter of two groups.

mutate_wgrad.py TRACEA MODULE TARGET takes MODULE as the compiler prints it at the
tile level, of wgrad-gpu.mlir: it has to be proved, and no mutant may be.
"""

import pathlib
import sys

from mutate_walks import substitute, try_mutants

ONE = "%mutant_one = arith.constant 1 : index\n"
FILTERS, CHANNELS = r"arith.muli (%\w+), %c48", r"arith.muli (%\w+), %c40"

# What is wrong; what is looked for; what takes its place.
MUTANTS = {
    "filters of the first group alone": (FILTERS, r"arith.muli \1, %c0"),
    "channels of the first group alone": (CHANNELS, r"arith.muli \1, %c0"),
    "groups of as many filters as channels": (FILTERS, r"arith.muli \1, %c40"),
    "groups of as many channels as filters": (CHANNELS, r"arith.muli \1, %c48"),
    "the group of another row of taps": (r"(tiles \()(%\w+), (%\w+)", r"\1\3, \2"),
    "filters of the next group stored": (r"(tracea_pipe.store .*limits\()%\w+,", r"\1%c64,"),
    "channels of the next group stored": (r"(tracea_pipe.store .*limits\(%\w+), %\w+\)", r"\1, %c64)"),
    "results of the first group": (r"(tracea_pipe.store .*, %arg2\[)%\w+,", r"\1%c0,"),
    "the basis in the wrong order": (r"into\((%\w+), (%\w+)\)", r"into(\2, \1)"),
    "pixels one late": (r"(%\w+ = tracea_pipe.delinearize) (%\w+) into",
                        ONE + r"%mutant_late = arith.addi \2, %mutant_one : index\n\1 %mutant_late into"),
    "padding on the wrong side": (r"arith.subi (%\w+), %c1 :", r"arith.addi \1, %c1 :"),
    "images without an end": (r"padded \[0, 1, 2, 3\]", "padded [1, 2, 3]"),
    "a gradient without an end": (r"padded \[0, 3\]", "padded [3]"),
    "a border that is not padded": (r"padded \[0, 1, 2, 3\]", "padded [0, 1, 3]"),
    "taps exchanged": (r"(stage %arg1\[%\w+), (%\w+), (%\w+),", r"\1, \3, \2,"),
    "a step left out": (r"(%\w+ = scf.for %\w+ = %c0 to) (%\w+) step",
                        ONE + r"%mutant_fewer = arith.subi \2, %mutant_one : index\n\1 %mutant_fewer step"),
}


def main():
    tracea, module, target = sys.argv[1:4]
    text = pathlib.Path(module).read_text()
    return 1 if try_mutants(tracea, target, text, substitute(text, MUTANTS)) else 0


if __name__ == "__main__":
    sys.exit(main())
