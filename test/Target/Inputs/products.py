"""Prints a module of products, each of other extents: as many kernels."""

import sys

print("func.func @main(")
count = int(sys.argv[1])
sizes = [(64 + 8 * i, 32 + 8 * i) for i in range(count)]
arguments = [f"%a{i}: tensor<{m}x{k}xf16>, %b{i}: tensor<{k}x48xf16>" for i, (m, k) in enumerate(sizes)]
results = ", ".join(f"tensor<{m}x48xf32>" for m, k in sizes)
print(", ".join(arguments) + f") -> ({results}) {{")
print("  %zero = arith.constant 0.0 : f32")
for i, (m, k) in enumerate(sizes):
    result = f"tensor<{m}x48xf32>"
    print(f"  %e{i} = tensor.empty() : {result}")
    print(f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {result}) -> {result}")
    print(
        f"  %r{i} = linalg.matmul ins(%a{i}, %b{i} : tensor<{m}x{k}xf16>, tensor<{k}x48xf16>) "
        f"outs(%f{i} : {result}) -> {result}"
    )
print("  return " + ", ".join(f"%r{i}" for i in range(count)) + f" : {results}\n}}")
