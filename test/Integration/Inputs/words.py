# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the last 32 bits of files, in hexadecimal: words.py FILE..."""

import struct
import sys

words = []
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        words.append(struct.unpack("<I", file.read()[-4:])[0])
print(" ".join(f"{word:08x}" for word in words))
