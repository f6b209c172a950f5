# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damage.py IN OUT cut SIZE | flip OFFSET"""

import sys

data = bytearray(open(sys.argv[1], "rb").read())
if sys.argv[3] == "cut":
    data = data[: int(sys.argv[4])]
else:
    data[int(sys.argv[4])] ^= 1
open(sys.argv[2], "wb").write(data)
