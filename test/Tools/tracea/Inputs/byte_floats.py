"""Floats of 8 bits, with exact arithmetic.

    byte_floats.py numbers FORMAT WIDE.npy BYTES.npy
        writes numbers as f8, where rounding is decided, and all patterns
    byte_floats.py check FORMAT WIDE.npy NARROW.npy BYTES.npy WIDENED.npy
        compares what a program made of them
"""

import math
import struct
import sys
from fractions import Fraction

# Bits of the fraction, bias, pattern of the largest finite number.
FORMATS = {"f8E4M3FN": (3, 7, 0x7E), "f8E5M2": (2, 15, 0x7B)}


def value(pattern, fraction_bits, bias):
    exponent, fraction = pattern >> fraction_bits, pattern & ((1 << fraction_bits) - 1)
    significand = Fraction(fraction, 1 << fraction_bits) + (1 if exponent else 0)
    return significand * Fraction(2) ** (max(exponent, 1) - bias)


def write(path, descr, code, numbers):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(numbers)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))


def read(path, descr, code):
    with open(path, "rb") as file:
        data = file.read()
    body = 10 + struct.unpack("<H", data[8:10])[0]
    assert f"'descr': '{descr}'".encode() in data[:body], data[:body]
    return struct.unpack(f"<{(len(data) - body) // struct.calcsize(code)}{code}", data[body:])


def numbers(format_):
    fraction_bits, bias, largest = format_
    found = [0.0, 1e-30, math.inf, 1e30]
    for pattern in range(largest + 1):
        low, high = (value(p, fraction_bits, bias) for p in (pattern, pattern + 1))
        half = float((low + high) / 2)
        found += [float(low), half, math.nextafter(half, 0), math.nextafter(half, math.inf)]
    return found + [-x for x in found] + [math.nan]


def rounded(x, format_):
    """The pattern of x, ties to even."""
    fraction_bits, bias, largest = format_
    if math.isnan(x):
        return None
    sign = 0x80 if math.copysign(1, x) < 0 else 0
    if math.isinf(x):
        return sign | largest + 1
    exact = abs(Fraction(x))
    # One past the largest is what would come next.
    nearest = min(range(largest + 2), key=lambda p: (abs(value(p, fraction_bits, bias) - exact), p & 1))
    return sign | nearest


def widened(pattern, format_):
    fraction_bits, bias, largest = format_
    magnitude = pattern & 0x7F
    if magnitude > largest:
        return math.inf if largest == 0x7B and magnitude == 0x7C else math.nan
    return float(value(magnitude, fraction_bits, bias))


def main():
    command, format_, *paths = sys.argv[1:]
    format_ = FORMATS[format_]
    if command == "numbers":
        write(paths[0], "<f8", "d", numbers(format_))
        write(paths[1], "|V1", "B", list(range(256)))
        return
    wrong = 0
    for x, found in zip(read(paths[0], "<f8", "d"), read(paths[1], "|V1", "B"), strict=True):
        expected = rounded(x, format_)
        agrees = found & 0x7F > format_[2] and found & 0x7F != 0x7C if expected is None else found == expected
        if not agrees:
            print(f"{x!r} became {found:#x}, expected {expected}")
            wrong += 1
    for pattern, found in zip(read(paths[2], "|V1", "B"), read(paths[3], "<f4", "f"), strict=True):
        expected = math.copysign(widened(pattern, format_), -1 if pattern & 0x80 else 1)
        if not (math.isnan(found) if math.isnan(expected) else repr(found) == repr(expected)):
            print(f"{pattern:#x} is {found!r}, expected {expected!r}")
            wrong += 1
    print("all agree" if wrong == 0 else f"{wrong} differ")


main()
