# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the arguments of a model, with the standard library alone.

Floats have a random sign and mantissa and the exponent that their fill asks
for: bits of a large integer, so that weights of 100 MB take a second.
"""

import array
import math
import os
import random
import struct

DESCR = {"f32": "<f4", "bf16": "<V2", "f16": "<f2", "i8": "|i1", "i32": "<i4", "i64": "<i8"}
CODES = {"i8": "b", "i32": "i", "i64": "q"}
# Bits of an element, of its mantissa, and the bias of its exponent.
FLOATS = {"f32": (32, 23, 127), "bf16": (16, 7, 127), "f16": (16, 10, 15)}


def _floats(rng, count, element, fill):
    bits, mantissa, bias = FLOATS[element]
    size = bits // 8
    kept = (1 << mantissa) - 1
    if fill.kind == "signed":
        kept |= 1 << (bits - 1)
    exponent = (fill.number + bias) << mantissa
    noise = int.from_bytes(rng.randbytes(count * size), "little")
    noise &= int.from_bytes(kept.to_bytes(size, "little") * count, "little")
    noise |= int.from_bytes(exponent.to_bytes(size, "little") * count, "little")
    return noise.to_bytes(count * size, "little")


def _integers(rng, count, element, fill):
    if element == "i8" and fill.kind == "around" and fill.number == 128:
        return rng.randbytes(count)
    low = 0 if fill.kind == "below" else -fill.number
    return array.array(CODES[element], (rng.randrange(low, fill.number) for _ in range(count))).tobytes()


def write(folder, arguments, seed):
    """A .npy file for each argument; their paths."""
    paths = []
    for index, argument in enumerate(arguments):
        rng = random.Random(f"{seed} {argument.name}")
        count = math.prod(argument.shape)
        make = _floats if argument.element in FLOATS else _integers
        data = make(rng, count, argument.element, argument.fill)
        shape = "".join(f"{extent}, " for extent in argument.shape)
        header = f"{{'descr': '{DESCR[argument.element]}', 'fortran_order': False, 'shape': ({shape}), }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        path = os.path.join(folder, f"{index:02}-{argument.name}.npy")
        with open(path, "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1") + data)
        paths.append(path)
    return paths
