# Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The products that are measured, and their modules."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One product: result[m, n] = epilogue(sum over k), `batch` times."""

    group: str
    m: int
    n: int
    k: int
    dtype: str = "bf16"
    # Whether operands are stored transposed: lhs as [k, m], rhs as [n, k].
    transposes: str = "nt"
    result: str = ""
    epilogue: str = ""
    batch: int = 0

    @property
    def name(self):
        shape = f"{self.m}x{self.n}x{self.k}"
        if self.batch:
            shape = f"{self.batch}x{shape}"
        return "_".join(filter(None, [self.group, shape, self.dtype, self.transposes, self.epilogue]))

    @property
    def output(self):
        return self.result or {"f8E4M3FN": "bf16", "i8": "i32", "tf32": "f32"}.get(self.dtype, self.dtype)

    @property
    def stored(self):
        return "f32" if self.dtype == "tf32" else self.dtype

    def shape(self, rows, columns):
        return ([self.batch] if self.batch else []) + [rows, columns]

    @property
    def lhs(self):
        return self.shape(*((self.k, self.m) if self.transposes[0] == "t" else (self.m, self.k)))

    @property
    def rhs(self):
        return self.shape(*((self.n, self.k) if self.transposes[1] == "t" else (self.k, self.n)))

    @property
    def inputs(self):
        """Element type and shape of each argument."""
        found = [(self.stored, self.lhs), (self.stored, self.rhs)]
        if "bias" in self.epilogue:
            found.append((self.output, [self.n]))
        if "rowscale" in self.epilogue:
            found.append(("f32", [self.m]))
        if "residual" in self.epilogue:
            found.append((self.output, [self.m, self.n]))
        return found

    @property
    def flops(self):
        return 2 * max(self.batch, 1) * self.m * self.n * self.k

    @property
    def bytes(self):
        sizes = {"f32": 4, "i32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "i8": 1}
        total = max(self.batch, 1) * self.m * self.n * sizes[self.output]
        for element, shape in self.inputs:
            count = sizes[element]
            for extent in shape:
                count *= extent
            total += count
        return total


def tensor(element, shape):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


def epilogue_of(problem):
    """The extras with their maps, and the body from %acc to a value."""
    extras, body, value = [], [], "%acc"
    f32 = problem.output == "f32"

    def emit(text):
        nonlocal value
        name = f"%v{len(body)}"
        body.append(f"{name} = {text.replace('$', value)}")
        value = name
        return name

    def constant(number):
        name = f"%c{len(body)}"
        body.append(f"{name} = arith.constant {number} : f32")
        return name

    def widen(name):
        if f32:
            return name
        wide = f"{name}_f32"
        body.append(f"{wide} = arith.extf {name} : {problem.output} to f32")
        return wide

    for step in problem.epilogue.split("+") if problem.epilogue else []:
        if step == "bias":
            extras.append(("%bias", "(i, j) -> (j)", tensor(problem.output, [problem.n]), "%bias_0", problem.output))
            emit(f"arith.addf $, {widen('%bias_0')} : f32")
        elif step == "rowscale":
            extras.append(("%scale", "(i, j) -> (i)", tensor("f32", [problem.m]), "%scale_0", "f32"))
            emit("arith.mulf $, %scale_0 : f32")
        elif step == "residual":
            extras.append(("%residual", "(i, j) -> (i, j)", tensor(problem.output, [problem.m, problem.n]), "%residual_0", problem.output))
            emit(f"arith.addf $, {widen('%residual_0')} : f32")
        elif step == "relu":
            emit(f"arith.maximumf $, {constant('0.0')} : f32")
        elif step == "silu":
            x, one = value, constant("1.0")
            emit("arith.negf $ : f32")
            emit("math.exp $ : f32")
            emit(f"arith.addf $, {one} : f32")
            emit(f"arith.divf {x}, $ : f32")
        elif step == "gelu":
            x, one, half, root = value, constant("1.0"), constant("0.5"), constant("0.70710678118654757")
            emit(f"arith.mulf $, {root} : f32")
            emit("math.erf $ : f32")
            emit(f"arith.addf $, {one} : f32")
            emit(f"arith.mulf $, {half} : f32")
            emit(f"arith.mulf $, {x} : f32")
        else:
            raise ValueError(f"no epilogue '{step}'")
    return extras, body, value


def module(problem, schedule=""):
    """The module of a problem, as text; `schedule` is what it is told to do."""
    lhs, rhs = tensor(problem.stored, problem.lhs), tensor(problem.stored, problem.rhs)
    out = tensor(problem.output, problem.shape(problem.m, problem.n))
    extras, body, value = epilogue_of(problem)
    arguments = [f"%a: {lhs}", f"%b: {rhs}"] + [f"{name}: {type_}" for name, _, type_, _, _ in extras]
    flags = ("transpose_lhs " if problem.transposes[0] == "t" else "") + ("transpose_rhs " if problem.transposes[1] == "t" else "")
    region = ""
    if extras or body:
        if problem.output != "f32":
            body.append(f"%result = arith.truncf {value} : f32 to {problem.output}")
            value = "%result"
        names = ", ".join(f"{name} by affine_map<{map_}>" for name, map_, _, _, _ in extras)
        types = ", ".join(type_ for _, _, type_, _, _ in extras)
        scalars = "".join(f", {scalar}: {element}" for _, _, _, scalar, element in extras)
        lines = "\n".join(f"      {line}" for line in body)
        head = f" epilogue({names} : {types})" if extras else " epilogue"
        region = f"{head} {{\n    ^bb0(%acc: f32{scalars}):\n{lines}\n      tracea.yield {value} : {problem.output}\n    }}"
    tf32 = " attributes {tracea.allow_tf32}" if problem.dtype == "tf32" else ""
    return f"""func.func @main({', '.join(arguments)}) -> {out}{tf32} {{
  %d = tensor.empty() : {out}
  %0 = tracea.gemm {flags}ins(%a, %b : {lhs}, {rhs}) outs(%d : {out}){schedule and " schedule " + schedule}{region}
  return %0 : {out}
}}
"""


def problems():
    found = []
    square = [(s, s, s) for s in (1024, 1536, 2048, 3072, 4096, 8192)]
    plain = square + [(16384, 4096, 1024), (4096, 11008, 4096), (5120, 13824, 5120), (8192, 8192, 512)]
    for dtype in ("bf16", "f16"):
        for transposes in ("nt", "nn", "tn", "tt"):
            found += [Problem("plain", *shape, dtype, transposes) for shape in plain]
    for size in (4096, 8192):
        found += [Problem("skinny", m, size, size) for m in (1, 4, 16, 64, 128, 256)]
    for shape in ((512, 512, 16384), (256, 256, 65536), (1024, 1024, 8192)):
        found.append(Problem("split", *shape))
    for shape in ((4095, 4095, 4095), (4097, 4095, 4099), (1000, 1000, 1000), (2047, 3001, 1023)):
        found.append(Problem("odd", *shape))
    found.append(Problem("types", 4096, 4096, 4096, "tf32"))
    found += [Problem("types", size, size, size, "f8E4M3FN") for size in (4096, 8192)]
    found.append(Problem("types", 4096, 4096, 4096, "i8"))
    for shape in ((4096, 4096, 4096), (16384, 4096, 1024)):
        for epilogue in ("", "bias+silu", "bias+relu+residual", "bias+gelu"):
            found.append(Problem("epilogue", *shape, epilogue=epilogue))
        found.append(Problem("epilogue", *shape, epilogue="rowscale", result="f8E4M3FN"))
    found.append(Problem("batched", 1024, 1024, 128, batch=64))
    return found
