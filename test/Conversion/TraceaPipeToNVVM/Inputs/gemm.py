#!/usr/bin/env python3
"""Writes a tracea.gemm for warpgroups with bias and an activation. Every choice
that a schedule makes is an option, so that tests can go through them."""

import argparse

ACTIVATIONS = {
    "none": "",
    "relu": """
      %zero = arith.constant 0.0 : f32
      %y = arith.maximumf %x, %zero : f32""",
    "silu": """
      %one = arith.constant 1.0 : f32
      %n = arith.negf %x : f32
      %e = math.exp %n : f32
      %p = arith.addf %e, %one : f32
      %y = arith.divf %x, %p : f32""",
    "gelu": """
      %one = arith.constant 1.0 : f32
      %half = arith.constant 0.5 : f32
      %root = arith.constant 0.70710678 : f32
      %z = arith.mulf %x, %root : f32
      %e = math.erf %z : f32
      %p = arith.addf %e, %one : f32
      %h = arith.mulf %x, %half : f32
      %y = arith.mulf %h, %p : f32""",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--type", default="bf16")
    parser.add_argument("--out", default="")
    parser.add_argument("--size", nargs=3, default=["?", "?", "?"], help="m, n, k")
    parser.add_argument("--batch", default="")
    parser.add_argument("--transpose", nargs="*", default=[], choices=["lhs", "rhs"])
    parser.add_argument("--variant", default="gemm.warpgroup")
    parser.add_argument("--tile", nargs=3, type=int, default=[128, 256, 64])
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--teams", type=int, default=2)
    parser.add_argument("--group", type=int, default=0)
    parser.add_argument("--split", type=int, default=1)
    parser.add_argument("--activation", default="none", choices=ACTIVATIONS)
    parser.add_argument("--residual", action="store_true")
    o = parser.parse_args()

    m, n, k = o.size
    integer = o.type == "i8"
    acc = "i32" if integer else "f32"
    out = o.out or ("i32" if integer else o.type)
    batch = f"{o.batch}x" if o.batch else ""
    rows = f"{k}x{m}" if "lhs" in o.transpose else f"{m}x{k}"
    columns = f"{n}x{k}" if "rhs" in o.transpose else f"{k}x{n}"
    A = f"tensor<{batch}{rows}x{o.type}>"
    B = f"tensor<{columns}x{o.type}>"
    C = f"tensor<{batch}{m}x{n}x{out}>"
    bias = f"tensor<{n}x{acc}>"
    dims = "b, i, j" if o.batch else "i, j"
    flags = "".join(f"transpose_{side} " for side in sorted(o.transpose))
    split = f", split = {o.split}" if o.split != 1 else ""
    group = f", group = {o.group}" if o.group else ""

    extras = [(f"%bias by affine_map<({dims}) -> (j)>", bias, f"%v: {acc}")]
    if o.residual:
        extras.append((f"%r by affine_map<({dims}) -> ({dims})>", C, f"%w: {out}"))
    body = f"      %x = arith.add{'i' if integer else 'f'} %acc, %v : {acc}"
    value = "%x"
    if ACTIVATIONS[o.activation]:
        body += ACTIVATIONS[o.activation]
        value = "%y"
    if o.residual:
        wide = "%w"
        if out != acc:
            wide = "%wide"
            body += f"\n      %wide = arith.extf %w : {out} to {acc}"
        body += f"\n      %sum = arith.addf {value}, {wide} : {acc}"
        value = "%sum"
    if out != acc:
        body += f"\n      %t = arith.trunc{'i' if integer else 'f'} {value} : {acc} to {out}"
        value = "%t"
    print(
        f"""\
module attributes {{tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
    triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>}} {{
func.func @main(%a: {A}, %b: {B}, %bias: {bias}, %r: {C}, %d: {C}) -> {C} {{
  %0 = tracea.gemm {flags}ins(%a, %b : {A}, {B}) outs(%d : {C})
    schedule <variant = "{o.variant}", unit = wgmma, tile = {o.tile}, slots = {o.slots},
              producers = 1, consumers = {o.teams}{group}{split}>
    epilogue({', '.join(e[0] for e in extras)} : {', '.join(e[1] for e in extras)}) {{
    ^bb0(%acc: {acc}, {', '.join(e[2] for e in extras)}):
{body}
      tracea.yield {value} : {out}
    }}
  return %0 : {C}
}}
}}"""
    )


if __name__ == "__main__":
    main()
