# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares with sums of which memory says how many terms they have.

read_trips.py X COUNTS Y: y[b, i, j] is the sum of x[b, 8 * t + i, j] over all t
from 0 to below counts[b], as far as x has rows. Small integers are exact.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import npy

x, counts, y = (npy.load(name) for name in sys.argv[1:4])
groups, rows, columns = x.shape
terms, numbers, found = (tensor.values() for tensor in (x, counts, y))
if list(y.shape) != [groups, 8, columns]:
    sys.exit(f"expected {[groups, 8, columns]}, found {list(y.shape)}")
for b in range(groups):
    end = min(max(numbers[b] * 8, 0), rows)
    for i in range(8):
        for j in range(columns):
            expected = sum(terms[(b * rows + row) * columns + j] for row in range(i, end, 8))
            if found[(b * 8 + i) * columns + j] != expected:
                sys.exit(f"y[{b}, {i}, {j}]: expected {expected}, found {found[(b * 8 + i) * columns + j]}")
print(f"{groups} groups are right")
