# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs of graph-ops.mlir, and the comparison of two results.

    graph-ops.py inputs PREFIX        writes PREFIX.0.npy to PREFIX.5.npy
    graph-ops.py compare A.npy B.npy  exits with 1 if they differ
"""

import array
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import npy

SHAPES = [(2, 3, 5, 6), (4, 3, 3, 3), (4,), (7, 8), (7, 4), (1, 4)]


def write_inputs(prefix):
    generator = random.Random(1)
    for index, shape in enumerate(SHAPES):
        values = [generator.uniform(-1, 1) for _ in range(math.prod(shape))]
        data = array.array("f", values).tobytes()
        npy.save(f"{prefix}.{index}.npy", npy.Tensor("<f4", shape, data))


def compare(first, second):
    a, b = npy.load(first), npy.load(second)
    if a.shape != b.shape or a.descr != b.descr:
        sys.exit(f"expected {a.descr} {a.shape}, found {b.descr} {b.shape}")
    if max(map(abs, a.values())) < 0.1:
        sys.exit("the result is too small to say anything")
    # The last step rounds to bf16: one of its units may separate the two.
    for x, y in zip(a.values(), b.values()):
        if not abs(x - y) <= 2.0**-7 * abs(x) + 1e-5:
            sys.exit(f"expected {x}, found {y}")


if sys.argv[1] == "inputs":
    write_inputs(sys.argv[2])
else:
    compare(sys.argv[2], sys.argv[3])
