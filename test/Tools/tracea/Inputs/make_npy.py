# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""make_npy.py FILE DESCR SHAPE [VALUE...]: writes a .npy file.

SHAPE is 3x64 (or "scalar"). Without values, small numbers that repeat after
an awkward period.

make_npy.py --print FILE prints descr, shape and values."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../Integration"))
import array

import npy

if sys.argv[1] == "--print":
    tensor = npy.load(sys.argv[2])
    values = " ".join(f"{value:g}" for value in tensor.values())
    print(tensor.descr, list(tensor.shape), values)
    sys.exit()

path, descr, shape = sys.argv[1:4]
sizes = [] if shape == "scalar" else [int(size) for size in shape.split("x")]
code = npy.CODES[descr]
number = float if code in "fd" else lambda text: int(text, 0)
values = [number(text) for text in sys.argv[4:]]
if not values:
    values = [(i * 37 % 101) - 50 for i in range(math.prod(sizes))]
    if code in "fd":
        values = [value / 64 for value in values]
npy.save(path, npy.Tensor(descr, sizes, array.array(code, values).tobytes()))
