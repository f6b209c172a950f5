#!/usr/bin/env python3
# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares computed probabilities with the labels and with the framework's.

    check.py probs.npy [--tolerance 1e-5]

Needs nothing but Python.  Exits with 1 unless every image gets the framework's
class and every probability lies within the tolerance.
"""

import argparse
import array
import ast
import json
import math
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent


def load(path, descr, code):
    """A .npy file (version 1.0) as its shape and an array of its values."""
    raw = pathlib.Path(path).read_bytes()
    if raw[:8] != b"\x93NUMPY\x01\x00":
        sys.exit(f"{path}: expected a .npy file of version 1.0")
    (length,) = struct.unpack_from("<H", raw, 8)
    header = ast.literal_eval(raw[10 : 10 + length].decode("latin1"))
    if header["descr"] != descr or header["fortran_order"]:
        sys.exit(f"{path}: expected {descr} in row-major order, found {header}")
    values = array.array(code, raw[10 + length :])
    if len(values) != math.prod(header["shape"]):
        sys.exit(f"{path}: {len(values)} values for shape {header['shape']}")
    return header["shape"], values


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("probabilities")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    options = parser.parse_args()

    shape, wanted = load(HERE / "probabilities_test.npy", "<f4", "f")
    _, labels = load(HERE / "labels_test.npy", "<i4", "i")
    expected = json.loads((HERE / "expected.json").read_text())
    found_shape, found = load(options.probabilities, "<f4", "f")
    if found_shape != shape:
        sys.exit(f"expected probabilities of shape {shape}, found {found_shape}")

    classes = shape[1]
    rows = range(0, len(found), classes)
    best = lambda values, row: max(
        range(classes), key=lambda column: values[row + column]
    )
    answers = [best(found, row) for row in rows]
    framework = [best(wanted, row) for row in rows]
    correct = sum(map(int.__eq__, answers, labels))
    same = sum(map(int.__eq__, answers, framework))
    # A NaN compares false with everything, so it has to be asked for.
    errors = [abs(a - b) for a, b in zip(found, wanted)]
    worst = math.nan if any(map(math.isnan, errors)) else max(errors)

    total = len(labels)
    print(f"accuracy: {correct}/{total} ({100 * correct / total:.2f} %), "
          f"framework: {expected['correct']}/{expected['total']}")
    print(f"same class as the framework: {same}/{total}")
    print(f"largest difference of a probability: {worst:.3g}")
    return 0 if same == total and worst <= options.tolerance else 1


if __name__ == "__main__":
    sys.exit(main())
