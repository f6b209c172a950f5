# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares with rows that a table lists, times a matrix.

gather_rows.py X W TABLE Y: y[i, :] is x[table[i], :] * w, and zero where x has
no such row or the table no such number. Small integers are exact.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import npy

x, w, table, y = (npy.load(name) for name in sys.argv[1:5])
(rows, depth), columns = x.shape, w.shape[1]
image, matrix, numbers, found = (list(tensor.values()) for tensor in (x, w, table, y))
if y.shape[0] < len(numbers) or y.shape[1] != columns:
    sys.exit(f"expected at least {[len(numbers), columns]}, found {list(y.shape)}")
numbers += [-1] * (y.shape[0] - len(numbers))
for i, row in enumerate(numbers):
    for j in range(columns):
        expected = sum(image[row * depth + k] * matrix[k * columns + j] for k in range(depth)) if 0 <= row < rows else 0
        if found[i * columns + j] != expected:
            sys.exit(f"y[{i}, {j}]: expected {expected}, found {found[i * columns + j]}")
print(f"{len(numbers)} rows are right")
