# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and writes .npy files with the standard library alone.

The format is specified in NumPy's documentation (numpy.lib.format).
"""

import array
import ast
import math
import struct

MAGIC = b"\x93NUMPY"

# NumPy's descr to array's type code; what array cannot hold stays as bytes.
CODES = {
    "<f4": "f",
    "<f8": "d",
    "<i4": "i",
    "<i8": "q",
    "<i2": "h",
    "<u2": "H",
    "|i1": "b",
    "|u1": "B",
    "|b1": "B",
}


class Tensor:
    """A dense row-major tensor: a descr, a shape and little-endian bytes."""

    def __init__(self, descr, shape, data):
        self.descr = descr
        self.shape = tuple(shape)
        self.data = bytes(data)
        expected = math.prod(self.shape) * self.item_size
        if len(self.data) != expected:
            raise ValueError(
                f"a {descr} tensor of shape {list(self.shape)} needs "
                f"{expected} bytes, found {len(self.data)}"
            )

    @property
    def item_size(self):
        return int(self.descr[2:])

    def values(self):
        return array.array(CODES[self.descr], self.data)


def load(path):
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:6] != MAGIC:
        raise ValueError(f"{path}: not a .npy file")
    wide = raw[6] >= 2
    (length,) = struct.unpack_from("<I" if wide else "<H", raw, 8)
    start = 12 if wide else 10
    header = ast.literal_eval(raw[start : start + length].decode("latin1"))
    shape = header["shape"]
    if header["fortran_order"] and sum(size > 1 for size in shape) > 1:
        raise ValueError(f"{path}: column-major order is not supported")
    return Tensor(header["descr"], shape, raw[start + length :])


def save(path, tensor):
    shape = "".join(f"{size}, " for size in tensor.shape).rstrip(" ")
    if len(tensor.shape) > 1:
        shape = shape.rstrip(",")
    header = (
        f"{{'descr': '{tensor.descr}', 'fortran_order': False, "
        f"'shape': ({shape}), }}"
    )
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(MAGIC + b"\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode("latin1") + tensor.data)
