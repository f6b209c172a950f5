# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in a product whose rows a table lists.

mutate_gathers.py TRACEA MODULE TARGET: as mutate_walks.py.
"""

import pathlib
import sys

from mutate_walks import mutate, try_mutants

CPU_GATHER = "%walk = tracea_pipe.gather %table[%first] : memref<?xi32> -> <1>"
CPU_STAGE = "%x[%c0, %k] map #rows along [0](%walk : !tracea_pipe.walk<1>)"
CPU_LIMITS = "limits(%left, %c16) padded [0, 1]"
CPU_STORE = "%y[%first, %c0] map #id limits(%left, %c32)"

CPU = {
    "numbers one late": [(CPU_GATHER, "%late = arith.addi %first, %c1 : index\n" + CPU_GATHER.replace("[%first]", "[%late]"))],
    "numbers one early": [(CPU_GATHER, "%early = arith.subi %first, %c1 : index\n" + CPU_GATHER.replace("[%first]", "[%early]"))],
    "numbers of the tile": [(CPU_GATHER, CPU_GATHER.replace("[%first]", "[%tile]"))],
    "the first numbers": [(CPU_GATHER, CPU_GATHER.replace("[%first]", "[%c0]"))],
    "rows without an end": [(CPU_LIMITS, CPU_LIMITS.replace("[0, 1]", "[1]"))],
    "columns without an end": [(CPU_LIMITS, CPU_LIMITS.replace("[0, 1]", "[0]"))],
    "rows behind those that are listed": [(CPU_STAGE, CPU_STAGE.replace("[%c0, %k]", "[%c1, %k]"))],
    "every other row": [("#rows = affine_map<(r, k) -> (r, k)>", "#rows = affine_map<(r, k) -> (r * 2, k)>")],
    "rows that follow each other": [(CPU_STAGE, "%x[%first, %k] map #rows")],
    "rows plus those that are listed": [(CPU_STAGE, CPU_STAGE.replace("[%c0, %k]", "[%first, %k]"))],
    "rows in place of columns": [("#rows = affine_map<(r, k) -> (r, k)>", "#rows = affine_map<(r, k) -> (k, r)>")],
    "a row that is not copied": [(CPU_LIMITS, CPU_LIMITS.replace("%left", "%less")),
                                 (CPU_GATHER, CPU_GATHER + "\n%less = arith.subi %left, %c1 : index")],
    "a row that is not stored": [(CPU_STORE, CPU_STORE.replace("%left", "%less")),
                                 (CPU_GATHER, CPU_GATHER + "\n%less = arith.subi %left, %c1 : index")],
    "a step of the sum left out": [("scf.for %k = %c0", "scf.for %k = %c16")],
    "a result of as many rows as there are": [("%m = memref.dim %y, %c0", "%m = memref.dim %x, %c0 : memref<?x?xf32>\n%m1 = memref.dim %y, %c0")],
}

GPU_GATHER = "%listed = tracea_pipe.gather %table[%1] : memref<?xi32> -> <1>"
GPU_STAGE = "%arg0[%c0, %k] map #rows along [0](%listed : !tracea_pipe.walk<1>)"
GPU_PADDED = "padded [0, 1] slots 4 : memref<?x512xf16>"

GPU = {
    "numbers one late": [(GPU_GATHER, "%late = arith.addi %1, %c1 : index\n" + GPU_GATHER.replace("[%1]", "[%late]"))],
    "numbers of the tile": [(GPU_GATHER, GPU_GATHER.replace("[%1]", "[%arg3]"))],
    "the first numbers": [(GPU_GATHER, GPU_GATHER.replace("[%1]", "[%c0]"))],
    "rows without an end": [(GPU_PADDED, GPU_PADDED.replace("[0, 1]", "[1]"))],
    "rows behind those that are listed": [(GPU_STAGE, GPU_STAGE.replace("[%c0, %k]", "[%c1, %k]"))],
    "rows that follow each other": [(GPU_STAGE, "%arg0[%1, %k] map #rows")],
    "columns of another step": [(GPU_STAGE, GPU_STAGE.replace("[%c0, %k]", "[%c0, %c64]"))],
    "the numbers of the next tile": [(GPU_GATHER, "%far = arith.addi %1, %c64 : index\n" + GPU_GATHER.replace("[%1]", "[%far]"))],
}


def main():
    tracea, module, target = sys.argv[1:4]
    text = pathlib.Path(module).read_text()
    mutants = GPU if GPU_GATHER in text else CPU
    missed = try_mutants(tracea, target, text, {name: mutate(text, replacements) for name, replacements in mutants.items()})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
