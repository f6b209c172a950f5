# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rows_equal.py MATRIX ROW: whether each row of one .npy file is that of another."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import npy  # noqa: E402

matrix, row = (npy.load(path) for path in sys.argv[1:3])
rows, columns = matrix.shape
values, expected = list(matrix.values()), list(row.values())
sys.exit(any(values[i * columns : (i + 1) * columns] != expected for i in range(rows)))
