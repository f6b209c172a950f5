"""Writes a long module: long_module.py KIND N.

products: each multiplies the result of the one before by the same matrix;
sizes: the same with rows that are known when the program runs, each of another input;
elements: elementwise operations, one after the other, that share a destination.
"""

import sys

kind, count = sys.argv[1], int(sys.argv[2])
tile = "tensor<64x64xf32>"
rows = "tensor<?x64xf32>"

if kind == "sizes":
    inputs = ", ".join(f"%a{i}: {rows}" for i in range(count))
    print(f"func.func @main({inputs}, %b: {tile}) -> ({', '.join([rows] * count)}) {{")
    for i in range(count):
        print(f"  %y{i} = tracea.gemm ins(%a{i}, %b : {rows}, {tile}) outs(%a{i} : {rows})")
    print("  return " + ", ".join(f"%y{i}" for i in range(count)) + " : " + ", ".join([rows] * count))
else:
    print(f"func.func @main(%y0: {tile}, %b: {tile}) -> {tile} {{")
    print(f"  %e = tensor.empty() : {tile}")
    for i in range(count):
        if kind == "products":
            print(f"  %y{i + 1} = tracea.gemm ins(%y{i}, %b : {tile}, {tile}) outs(%e : {tile})")
        else:
            print(f"  %y{i + 1} = linalg.add ins(%y{i}, %b : {tile}, {tile}) outs(%e : {tile}) -> {tile}")
    print(f"  return %y{count} : {tile}")
print("}")
