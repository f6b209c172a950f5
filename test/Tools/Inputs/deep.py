# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""deep.py FOLDER [--allowed]

Writes modules that nest 100,000 deep, each in its own way; with --allowed, as
deep as modules may."""

import os
import sys

folder = sys.argv[1]
allowed = sys.argv[2:] == ["--allowed"]
N = 100_000


def count(cost, around=0):
    """How often something that costs so much is nested."""
    return (500 - around) // cost if allowed else N


def function(attribute):
    return f"func.func private @f() attributes {{a = {attribute}}}\n"


def chain(sigil, first, link, n):
    lines = [f"{sigil}x0 = {first}\n"]
    lines += [f"{sigil}x{i} = " + link % (i - 1) + "\n" for i in range(1, n)]
    return "".join(lines)


cases = {}
n = count(2, 5)
cases["regions"] = (
    "func.func @f() {\n"
    + '"scf.execute_region"() ({\n' * n
    + "scf.yield\n}) : () -> ()\n" * n
    + "return\n}\n"
)
n = count(1)
cases["modules"] = "module {\n" * n + "}\n" * n
n = count(1, 3)
cases["parens"] = f"#m = affine_map<(d0) -> ({'(' * n}d0{')' * n})>\n" + function("#m")
cases["list"] = function("[" * n + "]" * n)
cases["types"] = f"func.func private @f({'tuple<' * n}i32{'>' * n})\n"
n = count(2, 3)
terms = " + ".join(f"d0 floordiv {i + 2}" for i in range(n))
cases["sum"] = f"#m = affine_map<(d0) -> ({terms})>\n" + function("#m")
cases["set"] = f"#m = affine_set<(d0) : ({terms} >= 0)>\n" + function("#m")
terms = " + ".join(f"%i floordiv {i + 2}" for i in range(count(2, 3)))
cases["load"] = (
    "func.func @f(%m: memref<?xf32>, %i: index) {\n"
    f"  %0 = affine.load %m[{terms}] : memref<?xf32>\n  return\n}}\n"
)
n = count(1, 3)
cases["quotients"] = (
    f"#m = affine_map<(d0) -> (d0{' floordiv 3' * n})>\n" + function("#m")
)
cases["constants"] = (
    f"#m = affine_map<() -> ({' + '.join('1' for _ in range(n))})>\n" + function("#m")
)
cases["signs"] = f"#m = affine_map<(d0) -> ({'-' * n}d0)>\n" + function("#m")
n = count(1, 2)
cases["type_aliases"] = (
    chain("!", "tuple<i32>", "tuple<!x%d>", n)
    + f"func.func private @f(!x{n - 1})\n"
)
cases["attribute_aliases"] = chain("#", "[1]", "[#x%d]", n) + function(f"#x{n - 1}")
n = count(2, 4)
cases["locations"] = (
    "func.func private @f() loc("
    + 'callsite("a" at ' * n
    + '"b"'
    + ")" * n
    + ")\n"
)
with open(os.path.join(folder, "several.txt"), "w") as file:
    file.write("\n// -----\n".join(["module {\n" * 300] * 2))
for name, text in cases.items():
    with open(os.path.join(folder, name + ".mlir"), "w") as file:
        file.write(text)
