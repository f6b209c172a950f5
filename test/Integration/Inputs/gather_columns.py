# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares with columns that a table lists, times a matrix.

gather_columns.py X W TABLE Y: y[m, :] is the sum of x[m, table[k]] * w[k, :]
over all k, as far as x has such columns. Small integers are exact.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import npy

x, w, table, y = (npy.load(name) for name in sys.argv[1:5])
(rows, extent), (depth, columns) = x.shape, w.shape
image, matrix, numbers, found = (list(tensor.values()) for tensor in (x, w, table, y))
if list(y.shape) != [rows, columns]:
    sys.exit(f"expected {[rows, columns]}, found {list(y.shape)}")
for m in range(rows):
    for n in range(columns):
        expected = sum(image[m * extent + numbers[k]] * matrix[k * columns + n] for k in range(depth) if 0 <= numbers[k] < extent)
        if found[m * columns + n] != expected:
            sys.exit(f"y[{m}, {n}]: expected {expected}, found {found[m * columns + n]}")
print(f"{rows} rows are right")
