# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A product whose rows begin anywhere: padded.py TRANSPOSES M N K [TYPE RESULT TILE...]"""

import sys

transposes, m, n, k = sys.argv[1], *map(int, sys.argv[2:5])
element, result = sys.argv[5:7] if len(sys.argv) > 5 else ("bf16", "bf16")
tile = [int(x) for x in sys.argv[7:]] or [128, 256, 64]

lhs = f"tensor<{k}x{m}x{element}>" if transposes[0] == "t" else f"tensor<{m}x{k}x{element}>"
rhs = f"tensor<{n}x{k}x{element}>" if transposes[1] == "t" else f"tensor<{k}x{n}x{element}>"
out = f"tensor<{m}x{n}x{result}>"
flags = ("transpose_lhs " if transposes[0] == "t" else "") + ("transpose_rhs " if transposes[1] == "t" else "")
teams = tile[0] // 64
print(f"""func.func @main(%a: {lhs}, %b: {rhs}) -> {out} {{
  %d = tensor.empty() : {out}
  %0 = tracea.gemm {flags}ins(%a, %b : {lhs}, {rhs}) outs(%d : {out})
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = {tile}, slots = 3, producers = 1, consumers = {teams}, group = 16>
  return %0 : {out}
}}""")
