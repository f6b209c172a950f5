# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""flip_bits.py IN OUT -- COMMAND...

Runs the command for copies of IN at OUT with one bit flipped, at 24 places over
the whole file and at each of its last 128 bytes' eighths; every run must fail
with exit code 1 and say so. (The unit tests flip every bit of a small file.)"""

import subprocess
import sys

source, target = sys.argv[1:3]
command = sys.argv[sys.argv.index("--") + 1 :]
data = open(source, "rb").read()
places = [i * (len(data) - 1) // 23 for i in range(24)]
places += range(len(data) - 128, len(data), 16)
for place in places:
    flipped = bytearray(data)
    flipped[place] ^= 1 << (place % 8)
    with open(target, "wb") as file:
        file.write(flipped)
    run = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
    if run.returncode != 1 or b"error: " not in run.stderr or run.stdout:
        sys.exit(f"byte {place}: exit code {run.returncode}, {run.stderr!r}")
