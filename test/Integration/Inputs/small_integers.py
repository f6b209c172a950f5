# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a tensor of f32 that are small integers, whose sums are exact.

small_integers.py FILE AxBxC SEED
"""

import array
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import npy

file, shape, seed = sys.argv[1], [int(n) for n in sys.argv[2].split("x")], int(sys.argv[3])
numbers = random.Random(seed)
data = array.array("f", [numbers.randint(-3, 3) for _ in range(math.prod(shape))])
npy.save(file, npy.Tensor("<f4", shape, data.tobytes()))
