# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""functions.py TYPE: a product whose epilogue adds up every function of `math`"""

import sys

UNARY = """acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2
expm1 floor log log10 log1p log2 round roundeven rsqrt sin sinh sqrt tan tanh
trunc absf""".split()
BINARY = ["atan2", "powf", "copysign"]

element = sys.argv[1]
half = element in ("f16", "bf16")
sums = element if not half else "f32"
lines = [f"%x = arith.truncf %acc : f32 to {element}"] if half else []
argument, total = "%x" if half else "%acc", "%y"
for name in UNARY + BINARY:
    arguments = argument + (", %y" if name in BINARY else "")
    lines.append(f"%f_{name} = math.{name} {arguments} : {element}")
    lines.append(f"%s_{name} = arith.addf {total}, %f_{name} : {element}")
    total = f"%s_{name}"
lines += [
    f"%sine, %cosine = math.sincos {argument} : {element}",
    f"%clamped = math.clampf %sine to [%y, %cosine] : {element}",
    f"%infinite = math.isinf %clamped : {element}",
    f"%normal = math.isnormal %cosine : {element}",
    f"%number = math.isnan %y : {element}",
    f"%finite = math.isfinite %y : {element}",
    "%both = arith.andi %infinite, %normal : i1",
    "%other = arith.andi %number, %finite : i1",
    "%any = arith.ori %both, %other : i1",
    f"%integer = arith.fptosi %y : {element} to i32",
    "%zeros = math.ctlz %integer : i32",
    f"%power = math.fpowi {argument}, %zeros : {element}, i32",
    f"%chosen = arith.select %any, %power, {total} : {element}",
]
total = "%chosen"
body = "\n      ".join(lines)
print(
    f"""#id = affine_map<(m, n) -> (m, n)>
func.func @main(%a: tensor<64x32x{element}>, %b: tensor<32x64x{element}>,
                %z: tensor<64x64x{element}>) -> tensor<64x64x{element}> {{
  %e = tensor.empty() : tensor<64x64x{element}>
  %r = tracea.gemm
      ins(%a, %b : tensor<64x32x{element}>, tensor<32x64x{element}>)
      outs(%e : tensor<64x64x{element}>)
      epilogue(%z by #id : tensor<64x64x{element}>) {{
    ^bb0(%acc: {sums}, %y: {element}):
      {body}
      tracea.yield {total} : {element}
    }}
  return %r : tensor<64x64x{element}>
}}"""
)
