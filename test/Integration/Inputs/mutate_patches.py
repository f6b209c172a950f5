# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in the kernel that a convolution in groups is lowered to.

mutate_patches.py TRACEA TILE PIPELINE TARGET takes depthwise-gpu.mlir or
groups-gpu.mlir as the compiler prints it at the tile and at the pipeline level:
both have to be proved, and no mutant may be.
"""

import pathlib
import re
import sys

from mutate_walks import substitute, try_mutants

# What is wrong; what is looked for, in all the kernel; what takes its place.
LANES = {
    "rows of the patch read with another pitch": (r"(arith.muli %\w+), %c13 :", r"\1, %c8 :"),
    "rows of the patch written with another pitch": (r"into\(%c13\)", "into(%c8)"),
    "a tap of a row one pixel late": (r"\[0, 2, 0\]", "[0, 3, 0]"),
    "a dilation forgotten": (r"\[0, 4, 0\]", "[0, 2, 0]"),
    "one tap's filter twice": (r"(arith.addi %\w+), %c1 :", r"\1, %c2 :"),
    "taps of the filter one row late": (r"into\(%c3\)", "into(%c2)"),
    "rows and columns of the filter exchanged": (r"\(d2, d0, d1, 0\)", "(d2, d1, d0, 0)"),
    "the stride of rows forgotten": (r"\(d0 \* 26 \+ d1, d2\)", "(d0 * 13 + d1, d2)"),
    "a stride of columns that there is not": (r"\(d0 \* 26 \+ d1, d2\)", "(d0 * 26 + d1 * 2, d2)"),
    "patches of tiles too near": (r"(= arith.muli %arg5), %c8 :", r"\1, %c4 :"),
    "the border on the wrong side": (r"arith.subi (%\w+), %c1 :", r"arith.addi \1, %c1 :"),
    "rows without a border": (r"padded \[1, 2, 3\]", "padded [2, 3]"),
    "columns without a border": (r"padded \[1, 2, 3\]", "padded [1, 3]"),
    "channels of the image without an end": (r"padded \[1, 2, 3\]", "padded [1, 2]"),
    "filters without an end": (r"padded \[0\] ", ""),
    "the filters of the first channels": (r"stage %arg1\[%\w+,", "stage %arg1[%c0,"),
    "the image's first channels": (r"(stage %arg0\[%\w+, %\w+, %\w+), %\w+\]", r"\1, %c0]"),
    "the first image for all": (r"stage %arg0\[%\w+,", "stage %arg0[%c0,"),
    "a row of the filter left out": (r"(scf.for %\w+ = %c0 to) %c3 step %c1", r"\1 %c2 step %c1"),
    "a row of the filter too many": (r"(scf.for %\w+ = %c0 to) %c3 step %c1", r"\1 %c4 step %c1"),
    "pixels that no lane has": (r"(scf.for %\w+ = %c0 to) %c8 step", r"\1 %c4 step"),
    "sums that begin again": (r"(math.fma %\w+, %\w+), %arg10 :", r"\1, %cst :"),
    "results behind the last row": (r"(tracea_pipe.store .*limits\()%\w+,", r"\1%c64,"),
    "results of the first channels": (r"(tracea_pipe.store .*\[%\w+, %\w+, %\w+), %\w+\]", r"\1, %c0]"),
    "the bias of another channel": (r"load %arg2\[%\w+\]", "load %arg2[%c0]"),
}
GROUPS = {
    "rows of the patch read with another pitch": (r"(arith.muli %\w+), %c37 :", r"\1, %c32 :"),
    "rows of the patch written with another pitch": (r"into\(%c37\)", "into(%c32)"),
    "the stride of rows forgotten": (r"(arith.muli %arg9), %c2 :", r"\1, %c1 :"),
    "a stride of columns that there is not": (r"affine_map<\(d0, d1\) -> \(d0, d1\)>", "affine_map<(d0, d1) -> (d0 * 2, d1)>"),
    "a dilation forgotten": (r"(arith.addi %26), %c2 :", r"\1, %c1 :"),
    "a tap of a row one pixel late": (r"(arith.addi %26), %c4 :", r"\1, %c3 :"),
    "one tap's filter twice": (r"(arith.addi %29), %c1 :", r"\1, %c2 :"),
    "filters with too few taps": (r"\(d1 \* 9, d0\)", "(d1 * 8, d0)"),
    "channels and filters exchanged": (r"\(d1 \* 9, d0\)", "(d0 * 9, d1)"),
    "rows and columns of the filter exchanged": (r"-> \(d0, d1, d2, d3\)>", "-> (d0, d2, d1, d3)>"),
    "the filters of another group": (r"(arith.muli %10), %c72 :", r"\1, %c37 :"),
    "the filters of the first group for all": (r"(arith.muli) %10, %c72 :", r"\1 %c0, %c72 :"),
    "the channels of the first group for all": (r"(load %8\[%\w+), %11\]", r"\1, %c0]"),
    "the filters of the first channels": (r"stage %arg1\[%\w+,", "stage %arg1[%c0,"),
    "the border on the wrong side": (r"arith.subi (%\w+), %c1 :", r"arith.addi \1, %c1 :"),
    "rows without a border": (r"padded \[1, 2, 3\]", "padded [2, 3]"),
    "channels of the image without an end": (r"padded \[1, 2, 3\]", "padded [1, 2]"),
    "filters without an end": (r"padded \[0\] ", ""),
    "a row of the filter left out": (r"(scf.for %arg11 = %c0 to) %c3", r"\1 %c2"),
    "two groups left out": (r"(scf.for %arg8 = %c0 to) %c4", r"\1 %c2"),
    "every other group left out": (r"(scf.for %arg10 = %c0 to) %c2", r"\1 %c1"),
    "a row of the tile left out": (r"(scf.for %arg9 = %c0 to) %c4", r"\1 %c3"),
    "sums that begin again": (r"(tracea_pipe.mma %\w+, %\w+), %arg12 :", r"\1, %cst :"),
    "a product that nobody uses": (r"(tracea_pipe.mma %\w+, %\w+), %38 :", r"\1, %32 :"),
    "results behind the last row": (r"arith.minsi (%\w+), %\w+ :", r"arith.minsi \1, \1 :"),
    "results behind the last column": (r"arith.minsi %\w+, (%\w+) :", r"arith.minsi \1, \1 :"),
    "results of the first channels": (r"(tracea_pipe.store .*\[%\w+, %\w+, %\w+), %\w+\]", r"\1, %c0]"),
    "the bias of another channel": (r"load %arg2\[%\w+\]", "load %arg2[%c0]"),
    "pieces that meet in a bank": (r"<swizzle = \[4, 7, 5, 8\]>", ""),
}
PIPELINE = {
    "a slot that is never filled": (r" *tracea_pipe.commit .*\n", ""),
    "filters that nobody copies": (r" *tracea_pipe.copy %arg1.*\n", ""),
    "a patch that nobody copies": (r" *tracea_pipe.copy %arg0.*\n", ""),
}


def without_wait(text):
    """Reads what a copy goes to, before it has landed."""
    for line, full, channel in re.findall(r"(\n +(%\w+)(?::\d+)? = tracea_pipe.wait (%\w+)\[[^\n]*)", text):
        slot = re.search(rf"(%\w+)(?::\d+)? = tracea_pipe.acquire {channel}\[", text).group(1)
        text = text.replace(line, "")
        text = re.sub(rf"{full}\b", slot, text)
    return text


def main():
    tracea, tile, pipeline, target = sys.argv[1:5]
    text = pathlib.Path(tile).read_text()
    of_tile = GROUPS if "conv2d.groups" in text else LANES
    missed = try_mutants(tracea, target, text, substitute(text, of_tile))
    text = pathlib.Path(pipeline).read_text()
    mutants = substitute(text, PIPELINE)
    mutants["a slot read before it is full"] = without_wait(text)
    missed += try_mutants(tracea, target, text, mutants)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
