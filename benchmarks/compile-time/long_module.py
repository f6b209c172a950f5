"""Writes a long module: long_module.py KIND N.

products: each multiplies the result of the one before by the same matrix
rows:     products of different inputs, whose rows are known when the program runs
layers:   a product, then a function of each element, and so on
widths:   products of which no two have the same extents
elements: elementwise operations, one after the other, with the same destination
bodies:   the same as linalg.generic, which are fused
"""

import sys

TILE = "tensor<64x64xf32>"
ROWS = "tensor<?x64xf32>"
ELEMENTWISE = '{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}'


def product(result, lhs, rhs, out, types=(TILE, TILE, TILE)):
    return (
        f"  {result} = tracea.gemm ins({lhs}, {rhs} : {types[0]}, {types[1]}) "
        f"outs({out} : {types[2]})\n"
    )


def body(result, lhs, rhs, scalar):
    return (
        f"  {result} = linalg.generic {ELEMENTWISE} ins({lhs}, {rhs} : {TILE}, {TILE}) outs(%e : {TILE}) {{\n"
        f"  ^bb0(%x: f32, %y: f32, %out: f32):\n    %s = {scalar} : f32\n    linalg.yield %s : f32\n"
        f"  }} -> {TILE}\n"
    )


def rows(count):
    inputs = ", ".join(f"%a{i}: {ROWS}" for i in range(count))
    types = ", ".join([ROWS] * count)
    text = f"func.func @main({inputs}, %b: {TILE}) -> ({types}) {{\n"
    for i in range(count):
        text += product(f"%y{i}", f"%a{i}", "%b", f"%a{i}", (ROWS, TILE, ROWS))
    return text + "  return " + ", ".join(f"%y{i}" for i in range(count)) + f" : {types}\n}}\n"


def widths(count):
    width = [64 + 8 * i for i in range(count + 1)]
    weights = ", ".join(f"%b{i}: tensor<{width[i]}x{width[i + 1]}xf32>" for i in range(count))
    text = f"func.func @main(%y0: tensor<64x{width[0]}xf32>, {weights}) -> tensor<64x{width[count]}xf32> {{\n"
    for i in range(count):
        lhs, rhs, out = (
            f"tensor<{m}x{n}xf32>" for m, n in ((64, width[i]), (width[i], width[i + 1]), (64, width[i + 1]))
        )
        text += f"  %e{i} = tensor.empty() : {out}\n"
        text += product(f"%y{i + 1}", f"%y{i}", f"%b{i}", f"%e{i}", (lhs, rhs, out))
    return text + f"  return %y{count} : tensor<64x{width[count]}xf32>\n}}\n"


def chain(kind, count):
    text = "#id = affine_map<(i, j) -> (i, j)>\n"
    text += f"func.func @main(%y0: {TILE}, %b: {TILE}) -> {TILE} {{\n  %e = tensor.empty() : {TILE}\n"
    for i in range(count):
        before, after = f"%y{i}", f"%y{i + 1}"
        if kind == "products":
            text += product(after, before, "%b", "%e")
        elif kind == "layers":
            text += product(f"%p{i}", before, "%b", "%e")
            text += body(after, f"%p{i}", "%b", "math.tanh %x")
        elif kind == "elements":
            text += f"  {after} = linalg.add ins({before}, %b : {TILE}, {TILE}) outs(%e : {TILE}) -> {TILE}\n"
        elif kind == "bodies":
            text += body(after, before, "%b", "arith.addf %x, %y")
    return text + f"  return %y{count} : {TILE}\n}}\n"


KINDS = ("products", "rows", "layers", "widths", "elements", "bodies")


def write(kind, count):
    if kind == "rows":
        return rows(count)
    if kind == "widths":
        return widths(count)
    return chain(kind, count)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS or not sys.argv[2].isdigit():
        sys.exit("error: expected one of " + ", ".join(KINDS) + ", and a number")
    sys.stdout.write(write(sys.argv[1], int(sys.argv[2])))
