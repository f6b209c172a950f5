# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mistake at a time in attention on a GPU: in which keys a tile visits, and in its ring.

mutate_attention.py TRACEA TRACEA_OPT FOLDER TARGET lowers the modules
attention-*.mlir of FOLDER to tiles, one of them also to its ring, and goes on as
mutate_walks.py.
"""

import pathlib
import re
import subprocess
import sys

from mutate_walks import try_mutants

# A mistake is a list of patterns of the kernel that multiplies, each of which is there once, with what it becomes.
# Of a mask: list row, count, end, place, block.
ROW = r"(%\d+) = arith.divui (%\d+), %c128 : index\n(?=(.*\n)*?.*read %arg3)"
COUNT = r"(%\d+) = (tracea_pipe.read %arg3\[(%\d+), (%\d+), (%\d+), )%c8\]"
CUT = r"(%\d+) = arith.minsi (%\d+), %c8 : index\n(.*)muli \1, %c128"
LOOP = r"scf.for (%arg\d+) = %c0 to (%\d+) step %c64"
PLACE = r"(%\d+) = arith.minsi (%\d+), %c8 : index\n(.*)(read %arg4\[.*, )\1\]"
FIRST = r"(%\d+) = arith.muli (%\d+), %c128 : index\n(.*)remui (%arg\d+), %c128 : index\n(.*)addi \1, (%\d+)"
VALUES = r"stage %arg2\[(%\w+), (%\d+), (%\w+), %c0\] map (#map\d*) padded \[2, 3\]"
KEYS = VALUES.replace("arg2", "arg1")

BLOCKS = {
    "the list one late": [(PLACE, r"%late = arith.addi \2, %c1 : index\n\1 = arith.minsi %late, %c8 : index\n\3\4\1]")],
    "the first block again and again": [(PLACE, r"\1 = arith.minsi \2, %c0 : index\n\3\4\1]")],
    "every other block of the list": [(LOOP, r"scf.for \1 = %c0 to \2 step %c128")],
    "the first block left out": [(LOOP, r"scf.for \1 = %c64 to \2 step %c64")],
    "one block less than there are": [(CUT, r"%less = arith.subi \2, %c1 : index\n\1 = arith.minsi %less, %c8 : index\n\3muli \1, %c128")],
    "as many blocks as memory says": [(CUT, r"\1 = arith.addi \2, %c0 : index\n\3muli \1, %c128")],
    "half of each block": [(CUT, r"\1 = arith.minsi \2, %c8 : index\n\3muli \1, %c64")],
    "the count of the block before": [(COUNT, r"%before = arith.subi %c8, %c1 : index\n\1 = \2%before]")],
    "the count of the first row": [(COUNT, r"\1 = tracea_pipe.read %arg3[\3, \4, %c0, %c8]")],
    "the row of the next tiles": [(ROW, r"\1 = arith.divui \2, %c64 : index\n")],
    "the mask of the first batch": [(r"arith.minsi %arg6, %c1 : index", "arith.minsi %arg6, %c0 : index")],
    "the place in a block forgotten": [(FIRST, r"\1 = arith.muli \2, %c128 : index\n\3remui \4, %c128 : index\n\5addi \1, %c0")],
    "blocks of half the width": [(FIRST, r"\1 = arith.muli \2, %c64 : index\n\3remui \4, %c128 : index\n\5addi \1, \6")],
    "values of the next keys": [(VALUES, r"stage %arg2[\1, \2, %next, %c0] map \4 padded [2, 3]"),
                                (FIRST, r"\g<0> : index\n%next = arith.addi \1, %c64")],
    "keys behind the last are read": [(KEYS, r"stage %arg1[\1, \2, \3, %c0] map \4 padded [3]")],
}

BEGIN = r"(%\d+) = arith.subi (%\d+), %c200 : index\n(.*maxsi)"
END = r"(%\d+) = arith.addi (%\d+), %c64 : index\n(.*minsi)"
WINDOW = {
    "a window one short": [(BEGIN, r"%short = arith.subi \2, %c200 : index\n\1 = arith.addi %short, %c1 : index\n\3")],
    "the first block of the band left out": [(BEGIN, r"%short = arith.subi \2, %c200 : index\n\1 = arith.addi %short, %c64 : index\n\3")],
    "the last key of the band left out": [(END, r"\1 = arith.addi \2, %c63 : index\n\3")],
    "keys counted from the first query": [(END, r"\1 = arith.addi %4, %c64 : index\n\3")],
    "queries from the first tile on": [(r"arith.subi %2, %arg6 : index", "arith.subi %2, %c0 : index")],
    "blocks that overlap": [(r"(scf.for .*) step %c64", r"\1 step %c63")],
    "values of the first keys": [(VALUES, r"stage %arg2[\1, \2, %c0, %c0] map \4 padded [2, 3]")],
}

# Of gradients by queries, whose weights come of two products: with keys and with values.
QGRAD = {
    "a window one short": WINDOW["a window one short"],
    "the first block of the band left out": WINDOW["the first block of the band left out"],
    "the last key of the band left out": WINDOW["the last key of the band left out"],
    "blocks that overlap": WINDOW["blocks that overlap"],
    "values of the first keys": WINDOW["values of the first keys"],
    "values of the next keys": [(r"( *)" + r"(%\d+) = tracea_pipe." + VALUES,
                                 r"\1%next = arith.addi \5, %c64 : index\n\1\2 = tracea_pipe.stage %arg2[\3, \4, %next, %c0] map \6 padded [2, 3]")],
    "keys of the next block": [(r"( *)" + r"(%\d+) = tracea_pipe." + KEYS,
                                r"\1%next = arith.addi \5, %c64 : index\n\1\2 = tracea_pipe.stage %arg1[\3, \4, %next, %c0] map \6 padded [2, 3]")],
}

# Of gradients by keys and values, which see queries.
SEEN = r"(%\d+) = arith.addi (%\d+), %c264 : index"
GRADIENTS = r"stage %arg3\[(%\w+), (%\w+), (%\w+), %c0\] map (#map\d*) padded \[2, 3\]"
KVGRAD = {
    "the last query of the band left out": [(SEEN, r"%short = arith.constant 263 : index\n\1 = arith.addi \2, %short : index")],
    "queries counted from the first key": [(SEEN, r"\1 = arith.addi %1, %c264 : index")],
    "the first block of the band left out": [(r"(%\d+) = arith.muli (%\d+), %c32 : index\n",
                                              r"%first = arith.muli \2, %c32 : index\n\1 = arith.addi %first, %c32 : index\n")],
    "blocks that overlap": [(r"(scf.for .*) step %c32", r"\1 step %c31")],
    "blocks with gaps": [(r"(scf.for .*) step %c32", r"\1 step %c64")],
    "gradients of the first queries": [(GRADIENTS, r"stage %arg3[\1, \2, %c0, %c0] map \4 padded [2, 3]")],
    "queries of the first block": [(GRADIENTS.replace("arg3", "arg0"), r"stage %arg0[\1, \2, %c0, %c0] map \4 padded [2, 3]")],
}

LENGTH = r"read %arg3\[%arg7\]"
LENGTHS = {
    "the keys of the first batch": [(LENGTH, "read %arg3[%c0]")],
    "the keys of another batch": [(LENGTH, "read %arg3[%arg8]")],
    "one key less": [(r"(%\d+) = arith.minsi (%\d+), %c900 : index", r"%less = arith.subi \2, %c1 : index\n\1 = arith.minsi %less, %c900 : index")],
    "as many keys as memory says, and no fewer": [(r"arith.minsi (%\d+), %c900 : index", r"arith.maxsi \1, %c900 : index")],
    "parts that begin together": [(r"arith.muli %arg6, %c32 : index", "arith.muli %arg6, %c0 : index")],
    "parts that overlap": [(r"(scf.for .*) step %c96", r"\1 step %c32")],
    "parts with gaps": [(r"arith.muli %arg6, %c32 : index", "arith.muli %arg6, %c64 : index")],
}

# In the ring, with its phases %arg13 of what is read and %arg14 of what is filled.
RING = {
    "a slot that is read before it is full": [(r"(wait %0\[)%arg13\]", r"\1%arg14]")],
    "a slot filled while it is read": [(r"acquire %0\[%arg14\]", "acquire %0[%arg13]")],
    "a slot that is never given back": [(r".*release %0\[%arg13\].*\n", "")],
    "a slot that is given back twice": [(r"(.*release %0\[%arg13\].*\n)", r"\1\1")],
    "a slot given back before it is read": [(r"( *)(tracea_pipe.release %0\[%arg13\].*\n)", r"\1"), (r"(.*wait %0\[%arg13\].*\n)", r"\1@")],
    "copies that nobody waits for": [(r".*commit %0\[%arg14\].*\n", "")],
    "the next phase one early": [(r"(%\d+) = tracea_pipe.advance %arg14", r"%far = tracea_pipe.advance %arg14 : <2>\n\1 = tracea_pipe.advance %far")],
}


def mutate(text, name, replacements):
    """What is wrong in the kernel that multiplies keys and values."""
    begin = next(at.start() for at in re.finditer(r"\n  tracea_pipe.kernel", text)
                 if "tracea_pipe.mma" in text[at.start():text.find("\n  }\n", at.start())])
    end = text.find("\n  }\n", begin)
    kernel = text[begin:end]
    moved = ""
    for pattern, by in replacements:
        found = list(re.finditer(pattern, kernel))
        if len(found) != 1:
            raise SystemExit(f"{name}: expected '{pattern}' once, found it {len(found)} times")
        if by == r"\1" and len(found[0].groups()) == 2:
            moved = found[0].group(2)
        kernel = kernel[:found[0].start()] + found[0].expand(by).replace("@", moved) + kernel[found[0].end():]
    return text[:begin] + kernel + text[end:]


def lower(tracea_opt, module, phase, target):
    """The module's kernels, in tiles or in their rings, without what was proved of them."""
    run = lambda arguments, text=None: subprocess.run([tracea_opt, *arguments], input=text, capture_output=True, text=True, check=True).stdout
    text = run([str(module), f"--tracea-compile=target={target} to=tile"])
    return text if phase == "tile" else run(["-", "--tracea-pipeline-kernels", "--tracea-software-pipeline"], text)


def main():
    tracea, tracea_opt, folder, target = sys.argv[1:5]
    missed = 0
    for module, phase, mistakes in (("blocks", "tile", BLOCKS), ("window", "tile", WINDOW), ("lengths", "tile", LENGTHS),
                                    ("blocks", "pipeline", RING), ("qgrad", "tile", QGRAD), ("kvgrad", "tile", KVGRAD)):
        text = lower(tracea_opt, pathlib.Path(folder, f"attention-{module}.mlir"), phase, target)
        missed += try_mutants(tracea, target, text, {name: mutate(text, name, wrong) for name, wrong in mistakes.items()})
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
